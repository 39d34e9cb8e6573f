#ifndef SWZ_PROFILE_FORMATS_CALLS_POINTED_VALUES_H
#define SWZ_PROFILE_FORMATS_CALLS_POINTED_VALUES_H

/* dump_this: what the fields of an object were, so that a call shows which have
 * changed: since the method before on the same object, in the call itself, and,
 * where the call failed, since the same function last succeeded.
 *
 * In texts marks say what is what: SWZ_CHANGED and SWZ_UNCHANGED stand around
 * what has changed, SWZ_OBJECT and SWZ_OBJECT_END around an object's fields,
 * and SWZ_FIELD between them. */

#include "profile/names/value_print.h"

#define SWZ_CHANGED "\1"
#define SWZ_UNCHANGED "\2"
#define SWZ_OBJECT "\3"
#define SWZ_OBJECT_END "\4"
#define SWZ_FIELD "\5"
#define SWZ_MARKS SWZ_CHANGED SWZ_UNCHANGED SWZ_OBJECT SWZ_OBJECT_END SWZ_FIELD

/* Fields with what they were: names and texts, each with a NUL. Begins with
 * zeros; to be freed by swz_text_free(). */
struct swz_object_fields {
	struct swz_text text;
};

/* The latest fields of objects, and of the objects of calls that succeeded; of
 * the latest few thousand objects, so memory is bounded. */
struct swz_objects;
struct swz_objects *swz_objects_new(void);
void swz_objects_forget(struct swz_objects *objects); /* another thread's */
void swz_objects_free(struct swz_objects *objects);   /* NULL is fine */

/* Takes the marks away. */
void swz_text_unmark(struct swz_text *text);

/* A call of FUNCTION with such an object has ended. If it FAILED, TEXT gets how
 * the object differed from that of the last call that succeeded: "open = false,
 * not true". */
void swz_object_put_unlike(struct swz_text *text, struct swz_objects *objects,
			   const struct swz_object_fields *fields,
			   uint32_t function, bool failed);

/* --- values that are pointed at ------------------------------------------ */

/* Targets of pointers among arguments, before and after a call: "*n: 0 -> 17".
 */

/* Targets of an entry's arguments. Begins with zeros. */
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

/* Adds what the arguments of a return point at; BEFORE: at its entry. */
void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       struct swz_pointed_values *before);

#endif
