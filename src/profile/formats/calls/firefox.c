/* The Firefox Profiler's processed format, version 58 (its CHANGELOG-formats.md
 * and the types of its sources): JSON in which each table is an object of
 * columns. Strings, libraries and files are shared by all threads and written
 * last; each thread has tables of its own for functions, frames and stacks.
 *
 * Weights are milliseconds ("tracing-ms"), so that sums are those of the other
 * formats. A sample's weight is its part of the running time of its context,
 * which all samples there share evenly. A trace has a sample for each piece of
 * time between two events; what it did not run there is taken out. Waits, marks
 * and flows are markers.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "profile/costs/report.h"
#include "profile/costs/trace.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"
#include "util/memory.h"
#include "util/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

enum { FORMAT_VERSION = 58, GECKO_VERSION = 31 };

#define NONE UINT32_MAX

/* Categories, in the order in which they are written. */
enum { OTHER, RUNNING, WAITING };

/* Phases of markers, as the format numbers them. */
enum { INSTANT, INTERVAL };

enum marker_kind { MARKER_WAIT, MARKER_MARK, MARKER_WAKES, MARKER_WOKEN };

struct numbers {
	uint32_t *items;
	size_t count, capacity;
};

struct times {
	int64_t *items;
	size_t count, capacity;
};

/* A marker: of an instant TO is FROM. */
struct marker {
	enum marker_kind kind;
	int64_t from, to;
	uint32_t text;  /* a string */
	uint32_t stack; /* NONE: it has none */
	uint32_t flow;  /* a string */
};

struct writing {
	struct swz_json json;
	struct swz_trace *trace;
	/* shared: */
	struct swz_intern strings;
	struct swz_map string_numbers;
	const char **texts;
	size_t text_count, text_capacity;
	struct swz_map lib_numbers; /* modules */
	struct numbers libs;
	struct swz_map source_numbers; /* strings */
	struct numbers sources;
	/* of the thread: */
	struct swz_map function_numbers;      /* of the catalog */
	struct swz_map frame_numbers;         /* (function, category) */
	struct swz_map stack_numbers;         /* (prefix + 1, frame) */
	struct swz_map resource_numbers;      /* modules */
	struct numbers functions;             /* of the catalog */
	struct numbers resources;             /* modules */
	struct numbers frame_of, category_of; /* columns of frames */
	struct numbers prefixes, frames;      /* columns of stacks */
	struct numbers stacks;                /* columns of samples */
	struct times at, weights;
	struct marker *markers;
	size_t marker_count, marker_capacity;
};

static void add_number(struct numbers *to, uint32_t number)
{
	swz_grow(&to->items, &to->capacity, to->count, sizeof(*to->items));
	to->items[to->count++] = number;
}

static void add_time(struct times *to, int64_t ns)
{
	swz_grow(&to->items, &to->capacity, to->count, sizeof(*to->items));
	to->items[to->count++] = ns;
}

/* --- tables -------------------------------------------------------------- */

/* The number of (a, b) in a table; from 0. */
static uint32_t number_of(struct swz_map *map, uint64_t a, uint64_t b,
			  bool *is_new)
{
	uint32_t next = (uint32_t)map->count;
	uint32_t *found = swz_map_at(map, a, b);

	*is_new = *found == SWZ_MAP_NONE;
	if (*is_new)
		*found = next;
	return *found;
}

static uint32_t string_of(struct writing *w, const char *text)
{
	const char *interned = swz_intern(&w->strings, text);
	bool is_new;
	uint32_t number = number_of(&w->string_numbers, (uintptr_t)interned, 0,
				    &is_new);

	if (is_new) {
		swz_grow(&w->texts, &w->text_capacity, w->text_count,
			 sizeof(*w->texts));
		w->texts[w->text_count++] = interned;
	}
	return number;
}

/* A module in the thread's list, and in the list of all. */
static uint32_t resource_of(struct writing *w, uint32_t module)
{
	bool is_new;
	uint32_t number = number_of(&w->resource_numbers, module, 0, &is_new);

	if (!is_new)
		return number;
	add_number(&w->resources, module);
	(void)number_of(&w->lib_numbers, module, 0, &is_new);
	if (is_new)
		add_number(&w->libs, module);
	return number;
}

static uint32_t source_of(struct writing *w, const char *file)
{
	uint32_t string = string_of(w, file);
	bool is_new;
	uint32_t number = number_of(&w->source_numbers, string, 0, &is_new);

	if (is_new)
		add_number(&w->sources, string);
	return number;
}

static uint32_t frame_of(struct writing *w, uint32_t function,
			 uint32_t category)
{
	bool is_new;
	uint32_t number = number_of(&w->function_numbers, function, 0, &is_new);
	uint32_t frame;

	if (is_new)
		add_number(&w->functions, function);
	frame = number_of(&w->frame_numbers, number, category, &is_new);
	if (is_new) {
		add_number(&w->frame_of, number);
		add_number(&w->category_of, category);
	}
	return frame;
}

/* PREFIX: the caller's stack, or NONE. */
static uint32_t stack_of(struct writing *w, uint32_t prefix, uint32_t function,
			 uint32_t category)
{
	uint32_t frame = frame_of(w, function, category);
	bool is_new;
	uint32_t number = number_of(&w->stack_numbers, (uint64_t)prefix, frame,
				    &is_new);

	if (is_new) {
		add_number(&w->prefixes, prefix);
		add_number(&w->frames, frame);
	}
	return number;
}

static void add_sample(struct writing *w, uint32_t stack, int64_t ns,
		       int64_t weight_ns)
{
	add_number(&w->stacks, stack);
	add_time(&w->at, ns);
	add_time(&w->weights, weight_ns);
}

/* --- markers ------------------------------------------------------------- */

static struct marker *add_marker(struct writing *w, enum marker_kind kind,
				 int64_t from, int64_t to, const char *text)
{
	struct marker *marker;

	swz_grow(&w->markers, &w->marker_capacity, w->marker_count,
		 sizeof(*w->markers));
	marker = &w->markers[w->marker_count++];
	*marker = (struct marker){.kind = kind,
				  .from = from,
				  .to = to,
				  .text = string_of(w, text),
				  .stack = NONE,
				  .flow = NONE};
	return marker;
}

static void add_marks(struct writing *w, struct swz_binding *binding,
		      const struct swz_profile_thread *thread)
{
	const struct swz_profile_mark *mark;
	struct swz_trace_marks marks;

	swz_trace_marks_begin(&marks, w->trace, binding->profile, thread);
	while ((mark = swz_trace_marks_next(&marks, marks.to))) {
		int64_t ns = swz_trace_ns(w->trace, binding, mark->ticks);
		char *text = swz_mark_text(mark);

		add_marker(w, MARKER_MARK, ns, ns, text);
		free(text);
	}
}

static void add_flows(struct writing *w, struct swz_binding *binding,
		      const struct swz_profile_thread *thread)
{
	struct swz_trace_flows flows;
	const struct swz_flow *flow;
	bool is_to;

	swz_trace_flows_begin(&flows, w->trace, binding, thread);
	while ((flow = swz_trace_flows_next(&flows, flows.to, &is_to))) {
		char *other = swz_trace_flow_text(w->trace, is_to ? &flow->from
								  : &flow->to);
		int64_t ns = swz_trace_ns(w->trace, binding,
					  is_to ? flow->to.ticks
						: flow->from.ticks);
		char *id = swz_print("flow %" PRIu64,
				     swz_trace_flow_id(w->trace, flow));

		add_marker(w, is_to ? MARKER_WOKEN : MARKER_WAKES, ns, ns,
			   other)
			->flow = string_of(w, id);
		free(id);
		free(other);
	}
}

/* --- a trace's events ---------------------------------------------------- */

struct stacks {
	struct writing *w;
	struct swz_binding *binding;
	struct numbers open; /* stacks, the outermost first */
	int64_t from;        /* when the piece of time began, ... */
	int64_t off_ns;      /* ... of which it did not run so long */
	bool knows_waiting;  /* else all of it counts, as in sums */
};

static uint32_t innermost(const struct stacks *s)
{
	return s->open.count ? s->open.items[s->open.count - 1] : NONE;
}

/* A piece without a call is time outside of all that is recorded. */
static void end_piece(struct stacks *s, int64_t to)
{
	int64_t ns = to - s->from - s->off_ns;

	if (to > s->from)
		add_sample(s->w, innermost(s), s->from, ns > 0 ? ns : 0);
	s->from = to;
	s->off_ns = 0;
}

static void add_off(struct stacks *s, struct swz_trace_off *off, uint64_t until)
{
	struct swz_off_time time;

	while (swz_trace_off_next(off, until, &time)) {
		int64_t from = swz_trace_ns(s->w->trace, s->binding, time.from);
		int64_t to = swz_trace_ns(s->w->trace, s->binding, time.to);

		add_marker(s->w, MARKER_WAIT, from, to,
			   swz_trace_off_name(&time))
			->stack = innermost(s);
		if (s->knows_waiting)
			s->off_ns += to - from;
	}
}

static bool knows_waiting(const struct writing *w, struct swz_binding *binding,
			  const struct swz_profile_thread *thread)
{
	struct swz_tree tree;
	bool knows;

	swz_tree_build_range(&tree, binding->profile, thread, false,
			     &w->trace->range);
	knows = tree.knows_waiting;
	swz_tree_free(&tree);
	return knows;
}

static void add_events(struct writing *w, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(w->trace, binding, thread);
	struct stacks s = {.w = w,
			   .binding = binding,
			   .knows_waiting = knows_waiting(w, binding, thread),
			   .from = swz_trace_begin(w->trace, binding, thread)};
	struct swz_trace_off off;
	struct swz_event event;

	swz_trace_off_begin(&off, w->trace, thread);
	while (swz_trace_next(w->json.stream, w->trace, events, &event)) {
		add_off(&s, &off, event.ticks);
		end_piece(&s, swz_trace_ns(w->trace, binding, event.ticks));
		if (event.begins)
			add_number(&s.open,
				   stack_of(w, innermost(&s),
					    swz_trace_function(binding, &event),
					    RUNNING));
		else if (s.open.count)
			s.open.count--;
	}
	add_off(&s, &off, off.end);
	end_piece(&s, swz_trace_end(w->trace, binding, thread));
	swz_trace_close(w->trace, events, thread);
	free(s.open.items);
}

/* --- samples with times -------------------------------------------------- */

/* A context's running time, and the samples that share it. */
struct shared {
	int64_t self_ns;
	uint64_t count, given;
};

struct sampled {
	struct swz_tree tree;
	struct swz_map contexts; /* units to contexts of the tree */
	struct shared *shared;   /* by context */
};

static void begin_sampled(struct sampled *s, struct swz_binding *binding,
			  const struct swz_profile_thread *thread,
			  const struct swz_profile_sample *samples,
			  size_t count)
{
	struct swz_report report = {.without_edges = true};
	size_t i;

	*s = (struct sampled){0};
	swz_tree_build(&s->tree, binding->profile, thread, false);
	swz_report_add(&report, binding, &s->tree);
	swz_report_free(&report);
	s->shared = swz_allocate(s->tree.count, sizeof(*s->shared));
	for (i = 0; i < s->tree.count; i++) {
		const struct swz_tree_node *node = &s->tree.nodes[i];
		/* (what hit a function's line has the function's time) */
		uint32_t at = node->flags & SWZ_NODE_HIT
				      ? s->tree.nodes[node->parent].context
				      : node->context;

		*swz_map_at(&s->contexts, node->unit, 0) = at;
		if (node->context == i)
			s->shared[at].self_ns = swz_add(s->shared[at].self_ns,
							node->self_ns);
	}
	for (i = 0; i < count; i++) {
		uint32_t *at = swz_map_at(
			&s->contexts,
			swz_sample_context(binding->profile, &samples[i]), 0);

		if (*at < s->tree.count && !samples[i].waiting)
			s->shared[*at].count++;
	}
}

static void end_sampled(struct sampled *s)
{
	swz_map_free(&s->contexts);
	swz_tree_free(&s->tree);
	free(s->shared);
}

/* The next sample's part: all parts of a context add up to its time. */
static int64_t weight_of(struct sampled *s, const struct swz_profile *profile,
			 const struct swz_profile_sample *sample)
{
	uint32_t *at = swz_map_at(&s->contexts,
				  swz_sample_context(profile, sample), 0);
	struct shared *shared;
	int64_t before;

	if (sample->waiting || *at >= s->tree.count)
		return 0;
	shared = &s->shared[*at];
	before = (int64_t)((__int128)shared->self_ns * (int64_t)shared->given /
			   (int64_t)shared->count);
	shared->given++;
	return (int64_t)((__int128)shared->self_ns * (int64_t)shared->given /
			 (int64_t)shared->count) -
	       before;
}

/* A wait until the next sample is a marker; it goes on while the stack
 * stays the same. */
static void add_wait(struct writing *w, uint32_t stack, int64_t from,
		     int64_t to, uint32_t function)
{
	struct marker *last = w->marker_count ? &w->markers[w->marker_count - 1]
					      : NULL;

	if (last && last->kind == MARKER_WAIT && last->stack == stack &&
	    last->to == from)
		last->to = to;
	else
		add_marker(
			w, MARKER_WAIT, from, to,
			function == NONE
				? "waits"
				: w->trace->catalog->functions[function].name)
			->stack = stack;
}

static void add_samples(struct writing *w, struct swz_binding *binding,
			const struct swz_profile_thread *thread)
{
	struct swz_unit_set shown = swz_view_units(w->trace->view, binding,
						   thread);
	uint64_t apart = swz_samples_apart(binding->profile, thread, true);
	uint32_t *path = NULL;
	size_t capacity = 0, count, i;
	struct swz_profile_sample *samples = swz_samples_read(binding->profile,
							      thread, &count);
	struct sampled sampled;

	begin_sampled(&sampled, binding, thread, samples, count);
	for (i = 0; i < count; i++) {
		const struct swz_profile_sample *sample = &samples[i];
		int64_t weight = weight_of(&sampled, binding->profile, sample);
		int64_t ns = swz_trace_ns(w->trace, binding, sample->ticks);
		size_t length = swz_sample_frames(binding->profile, thread,
						  &shown, sample, &path,
						  &capacity);
		uint32_t stack = NONE, function = NONE;
		uint64_t until = sample->ticks + apart;

		if (sample->ticks < w->trace->range.from ||
		    sample->ticks >= w->trace->range.to ||
		    (shown.bits && !length))
			continue;
		while (length--) {
			function = swz_sample_function(binding, path[length]);
			stack = stack_of(w, stack, function,
					 sample->waiting && !length ? WAITING
								    : RUNNING);
		}
		add_sample(w, stack, ns, weight);
		if (!sample->waiting)
			continue;
		if (i + 1 < count && samples[i + 1].ticks < until)
			until = samples[i + 1].ticks;
		add_wait(w, stack, ns, swz_trace_ns(w->trace, binding, until),
			 function);
	}
	end_sampled(&sampled);
	swz_unit_set_free(&shown);
	free(samples);
	free(path);
}

/* --- JSON ---------------------------------------------------------------- */

/* Times are milliseconds, with all digits of the ns. */
static void put_ms(struct swz_json *json, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	swz_json_key(json, key);
	fprintf(json->stream, "%s%" PRIu64 ".%06" PRIu64, ns < 0 ? "-" : "",
		size / 1000000, size % 1000000);
}

static void put_number(struct swz_json *json, uint32_t number)
{
	if (number == NONE)
		swz_json_null(json, NULL);
	else
		swz_json_integer(json, NULL, number);
}

static void put_numbers(struct swz_json *json, const char *key,
			const struct numbers *numbers)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < numbers->count; i++)
		put_number(json, numbers->items[i]);
	swz_json_close(json, "]");
}

static void put_times(struct swz_json *json, const char *key,
		      const struct times *times)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < times->count; i++)
		put_ms(json, NULL, times->items[i]);
	swz_json_close(json, "]");
}

/* A column in which all rows have the same value. */
static void put_constant(struct swz_json *json, const char *key, size_t count,
			 const char *value)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < count; i++) {
		swz_json_key(json, NULL);
		fputs_unlocked(value, json->stream);
	}
	swz_json_close(json, "]");
}

static void put_samples(struct writing *w)
{
	struct swz_json *json = &w->json;

	swz_json_line(json);
	swz_json_open(json, "samples", "{");
	swz_json_integer(json, "length", w->stacks.count);
	swz_json_string(json, "weightType", "tracing-ms");
	put_numbers(json, "stack", &w->stacks);
	put_times(json, "time", &w->at);
	put_times(json, "weight", &w->weights);
	swz_json_close(json, "}");
}

static void put_stacks(struct writing *w)
{
	struct swz_json *json = &w->json;
	const struct swz_catalog *catalog = w->trace->catalog;
	size_t count = w->frame_of.count, i;

	swz_json_line(json);
	swz_json_open(json, "stackTable", "{");
	swz_json_integer(json, "length", w->frames.count);
	put_numbers(json, "frame", &w->frames);
	put_numbers(json, "prefix", &w->prefixes);
	swz_json_close(json, "}");
	swz_json_line(json);
	swz_json_open(json, "frameTable", "{");
	swz_json_integer(json, "length", count);
	put_constant(json, "address", count, "-1");
	put_constant(json, "inlineDepth", count, "0");
	put_numbers(json, "category", &w->category_of);
	put_constant(json, "subcategory", count, "0");
	put_numbers(json, "func", &w->frame_of);
	put_constant(json, "nativeSymbol", count, "null");
	put_constant(json, "innerWindowID", count, "0");
	swz_json_open(json, "line", "[");
	for (i = 0; i < count; i++) {
		uint32_t function = w->functions.items[w->frame_of.items[i]];
		int line = catalog->functions[function].line;

		put_number(json, line > 0 ? (uint32_t)line : NONE);
	}
	swz_json_close(json, "]");
	put_constant(json, "column", count, "null");
	swz_json_close(json, "}");
}

/* Also makes the thread's list of modules. */
static void put_functions(struct writing *w)
{
	const struct swz_catalog *catalog = w->trace->catalog;
	struct swz_json *json = &w->json;
	size_t count = w->functions.count, i;

	swz_json_line(json);
	swz_json_open(json, "funcTable", "{");
	swz_json_integer(json, "length", count);
	swz_json_open(json, "name", "[");
	for (i = 0; i < count; i++)
		put_number(
			json,
			string_of(w, catalog->functions[w->functions.items[i]]
					     .name));
	swz_json_close(json, "]");
	put_constant(json, "isJS", count, "false");
	put_constant(json, "relevantForJS", count, "false");
	swz_json_open(json, "resource", "[");
	for (i = 0; i < count; i++) {
		uint32_t module =
			catalog->functions[w->functions.items[i]].module;

		if (module == SWZ_INDEX_NONE)
			swz_json_number(json, NULL, -1);
		else
			put_number(json, resource_of(w, module));
	}
	swz_json_close(json, "]");
	swz_json_open(json, "source", "[");
	for (i = 0; i < count; i++) {
		const char *file =
			catalog->functions[w->functions.items[i]].file;

		put_number(json, file ? source_of(w, file) : NONE);
	}
	swz_json_close(json, "]");
	put_constant(json, "lineNumber", count, "null");
	put_constant(json, "columnNumber", count, "null");
	swz_json_close(json, "}");
}

static void put_resources(struct writing *w)
{
	const struct swz_catalog *catalog = w->trace->catalog;
	struct swz_json *json = &w->json;
	size_t count = w->resources.count, i;

	swz_json_line(json);
	swz_json_open(json, "resourceTable", "{");
	swz_json_integer(json, "length", count);
	swz_json_open(json, "lib", "[");
	for (i = 0; i < count; i++)
		put_number(json, *swz_map_at(&w->lib_numbers,
					     w->resources.items[i], 0));
	swz_json_close(json, "]");
	swz_json_open(json, "name", "[");
	for (i = 0; i < count; i++)
		put_number(json,
			   string_of(w, catalog->modules[w->resources.items[i]]
						.name));
	swz_json_close(json, "]");
	put_constant(json, "host", count, "null");
	put_constant(json, "type", count, "1"); /* a library */
	swz_json_close(json, "}");
	swz_json_line(json);
	swz_json_open(json, "nativeSymbols", "{");
	swz_json_integer(json, "length", 0);
	put_constant(json, "libIndex", 0, "");
	put_constant(json, "address", 0, "");
	put_constant(json, "name", 0, "");
	put_constant(json, "functionSize", 0, "");
	swz_json_close(json, "}");
}

/* --- JSON: markers ------------------------------------------------------- */

/* As the schema at the head of the file describes them. */
static const struct {
	const char *type, *name, *label, *flow;
} marker_types[] = {
	[MARKER_WAIT] = {"swizzle-wait", "Waiting", "Where", NULL},
	[MARKER_MARK] = {"swizzle-mark", "Mark", "Mark", NULL},
	[MARKER_WAKES] = {"swizzle-wakes", "Wakes", "Whom", "flow-id"},
	[MARKER_WOKEN] = {"swizzle-woken", "Woken by", "By whom",
			  "terminating-flow-id"},
};

static void put_schema(struct swz_json *json)
{
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "markerSchema", "[");
	for (i = 0; i < sizeof(marker_types) / sizeof(*marker_types); i++) {
		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "name", marker_types[i].type);
		swz_json_string(json, "chartLabel", "{marker.data.text}");
		swz_json_string(json, "tableLabel", "{marker.data.text}");
		swz_json_string(json, "tooltipLabel",
				"{marker.name}: {marker.data.text}");
		swz_json_open(json, "display", "[");
		swz_json_string(json, NULL, "marker-chart");
		swz_json_string(json, NULL, "marker-table");
		if (i != MARKER_WAIT)
			swz_json_string(json, NULL, "timeline-overview");
		swz_json_close(json, "]");
		swz_json_open(json, "fields", "[");
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "key", "text");
		swz_json_string(json, "label", marker_types[i].label);
		swz_json_string(json, "format", "unique-string");
		swz_json_close(json, "}");
		if (marker_types[i].flow) {
			swz_json_open(json, NULL, "{");
			swz_json_string(json, "key", "flow");
			swz_json_string(json, "label", "Flow");
			swz_json_string(json, "format", marker_types[i].flow);
			swz_json_close(json, "}");
		}
		swz_json_close(json, "]");
		swz_json_close(json, "}");
	}
	swz_json_close(json, "]");
}

static void put_marker_data(struct swz_json *json, const struct marker *marker)
{
	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "type", marker_types[marker->kind].type);
	swz_json_integer(json, "text", marker->text);
	if (marker->flow != NONE)
		swz_json_integer(json, "flow", marker->flow);
	if (marker->stack != NONE) {
		swz_json_open(json, "cause", "{");
		put_ms(json, "time", marker->from);
		swz_json_integer(json, "stack", marker->stack);
		swz_json_close(json, "}");
	}
	swz_json_close(json, "}");
}

static void put_markers(struct writing *w)
{
	struct swz_json *json = &w->json;
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "markers", "{");
	swz_json_integer(json, "length", w->marker_count);
	swz_json_open(json, "data", "[");
	for (i = 0; i < w->marker_count; i++)
		put_marker_data(json, &w->markers[i]);
	swz_json_close(json, "]");
	swz_json_open(json, "name", "[");
	for (i = 0; i < w->marker_count; i++)
		put_number(json,
			   string_of(w, marker_types[w->markers[i].kind].name));
	swz_json_close(json, "]");
	swz_json_open(json, "startTime", "[");
	for (i = 0; i < w->marker_count; i++)
		put_ms(json, NULL, w->markers[i].from);
	swz_json_close(json, "]");
	swz_json_open(json, "endTime", "[");
	for (i = 0; i < w->marker_count; i++)
		if (w->markers[i].kind == MARKER_WAIT)
			put_ms(json, NULL, w->markers[i].to);
		else
			swz_json_null(json, NULL);
	swz_json_close(json, "]");
	swz_json_open(json, "phase", "[");
	for (i = 0; i < w->marker_count; i++)
		swz_json_integer(json, NULL,
				 w->markers[i].kind == MARKER_WAIT ? INTERVAL
								   : INSTANT);
	swz_json_close(json, "]");
	swz_json_open(json, "category", "[");
	for (i = 0; i < w->marker_count; i++)
		swz_json_integer(json, NULL,
				 w->markers[i].kind == MARKER_WAIT ? WAITING
								   : OTHER);
	swz_json_close(json, "]");
	swz_json_close(json, "}");
}

/* --- JSON: threads ------------------------------------------------------- */

static void free_thread(struct writing *w)
{
	struct numbers *lists[] = {&w->functions,   &w->resources, &w->frame_of,
				   &w->category_of, &w->prefixes,  &w->frames,
				   &w->stacks};
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		free(lists[i]->items);
		*lists[i] = (struct numbers){0};
	}
	free(w->at.items);
	free(w->weights.items);
	free(w->markers);
	w->at = w->weights = (struct times){0};
	w->markers = NULL;
	w->marker_count = w->marker_capacity = 0;
	swz_map_free(&w->function_numbers);
	swz_map_free(&w->frame_numbers);
	swz_map_free(&w->stack_numbers);
	swz_map_free(&w->resource_numbers);
}

/* A process that executes another program has a profile for each: these are
 * processes of their own, as pids have to be unique. */
static void put_pid(struct writing *w, size_t index)
{
	const struct swz_trace *trace = w->trace;
	int32_t pid = trace->bindings[index].profile->header.pid;
	size_t before = 0, i;
	char *text;

	for (i = 0; i < index; i++)
		before += trace->bindings[i].profile->header.pid == pid;
	text = before ? swz_print("%" PRId32 ".%zu", pid, before)
		      : swz_print("%" PRId32, pid);
	swz_json_string(&w->json, "pid", text);
	free(text);
}

static void put_thread(struct writing *w, size_t index,
		       const struct swz_profile_thread *thread)
{
	struct swz_binding *binding = &w->trace->bindings[index];
	const struct swz_profile *profile = binding->profile;
	struct swz_json *json = &w->json;
	char buffer[SWZ_PROCESS_NAME_BYTES];
	int64_t from = swz_trace_begin(w->trace, binding, thread);
	int64_t to = swz_trace_end(w->trace, binding, thread);

	if (swz_profile_has_samples(profile))
		add_samples(w, binding, thread);
	else
		add_events(w, binding, thread);
	add_marks(w, binding, thread);
	add_flows(w, binding, thread);
	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "processType", "default");
	swz_json_string(json, "processName",
			swz_process_name(profile, buffer, sizeof(buffer)));
	put_ms(json, "processStartupTime", 0);
	swz_json_null(json, "processShutdownTime");
	put_ms(json, "registerTime", from);
	put_ms(json, "unregisterTime", to > from ? to : from);
	swz_json_open(json, "pausedRanges", "[");
	swz_json_close(json, "]");
	swz_json_string(json, "name",
			swz_trace_thread_name(thread, buffer, sizeof(buffer)));
	swz_json_flag(json, "isMainThread",
		      thread->record.tid == profile->header.pid);
	put_pid(w, index);
	swz_json_number(json, "tid", thread->record.tid);
	swz_json_flag(json, "showMarkersInTimeline", w->marker_count > 0);
	put_samples(w);
	put_markers(w);
	put_stacks(w);
	put_functions(w);
	put_resources(w);
	swz_json_close(json, "}");
	free_thread(w);
}

/* --- JSON: the file ------------------------------------------------------ */

static void put_categories(struct swz_json *json)
{
	static const struct {
		const char *name, *color;
	} categories[] = {[OTHER] = {"Other", "grey"},
			  [RUNNING] = {"Running", "blue"},
			  [WAITING] = {"Waiting", "orange"}};
	size_t i;

	swz_json_open(json, "categories", "[");
	for (i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "name", categories[i].name);
		swz_json_string(json, "color", categories[i].color);
		swz_json_open(json, "subcategories", "[");
		swz_json_string(json, NULL, "Other");
		swz_json_close(json, "]");
		swz_json_close(json, "}");
	}
	swz_json_close(json, "]");
}

static void put_meta(struct writing *w)
{
	const struct swz_trace *trace = w->trace;
	struct swz_extent extent = {0};
	struct swz_json *json = &w->json;
	uint64_t period_ns = 0;
	char *command = NULL;
	size_t i;

	for (i = 0; i < trace->count; i++) {
		const struct swz_profile *profile = trace->bindings[i].profile;

		swz_extent_add(&extent, profile);
		if (profile->header.sample_period_ns > period_ns)
			period_ns = profile->header.sample_period_ns;
	}
	if (trace->count)
		command = swz_command_text(trace->bindings[0].profile);
	swz_json_open(json, "meta", "{");
	put_ms(json, "interval", period_ns ? (int64_t)period_ns : 1000000);
	put_ms(json, "startTime", (int64_t)extent.start_ns);
	put_ms(json, "endTime", (int64_t)extent.end_ns);
	swz_json_integer(json, "processType", 0);
	swz_json_string(json, "product", command ? command : "");
	swz_json_string(json, "arguments", command ? command : "");
	swz_json_string(json, "importedFrom", "swizzle " SWZ_VERSION);
	swz_json_integer(json, "stackwalk", 1);
	swz_json_integer(json, "version", GECKO_VERSION);
	swz_json_integer(json, "preprocessedProfileVersion", FORMAT_VERSION);
	swz_json_string(json, "oscpu", "Linux x86_64");
	swz_json_string(json, "platform", "X11");
	swz_json_flag(json, "symbolicated", true);
	swz_json_flag(json, "symbolicationNotSupported", true);
	swz_json_flag(json, "usesOnlyOneStackType", true);
	swz_json_flag(json, "sourceCodeIsNotOnSearchfox", true);
	swz_json_open(json, "sampleUnits", "{");
	swz_json_string(json, "time", "ms");
	swz_json_string(json, "eventDelay", "ms");
	swz_json_string(json, "threadCPUDelta", "ns");
	swz_json_close(json, "}");
	put_categories(json);
	put_schema(json);
	swz_json_close(json, "}");
	free(command);
}

/* A library's breakpad id is its build-id's first 16 bytes in the order of a
 * GUID, and an age of 0. */
static void put_breakpad_id(struct swz_json *json,
			    const struct swz_catalog_module *module)
{
	static const uint8_t order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
					  8, 9, 10, 11, 12, 13, 14, 15};
	char text[2 * sizeof(order) + 2] = "";
	size_t i;

	if (module->build_id_bytes >= sizeof(order)) {
		for (i = 0; i < sizeof(order); i++)
			snprintf(text + 2 * i, 3, "%02X",
				 (unsigned int)module->build_id[order[i]]);
		text[2 * sizeof(order)] = '0';
		text[2 * sizeof(order) + 1] = '\0';
	}
	swz_json_string(json, "breakpadId", text);
}

static void put_libs(struct writing *w)
{
	struct swz_json *json = &w->json;
	size_t i, j;

	swz_json_line(json);
	swz_json_open(json, "libs", "[");
	for (i = 0; i < w->libs.count; i++) {
		const struct swz_catalog_module *module =
			&w->trace->catalog->modules[w->libs.items[i]];
		char id[2 * sizeof(module->build_id) + 1] = "";

		for (j = 0; j < module->build_id_bytes; j++)
			snprintf(id + 2 * j, 3, "%02x",
				 (unsigned int)module->build_id[j]);
		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "arch", "x86_64");
		swz_json_string(json, "name", module->name);
		swz_json_string(json, "path", module->path);
		swz_json_string(json, "debugName", module->name);
		swz_json_string(json, "debugPath", module->path);
		put_breakpad_id(json, module);
		swz_json_text(json, "codeId", id[0] ? id : NULL);
		swz_json_close(json, "}");
	}
	swz_json_close(json, "]");
}

static void put_shared(struct writing *w)
{
	struct swz_json *json = &w->json;
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "shared", "{");
	swz_json_open(json, "sources", "{");
	swz_json_integer(json, "length", w->sources.count);
	put_constant(json, "uuid", w->sources.count, "null");
	put_numbers(json, "filename", &w->sources);
	swz_json_close(json, "}");
	swz_json_line(json);
	swz_json_open(json, "stringArray", "[");
	for (i = 0; i < w->text_count; i++)
		swz_json_string(json, NULL, w->texts[i]);
	swz_json_close(json, "]");
	swz_json_close(json, "}");
}

void swz_write_firefox(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.json = {.stream = stream}, .trace = trace};
	size_t i, j;

	swz_json_open(&w.json, NULL, "{");
	put_meta(&w);
	swz_json_line(&w.json);
	swz_json_open(&w.json, "threads", "[");
	for (i = 0; i < trace->count; i++) {
		const struct swz_profile *profile = trace->bindings[i].profile;

		for (j = 0; j < profile->thread_count; j++)
			if (swz_trace_wants(trace, &profile->threads[j]))
				put_thread(&w, i, &profile->threads[j]);
	}
	swz_json_close(&w.json, "]");
	put_libs(&w);
	put_shared(&w);
	swz_json_close(&w.json, "}\n");
	swz_map_free(&w.string_numbers);
	swz_map_free(&w.lib_numbers);
	swz_map_free(&w.source_numbers);
	swz_intern_free(&w.strings);
	free(w.texts);
	free(w.libs.items);
	free(w.sources.items);
}
