/* Speedscope's own format (a JSON file whose schema it publishes), with
 * profiles of the type "sampled": a stack and a weight for each context. The
 * frames are numbered as they are needed and written last. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/support/map.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

struct frames {
	const struct swz_catalog *catalog;
	struct swz_map numbers; /* of functions */
	uint32_t *functions;
	size_t count;
	size_t capacity;
};

/* The contexts with weights, so that those of one caller follow each other. */
struct order {
	uint32_t *contexts;
	size_t count;
};

static uint32_t number(struct frames *frames, uint32_t function)
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

static uint64_t weight_of(const struct swz_writer *writer,
			  const struct swz_context *context)
{
	return writer->options->sort == SWZ_SORT_CALLS
		       ? context->calls
		       : (uint64_t)context->self_ns;
}

/* Depth first, in the order in which they were first called. */
static struct order find_order(const struct swz_writer *writer,
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

		if (weight_of(writer, &contexts->items[at]))
			order.contexts[order.count++] = at;
		for (i = children.start[at + 1]; i > children.start[at]; i--)
			stack[depth++] = children.items[i - 1];
	}
	swz_children_free(&children);
	free(stack);
	return order;
}

static void put_stack(struct swz_writer *writer,
		      const struct swz_section *section, uint32_t index,
		      uint32_t *path)
{
	const struct swz_context *items = section->contexts->items;
	size_t depth = 0;

	for (; items[index].parent != index; index = items[index].parent)
		path[depth++] = items[index].function;
	if (!depth)
		path[depth++] = items[index].function;
	putc('[', writer->stream);
	while (depth-- > 0)
		fprintf(writer->stream, "%" PRIu32 "%s",
			number(writer->state, path[depth]), depth ? "," : "]");
}

static void put_name(struct swz_writer *writer,
		     const struct swz_section *section)
{
	const struct swz_profile_thread *thread = section->thread;
	char *name;

	if (thread)
		name = swz_print("%s/%" PRId32, thread->name,
				 thread->record.tid);
	else
		name = swz_print("%s, %zu thread%s",
				 swz_base_name(section->profile->executable),
				 section->report->thread_count,
				 section->report->thread_count == 1 ? "" : "s");
	swz_put_json(writer->stream, name);
	free(name);
}

void swz_begin_speedscope(struct swz_writer *writer)
{
	fputs("{\"$schema\":"
	      "\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"swizzle-" SWZ_VERSION "\",\n\"profiles\":[",
	      writer->stream);
	writer->state = swz_allocate(1, sizeof(struct frames));
}

void swz_write_speedscope(struct swz_writer *writer,
			  const struct swz_section *section)
{
	const struct swz_context *items = section->contexts->items;
	uint32_t *path = swz_allocate(SWZ_CONTEXT_DEPTH, sizeof(*path));
	struct order order = find_order(writer, section->contexts);
	bool of_calls = writer->options->sort == SWZ_SORT_CALLS;
	struct frames *frames = writer->state;
	FILE *stream = writer->stream;
	uint64_t sum = 0;
	size_t i;

	frames->catalog = section->catalog;
	fprintf(stream, "%s\n{\"type\":\"sampled\",\"name\":",
		writer->sections ? "," : "");
	put_name(writer, section);
	fprintf(stream, ",\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[",
		of_calls ? "none" : "nanoseconds");
	for (i = 0; i < order.count; i++) {
		fputs(i ? ",\n" : "\n", stream);
		put_stack(writer, section, order.contexts[i], path);
	}
	fputs("],\n\"weights\":[", stream);
	for (i = 0; i < order.count; i++) {
		uint64_t weight = weight_of(writer, &items[order.contexts[i]]);

		sum += weight;
		fprintf(stream, "%s%" PRIu64, i ? "," : "", weight);
	}
	fprintf(stream, "],\n\"endValue\":%" PRIu64 "}", sum);
	free(order.contexts);
	free(path);
}

void swz_end_speedscope(struct swz_writer *writer)
{
	struct frames *frames = writer->state;
	size_t i;

	fputs("],\n\"shared\":{\"frames\":[", writer->stream);
	for (i = 0; i < frames->count; i++) {
		const struct swz_catalog_function *function =
			&frames->catalog->functions[frames->functions[i]];

		fprintf(writer->stream, "%s\n{\"name\":", i ? "," : "");
		swz_put_json(writer->stream, function->name);
		if (function->file) {
			fputs(",\"file\":", writer->stream);
			swz_put_json(writer->stream, function->file);
			fprintf(writer->stream, ",\"line\":%d", function->line);
		} else if (function->module != SWZ_INDEX_NONE) {
			/* the viewer shows it beside the name */
			fputs(",\"file\":", writer->stream);
			swz_put_json(writer->stream,
				     swz_catalog_module_path(frames->catalog,
							     function));
		}
		putc('}', writer->stream);
	}
	fputs("]}}\n", writer->stream);
	swz_map_free(&frames->numbers);
	free(frames->functions);
	free(frames);
	writer->state = NULL;
}
