/* Formats that viewers of flame graphs read: folded stacks, and the file format
 * of speedscope. */

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/trace.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"

/* --- folded stacks ------------------------------------------------------- */

/* Folded stacks, as flamegraph.pl and most viewers of flame graphs read them:
 * "outer;inner 123". A semicolon in a name would end it, and what comes after
 * the last space is the value; flamegraph.pl takes the last two numbers for
 * values, if there are two, as there are in a comparison: the old and the new
 * one. */

static void put_frame(FILE *stream, const char *name)
{
	size_t length;

	for (; *name; name += length) {
		bool shown;

		length = swz_character(name, SIZE_MAX, &shown);
		if (!shown)
			putc('?', stream);
		else if (*name == ';')
			putc(':', stream);
		else if (*name == ' ' && name[1] >= '0' && name[1] <= '9')
			putc('_', stream);
		else
			fwrite_unlocked(name, 1, length, stream);
	}
}

static void put_folded_name(FILE *stream, const struct swz_section *section,
			    uint32_t index)
{
	const struct swz_catalog_function *function =
		&section->catalog->functions[index];

	put_frame(stream, function->name);
	if (function->namesake) {
		fputs(" (", stream);
		put_frame(stream, swz_module_name(section, index));
		putc(')', stream);
	}
}

static void put_folded_stack(FILE *stream, const struct swz_section *section,
			     uint32_t index, uint32_t *path)
{
	const struct swz_context *items = section->contexts->items;
	size_t depth = 0;

	/* what is outside of all functions is not their caller */
	for (; items[index].parent != index; index = items[index].parent)
		path[depth++] = items[index].function;
	if (!depth)
		path[depth++] = items[index].function;
	if (section->thread_name) {
		put_frame(stream, section->thread_name);
		putc(';', stream);
	} else if (section->thread) {
		put_frame(stream, section->thread->name);
		fprintf(stream, "/%" PRId32 ";", section->thread->record.tid);
	}
	while (depth-- > 0) {
		put_folded_name(stream, section, path[depth]);
		putc(depth ? ';' : ' ', stream);
	}
}

static uint64_t value_of(const struct swz_context *context, enum swz_sort sort)
{
	return sort == SWZ_SORT_CALLS     ? context->calls
	       : sort == SWZ_SORT_WAITING ? (uint64_t)context->self_waiting_ns
					  : (uint64_t)context->self_ns;
}

void swz_write_folded(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options)
{
	uint32_t *path = swz_allocate(SWZ_CONTEXT_DEPTH, sizeof(*path));
	enum swz_sort sort = options->sort;
	size_t i;

	for (i = 0; i < section->contexts->count; i++) {
		uint64_t value = value_of(&section->contexts->items[i], sort);
		uint64_t old = 0;

		if (section->old)
			old = value_of(&section->old->contexts->items[i], sort);
		if (!value && !old)
			continue;
		put_folded_stack(stream, section, (uint32_t)i, path);
		if (section->old)
			fprintf(stream, "%" PRIu64 " ", old);
		fprintf(stream, "%" PRIu64 "\n", value);
	}
	free(path);
}

/* --- speedscope ---------------------------------------------------------- */

/* Speedscope's own format (a JSON file whose schema it publishes). Frames are
 * numbered as they are needed and written last. */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

struct frames {
	struct swz_json json;
	const struct swz_catalog *catalog;
	struct swz_map numbers; /* of functions */
	uint32_t *functions;
	size_t count;
	size_t capacity;
};

static uint32_t frame_of(struct frames *frames, uint32_t function)
{
	uint32_t *found = swz_map_at(&frames->numbers, function, 0);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&frames->functions, &frames->capacity, frames->count,
			 sizeof(*frames->functions));
		*found = (uint32_t)frames->count;
		frames->functions[frames->count++] = function;
	}
	return *found;
}

static void begin_file(struct frames *frames, const char *exporter,
		       const char *name)
{
	struct swz_json *json = &frames->json;

	swz_json_open(json, NULL, "{");
	swz_json_string(json, "$schema",
			"https://www.speedscope.app/file-format-schema.json");
	swz_json_line(json);
	swz_json_string(json, "exporter", exporter);
	swz_json_line(json);
	if (name) {
		swz_json_string(json, "name", name);
		swz_json_line(json);
	}
	swz_json_open(json, "profiles", "[");
}

static void begin_profile(struct swz_json *json, const char *type,
			  const char *name, const char *unit, int64_t start)
{
	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "type", type);
	swz_json_string(json, "name", name);
	swz_json_string(json, "unit", unit);
	swz_json_number(json, "startValue", start);
}

/* END closes the frames and all around them. Where there is no source file the
 * viewer shows the module beside a name. */
static void end_file(struct frames *frames, const char *end)
{
	struct swz_json *json = &frames->json;
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "shared", "{");
	swz_json_open(json, "frames", "[");
	for (i = 0; i < frames->count; i++) {
		const struct swz_catalog_function *function =
			&frames->catalog->functions[frames->functions[i]];
		const char *path = swz_catalog_module_path(frames->catalog,
							   function);

		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "name", function->name);
		if (function->file || path)
			swz_json_string(json, "file",
					function->file ? function->file : path);
		if (function->file && function->line > 0)
			swz_json_number(json, "line", function->line);
		swz_json_close(json, "}");
	}
	swz_json_close(json, end);
	swz_map_free(&frames->numbers);
	free(frames->functions);
}

/* --- speedscope: contexts ------------------------------------------------ */

/* Profiles of the type "sampled": a stack and a weight for each context. Where
 * waiting is known a second one has it. */

/* The contexts with weights, so that those of one caller follow each other. */
struct order {
	uint32_t *contexts;
	size_t count;
};

static uint64_t weight_of(enum swz_sort of, const struct swz_context *context)
{
	return of == SWZ_SORT_CALLS     ? context->calls
	       : of == SWZ_SORT_WAITING ? (uint64_t)context->self_waiting_ns
					: (uint64_t)context->self_ns;
}

/* Depth first, in the order in which they were first called. */
static struct order find_order(enum swz_sort of,
			       const struct swz_contexts *contexts)
{
	struct order order = {0};
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	struct swz_children children;
	size_t depth = 0;

	order.contexts = swz_allocate(contexts->count, sizeof(uint32_t));
	swz_children_find(&children, contexts, NULL, NULL);
	stack[depth++] = SWZ_CONTEXT_ROOT;
	while (depth > 0) {
		uint32_t at = stack[--depth], i;

		if (weight_of(of, &contexts->items[at]))
			order.contexts[order.count++] = at;
		for (i = children.start[at + 1]; i > children.start[at]; i--)
			stack[depth++] = children.items[i - 1];
	}
	swz_children_free(&children);
	free(stack);
	return order;
}

static void put_stack(struct frames *frames, const struct swz_context *items,
		      uint32_t index, uint32_t *path)
{
	size_t depth = 0;

	for (; items[index].parent != index; index = items[index].parent)
		path[depth++] = items[index].function;
	if (!depth)
		path[depth++] = items[index].function;
	swz_json_line(&frames->json);
	swz_json_open(&frames->json, NULL, "[");
	while (depth-- > 0)
		swz_json_integer(&frames->json, NULL,
				 frame_of(frames, path[depth]));
	swz_json_close(&frames->json, "]");
}

/* To be freed. */
static char *name_of(const struct swz_section *section, enum swz_sort of)
{
	const struct swz_profile_thread *thread = section->thread;
	const char *what = of == SWZ_SORT_WAITING           ? ": waiting"
			   : section->report->knows_waiting ? ": running"
							    : "";

	if (of == SWZ_SORT_CALLS)
		what = "";
	if (thread)
		return swz_print("%s/%" PRId32 "%s", thread->name,
				 thread->record.tid, what);
	return swz_print("%s, %zu thread%s%s",
			 swz_base_name(section->profile->executable),
			 section->report->thread_count,
			 section->report->thread_count == 1 ? "" : "s", what);
}

void swz_begin_speedscope(struct swz_writer *writer)
{
	struct frames *frames = swz_allocate(1, sizeof(*frames));

	frames->json.stream = writer->stream;
	begin_file(frames, "swizzle-" SWZ_VERSION, NULL);
	writer->state = frames;
}

static void put_profile(struct frames *frames,
			const struct swz_section *section, enum swz_sort of)
{
	const struct swz_context *items = section->contexts->items;
	uint32_t *path = swz_allocate(SWZ_CONTEXT_DEPTH, sizeof(*path));
	struct order order = find_order(of, section->contexts);
	struct swz_json *json = &frames->json;
	char *name = name_of(section, of);
	uint64_t sum = 0;
	size_t i;

	begin_profile(json, "sampled", name,
		      of == SWZ_SORT_CALLS ? "none" : "nanoseconds", 0);
	swz_json_line(json);
	swz_json_open(json, "samples", "[");
	for (i = 0; i < order.count; i++)
		put_stack(frames, items, order.contexts[i], path);
	swz_json_close(json, "]");
	swz_json_line(json);
	swz_json_open(json, "weights", "[");
	for (i = 0; i < order.count; i++) {
		uint64_t weight = weight_of(of, &items[order.contexts[i]]);

		sum += weight;
		swz_json_integer(json, NULL, weight);
	}
	swz_json_close(json, "]");
	swz_json_line(json);
	swz_json_integer(json, "endValue", sum);
	swz_json_close(json, "}");
	free(order.contexts);
	free(path);
	free(name);
}

void swz_write_speedscope(struct swz_writer *writer,
			  const struct swz_section *section)
{
	struct frames *frames = writer->state;
	enum swz_sort of = writer->options->sort;

	frames->catalog = section->catalog;
	put_profile(frames, section, of);
	if (section->report->knows_waiting && of != SWZ_SORT_CALLS &&
	    of != SWZ_SORT_WAITING)
		put_profile(frames, section, SWZ_SORT_WAITING);
}

void swz_end_speedscope(struct swz_writer *writer)
{
	struct frames *frames = writer->state;

	swz_json_close(&frames->json, "]");
	end_file(frames, "]}}\n");
	free(frames);
	writer->state = NULL;
}

/* --- speedscope: events -------------------------------------------------- */

/* Profiles of the type "evented", one for each thread: opens and closes of
 * frames, nested. */

static void put_thread(struct frames *frames, struct swz_trace *trace,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(trace, binding, thread);
	int64_t begin = swz_trace_begin(trace, binding, thread);
	int64_t end = swz_trace_end(trace, binding, thread);
	struct swz_json *json = &frames->json;
	struct swz_event event;
	char buffer[32];
	char *name = swz_print(
		"%s %" PRId32 ", %s",
		swz_base_name(binding->profile->executable),
		binding->profile->header.pid,
		swz_trace_thread_name(thread, buffer, sizeof(buffer)));

	begin_profile(json, "evented", name, "nanoseconds", begin);
	swz_json_number(json, "endValue", end > begin ? end : begin);
	swz_json_open(json, "events", "[");
	while (swz_trace_next(json->stream, trace, events, &event)) {
		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "type", event.begins ? "O" : "C");
		swz_json_number(json, "at",
				swz_trace_ns(trace, binding, event.ticks));
		swz_json_integer(
			json, "frame",
			frame_of(frames, swz_trace_function(binding, &event)));
		swz_json_close(json, "}");
	}
	swz_json_close(json, "\n]}");
	free(name);
	swz_trace_close(trace, events, thread);
}

void swz_write_speedscope_events(FILE *stream, struct swz_trace *trace)
{
	struct frames frames = {.json = {.stream = stream},
				.catalog = trace->catalog};
	size_t i, j;

	begin_file(&frames, "swizzle " SWZ_VERSION, SWZ_RAW_TIMES);
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];
		struct swz_profile *profile = binding->profile;

		for (j = 0; j < profile->thread_count; j++)
			if (swz_trace_wants(trace, &profile->threads[j]))
				put_thread(&frames, trace, binding,
					   &profile->threads[j]);
	}
	swz_json_close(&frames.json, "\n]");
	end_file(&frames, "\n]}}\n");
}
