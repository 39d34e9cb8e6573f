#ifndef SWZ_PROFILE_FORMATS_SHOWN_VALUES_H
#define SWZ_PROFILE_FORMATS_SHOWN_VALUES_H

/* Arguments, results and exceptions as the formats of events have them: a name
 * and a text each, the same in all of them. */

#include "profile/names/value_print.h"

/* Of the value that was read last; begins with zeros. */
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
