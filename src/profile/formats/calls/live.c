/* --follow: a trace is read while it is recorded. Each reading opens the
 * profile anew, as a snapshot, and hands out the events behind the last one of
 * each thread (swz_new_events_open()). What lasts from reading to reading is
 * here: the calls that are open, and the names.
 *
 * A snapshot holds all events that are older than the moment before it was
 * opened, but for those of a thread that has packed some while it was read.
 * Later ones wait for the next reading, and so do other threads' that are later
 * than what such a thread lacks: events of different threads come in the order
 * of their times. */

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/report.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/file/values.h"
#include "profile/formats/calls/calls.h"
#include "profile/names/catalog.h"
#include "profile/names/value_print.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

/* About 1 ms: what is recorded by then is all that was begun before. */
#define SETTLED_TICKS (UINT64_C(1) << 22)
#define INDENT 2
#define MOST_INDENT 200

/* A call that is open. */
struct call {
	uint32_t unit; /* its node */
	uint32_t function;
	uint64_t start; /* ticks */
	bool hidden;
	struct swz_pointed_values before;
};

struct live_thread {
	uint32_t index;
	struct swz_events_place place;
	struct call *open;            /* the innermost last */
	size_t depth, used, capacity; /* bytes are used again */
	size_t visible;               /* of these: not hidden */
	struct swz_text begun;        /* the innermost call's text ... */
	bool has_begun;               /* ... that was not written yet */
	bool done;                    /* it has ended and was read */
	/* while a snapshot is read: */
	const struct swz_profile_thread *thread;
	struct swz_new_events *events; /* NULL: it has none */
	struct swz_value_reader *values;
	struct swz_unit_set shown;
	struct swz_event_word next;
	bool has_next;
};

struct live_process {
	char *path;
	struct swz_profile *profile; /* the snapshot; NULL: none */
	struct swz_profile *names;   /* the one that was bound last */
	struct swz_binding binding;
	struct live_thread *threads;
	size_t count, capacity;
	uint64_t until; /* ticks; this snapshot may lack later events */
	bool is_found, is_done;
	char *refused; /* why it cannot be followed */
};

struct swz_live {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_catalog *catalog;
	const struct swz_config_file *config;
	struct live_process *processes;
	size_t count, capacity;
	struct swz_profile **bound; /* earlier ones: the catalog refers to their
				     * texts */
	size_t bound_count, bound_capacity;
	struct swz_call_end end;
	uint64_t until; /* ticks; a thread's later events are not all there */
	bool has_heading;
};

struct swz_live *swz_live_new(FILE *stream, struct swz_trace *trace,
			      struct swz_catalog *catalog,
			      const struct swz_config_file *config)
{
	struct swz_live *live = swz_allocate(1, sizeof(*live));

	*live = (struct swz_live){.stream = stream,
				  .trace = trace,
				  .catalog = catalog,
				  .config = config};
	return live;
}

void swz_live_add(struct swz_live *live, const char *path)
{
	swz_grow(&live->processes, &live->capacity, live->count,
		 sizeof(*live->processes));
	live->processes[live->count++] = (struct live_process){
		.path = swz_duplicate(path)};
}

/* --- lines --------------------------------------------------------------- */

static void put_columns(struct swz_live *live, const struct live_process *p,
			const struct live_thread *t, const uint64_t *begins,
			const uint64_t *time)
{
	const struct swz_style *style = live->trace->calls->style;
	bool utf8 = style && style->utf8;
	char figure[SWZ_FIGURE_BYTES] = "", text[64];
	int64_t ns;

	if (!live->has_heading)
		fprintf(live->stream, "# %-8s %9s %7s  %s\n", "start s", "time",
			"thread", "call");
	live->has_heading = true;
	text[0] = '\0';
	if (begins) {
		ns = swz_trace_ns(live->trace, &p->binding, *begins);
		snprintf(text, sizeof(text), "%3" PRId64 ".%06" PRId64,
			 ns / 1000000000, ns / 1000 % 1000000);
	}
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%*s",
		 begins ? 0 : 10, "");
	swz_calls_put(live->stream, live->trace, SWZ_COLOUR_DIM, text);
	if (time)
		swz_figure_time(figure,
				swz_profile_ns(p->profile, (int64_t)*time),
				utf8);
	fprintf(live->stream, " %*s %7" PRId32 "  ",
		utf8 && strstr(figure, "\xc2\xb5") ? 10 : 9, figure,
		t->thread->record.tid);
}

static void put_indent(struct swz_live *live, size_t depth)
{
	size_t width = INDENT * depth;

	fprintf(live->stream, "%*s",
		(int)(width < MOST_INDENT ? width : MOST_INDENT), "");
}

/* The call that has begun last goes on, or makes others. */
static void put_begun(struct swz_live *live, const struct live_process *p,
		      struct live_thread *t)
{
	const struct call *call;

	if (!t->has_begun)
		return;
	t->has_begun = false;
	call = &t->open[t->depth - 1];
	put_columns(live, p, t, &call->start, NULL);
	put_indent(live, t->visible - 1);
	swz_calls_put(live->stream, live->trace,
		      swz_call_colour(live->trace, call->function),
		      t->begun.text);
	fputs(" {\n", live->stream);
}

static void put_end(struct swz_live *live, const struct live_process *p,
		    struct live_thread *t, const struct call *call,
		    uint64_t ticks)
{
	const char *name = live->catalog->functions[call->function].name;
	uint64_t time = ticks - call->start;

	put_columns(live, p, t, t->has_begun ? &call->start : NULL, &time);
	put_indent(live, t->visible - 1);
	if (t->has_begun) {
		swz_calls_put(live->stream, live->trace,
			      swz_call_colour(live->trace, call->function),
			      t->begun.text);
	} else {
		fputs("} ", live->stream);
		swz_calls_put(live->stream, live->trace, SWZ_COLOUR_DIM, name);
	}
	t->has_begun = false;
	if (live->end.text.size) {
		putc(' ', live->stream);
		swz_calls_put(live->stream, live->trace,
			      live->end.exceptional ? SWZ_COLOUR_HOT
						    : SWZ_COLOUR_NONE,
			      live->end.text.text);
	}
	if (live->end.out.size) {
		fputs("  ", live->stream);
		swz_calls_put(live->stream, live->trace, SWZ_COLOUR_NONE,
			      live->end.out.text);
	}
	putc('\n', live->stream);
}

/* --- calls --------------------------------------------------------------- */

static struct call *push(struct live_thread *t)
{
	if (t->depth == t->used) {
		swz_grow(&t->open, &t->capacity, t->used, sizeof(*t->open));
		t->open[t->used++] = (struct call){0};
	}
	return &t->open[t->depth++];
}

/* A new function gets its name; the binding's profile may be an older one, with
 * the same functions. */
static uint32_t function_of(struct swz_live *live, struct live_process *p,
			    const struct swz_event *event)
{
	uint32_t function = swz_trace_function(&p->binding, event);

	if (live->catalog->resolved < live->catalog->function_count)
		swz_catalog_resolve(live->catalog);
	return function;
}

/* Reads the event of the node; false: it is no call of the thread. */
static bool describe(const struct live_process *p, const struct live_thread *t,
		     uint32_t unit, uint8_t kind, uint64_t ticks,
		     struct swz_event *event)
{
	const struct swz_node *node;

	if (!swz_thread_has_node(t->thread, unit))
		return false;
	node = swz_profile_node(p->profile, unit);
	if (node->function == SWZ_FUNCTION_NONE ||
	    node->function == SWZ_FUNCTION_ROOT)
		return false;
	*event = (struct swz_event){
		.how = kind,
		.node = unit,
		.function = swz_profile_function_by_id(p->profile,
						       node->function),
		.call_site = node->call_site,
		.depth = (uint32_t)t->visible,
		.ticks = ticks,
	};
	return true;
}

static bool is_hidden(const struct swz_live *live, const struct live_process *p,
		      const struct live_thread *t, uint32_t unit)
{
	const struct swz_node *node = swz_profile_node(p->profile, unit);
	uint32_t most = live->trace->calls->depth;

	return node->function == SWZ_FUNCTION_OURSELVES ||
	       node->open & SWZ_NODE_HIDDEN || (most && t->visible >= most) ||
	       (t->shown.bits && !swz_unit_set_has(&t->shown, unit));
}

/* Ends the innermost. CUT: it has no end of its own. */
static void end_innermost(struct swz_live *live, struct live_process *p,
			  struct live_thread *t, uint8_t kind, uint64_t ticks,
			  bool cut)
{
	struct call *call = &t->open[--t->depth];
	struct swz_event event;

	if (call->hidden)
		return;
	if (describe(p, t, call->unit, kind, ticks, &event)) {
		event.cut = cut;
		swz_call_end_read(&live->end, &call->before, live->trace,
				  &p->binding, t->values, &event);
		put_end(live, p, t, call, ticks);
	}
	t->visible--;
}

static void begin_call(struct swz_live *live, struct live_process *p,
		       struct live_thread *t, const struct swz_event_word *word)
{
	struct swz_call_values arguments;
	struct swz_event event;
	struct call *call;

	if (!describe(p, t, word->unit, word->kind, word->ticks, &event))
		return;
	event.begins = true;
	if (!is_hidden(live, p, t, word->unit))
		put_begun(live, p, t);
	call = push(t);
	call->unit = word->unit;
	call->start = word->ticks;
	call->hidden = is_hidden(live, p, t, word->unit);
	if (!call->hidden) {
		call->function = function_of(live, p, &event);
		t->visible++;
		swz_call_begin_print(&t->begun, &call->before, live->trace,
				     &p->binding, t->values, &event,
				     &arguments);
		t->has_begun = true;
	}
	if (word->kind == SWZ_EVENT_JUMP)
		end_innermost(live, p, t, SWZ_EVENT_RETURN, word->ticks, false);
}

/* An end belongs to the latest begin of its node; what lies above it ends,
 * too. */
static void end_call(struct swz_live *live, struct live_process *p,
		     struct live_thread *t, const struct swz_event_word *word)
{
	size_t i = t->depth;

	while (i && t->open[i - 1].unit != word->unit)
		i--;
	if (!i)
		return;
	while (t->depth > i)
		end_innermost(live, p, t, word->kind, word->ticks, true);
	end_innermost(live, p, t, word->kind, word->ticks, false);
}

/* True if this snapshot has the event, but not its values yet. */
static bool waits_for_values(const struct live_process *p,
			     const struct live_thread *t)
{
	struct swz_event event;

	if (p->until - t->next.ticks > swz_late_ticks(p->profile) ||
	    !describe(p, t, t->next.unit, t->next.kind, t->next.ticks, &event))
		return false;
	event.begins = t->next.kind == SWZ_EVENT_ENTER;
	return swz_values_lack(p->profile, t->values, &event);
}

static void wait_behind(struct swz_live *live, uint64_t ticks)
{
	if (ticks < live->until)
		live->until = ticks;
}

/* Takes the thread's next event, if it is none of before. */
static void next_event(struct swz_live *live, const struct live_process *p,
		       struct live_thread *t)
{
	if (!t->has_next)
		t->has_next = swz_new_events_next(t->events, &t->next);
	if (t->has_next && waits_for_values(p, t))
		wait_behind(live, t->next.ticks - 1);
	else if (!t->has_next && swz_new_events_wait(t->events))
		wait_behind(live, t->place.last.ticks);
}

static void take_event(struct swz_live *live, struct live_process *p,
		       struct live_thread *t)
{
	const struct swz_event_word *word = &t->next;

	if (word->kind == SWZ_EVENT_ENTER || word->kind == SWZ_EVENT_RESUME ||
	    word->kind == SWZ_EVENT_JUMP)
		begin_call(live, p, t, word);
	else if (word->kind <= SWZ_EVENT_SUSPEND)
		end_call(live, p, t, word);
	t->has_next = false;
	next_event(live, p, t);
}

/* --- snapshots ----------------------------------------------------------- */

static struct live_thread *thread_of(struct live_process *p, uint32_t index)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->threads[i].index == index)
			return &p->threads[i];
	swz_grow(&p->threads, &p->capacity, p->count, sizeof(*p->threads));
	p->threads[p->count] = (struct live_thread){.index = index};
	return &p->threads[p->count++];
}

/* Events between the last one and the next were overwritten: what is open is
 * not known any more. */
static void forget_open(struct swz_live *live, struct live_process *p,
			struct live_thread *t)
{
	put_begun(live, p, t);
	if (t->depth)
		fprintf(live->stream,
			"# thread %" PRId32
			": calls are missing here, which --ring overwrote\n",
			t->thread->record.tid);
	t->depth = t->visible = 0;
}

static void open_thread(struct swz_live *live, struct live_process *p,
			const struct swz_profile_thread *thread)
{
	struct live_thread *t = thread_of(p, thread->index);

	t->thread = thread;
	if (t->done || !thread->event_chunk_count ||
	    !swz_trace_wants(live->trace, thread))
		return;
	if (t->place.last.unit && t->place.lost)
		forget_open(live, p, t);
	t->events = swz_new_events_open(p->profile, thread, &t->place,
					p->until);
	t->values = swz_values_open(p->profile, thread);
	swz_values_skip(t->values, t->place.last.ticks);
	next_event(live, p, t);
	if (!t->has_next) {
		t->done = thread->record.end_ticks &&
			  thread->record.end_ticks < p->until &&
			  !swz_new_events_wait(t->events);
		return;
	}
	if (!swz_view_is_whole(live->trace->view))
		t->shown = swz_view_units(live->trace->view, &p->binding,
					  thread);
}

static void close_snapshot(struct swz_live *live, struct live_process *p)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct live_thread *t = &p->threads[i];

		/* it goes on: whoever looks wants to see it */
		if (t->events)
			put_begun(live, p, t);
		swz_new_events_close(t->events);
		swz_values_close(t->values);
		swz_unit_set_free(&t->shown);
		t->events = NULL;
		t->values = NULL;
		t->shown = (struct swz_unit_set){0};
		t->thread = NULL;
	}
	if (p->profile && p->profile != p->names)
		swz_profile_free(p->profile);
	p->profile = NULL;
	p->binding.profile = p->names;
}

static void keep_bound(struct swz_live *live, struct swz_profile *profile)
{
	swz_grow(&live->bound, &live->bound_capacity, live->bound_count,
		 sizeof(struct swz_profile *));
	live->bound[live->bound_count++] = profile;
}

/* Numbers of functions and modules are those of the profile that was bound, as
 * long as none has come. */
static void bind(struct swz_live *live, struct live_process *p)
{
	const struct swz_profile *names = p->names;

	if (!names || names->function_count != p->profile->function_count ||
	    names->module_count != p->profile->module_count) {
		swz_binding_free(&p->binding);
		if (names)
			keep_bound(live, p->names);
		p->names = p->profile;
		swz_catalog_bind(&p->binding, live->catalog, p->profile);
	}
	p->binding.profile = p->profile;
	if (live->trace->origin == UINT64_MAX)
		live->trace->origin = swz_profile_origin(p->profile);
}

static void refuse(struct live_process *p, const char *why)
{
	p->refused = swz_duplicate(why);
	p->is_done = true;
}

static void open_snapshot(struct swz_live *live, struct live_process *p,
			  uint64_t until)
{
	struct swz_error error;
	size_t i;

	if (swz_profile_read(p->path, &p->profile, &error) != SWZ_OK) {
		refuse(p, error.text);
		return;
	}
	if (!swz_profile_traced(p->profile))
		refuse(p, "not a trace (swizzle-run --mode trace)");
	else if (p->profile->header.flags & SWZ_FILE_SLOW)
		refuse(p, "of a trace with --slow no calls can be followed: "
			  "which are kept is known at their end");
	if (p->refused || !p->profile->thread_count ||
	    !p->profile->function_count) {
		swz_profile_free(p->profile);
		p->profile = NULL;
		return;
	}
	swz_type_rules_apply(p->profile, live->config);
	/* all of it is there, as it was found before the rest was read */
	if (!p->profile->written) {
		p->is_done = true;
		until = UINT64_MAX;
	}
	p->until = until;
	bind(live, p);
	if (!p->is_found) {
		fprintf(live->stream, "# %s, process %" PRId32 "\n",
			swz_base_name(p->profile->executable),
			p->profile->header.pid);
		p->is_found = true;
	}
	for (i = 0; i < p->profile->thread_count; i++)
		open_thread(live, p, &p->profile->threads[i]);
}

/* An event of a process that has ended does not wait: it is not read again. */
static bool is_next(const struct swz_live *live, const struct live_process *p,
		    const struct live_thread *t)
{
	return t->has_next && t->events &&
	       (t->next.ticks <= live->until || p->is_done);
}

/* The thread with the earliest event; SECOND: the time of the next one. */
static struct live_thread *earliest(struct swz_live *live,
				    struct live_process **process,
				    uint64_t *second)
{
	struct live_thread *first = NULL;
	size_t i, j;

	*second = UINT64_MAX;
	for (i = 0; i < live->count; i++)
		for (j = 0; j < live->processes[i].count; j++) {
			struct live_thread *t = &live->processes[i].threads[j];

			if (!is_next(live, &live->processes[i], t))
				continue;
			if (first && t->next.ticks >= first->next.ticks) {
				if (t->next.ticks < *second)
					*second = t->next.ticks;
				continue;
			}
			if (first)
				*second = first->next.ticks;
			first = t;
			*process = &live->processes[i];
		}
	return first;
}

void swz_live_read(struct swz_live *live, bool last)
{
	uint64_t until = __builtin_ia32_rdtsc() - SETTLED_TICKS, second;
	struct live_process *p = NULL;
	struct live_thread *t;
	size_t i;

	live->until = UINT64_MAX;
	for (i = 0; i < live->count; i++) {
		if (!live->processes[i].is_done)
			open_snapshot(live, &live->processes[i],
				      last ? UINT64_MAX : until);
		live->processes[i].is_done |= last;
	}
	while (!ferror(live->stream) &&
	       (t = earliest(live, &p, &second)) != NULL) {
		do
			take_event(live, p, t);
		while (is_next(live, p, t) && t->next.ticks <= second &&
		       !ferror(live->stream));
	}
	for (i = 0; i < live->count; i++)
		if (live->processes[i].profile)
			close_snapshot(live, &live->processes[i]);
	fflush(live->stream);
}

bool swz_live_goes_on(const struct swz_live *live)
{
	size_t i;

	for (i = 0; i < live->count; i++)
		if (!live->processes[i].is_done)
			return true;
	return false;
}

size_t swz_live_found(const struct swz_live *live, const char **name,
		      const char **reason)
{
	size_t found = 0, i;

	*name = *reason = NULL;
	for (i = 0; i < live->count; i++) {
		found += live->processes[i].is_found;
		if (!live->processes[i].refused)
			continue;
		*name = live->processes[i].path;
		*reason = live->processes[i].refused;
	}
	return found;
}

static void free_thread(struct live_thread *t)
{
	size_t i;

	for (i = 0; i < t->used; i++)
		swz_pointed_free(&t->open[i].before);
	free(t->open);
	swz_text_free(&t->begun);
}

void swz_live_free(struct swz_live *live)
{
	size_t i, j;

	for (i = 0; i < live->count; i++) {
		struct live_process *p = &live->processes[i];

		for (j = 0; j < p->count; j++)
			free_thread(&p->threads[j]);
		free(p->threads);
		swz_binding_free(&p->binding);
		swz_profile_free(p->names);
		free(p->path);
		free(p->refused);
	}
	for (i = 0; i < live->bound_count; i++)
		swz_profile_free(live->bound[i]);
	free(live->bound);
	free(live->processes);
	swz_call_end_free(&live->end);
	free(live);
}
