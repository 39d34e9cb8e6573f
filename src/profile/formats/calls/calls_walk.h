#ifndef SWZ_PROFILE_FORMATS_CALLS_CALLS_WALK_H
#define SWZ_PROFILE_FORMATS_CALLS_CALLS_WALK_H

/* Errors that have returned to a call that is open, by the value that they
 * have: so a call that ends with the same value has handed it on. Whoever
 * follows them keeps something with each, its trail. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/formats/calls/calls.h"

struct swz_returned_error {
	char *value;   /* owned */
	uint32_t from; /* the function that returned it */
	void *trail;   /* the caller's */
};

/* The latest last; begins with zeros. */
struct swz_returned_errors {
	struct swz_returned_error *list; /* NULL: there were none */
	size_t count;
};

/* True if NAME has returned an error by this end. What throws an exception for
 * its caller (__cxa_throw) has not. */
bool swz_errors_concern(const struct swz_call_end *end, const char *name);

/* True if a compiler has changed how NAME is called (foo.isra.0). */
bool swz_errors_is_changed(const char *name);

/* True if NAME ends without a result as a compiler has changed how it is called
 * (foo.isra.0): --args leaves such functions out, so it may have been the first
 * to return an error. */
bool swz_errors_hidden(const struct swz_call_end *end, const char *name);

/* "first returned here"; HIDDEN: the last function that the call called
 * and that hid its result; NULL: none did. To be freed. */
char *swz_errors_first(bool thrown, const char *hidden);

/* The functions below that return a trail have taken it out; NULL: there is
 * none. */

/* The trail of the error that this exceptional end hands on. */
void *swz_errors_handed_on(struct swz_returned_errors *errors,
			   const struct swz_call_end *end);

/* The trail of one that FROM returned. To be called until there are none,
 * before what a later call of FROM returned is added: the function has been
 * tried again. */
void *swz_errors_outdated(struct swz_returned_errors *errors, uint32_t from);

/* The trail of one that has no room beside this one: of the same value, or the
 * oldest. To be called until there are none, before swz_errors_add(). */
void *swz_errors_crowded_out(struct swz_returned_errors *errors,
			     const struct swz_call_end *end);
void swz_errors_add(struct swz_returned_errors *errors,
		    const struct swz_call_end *end, uint32_t from, void *trail);

/* The trail of the oldest. To be called until there are none, which frees all.
 */
void *swz_errors_remaining(struct swz_returned_errors *errors);

/* --- calls that are one -------------------------------------------------- */

/* A function without values that begins with a jump to another one, as a thunk
 * for a second base and a wrapper do, is one call with that: its own begin and
 * end are left out. */

/* Of functions that led to a call so many are named. */
#define SWZ_MOST_THROUGH 4u

struct swz_through {
	uint32_t functions[SWZ_MOST_THROUGH]; /* of the catalog */
	unsigned count;
};

struct swz_calls_events {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_events *events;
	struct swz_event next; /* read ahead */
	bool has_next;
	uint8_t *left_out; /* of the calls that are open */
	size_t depth, capacity;
	uint32_t left_open;         /* of these: left out */
	struct swz_map asked;       /* functions that -F names: 1, others 0 */
	struct swz_through through; /* of the begin that was told last */
};

void swz_calls_events_open(struct swz_calls_events *events, FILE *stream,
			   struct swz_trace *trace, struct swz_binding *binding,
			   const struct swz_profile_thread *thread);
void swz_calls_events_close(struct swz_calls_events *events,
			    const struct swz_profile_thread *thread);

/* As swz_trace_next(). */
bool swz_calls_next(struct swz_calls_events *events, struct swz_event *event);

/* Adds " [through wrapper]" to a call; nothing, if it was called by itself. */
void swz_through_print(struct swz_text *text, const struct swz_trace *trace,
		       const struct swz_through *through);

/* --- the walk ------------------------------------------------------------ */

/* The calls of a trace, thread by thread: what they were given and returned,
 * and who returned an error first. What writes them is told of each begin and
 * each end; memory goes by the depth of calls. */

/* Watches of one function that are followed. */
#define SWZ_MOST_WATCHED 8u

struct swz_open_call_text {
	uint64_t start; /* ticks */
	uint32_t function;
	bool cut; /* it began before what is shown */
	struct swz_pointed_values before;
	struct swz_returned_errors errors;
	const char *hidden;                    /* see swz_errors_first() */
	uint64_t watched_at[SWZ_MOST_WATCHED]; /* see watch() */
};

struct swz_calls_walk {
	struct swz_trace *trace;
	struct swz_binding *binding;
	const struct swz_profile_thread *thread;
	struct swz_value_reader *values;
	struct swz_open_call_text *open; /* the innermost last */
	size_t count, capacity;
	struct swz_text begun;   /* the call that has begun last */
	struct swz_call_end end; /* the end, while it is told */
	bool has_error;          /* the end is of an error ... */
	const char *origin;      /* ... that this function returned first;
				  * NULL: the one that ends */
	struct swz_trace_flows flows;
	struct swz_objects *objects; /* of the thread */
	struct swz_watches *watches; /* the same */
	struct swz_text watched;     /* of the event: "ctx->depth: 4 -> 5, since
				      * leave at 0.000090"; or empty */
};

/* A view of calls is told these. Calls of a thread are nested; each one that
 * has begun ends. */
struct swz_calls_sink {
	FILE *stream;  /* no more is read once it has failed */
	void *context; /* the view's */
	bool stopped;  /* nor if this is set */
	/* A thread that has calls: before the first of them. */
	void (*thread)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
	/* A call is to begin at TICKS; may be NULL. */
	void (*before)(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		       uint64_t ticks);
	/* It has begun: the innermost that is open. */
	void (*begin)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
	/* The innermost ends. */
	void (*end)(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		    const struct swz_event *event);
	/* The thread's end; may be NULL. */
	void (*done)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
};

/* Tells SINK of all threads that are asked for. */
void swz_calls_walk(struct swz_trace *trace, struct swz_calls_sink *sink);

/* Text for the end of an error that no other call returned first: see
 * swz_errors_first(). To be freed. */
char *swz_calls_first(const struct swz_calls_walk *w);

/* Tells what woke the thread, up to UNTIL (ticks): "woken by write in app 4711
 * at 0.000123", to be freed; *TICKS: when. NULL: nothing more did. */
char *swz_calls_woken(struct swz_calls_walk *w, uint64_t until,
		      uint64_t *ticks);

static inline const char *swz_calls_name(const struct swz_calls_walk *w)
{
	return w->trace->catalog->functions[w->open[w->count - 1].function]
		.name;
}

/* Calls as indented lines. */

struct swz_calls_text {
	struct swz_calls_sink sink;
	bool has_begun; /* the innermost call is to be written yet */
	/* -n: so many are written, 0: all; then nothing but the ends of those
	 * that are open. */
	size_t most, calls, open;
	bool full;
};

/* Writes the heading. */
void swz_calls_text_begin(struct swz_calls_text *text, FILE *stream);

#endif
