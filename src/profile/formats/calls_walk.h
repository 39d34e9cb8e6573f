#ifndef SWZ_PROFILE_FORMATS_CALLS_WALK_H
#define SWZ_PROFILE_FORMATS_CALLS_WALK_H

/* The calls of a trace, thread by thread: what they were given and returned,
 * and who returned an error first. What writes them is told of each begin and
 * each end; memory goes by the depth of calls. */

#include "profile/formats/calls_errors.h"

struct swz_open_call_text {
	uint64_t start; /* ticks */
	uint32_t function;
	bool cut; /* it began before what is shown */
	struct swz_pointed_values before;
	struct swz_returned_errors errors;
	const char *hidden; /* see swz_errors_first() */
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
};

/* What is told. Calls of a thread are nested; each one that has begun ends. */
struct swz_calls_sink {
	FILE *stream; /* no more is read once it has failed */
	bool stopped; /* nor if this is set */
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

/* Of the end of an error that no other call returned first: see
 * swz_errors_first(). To be freed. */
char *swz_calls_first(const struct swz_calls_walk *w);

/* What woke the thread, up to UNTIL (ticks): "woken by write in app 4711 at
 * 0.000123", to be freed; *TICKS: when. NULL: nothing more did. */
char *swz_calls_woken(struct swz_calls_walk *w, uint64_t until,
		      uint64_t *ticks);

static inline const char *swz_calls_name(const struct swz_calls_walk *w)
{
	return w->trace->catalog->functions[w->open[w->count - 1].function]
		.name;
}

#endif
