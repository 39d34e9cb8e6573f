#ifndef SWZ_PROFILE_FORMATS_CONTEXT_VALUES_H
#define SWZ_PROFILE_FORMATS_CONTEXT_VALUES_H

/* What a profile that is no trace has of arguments and results: of each context
 * the last ones, and the smallest and the largest of each number. */

#include <stdbool.h>

#include "profile/file/summaries.h"
#include "profile/formats/shown_values.h"

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

#endif
