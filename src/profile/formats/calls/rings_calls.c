/* The trace is read twice: first for sums, by which functions are chosen, then
 * for the calls of those. A call becomes a part of a ring; calls that fall on
 * the same pixels become one segment, so memory goes by pixels. */

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/costs/trace.h"
#include "profile/formats/calls/calls.h"
#include "profile/names/value_print.h"

/* --- paths --------------------------------------------------------------- */

/* The path that a call has taken: the set of functions that it has called, or
 * the class of its arguments. */

/* Paths as texts for people, and as keys that tell them apart. */

/* A path with so many callees is one of many, whichever they are. */
#define SWZ_RINGS_MOST_CALLEES 32u
#define MOST_TEXT 160u /* bytes of a path */
#define MOST_VALUE 32u /* bytes of an argument's text */
#define MANY UINT64_C(0x6d616e79)

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* "calls a, b" in place of what the text was.
 * "calls a, b" in the order of the first such call. */
static void rings_print_callees(struct swz_text *text,
				const struct swz_catalog *catalog,
				const uint32_t *callees, uint32_t count)
{
	uint32_t i;

	swz_text_clear(text);
	swz_text_put(text, count ? "calls " : "calls nothing");
	if (count == SWZ_RINGS_MOST_CALLEES) {
		swz_text_put(text, "%u functions or more",
			     SWZ_RINGS_MOST_CALLEES);
		return;
	}
	for (i = 0; i < count; i++) {
		if (text->size > MOST_TEXT) {
			swz_text_put(text, ", ... (%u functions)", count);
			return;
		}
		swz_text_put(text, "%s%s", i ? ", " : "",
			     catalog->functions[callees[i]].name);
	}
}

/* The same for callees in any order.
 * The order of calls does not matter. */
static uint64_t rings_callees_key(const uint32_t *callees, uint32_t count)
{
	uint64_t key = 0;
	uint32_t i;

	if (count == SWZ_RINGS_MOST_CALLEES)
		return MANY;
	for (i = 0; i < count; i++)
		key += mix((uint64_t)callees[i] + 1);
	return key;
}

/* Numbers and addresses are shown by their sign; texts, names of enums and the
 * like as they are. */
static void print_class(struct swz_text *text, const char *value)
{
	if (*value == '-' && isdigit((unsigned char)value[1]))
		swz_text_put(text, " < 0");
	else if (isdigit((unsigned char)*value))
		swz_text_put(text,
			     value[strspn(value, "0x.")] ? " > 0" : " = 0");
	else if (strlen(value) > MOST_VALUE)
		swz_text_put(text, " = %.*s...", (int)MOST_VALUE, value);
	else
		swz_text_put(text, " = %s", value);
}

/* Adds "n > 0, name = x". */
static void put_arguments(struct swz_text *text, struct swz_binding *binding,
			  const struct swz_call_values *values)
{
	struct swz_text value = {0};
	size_t i;

	for (i = 0; i < values->count && text->size <= MOST_TEXT; i++) {
		swz_text_put(text, "%s%s%s", i ? ", " : "",
			     values->values[i].pointed ? "*" : "",
			     values->values[i].name);
		swz_text_clear(&value);
		swz_value_print_of(&value, binding, values, &values->values[i]);
		print_class(text, value.text ? value.text : "");
	}
	if (i < values->count)
		swz_text_put(text, ", ...");
	swz_text_free(&value);
}

/* The arguments of an event that begins a call, in place of what the text was.
 * READER: NULL where the trace has no values. */
static void rings_print_arguments(struct swz_text *text,
				  struct swz_binding *binding,
				  struct swz_value_reader *reader,
				  const struct swz_event *event)
{
	struct swz_call_values values;

	swz_text_clear(text);
	if (!swz_values_of(reader, event, &values) || !values.count)
		swz_text_put(text, "arguments not recorded");
	else
		put_arguments(text, binding, &values);
}

static uint64_t rings_text_key(const char *text)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return key;
}

/* --- segments ------------------------------------------------------------ */

/* The segments of rings. Calls that begin on the same pixel, end on the same
 * pixel and are equally thick are one segment, which has the colour of the
 * longest. */

#define MOST_PATHS 255u

uint32_t swz_rings_path(struct swz_rings *rings, uint32_t ring, uint64_t key)
{
	struct swz_rings_ring *to = &rings->rings[ring];
	uint32_t found = swz_map_get(&rings->path_map, key, ring);

	if (found != SWZ_MAP_NONE)
		return found;
	/* the last one is of all others, and forgets their keys */
	if (to->path_count > MOST_PATHS)
		return MOST_PATHS;
	swz_grow(&to->paths, &to->path_capacity, to->path_count,
		 sizeof(*to->paths));
	to->paths[to->path_count] = (struct swz_rings_path){0};
	if (to->path_count < MOST_PATHS)
		*swz_map_at(&rings->path_map, key,
			    ring) = (uint32_t)to->path_count;
	else
		to->paths[to->path_count].text = swz_duplicate("other paths");
	return (uint32_t)to->path_count++;
}

static uint64_t step_of(const struct swz_rings *rings, int64_t at)
{
	double part = (double)(at - rings->begin) /
		      (double)(rings->end - rings->begin);

	return part <= 0   ? 0
	       : part >= 1 ? SWZ_RINGS_STEPS - 1
			   : (uint64_t)(part * SWZ_RINGS_STEPS);
}

/* Adds a call of a ring. */
static void rings_add(struct swz_rings *rings, uint32_t ring,
		      const struct swz_rings_segment *call)
{
	struct swz_rings_ring *to = &rings->rings[ring];
	uint64_t place = step_of(rings, call->from) << 32 |
			 step_of(rings, call->to);
	uint64_t kind = (uint64_t)ring << 8 | call->level;
	uint32_t found = swz_map_get(&rings->segment_map, place, kind);
	struct swz_rings_segment *segment;

	to->paths[call->path].calls++;
	if (found == SWZ_MAP_NONE) {
		if (to->segment_count == SWZ_RINGS_MOST_SEGMENTS) {
			to->left_out++;
			return;
		}
		swz_grow(&to->segments, &to->segment_capacity,
			 to->segment_count, sizeof(*to->segments));
		*swz_map_at(&rings->segment_map, place,
			    kind) = (uint32_t)to->segment_count;
		to->segments[to->segment_count++] = *call;
		return;
	}
	segment = &to->segments[found];
	segment->calls++;
	if (call->from < segment->from)
		segment->from = call->from;
	if (call->to > segment->to)
		segment->to = call->to;
	if (call->longest > segment->longest) {
		segment->longest = call->longest;
		segment->path = call->path;
		segment->depth = call->depth;
	}
}

/* Thin ones are drawn last, over the calls around them. */
static int compare_segments(const void *left, const void *right)
{
	const struct swz_rings_segment *a = left, *b = right;

	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

static void number_colours(struct swz_rings_ring *ring)
{
	size_t i, j;

	for (i = 0; i < ring->path_count; i++)
		for (j = 0; j < ring->path_count; j++)
			ring->paths[i].colour +=
				ring->paths[j].calls > ring->paths[i].calls ||
				(j < i &&
				 ring->paths[j].calls == ring->paths[i].calls);
}

/* Puts segments and paths in order. */
static void rings_sort(struct swz_rings *rings)
{
	size_t i;

	for (i = 0; i < rings->count; i++) {
		struct swz_rings_ring *ring = &rings->rings[i];

		if (ring->segment_count > 1)
			qsort(ring->segments, ring->segment_count,
			      sizeof(*ring->segments), compare_segments);
		number_colours(ring);
	}
}

/* --- the calls of a trace ------------------------------------------------ */

/* Reads the trace's calls. Both times frames are kept of the calls that are
 * open. */

#define SWZ_RINGS_NONE UINT32_MAX

struct frame {
	uint64_t start, inner; /* ticks; those of calls within it */
	int64_t tick;          /* by calls */
	uint32_t function;
	uint32_t height;  /* levels of calls within it, so far */
	uint32_t ring;    /* SWZ_RINGS_NONE: it is hidden */
	uint32_t nearest; /* the same, or that of the one around it */
	uint32_t path;    /* by arguments */
	uint32_t callee_count;
	uint32_t callees[SWZ_RINGS_MOST_CALLEES];
	struct swz_kept_values arguments; /* its bytes are used again */
};

struct reading {
	struct swz_rings *rings;
	struct swz_binding *binding;
	struct swz_value_reader *values;
	struct frame *frames;
	size_t depth, used, capacity;
	int64_t tick;
	bool again; /* the second time */
	struct swz_text text;
};

static struct swz_rings_sum *sum_of(struct swz_rings *rings, uint32_t function)
{
	size_t count = rings->trace->catalog->function_count, i;

	if (function >= rings->sum_count) {
		if (count <= function)
			count = (size_t)function + 1;
		rings->sums = swz_reallocate(rings->sums, count,
					     sizeof(*rings->sums));
		for (i = rings->sum_count; i < count; i++)
			rings->sums[i] = (struct swz_rings_sum){
				.ring = SWZ_RINGS_NONE};
		rings->sum_count = count;
	}
	return &rings->sums[function];
}

/* ------------------------------------------------------------------ paths */

static void name_path(struct reading *reading, uint32_t ring, uint32_t path)
{
	struct swz_rings_path *of = &reading->rings->rings[ring].paths[path];

	if (!of->text)
		of->text = swz_duplicate(reading->text.text);
}

static bool by_arguments(const struct reading *reading)
{
	return reading->rings->trace->rings->paths == SWZ_RINGS_ARGUMENTS;
}

/* A call that has called nothing took a path by what it returned; without a
 * result, by its arguments. False: neither was recorded. */
static bool leaf_path(struct reading *reading, const struct frame *frame,
		      const struct swz_event *event, uint32_t *path)
{
	const struct swz_value *result = NULL;
	struct swz_text value = {0};
	struct swz_call_values of;

	swz_text_clear(&reading->text);
	swz_text_put(&reading->text, "calls nothing, ");
	if (swz_values_of(reading->values, event, &of) && !of.exception)
		result = swz_value_result(&of);
	if (result) {
		swz_text_put(&reading->text, "returns");
		swz_text_clear(&value);
		swz_value_print_of(&value, reading->binding, &of, result);
		print_class(&reading->text, value.text);
		swz_text_free(&value);
	} else if (swz_values_of_kept(&frame->arguments, &of)) {
		put_arguments(&reading->text, reading->binding, &of);
	} else {
		return false;
	}
	*path = swz_rings_path(reading->rings, frame->ring,
			       rings_text_key(reading->text.text));
	name_path(reading, frame->ring, *path);
	return true;
}

static uint32_t path_of(struct reading *reading, const struct frame *frame,
			const struct swz_event *event)
{
	uint32_t path;

	if (by_arguments(reading))
		return frame->path;
	if (!frame->callee_count && leaf_path(reading, frame, event, &path))
		return path;
	path = swz_rings_path(
		reading->rings, frame->ring,
		rings_callees_key(frame->callees, frame->callee_count));
	if (!reading->rings->rings[frame->ring].paths[path].text) {
		rings_print_callees(&reading->text,
				    reading->rings->trace->catalog,
				    frame->callees, frame->callee_count);
		name_path(reading, frame->ring, path);
	}
	return path;
}

/* ------------------------------------------------------------------ events */

static void add_callee(struct frame *frame, uint32_t function)
{
	uint32_t i;

	for (i = 0; i < frame->callee_count; i++)
		if (frame->callees[i] == function)
			return;
	if (frame->callee_count < SWZ_RINGS_MOST_CALLEES)
		frame->callees[frame->callee_count++] = function;
}

static void add_edge(struct swz_rings *rings, uint32_t caller, uint32_t callee,
		     bool direct)
{
	uint32_t *found = swz_map_at(&rings->edge_map, caller, callee);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)rings->edge_count;
		swz_grow(&rings->edges, &rings->edge_capacity,
			 rings->edge_count, sizeof(*rings->edges));
		rings->edges[rings->edge_count++] = (struct swz_rings_edge){
			.caller = caller, .callee = callee};
	}
	rings->edges[*found].calls++;
	rings->edges[*found].direct += direct;
}

static void begin_call(struct reading *reading, const struct swz_event *event)
{
	struct swz_rings *rings = reading->rings;
	uint32_t function = swz_trace_function(reading->binding, event);
	struct swz_rings_sum *sum = sum_of(rings, function);
	struct frame *outer, *frame;

	if (reading->depth == reading->used) {
		swz_grow(&reading->frames, &reading->capacity, reading->used,
			 sizeof(*reading->frames));
		reading->frames[reading->used++] = (struct frame){0};
	}
	outer = reading->depth ? &reading->frames[reading->depth - 1] : NULL;
	frame = &reading->frames[reading->depth++];
	frame->start = event->ticks;
	frame->inner = 0;
	frame->tick = reading->tick;
	frame->function = function;
	frame->height = 0;
	frame->callee_count = 0;
	frame->ring = sum->ring;
	frame->nearest = frame->ring != SWZ_RINGS_NONE ? frame->ring
			 : outer                       ? outer->nearest
						       : SWZ_RINGS_NONE;
	sum->open++;
	if (!SWZ_CATALOG_IS_REAL(function))
		return;
	reading->tick++;
	if (!reading->again)
		return;
	if (reading->values && !by_arguments(reading))
		swz_values_keep(reading->values, event, &frame->arguments);
	if (outer)
		add_callee(outer, function);
	if (frame->ring == SWZ_RINGS_NONE)
		return;
	if (outer && outer->nearest != SWZ_RINGS_NONE)
		add_edge(rings, outer->nearest, frame->ring,
			 outer->ring != SWZ_RINGS_NONE);
	if (by_arguments(reading)) {
		rings_print_arguments(&reading->text, reading->binding,
				      reading->values, event);
		frame->path = swz_rings_path(
			rings, frame->ring, rings_text_key(reading->text.text));
		name_path(reading, frame->ring, frame->path);
	}
}

static void note_time(struct swz_rings *rings, int64_t ns)
{
	if (ns < rings->first)
		rings->first = ns;
	if (ns > rings->last)
		rings->last = ns;
}

static void add_sum(struct reading *reading, const struct frame *frame,
		    const struct swz_event *event)
{
	struct swz_rings *rings = reading->rings;
	struct swz_rings_sum *sum = sum_of(rings, frame->function);
	uint64_t ticks = event->ticks - frame->start;
	const struct swz_profile *profile = reading->binding->profile;
	int64_t self = swz_profile_ns(profile, (int64_t)(ticks - frame->inner));

	sum->calls++;
	sum->self_ns += self;
	/* (recursive calls are within the outermost) */
	if (!sum->open)
		sum->inclusive_ns += swz_profile_ns(profile, (int64_t)ticks);
	if (frame->height > sum->depth)
		sum->depth = frame->height;
	if (!rings->calls++)
		rings->first = INT64_MAX;
	rings->self_ns += self;
	note_time(rings,
		  swz_trace_ns(rings->trace, reading->binding, frame->start));
	note_time(rings,
		  swz_trace_ns(rings->trace, reading->binding, event->ticks));
}

static void add_segment(struct reading *reading, const struct frame *frame,
			const struct swz_event *event)
{
	struct swz_rings *rings = reading->rings;
	struct swz_rings_segment call = {
		.from = frame->tick,
		.to = reading->tick,
		.calls = 1,
		.path = path_of(reading, frame, event),
		.depth = frame->height,
		.level = frame->height,
	};

	if (rings->trace->rings->clock == SWZ_RINGS_TIME) {
		call.from = swz_trace_ns(rings->trace, reading->binding,
					 frame->start);
		call.to = swz_trace_ns(rings->trace, reading->binding,
				       event->ticks);
	}
	call.longest = call.to - call.from;
	if (rings->most_depth >= SWZ_RINGS_LEVELS)
		call.level = (uint32_t)((uint64_t)call.depth *
					(SWZ_RINGS_LEVELS - 1) /
					rings->most_depth);
	rings_add(rings, frame->ring, &call);
}

static void end_call(struct reading *reading, const struct swz_event *event)
{
	struct frame *frame, *outer;

	if (!reading->depth)
		return;
	frame = &reading->frames[--reading->depth];
	outer = reading->depth ? frame - 1 : NULL;
	sum_of(reading->rings, frame->function)->open--;
	if (outer)
		outer->inner += event->ticks - frame->start;
	if (!SWZ_CATALOG_IS_REAL(frame->function))
		return;
	if (outer && outer->height <= frame->height)
		outer->height = frame->height + 1;
	if (!reading->again)
		add_sum(reading, frame, event);
	else if (frame->ring != SWZ_RINGS_NONE)
		add_segment(reading, frame, event);
}

static void read_thread(struct reading *reading, FILE *stream,
			struct swz_binding *binding,
			const struct swz_profile_thread *thread)
{
	struct swz_trace *trace = reading->rings->trace;
	struct swz_events *events = swz_trace_open(trace, binding, thread);
	struct swz_event event;

	reading->binding = binding;
	reading->depth = 0;
	if (reading->again)
		reading->values = swz_values_open(binding->profile, thread);
	while (swz_trace_next(stream, trace, events, &event)) {
		if (event.begins)
			begin_call(reading, &event);
		else
			end_call(reading, &event);
	}
	swz_values_close(reading->values);
	reading->values = NULL;
	swz_trace_close(trace, events, thread);
}

static void read_all(struct swz_rings *rings, FILE *stream, bool again)
{
	struct swz_trace *trace = rings->trace;
	struct reading reading = {.rings = rings, .again = again};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				read_thread(&reading, stream, binding,
					    &binding->profile->threads[j]);
	}
	for (i = 0; i < reading.used; i++)
		swz_kept_values_free(&reading.frames[i].arguments);
	free(reading.frames);
	swz_text_free(&reading.text);
}

/* ------------------------------------------------------------------ choice */

static int hottest_first(const void *left, const void *right)
{
	const struct swz_rings_ring *a = left, *b = right;

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static void choose(struct swz_rings *rings)
{
	size_t i, capacity = 0, rows = rings->trace->rings->rows;

	for (i = 0; i < rings->sum_count; i++) {
		const struct swz_rings_sum *sum = &rings->sums[i];

		if (!sum->calls)
			continue;
		swz_grow(&rings->rings, &capacity, rings->count,
			 sizeof(*rings->rings));
		rings->rings[rings->count++] = (struct swz_rings_ring){
			.function = (uint32_t)i,
			.calls = sum->calls,
			.self_ns = sum->self_ns,
			.inclusive_ns = sum->inclusive_ns,
		};
	}
	rings->present = rings->count;
	if (rings->count > 1)
		qsort(rings->rings, rings->count, sizeof(*rings->rings),
		      hottest_first);
	if (rows && rings->count > rows)
		rings->count = rows;
	for (i = 0; i < rings->count; i++) {
		struct swz_rings_sum *sum =
			&rings->sums[rings->rings[i].function];

		sum->ring = (uint32_t)i;
		if (sum->depth > rings->most_depth)
			rings->most_depth = sum->depth;
	}
}

static void set_clock(struct swz_rings *rings)
{
	const struct swz_trace *trace = rings->trace;
	size_t i, j;

	rings->begin = 0;
	rings->end = (int64_t)rings->calls;
	if (trace->rings->clock == SWZ_RINGS_TIME) {
		rings->begin = INT64_MAX;
		rings->end = INT64_MIN;
	}
	for (i = 0; trace->rings->clock == SWZ_RINGS_TIME && i < trace->count;
	     i++) {
		const struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&binding->profile->threads[j];
			int64_t begin, end;

			if (!swz_trace_wants(trace, thread))
				continue;
			begin = swz_trace_begin(trace, binding, thread);
			end = swz_trace_end(trace, binding, thread);
			if (begin < rings->begin)
				rings->begin = begin;
			if (end > rings->end)
				rings->end = end;
		}
	}
	/* -F: the calls that there are fill it */
	if (trace->rings->clock == SWZ_RINGS_TIME && trace->view->only.count &&
	    rings->calls) {
		rings->begin = rings->first;
		rings->end = rings->last;
	}
	if (rings->begin == INT64_MAX)
		rings->begin = rings->end = 0;
	if (rings->end <= rings->begin)
		rings->end = rings->begin + 1;
}

void swz_rings_collect(struct swz_rings *rings, FILE *stream,
		       struct swz_trace *trace)
{
	size_t i;

	*rings = (struct swz_rings){.trace = trace};
	read_all(rings, stream, false);
	choose(rings);
	set_clock(rings);
	/* what is left out is counted once */
	trace->choice.calls = trace->choice.left_out = 0;
	trace->choice.counter = 0;
	trace->choice.rules.left_out = trace->choice.rules.undecided = 0;
	for (i = 0; i < rings->sum_count; i++)
		rings->sums[i].open = 0;
	read_all(rings, stream, true);
	rings_sort(rings);
}

void swz_rings_free(struct swz_rings *rings)
{
	size_t i, j;

	for (i = 0; i < rings->count; i++) {
		for (j = 0; j < rings->rings[i].path_count; j++)
			free(rings->rings[i].paths[j].text);
		free(rings->rings[i].paths);
		free(rings->rings[i].segments);
	}
	free(rings->rings);
	free(rings->edges);
	free(rings->sums);
	swz_map_free(&rings->path_map);
	swz_map_free(&rings->segment_map);
	swz_map_free(&rings->edge_map);
}
