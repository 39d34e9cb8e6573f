/* -f calls writes the calls of a trace as indented lines: all of them (calls),
 * those open at one moment (--at), or those that an error went through
 * (--blame). Each view is told of begins and ends by the walk (calls.h),
 * so memory goes by the depth of calls. */

#include "profile/formats/calls/calls.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "util/memory.h"
#include "profile/costs/trace.h"
#include "profile/names/function_rules.h"
#include "profile/names/value_print.h"

/* --- --at ---------------------------------------------------------------- */

/* --at: what each thread was in at a moment, the innermost call first. */

struct standing {
	struct swz_event event;
	struct swz_kept_values arguments;
};

struct stack {
	struct standing *frames; /* bytes are used again */
	size_t depth, used, capacity;
};

/* Texts are made of what is open in the end. */
static void push(struct stack *stack, struct swz_value_reader *values,
		 const struct swz_event *event)
{
	struct standing *standing;

	if (stack->depth == stack->used) {
		swz_grow(&stack->frames, &stack->capacity, stack->used,
			 sizeof(*stack->frames));
		stack->frames[stack->used++] = (struct standing){0};
	}
	standing = &stack->frames[stack->depth++];
	standing->event = *event;
	swz_values_keep(values, event, &standing->arguments);
}

static void put_stack(FILE *stream, struct swz_trace *trace,
		      struct swz_binding *binding, const struct stack *stack)
{
	const struct swz_style *style = trace->calls->style;
	struct swz_text call = {0};
	size_t i;

	for (i = stack->depth; i; i--) {
		const struct standing *standing = &stack->frames[i - 1];
		char figure[SWZ_FIGURE_BYTES];
		struct swz_call_values of;

		if (!swz_values_of_kept(&standing->arguments, &of))
			of.count = 0;
		swz_call_print(&call, NULL, trace, binding, &of,
			       &standing->event);
		fprintf(stream, "#%-3zu ", stack->depth - i);
		swz_calls_put(stream, trace, SWZ_COLOUR_NONE, call.text);
		swz_figure_time(
			figure,
			swz_profile_ns(binding->profile,
				       (int64_t)(trace->calls->at_ticks -
						 standing->event.ticks)),
			style && style->utf8);
		fprintf(stream, "  [for %s]\n", figure);
	}
	if (!stack->depth)
		fputs("     outside of all hooked functions\n", stream);
	swz_text_free(&call);
}

static void put_thread(FILE *stream, struct swz_trace *trace,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread,
		       struct stack *stack)
{
	struct swz_events *events = swz_trace_open(trace, binding, thread);
	struct swz_value_reader *values = swz_values_open(binding->profile,
							  thread);
	uint64_t at = trace->calls->at_ticks;
	struct swz_event event;

	stack->depth = 0;
	while (swz_trace_next(stream, trace, events, &event) &&
	       event.ticks <= at) {
		if (event.begins)
			push(stack, values, &event);
		else if (stack->depth && !event.cut)
			stack->depth--;
	}
	swz_calls_put_thread(stream, trace, binding, thread);
	if (at < thread->record.start_ticks || at > thread->last_ticks)
		fputs("     not there at that moment\n", stream);
	else
		put_stack(stream, trace, binding, stack);
	swz_values_close(values);
	swz_trace_close(trace, events, thread);
}

/* The parts: the stacks at a moment, where errors come from, and the calls of
 * some functions. */
static void write_calls_at(FILE *stream, struct swz_trace *trace)
{
	struct stack stack = {0};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				put_thread(stream, trace, binding,
					   &binding->profile->threads[j],
					   &stack);
	}
	for (i = 0; i < stack.used; i++)
		swz_kept_values_free(&stack.frames[i].arguments);
	free(stack.frames);
}

/* --- --blame ------------------------------------------------------------- */

/* --blame: of each error the call that returned it first, and the callers that
 * handed the same value on; at last the one that did not. An error is written
 * once it has come to its end. */

struct link {
	uint64_t start, time; /* ticks */
	char *call, *end;
};

/* The trail of an error: calls that ended with it, the innermost first. */
struct chain {
	struct link *links;
	size_t count, capacity;
	bool thrown;
	const char *hidden; /* see swz_errors_first(); the catalog's */
};

struct frame {
	struct swz_event event; /* that began it */
	struct swz_through through;
	uint32_t function;
	struct swz_kept_values arguments;
	struct swz_returned_errors errors;
	const char
		*hidden; /* the last that it called and that hid its result */
};

struct following {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_value_reader *values;
	struct frame *frames; /* bytes are used again */
	size_t depth, used, capacity;
	struct swz_text call;
	struct swz_pointed_values before;
	struct swz_call_end end;
	uint64_t calls, errors;
	bool has_results;
};

static bool is_utf8(const struct following *f)
{
	return f->trace->calls->style && f->trace->calls->style->utf8;
}

/* The frame's call, and what its end is compared with. Few of them are errors:
 * so no text is made when they begin. */
static void describe(struct following *f, const struct frame *frame)
{
	struct swz_call_values of;

	if (!swz_values_of_kept(&frame->arguments, &of))
		of.count = 0;
	swz_call_print(&f->call, &f->before, f->trace, f->binding, &of,
		       &frame->event);
	swz_through_print(&f->call, f->trace, &frame->through);
}

/* START: when the call began; TIME: NULL where it has not ended. */
static void put_call(const struct following *f, uint64_t start,
		     const uint64_t *time, const char *call)
{
	int64_t ns = swz_trace_ns(f->trace, f->binding, start);
	char figure[SWZ_FIGURE_BYTES] = "", *begun;

	if (time)
		swz_figure_time(
			figure,
			swz_profile_ns(f->binding->profile, (int64_t)*time),
			is_utf8(f));
	begun = swz_print("%3" PRId64 ".%06" PRId64, ns / 1000000000,
			  ns / 1000 % 1000000);
	swz_calls_put(f->stream, f->trace, SWZ_COLOUR_DIM, begun);
	free(begun);
	fprintf(f->stream, " %*s%s  ", 9 - (int)swz_text_width(figure), "",
		figure);
	swz_calls_put(f->stream, f->trace, SWZ_COLOUR_NONE, call);
}

static void put_link(const struct following *f, const struct link *link)
{
	put_call(f, link->start, &link->time, link->call);
	putc(' ', f->stream);
	swz_calls_put(f->stream, f->trace, SWZ_COLOUR_HOT, link->end);
}

static bool is_hidden(const struct following *f, const struct frame *frame)
{
	return !frame->arguments.signature &&
	       swz_errors_is_changed(
		       f->trace->catalog->functions[frame->function].name);
}

/* CALLER: the frame to which the error has come at last, or NULL; ENDED: the
 * event that ends it, or NULL; OPEN: it is not known whether it hands it on. */
static void put_chain(struct following *f, struct chain *chain,
		      const struct frame *caller, const struct swz_event *ended,
		      bool open)
{
	uint64_t time = caller && ended ? ended->ticks - caller->event.ticks
					: 0;
	size_t i;

	f->errors++;
	for (i = 0; i < chain->count; i++) {
		put_link(f, &chain->links[i]);
		if (!i) {
			char *first = swz_errors_first(chain->thrown,
						       chain->hidden);
			char *line = swz_print("  <- %s", first);

			swz_calls_put(f->stream, f->trace, SWZ_COLOUR_WARM,
				      line);
			free(line);
			free(first);
		}
		putc('\n', f->stream);
		free(chain->links[i].call);
		free(chain->links[i].end);
	}
	if (caller) {
		describe(f, caller);
		put_call(f, caller->event.ticks, ended ? &time : NULL,
			 f->call.text);
		if (ended && f->end.text.size) {
			putc(' ', f->stream);
			swz_calls_put(f->stream, f->trace,
				      f->end.exceptional ? SWZ_COLOUR_HOT
							 : SWZ_COLOUR_NONE,
				      f->end.text.text);
		}
		if (!open)
			swz_calls_put(f->stream, f->trace, SWZ_COLOUR_DIM,
				      is_hidden(f, caller)
					      ? "  <- its result is not "
						"recorded"
					      : "  <- not handed on");
		putc('\n', f->stream);
	}
	putc('\n', f->stream);
	free(chain->links);
	free(chain);
}

static void begin_blamed(struct following *f, const struct swz_event *event,
			 const struct swz_through *through)
{
	struct frame *frame;

	if (f->depth == f->used) {
		swz_grow(&f->frames, &f->capacity, f->used, sizeof(*f->frames));
		f->frames[f->used++] = (struct frame){0};
	}
	frame = &f->frames[f->depth++];
	frame->event = *event;
	frame->through = *through;
	frame->function = swz_trace_function(f->binding, event);
	frame->hidden = NULL;
	swz_values_keep(f->values, event, &frame->arguments);
}

/* To the trail of the error that the call hands on, or to a new one. */
static struct chain *lengthen(struct following *f, struct frame *frame,
			      const struct swz_event *event)
{
	struct chain *chain = swz_errors_handed_on(&frame->errors, &f->end);

	describe(f, frame);
	if (!chain) {
		chain = swz_allocate(1, sizeof(*chain));
		chain->thrown = event->how == SWZ_EVENT_UNWIND;
		chain->hidden = frame->hidden;
	}
	swz_grow(&chain->links, &chain->capacity, chain->count,
		 sizeof(*chain->links));
	chain->links[chain->count++] = (struct link){
		.start = frame->event.ticks,
		.time = event->ticks - frame->event.ticks,
		.call = swz_duplicate(f->call.text),
		.end = swz_print("%s%s%s", f->end.text.text,
				 f->end.out.size ? "  " : "",
				 f->end.out.size ? f->end.out.text : ""),
	};
	return chain;
}

static void end_blamed(struct following *f, const struct swz_event *event)
{
	struct frame *frame, *caller;
	struct chain *chain = NULL, *other;
	const char *name;

	if (!f->depth)
		return;
	frame = &f->frames[--f->depth];
	caller = f->depth ? frame - 1 : NULL;
	name = f->trace->catalog->functions[frame->function].name;
	swz_pointed_clear(&f->before);
	if (frame->arguments.signature)
		describe(f, frame);
	swz_call_end_read(&f->end, &f->before, f->trace, f->binding, f->values,
			  event);
	f->calls++;
	f->has_results |= f->end.text.size && f->end.text.text[0] == '=';
	if (caller && swz_errors_hidden(&f->end, name))
		caller->hidden = name;
	if (swz_errors_concern(&f->end, name))
		chain = lengthen(f, frame, event);
	while ((other = swz_errors_remaining(&frame->errors)) != NULL)
		put_chain(f, other, frame, event, event->cut);
	if (!caller) {
		if (chain)
			put_chain(f, chain, NULL, NULL, false);
		return;
	}
	while ((other = swz_errors_outdated(&caller->errors,
					    frame->function)) != NULL)
		put_chain(f, other, caller, NULL, false);
	if (!chain)
		return;
	while ((other = swz_errors_crowded_out(&caller->errors, &f->end)) !=
	       NULL)
		put_chain(f, other, caller, NULL, false);
	swz_errors_add(&caller->errors, &f->end, frame->function, chain);
}

static void follow_thread(struct following *f, struct swz_binding *binding,
			  const struct swz_profile_thread *thread)
{
	struct swz_calls_events events;
	uint32_t depth = f->trace->calls->depth;
	struct swz_event event;
	struct chain *chain;

	swz_calls_events_open(&events, f->stream, f->trace, binding, thread);
	f->binding = binding;
	f->values = swz_values_open(binding->profile, thread);
	f->depth = 0;
	swz_calls_put_thread(f->stream, f->trace, binding, thread);
	while (swz_calls_next(&events, &event)) {
		if (depth && event.depth >= depth)
			continue;
		if (event.begins)
			begin_blamed(f, &event, &events.through);
		else
			end_blamed(f, &event);
	}
	for (; f->depth; f->depth--) {
		struct frame *frame = &f->frames[f->depth - 1];

		while ((chain = swz_errors_remaining(&frame->errors)) != NULL)
			put_chain(f, chain, frame, NULL, true);
	}
	swz_values_close(f->values);
	swz_calls_events_close(&events, thread);
}

static void put_sum(const struct following *f)
{
	char errors[SWZ_FIGURE_BYTES], calls[SWZ_FIGURE_BYTES];

	fprintf(f->stream, "# %s error%s in %s call%s\n",
		swz_figure_count(errors, f->errors), f->errors == 1 ? "" : "s",
		swz_figure_count(calls, f->calls), f->calls == 1 ? "" : "s");
	if (f->calls && !f->has_results)
		fputs("# no results are shown: swizzle-run -m trace --args "
		      "records them, with debug information\n",
		      f->stream);
}

static void write_calls_blame(FILE *stream, struct swz_trace *trace)
{
	struct following f = {.stream = stream, .trace = trace};
	size_t i, j;

	fprintf(stream, "# %-8s %9s  %s\n", "start s", "time", "call, result");
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				follow_thread(&f, binding,
					      &binding->profile->threads[j]);
	}
	put_sum(&f);
	for (i = 0; i < f.used; i++)
		swz_kept_values_free(&f.frames[i].arguments);
	swz_text_free(&f.call);
	swz_pointed_free(&f.before);
	swz_call_end_free(&f.end);
	free(f.frames);
}

/* --- all calls ----------------------------------------------------------- */

/* A call's end comes long after its beginning, and the memory is bounded: so a
 * call that makes others takes two lines. One beginning is kept until the next
 * event, which tells whether there are any. */

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

/* Changes of watched values: a line before the call, or behind its
 * end. */
static void put_watched(struct swz_calls_text *text, struct swz_calls_walk *w,
			uint64_t ticks)
{
	char *line;

	if (!w->watched.size)
		return;
	line = swz_print("<- %s", w->watched.text);
	put_columns(text->sink.stream, w, ticks, false, 0);
	put_indent(text->sink.stream, w->count - 1);
	swz_calls_put(text->sink.stream, w->trace, SWZ_COLOUR_WARM, line);
	putc('\n', text->sink.stream);
	free(line);
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

/* Tells what woke the thread where a call returns now. */
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

	if (text->full)
		return;
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
	struct swz_calls_text *text = text_of(sink);

	if (!text->full && text->most && text->calls == text->most) {
		text->full = true;
		text->open = w->count - 1;
	}
	if (text->full)
		return;
	text->calls++;
	put_watched(text, w, w->open[w->count - 1].start);
	text->has_begun = true;
}

static void end_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		     const struct swz_event *event)
{
	struct swz_calls_text *text = text_of(sink);
	const struct swz_open_call_text *call = &w->open[w->count - 1];
	FILE *stream = sink->stream;

	if (text->full && w->count > text->open)
		return;
	if (text->full)
		text->open = w->count - 1;
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
	put_watched(text, w, event->ticks);
}

static void begin_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct swz_calls_text *text = text_of(sink);

	text->has_begun = false;
	text->open = 0;
	text->full |= text->most && text->calls == text->most;
	if (text->full)
		return;
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
		write_calls_at(stream, trace);
		return;
	}
	if (trace->calls->blame) {
		write_calls_blame(stream, trace);
		return;
	}
	if (trace->calls->why) {
		swz_write_why(stream, trace);
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
	swz_list_slow_calls(stream, trace);
	swz_calls_text_begin(&text, stream);
	text.most = trace->calls->first;
	swz_calls_walk(trace, &text.sink);
	if (text.full)
		fprintf(stream, "# the first %zu call%s; -n 0 shows all\n",
			text.most, text.most == 1 ? "" : "s");
}
