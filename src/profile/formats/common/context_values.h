#ifndef SWZ_PROFILE_FORMATS_COMMON_CONTEXT_VALUES_H
#define SWZ_PROFILE_FORMATS_COMMON_CONTEXT_VALUES_H

/* Arguments and results of a profile that is no trace: of each context the last
 * ones, and the smallest and the largest of each number. */

#include <stdbool.h>

#include "profile/file/values.h"
#include "profile/names/value_print.h"

/* One argument or result; begins with zeros. */
struct swz_context_value {
	enum swz_value_moment moment;
	struct swz_text name, last; /* as -f calls has them */
	bool has_last;              /* it was not just being written */
	bool has_range;
	struct swz_text low, high;
	struct swz_value low_value, high_value; /* of the summary */
};
void swz_context_value_free(struct swz_context_value *value);

/* Calls PUT for each value of a context, those of the entry first. VALUE's
 * contents are those of this call alone. */
void swz_context_values_each(
	const struct swz_profile_summary *summary, struct swz_binding *binding,
	struct swz_context_value *value,
	void (*put)(void *to, const struct swz_context_value *value), void *to);

/* --- values of events ---------------------------------------------------- */

/* Arguments, results and exceptions as the formats of events have them: a name
 * and a text each, the same in all of them. */

/* The value that was read last; begins with zeros. */
struct swz_shown_value {
	struct swz_text name; /* "n", "*n" of what n points at, "exception" */
	struct swz_text text; /* as -f calls has it */
	const struct swz_value *value; /* NULL: an exception */
};

/* How many there are at one moment of a call. */
size_t swz_shown_count(const struct swz_call_values *values);

/* The one with this INDEX. */
void swz_shown_read(struct swz_shown_value *shown, struct swz_binding *binding,
		    const struct swz_call_values *values, size_t index);

void swz_shown_free(struct swz_shown_value *shown);

#endif
