/* --blame: of each error the call that returned it first, and the callers that
 * handed the same value on; at last the one that did not. An error is written
 * once it has come to its end. */

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/calls_errors.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

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

static void begin_call(struct following *f, const struct swz_event *event)
{
	struct frame *frame;

	if (f->depth == f->used) {
		swz_grow(&f->frames, &f->capacity, f->used, sizeof(*f->frames));
		f->frames[f->used++] = (struct frame){0};
	}
	frame = &f->frames[f->depth++];
	frame->event = *event;
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

static void end_call(struct following *f, const struct swz_event *event)
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
	struct swz_events *events = swz_trace_open(f->trace, binding, thread);
	uint32_t depth = f->trace->calls->depth;
	struct swz_event event;
	struct chain *chain;

	f->binding = binding;
	f->values = swz_values_open(binding->profile, thread);
	f->depth = 0;
	swz_calls_put_thread(f->stream, f->trace, binding, thread);
	while (swz_trace_next(f->stream, f->trace, events, &event)) {
		if (depth && event.depth >= depth)
			continue;
		if (event.begins)
			begin_call(f, &event);
		else
			end_call(f, &event);
	}
	for (; f->depth; f->depth--) {
		struct frame *frame = &f->frames[f->depth - 1];

		while ((chain = swz_errors_remaining(&frame->errors)) != NULL)
			put_chain(f, chain, frame, NULL, true);
	}
	swz_values_close(f->values);
	swz_trace_close(f->trace, events, thread);
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

void swz_write_calls_blame(FILE *stream, struct swz_trace *trace)
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
