/* How long a call takes is known at its end. So begins are kept until a call
 * turns out to stay; then those around it, which are at least as long, are
 * handed out first. What was handed out are always the outermost of the open
 * ones. */

#include "profile/costs/event_choice.h"

#include <stdlib.h>

#include "profile/support/memory.h"

bool swz_event_limits_any(const struct swz_event_limits *limits)
{
	return limits->min_ns > 0 || limits->max_depth || limits->every > 1;
}

void swz_event_choice_begin(struct swz_event_choice *choice,
			    const struct swz_profile *profile)
{
	double ticks = (double)choice->limits.min_ns *
		       (double)profile->clock_ticks / (double)profile->clock_ns;

	choice->min_ticks = ticks < 0x1p62 ? (uint64_t)ticks : UINT64_MAX;
	choice->depth = choice->told = choice->until = 0;
	choice->ends = false;
}

void swz_event_choice_free(struct swz_event_choice *choice)
{
	swz_call_rules_free(&choice->rules);
	free(choice->open);
	choice->open = NULL;
	free(choice->left_before);
	choice->left_before = NULL;
	choice->capacity = choice->before_capacity = 0;
}

/* Whether it is the one of so many. */
static bool is_next(struct swz_event_choice *choice)
{
	return choice->limits.every <= 1 ||
	       choice->counter++ % choice->limits.every == 0;
}

static bool is_too_deep(const struct swz_event_choice *choice)
{
	return choice->limits.max_depth &&
	       choice->depth > choice->limits.max_depth;
}

static void begin(struct swz_event_choice *choice,
		  const struct swz_event *event)
{
	swz_grow(&choice->open, &choice->capacity, choice->depth,
		 sizeof(*choice->open));
	swz_grow(&choice->left_before, &choice->before_capacity, choice->depth,
		 sizeof(*choice->left_before));
	choice->left_before[choice->depth] = choice->left_out;
	choice->open[choice->depth++] = *event;
	choice->calls += !event->untraced;
	/* that there are no events is always said */
	if (event->untraced ||
	    (!is_too_deep(choice) && !choice->min_ticks && is_next(choice)))
		choice->until = choice->depth;
}

/* The innermost ends, and is handed out. */
static void leave(struct swz_event_choice *choice)
{
	choice->told = --choice->depth;
	choice->inside = choice->left_out - choice->left_before[choice->depth];
}

/* Returns whether the end is to be handed out at once. */
static bool end(struct swz_event_choice *choice, const struct swz_event *event)
{
	const struct swz_event *begun;

	if (!choice->depth)
		return false;
	if (choice->told == choice->depth) {
		leave(choice);
		return true;
	}
	begun = &choice->open[choice->depth - 1];
	if (choice->min_ticks && !is_too_deep(choice) &&
	    event->ticks - begun->ticks >= choice->min_ticks &&
	    is_next(choice)) {
		choice->until = choice->depth;
		choice->ends = true;
		choice->end = *event;
	} else {
		choice->depth--;
		choice->left_out++;
	}
	return false;
}

static bool next(struct swz_event_choice *choice, struct swz_events *events,
		 struct swz_event *event)
{
	do
		if (!swz_events_next(events, event))
			return false;
	while (!swz_call_rules_show(&choice->rules, event));
	return true;
}

bool swz_event_choice_next(struct swz_event_choice *choice,
			   struct swz_events *events, struct swz_event *event)
{
	if (!swz_event_limits_any(&choice->limits))
		return next(choice, events, event);
	for (;;) {
		if (choice->told < choice->until) {
			*event = choice->open[choice->told++];
			return true;
		}
		choice->until = 0;
		if (choice->ends) {
			choice->ends = false;
			leave(choice);
			*event = choice->end;
			return true;
		}
		if (!next(choice, events, event))
			return false;
		if (event->begins)
			begin(choice, event);
		else if (end(choice, event))
			return true;
	}
}
