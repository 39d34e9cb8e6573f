/* A call's end comes long after its beginning, and the memory is bounded: so a
 * call that makes others takes two lines. One beginning is kept until the next
 * event, which tells whether there are any.
 *
 * Where an error comes from: a frame remembers the exceptional results that
 * returned to it. A result of the same value has come from there; otherwise it
 * is new, and its frame is the first that returned it. The trail of an error is
 * the name of that function. */

#include "profile/formats/calls_errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/figures.h"
#include "profile/support/memory.h"

#define INDENT 2

struct frame {
	uint64_t start;
	enum swz_colour colour;
	bool cut; /* its begin */
	uint32_t function;
	struct swz_pointed_values before;
	struct swz_returned_errors errors;
};

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_value_reader *values;
	struct frame *frames;
	size_t count, capacity;
	struct swz_trace_flows flows;
	struct swz_text begun; /* the call that is to be written yet */
	bool has_begun;
	struct swz_call_end end;
};

static void put_time(struct writing *w, uint64_t ticks)
{
	int64_t ns = swz_trace_ns(w->trace, w->binding, ticks);
	char text[48];

	snprintf(text, sizeof(text), "%3" PRId64 ".%06" PRId64, ns / 1000000000,
		 ns / 1000 % 1000000);
	swz_calls_put(w->stream, w->trace, SWZ_COLOUR_DIM, text);
}

static bool is_utf8(const struct writing *w)
{
	return w->trace->calls->style && w->trace->calls->style->utf8;
}

/* The columns before the call: when it began, and how long it took. */
static void put_columns(struct writing *w, uint64_t begins, bool ends,
			uint64_t ticks)
{
	char figure[SWZ_FIGURE_BYTES] = "";

	if (begins)
		put_time(w, begins);
	else
		fprintf(w->stream, "%10s", "");
	if (ends)
		swz_figure_time(
			figure,
			swz_profile_ns(w->binding->profile, (int64_t)ticks),
			is_utf8(w));
	fprintf(w->stream, " %*s  ",
		is_utf8(w) && strstr(figure, "\xc2\xb5") ? 10 : 9, figure);
}

static void put_indent(struct writing *w, size_t depth)
{
	fprintf(w->stream, "%*s", (int)(INDENT * (depth < 200 ? depth : 200)),
		"");
}

static void put_begun(struct writing *w)
{
	const struct frame *frame;

	if (!w->has_begun)
		return;
	frame = &w->frames[w->count - 1];
	w->has_begun = false;
	put_columns(w, frame->start, false, 0);
	put_indent(w, w->count - 1);
	swz_calls_put(w->stream, w->trace, frame->colour, w->begun.text);
	fputs(frame->cut ? " { [began before]\n" : " {\n", w->stream);
}

static void put_end(struct writing *w)
{
	const struct swz_call_end *end = &w->end;

	if (end->text.size) {
		putc(' ', w->stream);
		swz_calls_put(w->stream, w->trace,
			      end->exceptional ? SWZ_COLOUR_HOT
					       : SWZ_COLOUR_NONE,
			      end->text.text);
	}
	if (end->out.size) {
		fputs("  ", w->stream);
		swz_calls_put(w->stream, w->trace, SWZ_COLOUR_NONE,
			      end->out.text);
	}
}

/* What woke the thread where a call returns now, or where none does: on a line
 * of its own. */
static void put_wakes(struct writing *w, uint64_t until, bool returns)
{
	const struct swz_flow *flow;
	bool is_to;

	while ((flow = swz_trace_flows_next(&w->flows, until, &is_to))) {
		int64_t ns = swz_trace_ns(w->trace, w->binding,
					  flow->from.ticks);
		char *other, *line;

		if (!is_to)
			continue;
		if (!returns) {
			put_begun(w);
			put_columns(w, flow->to.ticks, false, 0);
			put_indent(w, w->count);
		}
		other = swz_trace_flow_text(w->trace, &flow->from);
		line = swz_print("%s<- woken by %s at %" PRId64 ".%06" PRId64,
				 returns ? "  " : "", other, ns / 1000000000,
				 ns / 1000 % 1000000);
		swz_calls_put(w->stream, w->trace, SWZ_COLOUR_DIM, line);
		if (!returns)
			putc('\n', w->stream);
		free(line);
		free(other);
	}
}

/* ORIGIN: NULL if it is this call. */
static void put_origin(const struct writing *w, const char *origin)
{
	char *line;

	if (origin) {
		line = swz_print("  <- %s", origin);
		swz_calls_put(w->stream, w->trace, SWZ_COLOUR_DIM, line);
		free(line);
		return;
	}
	swz_calls_put(w->stream, w->trace, SWZ_COLOUR_WARM,
		      w->end.text.text[0] == '!' ? "  <- first left here"
						 : "  <- first returned here");
}

static void free_frame(struct frame *frame)
{
	char *origin;

	while ((origin = swz_errors_remaining(&frame->errors)) != NULL)
		free(origin);
	swz_text_free(&frame->before.text);
}

/* Says who returned an error first, and tells the caller. */
static void follow_error(struct writing *w, struct frame *frame,
			 const char *name)
{
	struct frame *caller = w->count > 1 ? frame - 1 : NULL;
	const struct swz_call_end *end = &w->end;
	bool is_error = swz_errors_concern(end, name);
	char *origin = NULL, *other;

	if (is_error) {
		origin = swz_errors_handed_on(&frame->errors, end);
		put_origin(w, origin);
	}
	while (caller && (other = swz_errors_outdated(&caller->errors,
						      frame->function)) != NULL)
		free(other);
	if (!is_error || !caller) {
		free(origin);
		return;
	}
	while ((other = swz_errors_crowded_out(&caller->errors, end)) != NULL)
		free(other);
	swz_errors_add(&caller->errors, end, frame->function,
		       origin ? origin : swz_duplicate(name));
}

static void begin_call(struct writing *w, const struct swz_event *event)
{
	uint32_t function = swz_trace_function(w->binding, event);

	put_begun(w);
	swz_grow(&w->frames, &w->capacity, w->count, sizeof(*w->frames));
	w->frames[w->count++] = (struct frame){
		.start = event->ticks,
		.cut = event->cut,
		.colour = swz_call_colour(w->trace, function),
		.function = function,
	};
	swz_call_begin_print(&w->begun, &w->frames[w->count - 1].before,
			     w->trace, w->binding, w->values, event);
	w->has_begun = true;
}

static void end_call(struct writing *w, const struct swz_event *event)
{
	struct frame *frame;
	const char *name;

	if (!w->count)
		return;
	frame = &w->frames[w->count - 1];
	name = w->trace->catalog->functions[frame->function].name;
	swz_call_end_read(&w->end, &frame->before, w->trace, w->binding,
			  w->values, event);
	put_columns(w, w->has_begun ? frame->start : 0, true,
		    event->ticks - frame->start);
	put_indent(w, w->count - 1);
	if (w->has_begun) {
		swz_calls_put(w->stream, w->trace, frame->colour,
			      w->begun.text);
		if (frame->cut)
			fputs(" [began before]", w->stream);
	} else {
		putc('}', w->stream);
		putc(' ', w->stream);
		swz_calls_put(w->stream, w->trace, SWZ_COLOUR_DIM, name);
	}
	w->has_begun = false;
	put_end(w);
	follow_error(w, frame, name);
	put_wakes(w, event->ticks, true);
	putc('\n', w->stream);
	free_frame(frame);
	w->count--;
}

static void put_thread(struct writing *w, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(w->trace, binding, thread);
	uint32_t depth = w->trace->calls->depth;
	struct swz_event event;
	bool any = false;

	w->binding = binding;
	w->values = swz_values_open(binding->profile, thread);
	w->count = 0;
	swz_trace_flows_begin(&w->flows, w->trace, binding, thread);
	while (swz_trace_next(w->stream, w->trace, events, &event)) {
		if (!any)
			swz_calls_put_thread(w->stream, w->trace, binding,
					     thread);
		any = true;
		if (depth && event.depth >= depth)
			continue;
		if (!event.begins) {
			end_call(w, &event);
			continue;
		}
		put_wakes(w, event.ticks, false);
		begin_call(w, &event);
	}
	if (w->count)
		put_begun(w);
	while (w->count)
		free_frame(&w->frames[--w->count]);
	swz_values_close(w->values);
	swz_trace_close(w->trace, events, thread);
}

void swz_write_calls(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	size_t i, j;

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
	fprintf(stream, "# %-8s %9s  %s\n", "start s", "time", "call");
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				put_thread(&w, binding,
					   &binding->profile->threads[j]);
	}
	free(w.frames);
	swz_text_free(&w.begun);
	swz_call_end_free(&w.end);
}
