#ifndef SWZ_PROFILE_FORMATS_OBJECTS_H
#define SWZ_PROFILE_FORMATS_OBJECTS_H

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

/* The object of an entry: "{a = 1, b: 2 -> 3}". FIELDS, if not NULL, gets what
 * it is; OBJECTS, if not NULL, says what it was. */
void swz_object_put_entry(struct swz_text *text, struct swz_objects *objects,
			  struct swz_object_fields *fields,
			  struct swz_binding *binding,
			  const struct swz_call_values *values,
			  const struct swz_value *object);

/* The object of a return: "*this: a: 1 -> 2", with all fields where FIELDS, of
 * the entry, has none. ADDRESS: the object's, 0: it is not known. */
void swz_object_put_return(struct swz_text *text, struct swz_objects *objects,
			   const struct swz_object_fields *fields,
			   uint64_t address, struct swz_binding *binding,
			   const struct swz_call_values *values,
			   const struct swz_value *object);

/* Takes the marks away. */
void swz_text_unmark(struct swz_text *text);

/* What VALUES says of the address of OBJECT, which is one of them; 0: nothing.
 */
uint64_t swz_object_address(const struct swz_call_values *values,
			    const struct swz_value *object);

/* A call of FUNCTION with such an object has ended. If it FAILED, TEXT gets how
 * the object differed from that of the last call that succeeded: "open = false,
 * not true". */
void swz_object_put_unlike(struct swz_text *text, struct swz_objects *objects,
			   const struct swz_object_fields *fields,
			   uint32_t function, bool failed);

#endif
