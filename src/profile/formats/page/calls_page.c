/* -f calls-html: a page that shows single calls, and --file-per-invocation: a
 * page or a text for each call of a function. The page is a frame
 * (src/html/calls.html) with blocks of data in its midst. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/trace.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/common/section.h"
#include "profile/formats/page/html_blocks.h"

/* --- the page ------------------------------------------------------------ */

/* Calls as a page for a browser (src/html/calls.html), with blocks of data
 * (html_blocks.h) in its midst:
 *
 * "calls N": of thread N. Records, each a number, the ns since the one before
 * (the first: since time 0) times 4, plus its kind:
 *   0 a call begins: its function times 2, plus 1 if it began before what is
 *     shown; a text: its arguments
 *   1 the innermost ends: flags (SWZ_PAGE_*), two texts, its result and what
 *     its arguments point at then; by the flags another text, who returned the
 *     error first, how the object differs, and the number of calls in it that
 *     are not in the page
 *   2 a text: what woke the thread
 * "functions": JSON, a list. "about": JSON. */

/* Everything is written as it comes, so memory goes by the functions and the
 * depth of calls. */

enum {
	SWZ_PAGE_EXCEPTIONAL = 1,
	SWZ_PAGE_FIRST = 2,  /* the error is new; the text says so */
	SWZ_PAGE_ORIGIN = 4, /* it is not; the text says whose it was */
	SWZ_PAGE_INSIDE = 8, /* calls were left out */
	SWZ_PAGE_UNLIKE = 32 /* how the object differs from that of the last
			      * call that succeeded */
};

/* Functions that records refer to, numbered as they come. */
struct swz_page_functions {
	struct swz_map numbers; /* by the catalog's */
	struct swz_json json;
	char *text;
	size_t size;
	uint32_t count;
};

struct swz_calls_page {
	struct swz_calls_sink sink;
	struct swz_page_functions functions;
	struct swz_page_block *block; /* of the thread; or NULL */
	struct swz_json threads;
	char *threads_text;
	size_t threads_size;
	unsigned int thread_count;
	int64_t last_ns;
	uint64_t most;          /* calls that are written; 0: any number */
	uint64_t calls, errors; /* that were */
	uint64_t cut;           /* were not, as there were that many */
	size_t skipped;         /* the innermost so many that are open */
	uint64_t *cut_before;   /* `cut` when each that is open began */
	size_t cut_capacity;
};

/* Facts that a page tells besides its calls. */
struct swz_calls_about {
	uint64_t left_out; /* calls that are not in it, but for `cut` */
	uint64_t all;      /* calls there are */
	int64_t least_ns;  /* shorter calls were left out ... */
	bool for_room;     /* ... as they would be too many; not as asked for */
	uint64_t number;   /* of the invocation that the page is of; 0: none */
	uint64_t nested;   /* calls of its function in it */
};

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define LEVEL 6 /* of compression */

enum record_kind { BEGIN, END, WOKEN };

/* src/html/page.S */
extern const char swz_calls_head[], swz_calls_head_end[];
extern const char swz_calls_tail[], swz_calls_tail_end[];

/* The frame before, and after, the data of such a page. */
static void calls_frame_head(FILE *stream)
{
	swz_page_frame(stream, swz_calls_head, swz_calls_head_end);
}

static void calls_frame_tail(FILE *stream)
{
	swz_page_frame(stream, swz_calls_tail, swz_calls_tail_end);
}

/* A block with a JSON text; both are freed. */
static void page_json(FILE *stream, const char *name, char *text, size_t size)
{
	struct swz_page_block *block = swz_page_block_begin(stream, name,
							    LEVEL);

	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
	free(text);
}

/* --------------------------------------------------------------- functions */

static void page_functions_begin(struct swz_page_functions *functions)
{
	*functions = (struct swz_page_functions){0};
	functions->json.stream = swz_text_stream(&functions->text,
						 &functions->size);
	swz_json_open(&functions->json, NULL, "[");
}

static const struct swz_settings *settings_of(const struct swz_trace *trace,
					      uint32_t function)
{
	return swz_rules_of(trace->choice.rules.rules, trace->catalog,
			    function);
}

static uint32_t page_function(struct swz_page_functions *functions,
			      const struct swz_trace *trace, uint32_t function)
{
	const struct swz_catalog_function *of =
		&trace->catalog->functions[function];
	uint32_t *number = swz_map_at(&functions->numbers, function, 0);
	const struct swz_settings *settings;
	struct swz_json *json = &functions->json;

	if (*number != SWZ_MAP_NONE)
		return *number;
	*number = functions->count++;
	settings = settings_of(trace, function);
	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "name", of->name);
	swz_json_string(
		json, "module",
		swz_base_name(swz_catalog_module_path(trace->catalog, of)));
	if (settings && settings->prefix)
		swz_json_string(json, "prefix", settings->prefix);
	if (settings && settings->colour)
		swz_json_string(json, "colour", settings->colour);
	swz_json_close(json, "}");
	return functions->count - 1;
}

/* Writes the block, and frees. */
static void page_functions_end(struct swz_page_functions *functions,
			       FILE *stream)
{
	swz_json_close(&functions->json, "]");
	swz_text_stream_end(functions->json.stream);
	page_json(stream, "functions", functions->text, functions->size);
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

/* A text with the marks of pointed_values.h. */
static void put_marked(struct swz_page_block *block, const char *text)
{
	swz_page_block_shown(block, text, strlen(text), SWZ_MARKS);
}

/* The same, and behind it what has changed of values that are watched. */
static void put_watched(struct swz_page_block *block, const char *text,
			const struct swz_calls_walk *w)
{
	char *both;

	if (!w->watched.size) {
		put_marked(block, text);
		return;
	}
	both = swz_print("%s  <- %s", text, w->watched.text);
	put_marked(block, both);
	free(both);
}

/* The text behind the function's name. */
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
	function = page_function(&page->functions, w->trace, call->function);
	put_record(page, w, call->start, BEGIN);
	swz_page_block_number(page->block, (uint64_t)function * 2 + call->cut);
	put_watched(page->block, arguments_of(w), w);
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
	put_watched(page->block, w->end.out.text, w);
	if (flags & SWZ_PAGE_ORIGIN)
		swz_page_block_text(page->block, w->origin);
	if (flags & SWZ_PAGE_FIRST)
		put_first(page->block, w);
	if (flags & SWZ_PAGE_UNLIKE)
		swz_page_block_text(page->block, w->end.unlike.text);
	if (inside)
		swz_page_block_number(page->block, inside);
}

/* "process 1, thread 2 (name) of app": a JSON object. */
static void page_thread(struct swz_json *json, const struct swz_calls_walk *w)
{
	const struct swz_profile *profile = w->binding->profile;
	char name[32];

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_number(json, "pid", profile->header.pid);
	swz_json_number(json, "tid", w->thread->record.tid);
	swz_json_string(json, "program", swz_base_name(profile->executable));
	swz_json_string(json, "name",
			swz_trace_thread_name(w->thread, name, sizeof(name)));
	swz_json_close(json, "}");
}

static void begin_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct swz_calls_page *page = page_of(sink);
	char name[32];

	page_thread(&page->threads, w);
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

/* Writes what comes before the data. */
static void calls_page_begin(struct swz_calls_page *page, FILE *stream,
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
	page_functions_begin(&page->functions);
	page->threads.stream = swz_text_stream(&page->threads_text,
					       &page->threads_size);
	calls_frame_head(stream);
}

/* An array that was written into a text of its own. */
static void put_array(struct swz_json *json, const char *key,
		      const char *elements)
{
	swz_json_open(json, key, "[");
	fputs(elements, json->stream);
	swz_json_close(json, "]");
}

static void put_about(FILE *stream, const struct swz_calls_page *page,
		      const struct swz_trace *trace,
		      const struct swz_calls_about *about)
{
	char *command = trace->count
				? swz_command_text(trace->bindings[0].profile)
				: swz_duplicate("");
	struct swz_json json = {.stream = stream};
	size_t i, lost = 0;

	for (i = 0; i < trace->count; i++)
		lost += trace->bindings[i].profile->header.lost_values;
	swz_json_open(&json, NULL, "{");
	swz_json_string(&json, "creator", "swizzle " SWZ_VERSION);
	swz_json_string(&json, "command", command);
	swz_json_integer(&json, "processes", trace->count);
	swz_json_integer(&json, "calls", page->calls);
	swz_json_integer(&json, "errors", page->errors);
	swz_json_integer(&json, "all", about->all);
	swz_json_integer(&json, "leftOut", about->left_out);
	swz_json_integer(&json, "cut", page->cut);
	swz_json_number(&json, "leastNs", about->least_ns);
	swz_json_flag(&json, "forRoom", about->for_room);
	swz_json_integer(&json, "depth", trace->choice.limits.max_depth);
	swz_json_integer(&json, "every", trace->choice.limits.every);
	swz_json_integer(&json, "byRules", trace->choice.rules.left_out);
	swz_json_integer(&json, "lostValues", lost);
	swz_json_integer(&json, "number", about->number);
	swz_json_integer(&json, "nested", about->nested);
	put_array(&json, "threads", page->threads_text);
	swz_json_close(&json, "}");
	free(command);
}

/* Writes the end. */
static void calls_page_end(struct swz_calls_page *page,
			   const struct swz_trace *trace,
			   const struct swz_calls_about *about)
{
	FILE *stream = page->sink.stream, *json;
	char *text = NULL;
	size_t size = 0;

	swz_text_stream_end(page->threads.stream);
	page_functions_end(&page->functions, stream);
	json = swz_text_stream(&text, &size);
	put_about(json, page, trace, about);
	swz_text_stream_end(json);
	page_json(stream, "about", text, size);
	calls_frame_tail(stream);
	free(page->threads_text);
	free(page->cut_before);
}

/* --- a trace as a page --------------------------------------------------- */

/* -f calls-html. A browser holds only so many calls. Of a trace that has more,
 * the longest are shown: a call is at least as long as those in it, so all
 * around them are there, too. The trace is read twice then, first for how long
 * its calls take. */

/* Durations are told apart to 3 %. */
#define STEPS 32u
#define BUCKETS (64u * STEPS)

/* The bucket of a duration, and the least one of a bucket. */
static size_t bucket_of(uint64_t ns)
{
	size_t exponent;

	if (ns < STEPS)
		return ns;
	exponent = 63 - (size_t)__builtin_clzll(ns);
	return (exponent - 4) * STEPS + (ns >> (exponent - 5)) - STEPS;
}

static uint64_t least_of(size_t bucket)
{
	size_t exponent = bucket / STEPS;

	return exponent < 1 ? bucket
			    : (STEPS + bucket % STEPS) << (exponent - 1);
}

struct durations {
	uint64_t *starts; /* ticks, of the calls that are open */
	size_t depth, capacity;
	uint64_t count[BUCKETS], all;
};

static void add_thread(struct durations *d, FILE *stream,
		       struct swz_trace *trace, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(trace, binding, thread);
	struct swz_event event;

	d->depth = 0;
	while (swz_trace_next(stream, trace, events, &event)) {
		if (event.begins) {
			swz_grow(&d->starts, &d->capacity, d->depth,
				 sizeof(*d->starts));
			d->starts[d->depth++] = event.ticks;
		} else if (d->depth) {
			int64_t ns = swz_profile_ns(
				binding->profile,
				(int64_t)(event.ticks - d->starts[--d->depth]));

			d->count[bucket_of(ns > 0 ? (uint64_t)ns : 0)]++;
			d->all++;
		}
	}
	swz_trace_close(trace, events, thread);
}

/* The least time that no more than MOST calls take. */
static int64_t least_that_fits(const struct durations *d, uint64_t most,
			       int64_t asked)
{
	uint64_t calls = 0;
	int64_t least;
	size_t i;

	for (i = BUCKETS - 1; i && calls + d->count[i - 1] <= most; i--)
		calls += d->count[i - 1];
	/* where very many take the same time, the page ends when it is full */
	if (i && calls < most / 2)
		i--;
	/* (ticks are cut to whole ns) */
	least = (int64_t)least_of(i) + 1;
	return least > asked ? least : asked;
}

static void forget_counts(struct swz_event_choice *choice)
{
	choice->calls = choice->left_out = choice->counter = 0;
	choice->rules.left_out = choice->rules.undecided = 0;
}

/* Leaves short calls out until there are MOST at the most. Whether it did. */
static bool make_room(FILE *stream, struct swz_trace *trace, uint64_t most)
{
	struct durations *d = swz_allocate(1, sizeof(*d));
	size_t i, j;
	bool cuts;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				add_thread(d, stream, trace, binding,
					   &binding->profile->threads[j]);
	}
	forget_counts(&trace->choice);
	cuts = d->all > most;
	if (cuts)
		trace->choice.limits.min_ns = least_that_fits(
			d, most, trace->choice.limits.min_ns);
	free(d->starts);
	free(d);
	return cuts;
}

void swz_write_calls_html(FILE *stream, struct swz_trace *trace)
{
	struct swz_calls_about about = {0};
	uint64_t most = trace->calls->rows;
	struct swz_calls_page page;

	about.for_room = most && make_room(stream, trace, most);
	about.least_ns = trace->choice.limits.min_ns;
	calls_page_begin(&page, stream, most);
	swz_calls_walk(trace, &page.sink);
	about.left_out = trace->choice.left_out;
	about.all = trace->choice.calls;
	if (!swz_event_limits_any(&trace->choice.limits))
		about.all = page.calls + page.cut;
	calls_page_end(&page, trace, &about);
}

/* --- a file for each call ------------------------------------------------ */

/* --file-per-invocation. More calls of the same functions in a call are in its
 * file, too; so each call is in one file. The index is written as calls end,
 * each row with what is known then: memory does not go by their number. */

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
	struct swz_json threads;
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
	bool opened = swz_output_open(output, path,
				      SWZ_OUTPUT_OWN_NAME |
					      SWZ_OUTPUT_PRIVATE) == SWZ_OK;

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
		calls_page_begin(&w->page, w->file.stream, SWZ_CALLS_OF_PAGE);
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
		calls_page_end(&w->page, walk->trace, &about);
	}
	w->inner = NULL;
	close_file(w, walk->trace, &w->file);
}

static void begin_thread_file(struct swz_calls_sink *sink,
			      struct swz_calls_walk *walk)
{
	struct writing *w = writing_of(sink);

	w->thread_count++;
	page_thread(&w->threads, walk);
}

static void before_call_file(struct swz_calls_sink *sink,
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

static void begin_call_file(struct swz_calls_sink *sink,
			    struct swz_calls_walk *walk)
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

static void end_call_file(struct swz_calls_sink *sink,
			  struct swz_calls_walk *walk,
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

/* The functions, as they were asked for. */
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

	w->threads.stream = swz_text_stream(&w->threads_text, &w->threads_size);
	if (w->html) {
		calls_frame_head(stream);
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
	FILE *stream = w->index.stream;
	struct swz_json json = {0};
	char *text = NULL, *names, *command;
	size_t size = 0;

	swz_text_stream_end(w->threads.stream);
	if (w->html) {
		swz_page_block_end(w->rows);
		names = root_names(trace);
		command = trace->count
				  ? swz_command_text(trace->bindings[0].profile)
				  : swz_duplicate("");
		json.stream = swz_text_stream(&text, &size);
		swz_json_open(&json, NULL, "{");
		swz_json_string(&json, "command", command);
		swz_json_string(&json, "root", names);
		put_array(&json, "threads", w->threads_text);
		swz_json_close(&json, "}");
		swz_text_stream_end(json.stream);
		page_json(stream, "about", text, size);
		calls_frame_tail(stream);
		free(names);
		free(command);
	}
	free(w->threads_text);
}

static struct swz_invocations write_all(const char *directory, bool html,
					struct swz_trace *trace)
{
	struct writing w = {
		.sink = {.thread = begin_thread_file,
			 .before = before_call_file,
			 .begin = begin_call_file,
			 .end = end_call_file},
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
