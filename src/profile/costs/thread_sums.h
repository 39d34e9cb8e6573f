#ifndef SWZ_PROFILE_COSTS_THREAD_SUMS_H
#define SWZ_PROFILE_COSTS_THREAD_SUMS_H

/* One thread's context tree, summed by function and call, in ticks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/tree.h"
#include "profile/names/catalog.h"
#include "profile/support/map.h"

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

/* Those of a function of the catalog; new ones where there are none. Valid
 * until others are new. */
struct swz_function_ticks *swz_thread_sums_function(
	struct swz_thread_sums *sums, uint32_t function);

/* In the catalog. */
void swz_thread_sums_mark_recursive(struct swz_thread_sums *sums,
				    uint32_t function);

void swz_thread_sums_free(struct swz_thread_sums *sums);

#endif
