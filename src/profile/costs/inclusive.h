#ifndef SWZ_PROFILE_COSTS_INCLUSIVE_H
#define SWZ_PROFILE_COSTS_INCLUSIVE_H

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

#include <stdbool.h>
#include <stdint.h>

#include "profile/costs/tree.h"

/* Of one function. */
struct swz_inclusive_sum {
	int64_t ns;
	int64_t waiting_ns;    /* of that */
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
		int64_t waiting_ns; /* of that */
		uint64_t samples;   /* of samples: the same */
	} * edge_sums;
};

/* Sets the tree's below_ns and below_waiting_ns, and these sums. What lies
 * below a folded context counts for the function of that one and those below
 * only: who is above is not known. */
void swz_inclusive_derive(const struct swz_inclusive *inclusive);

#endif
