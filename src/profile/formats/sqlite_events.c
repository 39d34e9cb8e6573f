/* Calls are numbered as they begin, and written in that order, which is what
 * makes a large table soon; but how long one takes is known when it ends.
 * So the latest calls are kept. One that does not end as long as these last is
 * written without its end, which is filled in later: of such calls there are
 * no more than are open at a time, while the stack stays as it is. */

#include "profile/formats/sqlite.h"

#include <stdlib.h>

#include "profile/costs/trace.h"
#include "profile/file/events.h"
#include "profile/file/marks.h"
#include "profile/file/switches.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

#define KEPT ((size_t)1 << 18) /* calls; a power of two */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

struct call {
	int64_t parent; /* 0: none */
	uint32_t context;
	uint32_t depth;
	int64_t start_ns;
	int64_t duration_ns;
	const char *began, *ended;
	bool is_over;
};

struct open {
	int64_t number;   /* of the call; 0: it is hidden */
	int64_t start_ns; /* that of the call */
};

struct swz_sqlite_events {
	struct swz_database *database;
	struct swz_statement *add, *finish;
	struct swz_sqlite_values *values;
	struct call *kept; /* call N at N % KEPT; from `first` to `last` */
	int64_t first, last;
	/* of the thread that is written: */
	const struct swz_section *section;
	int64_t thread, first_context;
	struct open *stack;
	size_t depth, capacity;
	uint32_t shown; /* of the stack: that are not hidden */
	int64_t parent; /* the innermost of these; 0: none */
};

struct swz_sqlite_events *swz_sqlite_events_begin(struct swz_database *database)
{
	struct swz_sqlite_events *events = swz_allocate(1, sizeof(*events));

	events->database = database;
	events->add = swz_statement_prepare(
		database,
		"INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	events->finish = swz_statement_prepare(
		database, "UPDATE events SET duration_ns = ?, ended = ? "
			  "WHERE id = ?");
	events->values = swz_sqlite_values_begin(database);
	events->first = 1;
	return events;
}

void swz_sqlite_events_free(struct swz_sqlite_events *events)
{
	swz_statement_free(events->add);
	swz_statement_free(events->finish);
	swz_sqlite_values_free(events->values);
	free(events->kept);
	free(events->stack);
	free(events);
}

int64_t swz_sqlite_ns(const struct swz_section *section, uint64_t ticks)
{
	return swz_profile_ns(section->profile,
			      (int64_t)(ticks - section->origin));
}

static struct call *call_at(const struct swz_sqlite_events *events,
			    int64_t number)
{
	return &events->kept[(size_t)number % KEPT];
}

static void write_first(struct swz_sqlite_events *events)
{
	const struct call *call = call_at(events, events->first);
	const struct swz_contexts *contexts = events->section->contexts;
	struct swz_statement *add = events->add;

	swz_statement_integer(add, events->first);
	swz_statement_integer(add, events->thread);
	if (call->parent)
		swz_statement_integer(add, call->parent);
	else
		swz_statement_null(add);
	swz_statement_integer(add, events->first_context + call->context);
	swz_statement_integer(add, contexts->items[call->context].function);
	swz_statement_integer(add, call->depth);
	swz_statement_integer(add, call->start_ns);
	if (call->is_over)
		swz_statement_integer(add, call->duration_ns);
	else
		swz_statement_null(add);
	swz_statement_word(add, call->began);
	swz_statement_word(add, call->ended);
	swz_statement_run(add);
	events->first++;
}

static const char *beginning(const struct swz_event *event)
{
	if (event->untraced)
		return "not traced";
	if (event->cut)
		return "earlier";
	return event->how == SWZ_EVENT_RESUME ? "resumed" : NULL;
}

static void begin(struct swz_sqlite_events *events,
		  const struct swz_event *event)
{
	uint32_t context = swz_map_get(&events->section->contexts->units,
				       event->node, 0);
	bool hidden = context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT;
	struct open open = {0};

	if (!hidden) {
		if (events->last - events->first + 1 == KEPT)
			write_first(events);
		open.number = ++events->last;
		open.start_ns = swz_sqlite_ns(events->section, event->ticks);
		*call_at(events, open.number) = (struct call){
			.parent = events->parent,
			.context = context,
			.depth = events->shown++,
			.start_ns = open.start_ns,
			.began = beginning(event),
		};
		events->parent = open.number;
		swz_sqlite_values_add(events->values, open.number, event);
	}
	swz_grow(&events->stack, &events->capacity, events->depth,
		 sizeof(*events->stack));
	events->stack[events->depth++] = open;
}

static void find_parent(struct swz_sqlite_events *events)
{
	size_t i = events->depth;

	while (i && !events->stack[i - 1].number)
		i--;
	events->parent = i ? events->stack[i - 1].number : 0;
}

static void end(struct swz_sqlite_events *events, const struct swz_event *event)
{
	struct open open;
	int64_t duration_ns;

	if (!events->depth)
		return;
	open = events->stack[--events->depth];
	if (!open.number)
		return;
	swz_sqlite_values_add(events->values, open.number, event);
	events->shown--;
	find_parent(events);
	duration_ns = swz_sqlite_ns(events->section, event->ticks) -
		      open.start_ns;
	if (open.number < events->first) {
		swz_statement_integer(events->finish, duration_ns);
		swz_statement_word(events->finish, swz_trace_ending(event));
		swz_statement_integer(events->finish, open.number);
		swz_statement_run(events->finish);
	} else {
		struct call *call = call_at(events, open.number);

		call->duration_ns = duration_ns;
		call->ended = swz_trace_ending(event);
		call->is_over = true;
	}
}

static void add_all(struct swz_sqlite_events *events, struct swz_events *reader,
		    uint64_t total)
{
	struct swz_event event;
	uint64_t done = 0;

	swz_progress_stage("writing events", total);
	while (!swz_database_failed(events->database) &&
	       swz_events_next(reader, &event)) {
		if (event.begins)
			begin(events, &event);
		else
			end(events, &event);
		if (swz_events_position(reader) - done >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(reader) - done);
			done = swz_events_position(reader);
		}
	}
	while (events->first <= events->last)
		write_first(events);
	swz_progress_end();
}

void swz_sqlite_events_add(struct swz_sqlite_events *events,
			   const struct swz_section *section, int64_t thread,
			   int64_t first_context)
{
	struct swz_events *reader = swz_events_open(section->profile,
						    section->thread);

	if (section->range)
		swz_events_limit(reader, section->range->from,
				 section->range->to);
	if (!events->kept)
		events->kept = swz_allocate(KEPT, sizeof(*events->kept));
	events->section = section;
	swz_sqlite_values_thread(events->values, section);
	events->thread = thread;
	events->first_context = first_context;
	events->depth = 0;
	events->shown = 0;
	events->parent = 0;
	add_all(events, reader, swz_events_size(section->thread));
	swz_events_close(reader);
}

void swz_sqlite_put_waits(struct swz_statement *waits,
			  const struct swz_section *section, int64_t thread)
{
	const struct swz_range *range = section->range;
	uint64_t at = range ? range->from : 0;
	uint64_t to = range ? range->to : UINT64_MAX;
	struct swz_switch_reader switches;
	struct swz_off_time off;

	if (!section->thread->record.switches_from)
		return;
	swz_switches_open(&switches, section->thread);
	while (swz_switches_next(&switches, at, to, &off)) {
		int64_t start_ns = swz_sqlite_ns(section, off.from);

		swz_statement_integer(waits, thread);
		swz_statement_integer(waits, start_ns);
		swz_statement_integer(waits, swz_sqlite_ns(section, off.to) -
						     start_ns);
		swz_statement_word(waits,
				   off.preempted ? "preempted" : "waiting");
		swz_statement_run(waits);
		at = off.to;
	}
}

void swz_sqlite_put_marks(struct swz_statement *marks,
			  const struct swz_section *section, int64_t process,
			  int64_t thread, bool of_process)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_range *range = section->range;
	size_t i;

	for (i = 0; i < profile->mark_count; i++) {
		const struct swz_profile_mark *mark = &profile->marks[i];
		char *text;

		if (swz_mark_is_of_process(mark) != of_process ||
		    (!of_process && mark->owner != section->thread->index) ||
		    (range &&
		     (mark->ticks < range->from || mark->ticks >= range->to)))
			continue;
		text = swz_mark_text(mark);
		swz_statement_integer(marks, process);
		if (of_process)
			swz_statement_null(marks);
		else
			swz_statement_integer(marks, thread);
		swz_statement_integer(marks,
				      swz_sqlite_ns(section, mark->ticks));
		swz_statement_text(marks, text);
		swz_statement_run(marks);
		free(text);
	}
}
