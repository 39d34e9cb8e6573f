#ifndef SWZ_PROFILE_FORMATS_CALLS_CALLS_H
#define SWZ_PROFILE_FORMATS_CALLS_CALLS_H

/* -f calls: the calls of a trace, one by one, with what is known of their
 * arguments and results. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/figures.h"
#include "profile/costs/trace.h"
#include "profile/names/function_rules.h"
#include "profile/names/value_print.h"

/* --- what pointers led to ------------------------------------------------- */

/* dump_this: what the fields of an object were, so that a call shows which have
 * changed: since the method before on the same object, in the call itself, and,
 * where the call failed, since the same function last succeeded.
 *
 * In texts marks say what is what: SWZ_CHANGED and SWZ_UNCHANGED stand around
 * what has changed, SWZ_OBJECT and SWZ_OBJECT_END around an object's fields,
 * and SWZ_FIELD between them. */

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

struct swz_calls_options {
	const struct swz_style *style; /* NULL: no colours, any width */
	uint32_t depth;                /* levels that are shown; 0: all */
	bool at;                       /* --at: the stacks at this moment */
	uint64_t at_ticks;
	bool blame;             /* --blame: where errors come from */
	bool apart;             /* --file-per-invocation */
	bool why;               /* --why: the slowest of these; with that */
	size_t nth;             /* --call: the nth slowest; 0: the slowest */
	bool json;              /* --json */
	struct swz_patterns of; /* --calls-of: these functions' calls */
	size_t first;           /* -n of all calls: so many; 0: all */
	size_t rows;            /* of those, or calls of a page, or files; 0:
				 * all */
	bool by_start; /* in the order of time, not the longest first */
};

void swz_write_calls(FILE *stream, struct swz_trace *trace);

void swz_write_calls_of(FILE *stream, struct swz_trace *trace);

/* Writes last values by context, for profiles that are no traces. */
void swz_write_calls_last(FILE *stream, struct swz_trace *trace);

/* The text of an exception whose type is not known. */
#define SWZ_ANY_EXCEPTION "! exception"

/* An end of an activation, as it is shown behind its call. */
struct swz_call_end {
	struct swz_text text;   /* "= 5", "! std::bad_alloc", "" */
	struct swz_text out;    /* "*n: 0 -> 3", "*n = 3"; "" */
	struct swz_text unlike; /* how the object differs: the marks above */
	struct swz_call_values values; /* until the next event is read */
	bool exceptional;
	bool has_number; /* an exceptional result's */
	int64_t number;
};

/* Reads an event that ends an activation. END begins with zeros, is filled anew
 * each time. BEFORE: of swz_call_begin_print(). */
void swz_call_end_read(struct swz_call_end *end,
		       struct swz_pointed_values *before,
		       struct swz_trace *trace, struct swz_binding *binding,
		       struct swz_value_reader *values,
		       const struct swz_event *event);
void swz_call_end_free(struct swz_call_end *end);

/* "name(arguments)" of an event that begins one; without values "name". BEFORE,
 * if not NULL, keeps what the end is compared with. ARGUMENTS gets the values,
 * which are valid until the next event is read. */
void swz_call_begin_print(struct swz_text *text,
			  struct swz_pointed_values *before,
			  struct swz_trace *trace, struct swz_binding *binding,
			  struct swz_value_reader *values,
			  const struct swz_event *event,
			  struct swz_call_values *arguments);

/* The same, of values that have been read. */
void swz_call_print(struct swz_text *text, struct swz_pointed_values *before,
		    struct swz_trace *trace, struct swz_binding *binding,
		    const struct swz_call_values *arguments,
		    const struct swz_event *event);

/* True if a result is an error: as the configuration says of its function,
 * whose SETTINGS may be NULL, or of its type, or else by the type alone. */
bool swz_result_is_exceptional(const struct swz_settings *settings,
			       const struct swz_value *result);

/* The colour that the configuration gives calls of a function. */
enum swz_colour swz_call_colour(const struct swz_trace *trace,
				uint32_t function);

/* Begins a thread's part: a line that says whose it is. */
void swz_calls_put_thread(FILE *stream, const struct swz_trace *trace,
			  const struct swz_binding *binding,
			  const struct swz_profile_thread *thread);

/* Text in a colour, printable; what has changed (SWZ_CHANGED) in another
 * one. */
void swz_calls_put(FILE *stream, const struct swz_trace *trace,
		   enum swz_colour colour, const char *text);

#endif
