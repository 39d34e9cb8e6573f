#ifndef SWZ_PROFILE_COSTS_REPORT_H
#define SWZ_PROFILE_COSTS_REPORT_H

/* Functions and the calls between them, in ns: what flat and callgrind outputs
 * show. A report holds any number of threads, of one file or of several. It is
 * empty when it is all zeros. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/hits.h"
#include "profile/support/map.h"

struct swz_report_function {
	bool present;         /* appears in this report, if only as a caller */
	bool uncounted;       /* joined: its calls were not recorded */
	uint64_t calls;       /* samples: that hit the function itself */
	uint64_t unwound;     /* of these, ended by an exception */
	double variance_ns;   /* of self_ns, where only some calls were timed */
	int64_t self_ns;      /* all of them add up to total_ns */
	int64_t inclusive_ns; /* <= total_ns */
	/* Contexts were folded: inclusive_ns is more than what lies below the
	 * function's contexts. */
	bool split;
	/* The shortest and the longest call; 0: none ended, or not known. In a
	 * thread min <= inclusive / calls <= max <= inclusive, all the same for
	 * a single call (min not so of recursive functions, max >= mean not
	 * where activations count no call: resumed ones, a range of time). */
	int64_t min_ns;
	int64_t max_ns;
	/* Of these times: what it did not run, as far as known; see
	 * knows_waiting. */
	int64_t self_waiting_ns;
	int64_t inclusive_waiting_ns;
};

struct swz_report_edge {
	uint32_t caller; /* functions of the catalog */
	uint32_t callee;
	uint32_t place;       /* of the catalog */
	uint64_t calls;       /* samples: of it and of what lies below */
	int64_t inclusive_ns; /* see inclusive.h */
	int64_t waiting_ns;   /* of that */
};

struct swz_report {
	struct swz_report_function *functions; /* by the catalog's index */
	size_t function_capacity;              /* elements there are */
	struct swz_report_edge *edges;
	size_t edge_count;
	size_t edge_capacity;
	struct swz_map edge_index;
	bool without_edges; /* to be set if nobody wants them; they take most of
			     * the work */
	bool knows_waiting; /* of a thread at least: by context switches, or
			     * since calls that wait (waiting_calls.h) were
			     * recorded, if any were made: there are imports */
	bool knows_switches; /* of a thread at least by the former */
	bool sampled;        /* times are estimates, in some thread at least */
	bool samples;        /* what is called calls here are samples */
	/* Calls are of one run, times of another, which was sampled: see
	 * joined.h. A time of 0 then means less than bound_ns. */
	bool joined;
	size_t thread_count;       /* that were there in the range of time */
	uint64_t missing_switches; /* there was more waiting than is known */
	uint64_t silent_threads; /* of which no waiting is known, not even that
				  * there was none */
	/* Before the first thread: times are multiples of so many ns, which
	 * takes nothing from what is said of their sums; 0: of one. */
	int64_t unit_ns;
	struct swz_hits hits; /* of samples, if they are wanted */
	int64_t bound_ns;
	int64_t total_ns;
	uint64_t not_shown;        /* calls, or samples, of what a view hides:
				    * their time is their callers' */
	int64_t raw_ns;            /* the threads' time, with the hooks' cost */
	uint64_t folded_recursion; /* calls that go on in a context further up
				    */
	uint64_t dropped_nodes;
	uint64_t repaired_nodes;
};

/* The function, and the call, to be added to: new where they were not there.
 * Valid until another one is added. */
struct swz_report_function *swz_report_at(struct swz_report *report,
					  uint32_t function);
struct swz_report_edge *swz_report_edge_at(struct swz_report *report,
					   uint32_t caller, uint32_t callee,
					   uint32_t place);

/* Adds a report without edges to another one, which has none either. */
void swz_report_merge(struct swz_report *to, const struct swz_report *from);

/* Of how many functions the inclusive time is not the sum over contexts. */
size_t swz_report_split(const struct swz_report *report);

/* Sorts the edges by caller, callee and place, and the hits. */
void swz_report_sort(struct swz_report *report);

void swz_report_free(struct swz_report *report);

/* The function's costs; zeros if it does not appear. */
struct swz_report_function swz_report_function(const struct swz_report *report,
					       uint32_t function);

#endif
