/* A call's end comes long after its beginning, and the memory is bounded: so a
 * call that makes others takes two lines. One beginning is kept until the next
 * event, which tells whether there are any. */

#include "profile/formats/calls_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/figures.h"
#include "profile/support/memory.h"

#define INDENT 2

static struct swz_calls_text *text_of(struct swz_calls_sink *sink)
{
	return (struct swz_calls_text *)sink;
}

static void put_time(FILE *stream, struct swz_calls_walk *w, uint64_t ticks)
{
	int64_t ns = swz_trace_ns(w->trace, w->binding, ticks);
	char text[48];

	snprintf(text, sizeof(text), "%3" PRId64 ".%06" PRId64, ns / 1000000000,
		 ns / 1000 % 1000000);
	swz_calls_put(stream, w->trace, SWZ_COLOUR_DIM, text);
}

/* The columns before the call: when it began, and how long it took. */
static void put_columns(FILE *stream, struct swz_calls_walk *w, uint64_t begins,
			bool ends, uint64_t ticks)
{
	const struct swz_style *style = w->trace->calls->style;
	bool utf8 = style && style->utf8;
	char figure[SWZ_FIGURE_BYTES] = "";

	if (begins)
		put_time(stream, w, begins);
	else
		fprintf(stream, "%10s", "");
	if (ends)
		swz_figure_time(
			figure,
			swz_profile_ns(w->binding->profile, (int64_t)ticks),
			utf8);
	fprintf(stream, " %*s  ", utf8 && strstr(figure, "\xc2\xb5") ? 10 : 9,
		figure);
}

static void put_indent(FILE *stream, size_t depth)
{
	fprintf(stream, "%*s", (int)(INDENT * (depth < 200 ? depth : 200)), "");
}

static enum swz_colour colour_of(const struct swz_calls_walk *w)
{
	return swz_call_colour(w->trace, w->open[w->count - 1].function);
}

/* The one that is kept, which makes calls. */
static void put_begun(struct swz_calls_text *text, struct swz_calls_walk *w)
{
	const struct swz_open_call_text *call;

	if (!text->has_begun)
		return;
	text->has_begun = false;
	call = &w->open[w->count - 1];
	put_columns(text->sink.stream, w, call->start, false, 0);
	put_indent(text->sink.stream, w->count - 1);
	swz_calls_put(text->sink.stream, w->trace, colour_of(w), w->begun.text);
	fputs(call->cut ? " { [began before]\n" : " {\n", text->sink.stream);
}

static void put_end(FILE *stream, const struct swz_calls_walk *w)
{
	const struct swz_call_end *end = &w->end;

	if (end->text.size) {
		putc(' ', stream);
		swz_calls_put(stream, w->trace,
			      end->exceptional ? SWZ_COLOUR_HOT
					       : SWZ_COLOUR_NONE,
			      end->text.text);
	}
	if (end->out.size) {
		fputs("  ", stream);
		swz_calls_put(stream, w->trace, SWZ_COLOUR_NONE, end->out.text);
	}
}

static void put_origin(FILE *stream, const struct swz_calls_walk *w)
{
	char *first, *line;

	if (!w->has_error)
		return;
	first = w->origin ? NULL : swz_calls_first(w);
	line = swz_print("  <- %s", first ? first : w->origin);
	swz_calls_put(stream, w->trace,
		      first ? SWZ_COLOUR_WARM : SWZ_COLOUR_DIM, line);
	free(first);
	free(line);
}

/* In a call that failed: what was otherwise when one succeeded. */
static void put_unlike(FILE *stream, const struct swz_calls_walk *w)
{
	char *line;

	if (!w->end.unlike.size)
		return;
	line = swz_print("  <- unlike the last that succeeded: %s",
			 w->end.unlike.text);
	swz_calls_put(stream, w->trace, SWZ_COLOUR_WARM, line);
	free(line);
}

/* What woke the thread where a call returns now. */
static void put_woken_end(FILE *stream, struct swz_calls_walk *w,
			  uint64_t until)
{
	uint64_t ticks;
	char *woken;

	while ((woken = swz_calls_woken(w, until, &ticks)) != NULL) {
		char *line = swz_print("  <- %s", woken);

		swz_calls_put(stream, w->trace, SWZ_COLOUR_DIM, line);
		free(line);
		free(woken);
	}
}

/* Where none does: on a line of its own. */
static void before_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
			uint64_t until)
{
	struct swz_calls_text *text = text_of(sink);
	uint64_t ticks;
	char *woken;

	while ((woken = swz_calls_woken(w, until, &ticks)) != NULL) {
		char *line = swz_print("<- %s", woken);

		put_begun(text, w);
		put_columns(sink->stream, w, ticks, false, 0);
		put_indent(sink->stream, w->count);
		swz_calls_put(sink->stream, w->trace, SWZ_COLOUR_DIM, line);
		putc('\n', sink->stream);
		free(line);
		free(woken);
	}
	put_begun(text, w);
}

static void begin_call(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	(void)w;
	text_of(sink)->has_begun = true;
}

static void end_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		     const struct swz_event *event)
{
	struct swz_calls_text *text = text_of(sink);
	const struct swz_open_call_text *call = &w->open[w->count - 1];
	FILE *stream = sink->stream;

	put_columns(stream, w, text->has_begun ? call->start : 0, true,
		    event->ticks - call->start);
	put_indent(stream, w->count - 1);
	if (text->has_begun) {
		swz_calls_put(stream, w->trace, colour_of(w), w->begun.text);
		if (call->cut)
			fputs(" [began before]", stream);
	} else {
		fputs("} ", stream);
		swz_calls_put(stream, w->trace, SWZ_COLOUR_DIM,
			      swz_calls_name(w));
	}
	text->has_begun = false;
	put_end(stream, w);
	put_origin(stream, w);
	put_unlike(stream, w);
	put_woken_end(stream, w, event->ticks);
	putc('\n', stream);
}

static void begin_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	text_of(sink)->has_begun = false;
	swz_calls_put_thread(sink->stream, w->trace, w->binding, w->thread);
}

static void end_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	if (w->count)
		put_begun(text_of(sink), w);
}

void swz_calls_text_begin(struct swz_calls_text *text, FILE *stream)
{
	*text = (struct swz_calls_text){
		.sink = {.stream = stream,
			 .thread = begin_thread,
			 .before = before_call,
			 .begin = begin_call,
			 .end = end_call,
			 .done = end_thread},
	};
	fprintf(stream, "# %-8s %9s  %s\n", "start s", "time", "call");
}

void swz_write_calls(FILE *stream, struct swz_trace *trace)
{
	struct swz_calls_text text;

	if (trace->calls->at) {
		swz_write_calls_at(stream, trace);
		return;
	}
	if (trace->calls->blame) {
		swz_write_calls_blame(stream, trace);
		return;
	}
	if (trace->calls->of.count) {
		swz_write_calls_of(stream, trace);
		return;
	}
	if (trace->count && !swz_profile_traced(trace->bindings[0].profile)) {
		swz_write_calls_last(stream, trace);
		return;
	}
	swz_calls_text_begin(&text, stream);
	swz_calls_walk(trace, &text.sink);
}
