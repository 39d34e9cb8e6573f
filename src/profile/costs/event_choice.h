#ifndef SWZ_PROFILE_COSTS_EVENT_CHOICE_H
#define SWZ_PROFILE_COSTS_EVENT_CHOICE_H

/* Fewer events of a trace: without short calls, without deep ones, or with one
 * of so many. A call that stays has all calls around it, so stacks stay what
 * they were. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/costs/call_rules.h"
#include "profile/file/events.h"

struct swz_event_limits {
	int64_t min_ns;     /* shorter calls are left out; 0: none is */
	uint32_t max_depth; /* calls around each other; 0: any number */
	uint64_t every;     /* one of so many calls stays; 0 and 1: all */
};

bool swz_event_limits_any(const struct swz_event_limits *limits);

struct swz_event_choice {
	struct swz_event_limits limits;
	struct swz_call_rules rules; /* what the configuration leaves out */
	uint64_t min_ticks;
	uint64_t calls;    /* that have begun, of all threads so far */
	uint64_t left_out; /* of these */
	uint64_t counter;  /* of calls of which one in `every` stays */
	uint64_t inside;   /* calls that were left out in the one whose end was
			    * handed out last */
	struct swz_event *open; /* the begins of what has not ended */
	uint64_t *left_before;  /* `left_out` when each of them began */
	size_t depth, capacity, before_capacity;
	size_t told;  /* of these were handed out: the outermost */
	size_t until; /* so many are to be handed out, ... */
	bool ends;    /* ... then this end of the innermost */
	struct swz_event end;
};

/* Before the events of a thread of PROFILE. What was counted stays. */
void swz_event_choice_begin(struct swz_event_choice *choice,
			    const struct swz_profile *profile);
void swz_event_choice_free(struct swz_event_choice *choice);

/* As swz_events_next(), which it calls. Begins may be handed out late, but in
 * the order of time. */
bool swz_event_choice_next(struct swz_event_choice *choice,
			   struct swz_events *events, struct swz_event *event);

#endif
