#ifndef SWZ_PROFILE_COSTS_THREAD_SUMS_H
#define SWZ_PROFILE_COSTS_THREAD_SUMS_H

/* One thread's context tree, summed by function and call, in ticks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/names/catalog.h"

struct swz_function_ticks {
	uint32_t function;
	uint64_t calls;
	uint64_t unwound;
	double variance; /* of self */
	int64_t self;
	int64_t taken;    /* by folded nodes, to be subtracted from self */
	int64_t measured; /* inclusive, as its activations were timed */
	int64_t raw;      /* the same, not compensated */
	int64_t min;      /* not compensated */
	int64_t max;
	bool uncounted; /* see swz_tree_node */
	bool recursive; /* in this thread */
	int64_t self_ns;
	int64_t self_waiting_ns;
	bool split; /* less lies below its topmost contexts than is shown */
	struct swz_shown_sum {
		int64_t ns;            /* as it is shown */
		int64_t below_ns;      /* what lies below these contexts */
		int64_t edges_done_ns; /* of below_ns: of edges that had their
					* part */
		int64_t parts_done_ns; /* of ns: these parts */
	} inclusive, waiting;
};

struct swz_edge_ticks {
	uint32_t caller;
	uint32_t callee;
	uint32_t place;
	uint64_t calls;
	uint64_t jumps;
};

struct swz_thread_sums {
	struct swz_binding *binding;
	struct swz_tree *tree;
	uint32_t *shown; /* per context: the catalog's function that it counts
			  * for */
	struct swz_function_ticks *functions;
	size_t function_count;
	size_t function_capacity;
	uint32_t *function_index; /* per function of the catalog: 1 + index;
				   * 0: none */
	size_t indexed;
	struct swz_edge_ticks *edges;
	size_t edge_count;
	size_t edge_capacity;
	struct swz_map edge_index;
	uint32_t *edge_of; /* per node: its edge, UINT32_MAX: none */
	bool with_edges;
	int64_t unit_ns;       /* of the report; 1 or more */
	uint64_t folded_calls; /* recursive ones that go on further up */
	bool folded;           /* some callers' contexts are not known */
};

/* Sums BINDING's TREE, which are set before, like with_edges and unit_ns; all
 * else is 0. Returns the sum of all self times. Functions are added to the
 * catalog. */
int64_t swz_thread_sums_add(struct swz_thread_sums *sums);

/* The sums of a function of the catalog; new ones where there are none. Valid
 * until others are new. */
struct swz_function_ticks *swz_thread_sums_function(
	struct swz_thread_sums *sums, uint32_t function);

/* In the catalog. */
void swz_thread_sums_mark_recursive(struct swz_thread_sums *sums,
				    uint32_t function);

void swz_thread_sums_free(struct swz_thread_sums *sums);

/* --- inclusive times ----------------------------------------------------- */

/* Inclusive times of one thread, in ns, from the self times of its contexts: so
 * that every sum that a reader can make of a tree, of stacks or of calls is the
 * one that the table shows.
 *
 * A function's inclusive time is that of the subtrees of its topmost contexts,
 * those with no other of the function above them.
 *
 * The time of a call edge is that of those topmost contexts that it leads to.
 * So the edges to a function add up to its inclusive time, and a recursive call
 * has none. */

/* For one function. */
struct swz_inclusive_sum {
	int64_t ns;
	int64_t waiting_ns;    /* beside that */
	int64_t topmost_ticks; /* its topmost contexts' swz_tree_inclusive() */
	/* Recursion was folded: what some of its calls have called lies in
	 * contexts further up, and is not in `ns`. */
	bool split;
	bool recursive; /* it has others below a topmost one */
};

struct swz_inclusive {
	struct swz_tree *tree; /* with self_ns and self_waiting_ns */
	/* Per node that is a context: the function that it is shown as. A
	 * hidden one has its parent's. */
	const uint32_t *shown;
	/* Per node: the edge that it is a call of, or UINT32_MAX. NULL: no
	 * edges are wanted. */
	const uint32_t *edges;
	size_t function_count; /* of the catalog */
	/* All zero before: per function, and per edge. */
	struct swz_inclusive_sum *functions;
	struct swz_inclusive_edge {
		int64_t ns;
		int64_t waiting_ns; /* beside that */
		uint64_t samples;   /* of samples: the same */
	} * edge_sums;
};

/* Sets the tree's below_ns and below_waiting_ns, and these sums. What lies
 * below a folded context counts for the function of that one and those below
 * only: who is above is not known. */
void swz_inclusive_derive(const struct swz_inclusive *inclusive);

#endif
