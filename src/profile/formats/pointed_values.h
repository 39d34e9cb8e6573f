#ifndef SWZ_PROFILE_FORMATS_POINTED_VALUES_H
#define SWZ_PROFILE_FORMATS_POINTED_VALUES_H

/* What arguments point at, before and after a call: "*n: 0 -> 17". */

#include "profile/names/value_print.h"

/* Numbers and pointers that arguments of an entry pointed at: names and texts,
 * each with a NUL. Begins with zeros; to be freed by swz_text_free(). */
struct swz_pointed_values {
	struct swz_text text;
};

/* In place of what was kept before. */
void swz_pointed_keep(struct swz_pointed_values *before,
		      struct swz_binding *binding,
		      const struct swz_call_values *entry);

/* Adds what the arguments of a return point at; BEFORE: at its entry. */
void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       const struct swz_pointed_values *before);

#endif
