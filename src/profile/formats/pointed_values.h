#ifndef SWZ_PROFILE_FORMATS_POINTED_VALUES_H
#define SWZ_PROFILE_FORMATS_POINTED_VALUES_H

/* What arguments point at, before and after a call: "*n: 0 -> 17". */

#include "profile/formats/objects.h"

/* What arguments of an entry pointed at. Begins with zeros. */
struct swz_pointed_values {
	struct swz_objects *objects; /* what is known of others; or NULL */
	struct swz_text text; /* of numbers and pointers: names and texts, each
			       * with a NUL */
	struct swz_object_fields object;
	uint64_t address; /* the object's; 0: there was none */
};
/* Forgets what was kept. */
void swz_pointed_clear(struct swz_pointed_values *values);
void swz_pointed_free(struct swz_pointed_values *values);

/* Adds "name = value, *name = value" of an entry, and keeps what they point at
 * in place of what was kept before. BEFORE may be NULL. */
void swz_pointed_arguments(struct swz_text *text,
			   struct swz_pointed_values *before,
			   struct swz_binding *binding,
			   const struct swz_call_values *entry);

/* In place of what was kept before. */
void swz_pointed_keep(struct swz_pointed_values *before,
		      struct swz_binding *binding,
		      const struct swz_call_values *entry);

/* Adds what the arguments of a return point at; BEFORE: at its entry. */
void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       struct swz_pointed_values *before);

#endif
