/* --at: what each thread was in at a moment, the innermost call first. */

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/calls.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

struct frame {
	struct swz_event event;
	struct swz_kept_values arguments;
};

struct stack {
	struct frame *frames; /* bytes are used again */
	size_t depth, used, capacity;
};

/* Texts are made of what is open in the end. */
static void push(struct stack *stack, struct swz_value_reader *values,
		 const struct swz_event *event)
{
	struct frame *frame;

	if (stack->depth == stack->used) {
		swz_grow(&stack->frames, &stack->capacity, stack->used,
			 sizeof(*stack->frames));
		stack->frames[stack->used++] = (struct frame){0};
	}
	frame = &stack->frames[stack->depth++];
	frame->event = *event;
	swz_values_keep(values, event, &frame->arguments);
}

static void put_stack(FILE *stream, struct swz_trace *trace,
		      struct swz_binding *binding, const struct stack *stack)
{
	const struct swz_style *style = trace->calls->style;
	struct swz_text call = {0};
	size_t i;

	for (i = stack->depth; i; i--) {
		const struct frame *frame = &stack->frames[i - 1];
		char figure[SWZ_FIGURE_BYTES];
		struct swz_call_values of;

		if (!swz_values_of_kept(&frame->arguments, &of))
			of.count = 0;
		swz_call_print(&call, NULL, trace, binding, &of, &frame->event);
		fprintf(stream, "#%-3zu ", stack->depth - i);
		swz_calls_put(stream, trace, SWZ_COLOUR_NONE, call.text);
		swz_figure_time(
			figure,
			swz_profile_ns(binding->profile,
				       (int64_t)(trace->calls->at_ticks -
						 frame->event.ticks)),
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

void swz_write_calls_at(FILE *stream, struct swz_trace *trace)
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
