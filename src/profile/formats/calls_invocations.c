/* --file-per-invocation. More calls of the same functions in a call are in its
 * file, too; so each call is in one file. The index is written as calls end,
 * each row with what is known then: memory does not go by their number. */

#include "profile/formats/calls_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/calls_page.h"
#include "profile/formats/calls_text.h"
#include "profile/formats/formats.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#define LEVEL 6 /* of compression */

/* As src/html/invocations.js has them. */
enum outcome { RETURNED, ERROR, EXCEPTION, OTHER };
static const char *const outcomes[] = {"returned", "error", "exception",
				       "other"};

struct writing {
	struct swz_calls_sink sink;
	const char *directory;
	bool html;
	uint64_t most; /* files; 0: any number */
	struct swz_invocations sum;
	struct swz_map roots; /* by function: whether it is one of those asked
			       * for */
	/* the call that is open */
	struct swz_text call;
	struct swz_output file;
	struct swz_calls_sink *inner; /* writes it; NULL: it has no file */
	struct swz_calls_text text;
	struct swz_calls_page page;
	uint64_t calls, nested, errors;
	/* the index */
	struct swz_output index;
	struct swz_page_block *rows;
	FILE *threads; /* JSON */
	char *threads_text;
	size_t threads_size;
	unsigned int thread_count;
};

static struct writing *writing_of(struct swz_calls_sink *sink)
{
	return (struct writing *)sink;
}

static const char *suffix(const struct writing *w)
{
	return w->html ? "html" : "txt";
}

static void fail(struct writing *w, struct swz_trace *trace, const char *what)
{
	if (!trace->failure)
		trace->failure = swz_print("%s: %s", what, strerror(errno));
	w->sink.stopped = true;
}

static bool open_file(struct writing *w, struct swz_trace *trace,
		      struct swz_output *output, const char *name)
{
	char *path = swz_print("%s/%s.%s", w->directory, name, suffix(w));
	bool opened = swz_output_open(output, path) == SWZ_OK;

	if (!opened)
		fail(w, trace, path);
	free(path);
	return opened;
}

static void close_file(struct writing *w, struct swz_trace *trace,
		       struct swz_output *output)
{
	char *path = swz_duplicate(output->path);

	if (swz_output_close(output) != SWZ_OK)
		fail(w, trace, path);
	free(path);
}

/* ------------------------------------------------------------------- calls */

static bool is_root(struct writing *w, const struct swz_calls_walk *walk)
{
	uint32_t function = walk->open[walk->count - 1].function;
	uint32_t *known = swz_map_at(&w->roots, function, 0);

	if (*known == SWZ_MAP_NONE)
		*known = swz_patterns_match(&walk->trace->view->only,
					    walk->trace->catalog, function,
					    NULL);
	return *known;
}

/* (Time of which there are no events is no call.) */
static bool is_call(const struct swz_calls_walk *walk)
{
	return walk->open[0].function != SWZ_CATALOG_UNTRACED;
}

static void begin_file(struct writing *w, struct swz_calls_walk *walk)
{
	char name[24];

	w->inner = NULL;
	if (w->most && w->sum.files >= w->most)
		return;
	snprintf(name, sizeof(name), "%05" PRIu64, w->sum.files + 1);
	if (!open_file(w, walk->trace, &w->file, name))
		return;
	w->sum.files++;
	if (w->html) {
		swz_calls_page_begin(&w->page, w->file.stream,
				     SWZ_CALLS_OF_PAGE);
		w->inner = &w->page.sink;
	} else {
		swz_calls_text_begin(&w->text, w->file.stream);
		w->inner = &w->text.sink;
	}
	w->inner->thread(w->inner, walk);
}

static void end_file(struct writing *w, struct swz_calls_walk *walk)
{
	struct swz_calls_about about = {
		.number = w->sum.calls, .nested = w->nested, .all = w->calls};

	if (!w->inner)
		return;
	w->inner->done(w->inner, walk);
	if (w->html) {
		about.left_out = walk->trace->choice.inside;
		about.all += about.left_out;
		about.least_ns = walk->trace->choice.limits.min_ns;
		swz_calls_page_end(&w->page, walk->trace, &about);
	}
	w->inner = NULL;
	close_file(w, walk->trace, &w->file);
}

static void begin_thread(struct swz_calls_sink *sink,
			 struct swz_calls_walk *walk)
{
	struct writing *w = writing_of(sink);

	fputs(w->thread_count++ ? ",\n" : "\n", w->threads);
	swz_page_thread(w->threads, walk);
}

static void before_call(struct swz_calls_sink *sink,
			struct swz_calls_walk *walk, uint64_t ticks)
{
	struct writing *w = writing_of(sink);
	uint64_t woken;

	if (w->inner && walk->count) {
		w->inner->before(w->inner, walk, ticks);
		return;
	}
	/* (what woke the thread between the calls is in none of them) */
	if (!walk->count) {
		char *text;

		while ((text = swz_calls_woken(walk, ticks, &woken)) != NULL)
			free(text);
	}
}

static void begin_call(struct swz_calls_sink *sink, struct swz_calls_walk *walk)
{
	struct writing *w = writing_of(sink);

	if (!is_call(walk))
		return;
	if (walk->count == 1) {
		w->sum.calls++;
		w->calls = w->nested = w->errors = 0;
		swz_text_clear(&w->call);
		swz_text_put(&w->call, "%s%s", walk->begun.text,
			     walk->open[0].cut ? " [began before]" : "");
		swz_text_unmark(&w->call);
		begin_file(w, walk);
	} else if (is_root(w, walk)) {
		w->nested++;
	}
	w->calls++;
	if (w->inner)
		w->inner->begin(w->inner, walk);
}

/* ------------------------------------------------------------------- index */

static enum outcome outcome_of(const struct swz_call_end *end)
{
	if (end->exceptional)
		return end->text.text[0] == '!' ? EXCEPTION : ERROR;
	return end->text.text[0] == '[' ? OTHER : RETURNED;
}

static void put_html_row(struct writing *w, struct swz_calls_walk *walk,
			 uint64_t file, int64_t start, int64_t time)
{
	swz_page_block_number(w->rows, file);
	swz_page_block_time(w->rows, start);
	swz_page_block_time(w->rows, time);
	swz_page_block_number(w->rows, w->calls);
	swz_page_block_number(w->rows, w->nested);
	swz_page_block_number(w->rows, w->errors);
	swz_page_block_number(w->rows, outcome_of(&walk->end));
	swz_page_block_number(w->rows, w->thread_count - 1);
	swz_page_block_text(w->rows, w->call.text);
	swz_page_block_text(w->rows, walk->end.text.text);
}

static void put_text_row(struct writing *w, struct swz_calls_walk *walk,
			 uint64_t file, int64_t start, int64_t time)
{
	FILE *stream = w->index.stream;
	char name[32] = "-", figure[SWZ_FIGURE_BYTES];

	if (file)
		snprintf(name, sizeof(name), "%05" PRIu64 ".txt", file);
	swz_figure_time(figure, time, false);
	fprintf(stream,
		"%-10s %3" PRId64 ".%06" PRId64 " %9s  %-9s %9" PRIu64
		" %7" PRIu64 " %7" PRIu64 "  ",
		name, start / 1000000000, start / 1000 % 1000000, figure,
		outcomes[outcome_of(&walk->end)], w->calls, w->nested,
		w->errors);
	swz_calls_put(stream, walk->trace, SWZ_COLOUR_NONE, w->call.text);
	putc(' ', stream);
	swz_calls_put(stream, walk->trace, SWZ_COLOUR_NONE,
		      walk->end.text.text);
	putc('\n', stream);
}

static void end_call(struct swz_calls_sink *sink, struct swz_calls_walk *walk,
		     const struct swz_event *event)
{
	struct writing *w = writing_of(sink);
	uint64_t file = w->inner ? w->sum.files : 0;
	int64_t start, end;

	if (!is_call(walk))
		return;
	w->errors += walk->end.exceptional;
	if (w->inner)
		w->inner->end(w->inner, walk, event);
	if (walk->count > 1)
		return;
	end_file(w, walk);
	start = swz_trace_ns(walk->trace, walk->binding, walk->open[0].start);
	end = swz_trace_ns(walk->trace, walk->binding, event->ticks);
	if (w->html)
		put_html_row(w, walk, file, start, end - start);
	else
		put_text_row(w, walk, file, start, end - start);
}

/* What the functions are, as they were asked for. */
static char *root_names(const struct swz_trace *trace)
{
	const struct swz_patterns *only = &trace->view->only;
	char *names = swz_duplicate("");
	size_t i;

	for (i = 0; i < only->count; i++) {
		char *longer = swz_print("%s%s%s", names, i ? ", " : "",
					 only->items[i]);

		free(names);
		names = longer;
	}
	return names;
}

static void begin_index(struct writing *w, const struct swz_trace *trace)
{
	FILE *stream = w->index.stream;
	char *names;

	w->threads = swz_text_stream(&w->threads_text, &w->threads_size);
	if (w->html) {
		swz_calls_frame_head(stream);
		w->rows = swz_page_block_begin(stream, "invocations", LEVEL);
		return;
	}
	names = root_names(trace);
	fprintf(stream, "# calls of %s\n%-10s %10s %9s  %-9s %9s %7s %7s  %s\n",
		names, "# file", "start s", "time", "outcome", "calls",
		"nested", "errors", "call, result");
	free(names);
}

static void end_index(struct writing *w, const struct swz_trace *trace)
{
	FILE *stream = w->index.stream, *json;
	char *text = NULL, *names, *command;
	size_t size = 0;

	swz_text_stream_end(w->threads);
	if (w->html) {
		swz_page_block_end(w->rows);
		names = root_names(trace);
		command = trace->count
				  ? swz_command_text(trace->bindings[0].profile)
				  : swz_duplicate("");
		json = swz_text_stream(&text, &size);
		fputs("{\"command\":", json);
		swz_put_json(json, command);
		fputs(",\"root\":", json);
		swz_put_json(json, names);
		fprintf(json, ",\"threads\":[%s]}", w->threads_text);
		swz_text_stream_end(json);
		swz_page_json(stream, "about", text, size);
		swz_calls_frame_tail(stream);
		free(names);
		free(command);
	}
	free(w->threads_text);
}

static struct swz_invocations write_all(const char *directory, bool html,
					struct swz_trace *trace)
{
	struct writing w = {
		.sink = {.thread = begin_thread,
			 .before = before_call,
			 .begin = begin_call,
			 .end = end_call},
		.directory = directory,
		.html = html,
		.most = trace->calls->rows,
	};

	if (!open_file(&w, trace, &w.index, "index"))
		return w.sum;
	w.sink.stream = w.index.stream;
	begin_index(&w, trace);
	swz_calls_walk(trace, &w.sink);
	end_index(&w, trace);
	if (w.inner)
		swz_output_discard(&w.file);
	if (trace->failure)
		swz_output_discard(&w.index);
	else
		close_file(&w, trace, &w.index);
	swz_map_free(&w.roots);
	swz_text_free(&w.call);
	return w.sum;
}

struct swz_invocations swz_write_invocations_html(const char *directory,
						  struct swz_trace *trace)
{
	return write_all(directory, true, trace);
}

struct swz_invocations swz_write_invocations_text(const char *directory,
						  struct swz_trace *trace)
{
	return write_all(directory, false, trace);
}
