#ifndef SWZ_PROFILE_FORMATS_CALLS_CALLS_H
#define SWZ_PROFILE_FORMATS_CALLS_CALLS_H

/* -f calls: the calls of a trace, one by one, with what is known of their
 * arguments and results. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/figures.h"
#include "profile/costs/trace.h"
#include "profile/formats/calls/pointed_values.h"
#include "profile/names/function_rules.h"
#include "profile/names/value_print.h"

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
	struct swz_text unlike; /* how the object differs: pointed_values.h */
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

/* Text in a colour, printable; what has changed (pointed_values.h) in another
 * one. */
void swz_calls_put(FILE *stream, const struct swz_trace *trace,
		   enum swz_colour colour, const char *text);

#endif
