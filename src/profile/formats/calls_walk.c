/* Where an error comes from: an open call remembers the exceptional results
 * that returned to it. A result of the same value has come from there;
 * otherwise it is new, and its call is the first that returned it. The trail of
 * an error is the name of that function. */

#include "profile/formats/calls_walk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/support/memory.h"

char *swz_calls_first(const struct swz_calls_walk *w)
{
	return swz_errors_first(w->end.text.text[0] == '!',
				w->open[w->count - 1].hidden);
}

char *swz_calls_woken(struct swz_calls_walk *w, uint64_t until, uint64_t *ticks)
{
	const struct swz_flow *flow;
	bool is_to;

	while ((flow = swz_trace_flows_next(&w->flows, until, &is_to))) {
		int64_t ns = swz_trace_ns(w->trace, w->binding,
					  flow->from.ticks);
		char *other, *line;

		if (!is_to)
			continue;
		other = swz_trace_flow_text(w->trace, &flow->from);
		line = swz_print("woken by %s at %" PRId64 ".%06" PRId64, other,
				 ns / 1000000000, ns / 1000 % 1000000);
		free(other);
		*ticks = flow->to.ticks;
		return line;
	}
	return NULL;
}

static void free_open(struct swz_open_call_text *call)
{
	char *origin;

	while ((origin = swz_errors_remaining(&call->errors)) != NULL)
		free(origin);
	swz_pointed_free(&call->before);
}

/* The caller has it from now on. */
static void hand_error(struct swz_calls_walk *w, char *origin)
{
	struct swz_open_call_text *call = &w->open[w->count - 1];
	struct swz_open_call_text *caller = w->count > 1 ? call - 1 : NULL;
	char *other;

	while (caller && (other = swz_errors_outdated(&caller->errors,
						      call->function)) != NULL)
		free(other);
	if (!w->has_error || !caller) {
		free(origin);
		return;
	}
	while ((other = swz_errors_crowded_out(&caller->errors, &w->end)) !=
	       NULL)
		free(other);
	swz_errors_add(&caller->errors, &w->end, call->function,
		       origin ? origin : swz_duplicate(swz_calls_name(w)));
}

static void begin_call(struct swz_calls_walk *w, struct swz_calls_sink *sink,
		       const struct swz_event *event)
{
	struct swz_open_call_text *call;

	if (sink->before)
		sink->before(sink, w, event->ticks);
	swz_grow(&w->open, &w->capacity, w->count, sizeof(*w->open));
	call = &w->open[w->count++];
	*call = (struct swz_open_call_text){
		.start = event->ticks,
		.cut = event->cut,
		.function = swz_trace_function(w->binding, event),
		.before = {.objects = w->objects},
	};
	swz_call_begin_print(&w->begun, &call->before, w->trace, w->binding,
			     w->values, event);
	sink->begin(sink, w);
}

static void end_call(struct swz_calls_walk *w, struct swz_calls_sink *sink,
		     const struct swz_event *event)
{
	struct swz_open_call_text *call;
	char *origin = NULL;

	if (!w->count)
		return;
	call = &w->open[w->count - 1];
	swz_call_end_read(&w->end, &call->before, w->trace, w->binding,
			  w->values, event);
	w->has_error = swz_errors_concern(&w->end, swz_calls_name(w));
	if (w->has_error)
		origin = swz_errors_handed_on(&call->errors, &w->end);
	w->origin = origin;
	sink->end(sink, w, event);
	if (w->count > 1 && swz_errors_hidden(&w->end, swz_calls_name(w)))
		call[-1].hidden = swz_calls_name(w);
	hand_error(w, origin);
	free_open(call);
	w->count--;
}

static void walk_thread(struct swz_calls_walk *w, struct swz_calls_sink *sink)
{
	struct swz_trace *trace = w->trace;
	struct swz_events *events = swz_trace_open(trace, w->binding,
						   w->thread);
	/* (the choice counts what it leaves out) */
	uint32_t depth = trace->choice.limits.max_depth ? 0
							: trace->calls->depth;
	struct swz_event event;
	bool any = false;

	w->values = swz_values_open(w->binding->profile, w->thread);
	w->count = 0;
	swz_objects_forget(w->objects);
	swz_trace_flows_begin(&w->flows, trace, w->binding, w->thread);
	while (!sink->stopped &&
	       swz_trace_next(sink->stream, trace, events, &event)) {
		if (!any)
			sink->thread(sink, w);
		any = true;
		if (depth && event.depth >= depth)
			continue;
		if (event.begins)
			begin_call(w, sink, &event);
		else
			end_call(w, sink, &event);
	}
	if (any && sink->done)
		sink->done(sink, w);
	while (w->count)
		free_open(&w->open[--w->count]);
	swz_values_close(w->values);
	swz_trace_close(trace, events, w->thread);
}

void swz_calls_walk(struct swz_trace *trace, struct swz_calls_sink *sink)
{
	struct swz_calls_walk w = {.trace = trace,
				   .objects = swz_objects_new()};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		w.binding = &trace->bindings[i];
		for (j = 0; j < w.binding->profile->thread_count; j++) {
			w.thread = &w.binding->profile->threads[j];
			if (swz_trace_wants(trace, w.thread))
				walk_thread(&w, sink);
		}
	}
	free(w.open);
	swz_text_free(&w.begun);
	swz_call_end_free(&w.end);
	swz_objects_free(w.objects);
}
