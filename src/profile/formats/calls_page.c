/* Everything is written as it comes, so memory goes by the functions and the
 * depth of calls. */

#include "profile/formats/calls_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/formats.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define LEVEL 6 /* of compression */

enum record_kind { BEGIN, END, WOKEN };

/* src/html/page.S */
extern const char swz_calls_head[], swz_calls_head_end[];
extern const char swz_calls_tail[], swz_calls_tail_end[];

void swz_calls_frame_head(FILE *stream)
{
	swz_page_frame(stream, swz_calls_head, swz_calls_head_end);
}

void swz_calls_frame_tail(FILE *stream)
{
	swz_page_frame(stream, swz_calls_tail, swz_calls_tail_end);
}

void swz_page_json(FILE *stream, const char *name, char *text, size_t size)
{
	struct swz_page_block *block = swz_page_block_begin(stream, name,
							    LEVEL);

	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
	free(text);
}

/* --------------------------------------------------------------- functions */

void swz_page_functions_begin(struct swz_page_functions *functions)
{
	*functions = (struct swz_page_functions){0};
	functions->json = swz_text_stream(&functions->text, &functions->size);
	putc('[', functions->json);
}

static const struct swz_settings *settings_of(const struct swz_trace *trace,
					      uint32_t function)
{
	return swz_rules_of(trace->choice.rules.rules, trace->catalog,
			    function);
}

uint32_t swz_page_function(struct swz_page_functions *functions,
			   const struct swz_trace *trace, uint32_t function)
{
	const struct swz_catalog_function *of =
		&trace->catalog->functions[function];
	uint32_t *number = swz_map_at(&functions->numbers, function, 0);
	const struct swz_settings *settings;
	FILE *json = functions->json;

	if (*number != SWZ_MAP_NONE)
		return *number;
	*number = functions->count++;
	settings = settings_of(trace, function);
	fputs(functions->count > 1 ? ",\n{\"name\":" : "\n{\"name\":", json);
	swz_put_json(json, of->name);
	fputs(",\"module\":", json);
	swz_put_json(json, swz_base_name(swz_catalog_module_path(trace->catalog,
								 of)));
	if (settings && settings->prefix) {
		fputs(",\"prefix\":", json);
		swz_put_json(json, settings->prefix);
	}
	if (settings && settings->colour) {
		fputs(",\"colour\":", json);
		swz_put_json(json, settings->colour);
	}
	putc('}', json);
	return functions->count - 1;
}

void swz_page_functions_end(struct swz_page_functions *functions, FILE *stream)
{
	putc(']', functions->json);
	swz_text_stream_end(functions->json);
	swz_page_json(stream, "functions", functions->text, functions->size);
	swz_map_free(&functions->numbers);
}

/* ----------------------------------------------------------------- records */

static struct swz_calls_page *page_of(struct swz_calls_sink *sink)
{
	return (struct swz_calls_page *)sink;
}

static void put_record(struct swz_calls_page *page,
		       const struct swz_calls_walk *w, uint64_t ticks,
		       enum record_kind kind)
{
	int64_t ns = swz_trace_ns(w->trace, w->binding, ticks);
	int64_t since = ns > page->last_ns ? ns - page->last_ns : 0;

	swz_page_block_number(page->block, (uint64_t)since * 4 + kind);
	page->last_ns += since;
}

static void put_woken(struct swz_calls_page *page, struct swz_calls_walk *w,
		      uint64_t until)
{
	uint64_t ticks;
	char *woken;

	while ((woken = swz_calls_woken(w, until, &ticks)) != NULL) {
		put_record(page, w, ticks, WOKEN);
		swz_page_block_text(page->block, woken);
		free(woken);
	}
}

static void before_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
			uint64_t ticks)
{
	put_woken(page_of(sink), w, ticks);
}

/* A text with the marks of objects.h. */
static void put_marked(struct swz_page_block *block, const char *text)
{
	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;

		if ((c < 0x20 || c == 0x7f) && !strchr(SWZ_MARKS, c))
			c = '?';
		swz_page_block_bytes(block, &c, 1);
	}
	swz_page_block_bytes(block, "", 1);
}

/* What stands behind the function's name. */
static const char *arguments_of(const struct swz_calls_walk *w)
{
	const char *name = swz_calls_name(w), *text = w->begun.text;
	const struct swz_settings *settings = settings_of(
		w->trace, w->open[w->count - 1].function);
	size_t before = settings && settings->prefix ? strlen(settings->prefix)
						     : 0;

	return text + before + strlen(name);
}

static void begin_call(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct swz_calls_page *page = page_of(sink);
	const struct swz_open_call_text *call = &w->open[w->count - 1];
	uint32_t function;

	swz_grow(&page->cut_before, &page->cut_capacity, w->count - 1,
		 sizeof(*page->cut_before));
	page->cut_before[w->count - 1] = page->cut;
	if (page->skipped || (page->most && page->calls >= page->most)) {
		page->skipped++;
		page->cut++;
		return;
	}
	page->calls++;
	function = swz_page_function(&page->functions, w->trace,
				     call->function);
	put_record(page, w, call->start, BEGIN);
	swz_page_block_number(page->block, (uint64_t)function * 2 + call->cut);
	put_marked(page->block, arguments_of(w));
}

static void put_first(struct swz_page_block *block,
		      const struct swz_calls_walk *w)
{
	char *text = swz_calls_first(w);

	swz_page_block_text(block, text);
	free(text);
}

static void end_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		     const struct swz_event *event)
{
	struct swz_calls_page *page = page_of(sink);
	uint64_t inside = w->trace->choice.inside + page->cut -
			  page->cut_before[w->count - 1];
	unsigned int flags = 0;

	put_woken(page, w, event->ticks);
	if (page->skipped) {
		page->skipped--;
		return;
	}
	if (w->end.exceptional)
		flags |= SWZ_PAGE_EXCEPTIONAL;
	if (w->has_error)
		flags |= w->origin ? SWZ_PAGE_ORIGIN : SWZ_PAGE_FIRST;
	if (inside)
		flags |= SWZ_PAGE_INSIDE;
	if (w->end.unlike.size)
		flags |= SWZ_PAGE_UNLIKE;
	page->errors += w->end.exceptional;
	put_record(page, w, event->ticks, END);
	swz_page_block_number(page->block, flags);
	swz_page_block_text(page->block, w->end.text.text);
	put_marked(page->block, w->end.out.text);
	if (flags & SWZ_PAGE_ORIGIN)
		swz_page_block_text(page->block, w->origin);
	if (flags & SWZ_PAGE_FIRST)
		put_first(page->block, w);
	if (flags & SWZ_PAGE_UNLIKE)
		swz_page_block_text(page->block, w->end.unlike.text);
	if (inside)
		swz_page_block_number(page->block, inside);
}

void swz_page_thread(FILE *json, const struct swz_calls_walk *w)
{
	const struct swz_profile *profile = w->binding->profile;
	char name[32];

	fprintf(json, "{\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"program\":",
		profile->header.pid, w->thread->record.tid);
	swz_put_json(json, swz_base_name(profile->executable));
	fputs(",\"name\":", json);
	swz_put_json(json,
		     swz_trace_thread_name(w->thread, name, sizeof(name)));
	putc('}', json);
}

static void begin_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct swz_calls_page *page = page_of(sink);
	char name[32];

	fputs(page->thread_count ? ",\n" : "\n", page->threads);
	swz_page_thread(page->threads, w);
	snprintf(name, sizeof(name), "calls %u", page->thread_count++);
	page->block = swz_page_block_begin(sink->stream, name, LEVEL);
	page->last_ns = 0;
	page->skipped = 0;
}

static void end_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct swz_calls_page *page = page_of(sink);

	(void)w;
	swz_page_block_end(page->block);
	page->block = NULL;
}

/* -------------------------------------------------------------------- page */

void swz_calls_page_begin(struct swz_calls_page *page, FILE *stream,
			  uint64_t most)
{
	*page = (struct swz_calls_page){
		.sink = {.stream = stream,
			 .thread = begin_thread,
			 .before = before_call,
			 .begin = begin_call,
			 .end = end_call,
			 .done = end_thread},
		.most = most,
	};
	swz_page_functions_begin(&page->functions);
	page->threads = swz_text_stream(&page->threads_text,
					&page->threads_size);
	swz_calls_frame_head(stream);
}

static void put_about(FILE *json, const struct swz_calls_page *page,
		      const struct swz_trace *trace,
		      const struct swz_calls_about *about)
{
	char *command = trace->count
				? swz_command_text(trace->bindings[0].profile)
				: swz_duplicate("");
	size_t i, lost = 0;

	for (i = 0; i < trace->count; i++)
		lost += trace->bindings[i].profile->header.lost_values;
	fputs("{\"creator\":\"swizzle " SWZ_VERSION "\",\"command\":", json);
	swz_put_json(json, command);
	fprintf(json,
		",\"processes\":%zu,\"calls\":%" PRIu64 ",\"errors\":%" PRIu64
		",\"all\":%" PRIu64 ",\"leftOut\":%" PRIu64 ",\"cut\":%" PRIu64
		",\"leastNs\":%" PRId64 ",\"forRoom\":%s,\"depth\":%" PRIu32
		",\"every\":%" PRIu64 ",\"byRules\":%" PRIu64
		",\"lostValues\":%zu,\"number\":%" PRIu64 ",\"nested\":%" PRIu64
		",\"threads\":[%s]}",
		trace->count, page->calls, page->errors, about->all,
		about->left_out, page->cut, about->least_ns,
		about->for_room ? "true" : "false",
		trace->choice.limits.max_depth, trace->choice.limits.every,
		trace->choice.rules.left_out, lost, about->number,
		about->nested, page->threads_text);
	free(command);
}

void swz_calls_page_end(struct swz_calls_page *page,
			const struct swz_trace *trace,
			const struct swz_calls_about *about)
{
	FILE *stream = page->sink.stream, *json;
	char *text = NULL;
	size_t size = 0;

	swz_text_stream_end(page->threads);
	swz_page_functions_end(&page->functions, stream);
	json = swz_text_stream(&text, &size);
	put_about(json, page, trace, about);
	swz_text_stream_end(json);
	swz_page_json(stream, "about", text, size);
	swz_calls_frame_tail(stream);
	free(page->threads_text);
	free(page->cut_before);
}
