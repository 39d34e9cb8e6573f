#ifndef SWZ_PROFILE_FLOWS_FLOWS_H
#define SWZ_PROFILE_FLOWS_FLOWS_H

/* What woke what in the traces of one or of several processes (--flows): from
 * a write to the read that took it, from an unlock to the lock that waited for
 * it, from a thread's creation to its start, and so on. What is not certain is
 * no flow: it is counted. See docs/flows.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"

/* A moment in a thread. */
struct swz_flow_end {
	uint32_t process;     /* index of its profile */
	uint32_t thread;      /* into that one's threads */
	uint64_t ticks;       /* rdtsc */
	const char *function; /* the function of libc: "write"; or what begins
			       * or ends there: "thread", "process", "exec" */
};

struct swz_flow {
	struct swz_flow_end from, to; /* from is not later than to */
};

enum swz_flow_doubt {
	SWZ_FLOW_OUTSIDE, /* the other end was not recorded */
	SWZ_FLOW_ORDER,   /* calls overlap, so it may be one or the other */
	SWZ_FLOW_LOST,    /* not all calls were recorded */
	SWZ_FLOW_DOUBTS
};

/* A place in the list of a thread's ends of flows. */
struct swz_flow_place {
	uint32_t process, thread;
	uint64_t ticks;
	uint32_t flow;
	bool is_to;
};

struct swz_flows {
	struct swz_flow *of; /* in no order */
	size_t count, capacity;
	struct swz_flow_place *places; /* by thread, then time */
	uint64_t doubts[SWZ_FLOW_DOUBTS];
};

void swz_flows_free(struct swz_flows *flows); /* NULL is fine */

/* The order of places. */
int swz_flow_places_compare(const void *left, const void *right);

/* Those of one thread, in the order of time. */
struct swz_flow_reader {
	const struct swz_flows *flows;
	size_t next, end;
};

/* Of what happens from FROM on. FLOWS may be NULL: then there are none. */
void swz_flow_reader_begin(struct swz_flow_reader *reader,
			   const struct swz_flows *flows, size_t process,
			   size_t thread, uint64_t from);

/* The next end that is not later than UNTIL; NULL: there is none. *END is the
 * end in this thread, *OTHER the other one. */
const struct swz_flow *swz_flow_reader_next(struct swz_flow_reader *reader,
					    uint64_t until, bool *is_to);

/* What is not certain, as a sentence for people; NULL: nothing is. To be freed.
 */
char *swz_flows_doubts(const struct swz_flows *flows);

#endif
