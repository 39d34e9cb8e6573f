/* Speedscope's own format (a JSON file whose schema it publishes), with
 * profiles of the type "evented": opens and closes of frames, nested. One
 * profile for each thread. The frames are numbered as they are needed and
 * written last. */

#include <inttypes.h>
#include <stdlib.h>

#include "profile/support/map.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/costs/trace.h"

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_map numbers; /* of functions */
	uint32_t *functions;
	size_t count;
	size_t capacity;
};

static uint32_t number(struct writing *w, uint32_t function)
{
	uint32_t *found = swz_map_at(&w->numbers, function, 0);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&w->functions, &w->capacity, w->count,
			 sizeof(*w->functions));
		*found = (uint32_t)w->count;
		w->functions[w->count++] = function;
	}
	return *found;
}

static void put_thread(struct writing *w, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(w->trace, binding, thread);
	int64_t begin = swz_trace_begin(w->trace, binding, thread);
	int64_t end = swz_trace_end(w->trace, binding, thread);
	struct swz_event event;
	bool any = false;
	char buffer[32];
	char *name = swz_print(
		"%s %" PRId32 ", %s",
		swz_base_name(binding->profile->executable),
		binding->profile->header.pid,
		swz_trace_thread_name(thread, buffer, sizeof(buffer)));

	fputs("{\"type\":\"evented\",\"name\":", w->stream);
	swz_put_json(w->stream, name);
	free(name);
	fprintf(w->stream,
		",\"unit\":\"nanoseconds\",\"startValue\":%" PRId64
		",\"endValue\":%" PRId64 ",\"events\":[",
		begin, end > begin ? end : begin);
	while (swz_trace_next(w->stream, w->trace, events, &event)) {
		fputs_unlocked(any ? ",\n{\"type\":\"" : "\n{\"type\":\"",
			       w->stream);
		putc_unlocked(event.begins ? 'O' : 'C', w->stream);
		fputs_unlocked("\",\"at\":", w->stream);
		swz_put_integer(w->stream,
				swz_trace_ns(w->trace, binding, event.ticks));
		fputs_unlocked(",\"frame\":", w->stream);
		swz_put_integer(w->stream,
				number(w, swz_trace_function(binding, &event)));
		putc_unlocked('}', w->stream);
		any = true;
	}
	fputs("\n]}", w->stream);
	swz_trace_close(w->trace, events, thread);
}

static void put_frames(const struct writing *w)
{
	const struct swz_catalog *catalog = w->trace->catalog;
	size_t i;

	fputs("\"shared\":{\"frames\":[", w->stream);
	for (i = 0; i < w->count; i++) {
		const struct swz_catalog_function *function =
			&catalog->functions[w->functions[i]];
		const char *path = swz_catalog_module_path(catalog, function);

		fprintf(w->stream, "%s{\"name\":", i ? ",\n" : "\n");
		swz_put_json(w->stream, function->name);
		if (function->file || path) {
			fputs(",\"file\":", w->stream);
			swz_put_json(w->stream,
				     function->file ? function->file : path);
		}
		if (function->file && function->line > 0)
			fprintf(w->stream, ",\"line\":%d", function->line);
		putc('}', w->stream);
	}
	fputs("\n]}", w->stream);
}

void swz_write_speedscope_events(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	bool any = false;
	size_t i, j;

	fputs("{\"$schema\":\"https://www.speedscope.app/"
	      "file-format-schema.json\",\n\"exporter\":\"swizzle " SWZ_VERSION
	      "\",\n\"name\":\"" SWZ_RAW_TIMES "\",\n\"profiles\":[",
	      stream);
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];
		struct swz_profile *profile = binding->profile;

		for (j = 0; j < profile->thread_count; j++) {
			if (!swz_trace_wants(trace, &profile->threads[j]))
				continue;
			fputs(any ? ",\n" : "\n", stream);
			put_thread(&w, binding, &profile->threads[j]);
			any = true;
		}
	}
	fputs("\n],\n", stream);
	put_frames(&w);
	fputs("}\n", stream);
	swz_map_free(&w.numbers);
	free(w.functions);
}
