#ifndef SWZ_PROFILE_COSTS_CALL_RULES_H
#define SWZ_PROFILE_COSTS_CALL_RULES_H

/* Calls that the configuration leaves out of a trace: those for which
 * only_show_if does not hold, with all that they call, and what is deeper than
 * `depth` below a function. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/events.h"
#include "profile/file/values.h"
#include "profile/names/rules.h"

struct swz_call_rules {
	struct swz_rules *rules; /* NULL: nothing is left out */
	uint64_t left_out;       /* calls, without what they call */
	uint64_t undecided;      /* that are shown, as a value is not known */
	/* of the thread: */
	struct swz_binding *binding;
	struct swz_value_reader *values;
	struct swz_open_call *open; /* that are shown, the outermost first */
	size_t depth, capacity;
	size_t skipped;   /* calls that are open and left out */
	uint8_t *results; /* bits: of calls with such conditions, in their
			   * order, whether those of results hold */
	size_t result_count, next_result;
};

/* Before the events of a thread, of which RANGE is read. */
void swz_call_rules_begin(struct swz_call_rules *calls,
			  struct swz_binding *binding,
			  const struct swz_profile_thread *thread,
			  uint64_t from, uint64_t to,
			  const struct swz_unit_set *shown);
void swz_call_rules_end(struct swz_call_rules *calls);
void swz_call_rules_free(struct swz_call_rules *calls);

/* Whether an event stays. To be called for all of them in their order. */
bool swz_call_rules_show(struct swz_call_rules *calls,
			 const struct swz_event *event);

#endif
