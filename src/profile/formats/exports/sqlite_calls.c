/* The tables of a database that go by a trace's events: calls, their values,
 * waits and marks; and the last values of contexts, where there are no events.
 * A call's row needs its end, which comes after the rows of what it calls. */

#include <stdlib.h>
#include <string.h>

#include "profile/costs/trace.h"
#include "profile/file/events.h"
#include "profile/file/records.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"
#include "profile/formats/exports/exports.h"
#include "util/memory.h"
#include "util/output.h"

/* --- values of calls ----------------------------------------------------- */

struct swz_sqlite_values {
	struct swz_statement *add;
	struct swz_value_reader *reader; /* of the thread; NULL: it has none */
	struct swz_binding *binding;
	struct swz_shown_value shown;
};

static struct swz_sqlite_values *sqlite_values_begin(
	struct swz_database *database)
{
	struct swz_sqlite_values *values = swz_allocate(1, sizeof(*values));

	values->add = swz_statement_prepare(
		database,
		"INSERT INTO call_values VALUES (?, ?, ?, ?, ?, ?, ?)");
	return values;
}

static void sqlite_values_free(struct swz_sqlite_values *values)
{
	swz_values_close(values->reader);
	swz_statement_free(values->add);
	swz_shown_free(&values->shown);
	free(values);
}

static void sqlite_values_thread(struct swz_sqlite_values *values,
				 const struct swz_section *section)
{
	swz_values_close(values->reader);
	values->reader = swz_values_open(section->profile, section->thread);
	values->binding = section->binding;
}

/* Puts a number, which can be compared and added up. */
static void sqlite_put_number(struct swz_statement *row,
			      const struct swz_value *value)
{
	int64_t number;
	double real;

	if (value && swz_value_number(value, &number) &&
	    (number >= 0 || value->type->kind != SWZ_TYPE_UNSIGNED))
		swz_statement_integer(row, number);
	else if (value && swz_value_real(value, &real))
		swz_statement_real(row, real);
	else
		swz_statement_null(row);
}

/* A string without quotes, as far as it was recorded. */
static void put_text(struct swz_statement *row, const struct swz_value *value)
{
	const struct swz_value_bytes *text = value ? &value->text : NULL;
	char *copy;

	if (!text || !text->bytes || text->bad) {
		swz_statement_null(row);
		return;
	}
	copy = swz_allocate(text->size + 1, 1);
	memcpy(copy, text->bytes, text->size);
	swz_statement_text(row, copy);
	free(copy);
}

/* Adds the values of the call with the number EVENT: at its begin, or at its
 * end. FROM is what swz_events_next() has just handed out. */
static void sqlite_values_add(struct swz_sqlite_values *values, int64_t event,
			      const struct swz_event *from)
{
	struct swz_statement *row = values->add;
	struct swz_call_values of;
	size_t i;

	if (!swz_values_of(values->reader, from, &of))
		return;
	for (i = 0; i < swz_shown_count(&of); i++) {
		swz_shown_read(&values->shown, values->binding, &of, i);
		swz_statement_integer(row, event);
		swz_statement_word(row, from->begins ? "entry" : "return");
		swz_statement_count(row, i + 1);
		swz_statement_kept_text(row, values->shown.name.text);
		swz_statement_kept_text(row, values->shown.text.text);
		sqlite_put_number(row, values->shown.value);
		put_text(row, values->shown.value);
		swz_statement_run(row);
	}
}

/* --- values of contexts -------------------------------------------------- */

struct putting {
	struct swz_statement *row;
	int64_t context;
	const struct swz_profile_summary *summary;
};

static void put_value(void *to, const struct swz_context_value *value)
{
	const struct putting *p = to;
	bool is_entry = value->moment == SWZ_VALUES_ENTRY;

	swz_statement_integer(p->row, p->context);
	swz_statement_integer(p->row, p->summary->node);
	swz_statement_word(p->row, is_entry ? "entry" : "return");
	swz_statement_text(p->row, value->name.text);
	swz_statement_count(p->row, is_entry ? p->summary->head->entry.calls
					     : p->summary->head->result.calls);
	swz_statement_text(p->row, value->has_last ? value->last.text : NULL);
	swz_statement_text(p->row, value->has_range ? value->low.text : NULL);
	swz_statement_text(p->row, value->has_range ? value->high.text : NULL);
	sqlite_put_number(p->row, value->has_range ? &value->low_value : NULL);
	sqlite_put_number(p->row, value->has_range ? &value->high_value : NULL);
	swz_statement_run(p->row);
}

void swz_sqlite_put_context_values(struct swz_statement *row,
				   const struct swz_section *section,
				   int64_t first_context)
{
	const struct swz_profile *profile = section->profile;
	struct swz_context_value value = {0};
	size_t i;

	for (i = 0; i < profile->summary_count; i++) {
		uint32_t node = profile->summaries[i].node;
		uint32_t context = swz_map_get(&section->contexts->units, node,
					       0);
		struct putting p = {
			.row = row,
			.context = first_context + context,
		};

		/* (of another thread, hidden, or of no node at all) */
		if (context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT)
			continue;
		p.summary = swz_summary_find(profile, node);
		if (p.summary != &profile->summaries[i])
			continue;
		swz_context_values_each(p.summary, section->binding, &value,
					put_value, &p);
	}
	swz_context_value_free(&value);
}

/* --- calls --------------------------------------------------------------- */

/* Calls are numbered as they begin, and written in that order, which is what
 * makes a large table soon; but how long one takes is known when it ends.
 * So the latest calls are kept. One that does not end as long as these last is
 * written without its end, which is filled in later: of such calls there are
 * no more than are open at a time, while the stack stays as it is. */

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
	events->values = sqlite_values_begin(database);
	events->first = 1;
	return events;
}

void swz_sqlite_events_free(struct swz_sqlite_events *events)
{
	swz_statement_free(events->add);
	swz_statement_free(events->finish);
	sqlite_values_free(events->values);
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
		sqlite_values_add(events->values, open.number, event);
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
	sqlite_values_add(events->values, open.number, event);
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
	sqlite_values_thread(events->values, section);
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
