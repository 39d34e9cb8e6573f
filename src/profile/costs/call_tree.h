#ifndef SWZ_PROFILE_COSTS_CALL_TREE_H
#define SWZ_PROFILE_COSTS_CALL_TREE_H

/* One thread's calling context tree, taken out of the file: checked, its open
 * frames closed, self and inclusive costs derived, the cost of the hooks
 * subtracted. docs/file-format.md explains the arithmetic. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"
#include "profile/names/debug_info.h"

#define SWZ_TREE_ROOT 0u /* index of the root, which always exists */

struct swz_tree_node {
	uint32_t id;       /* function id, or SWZ_FUNCTION_ROOT, _OURSELVES, or
			    * _UNTRACED: a context below the root, without calls */
	uint32_t function; /* into profile->functions, or SWZ_INDEX_NONE */
	uint32_t parent;   /* index; of itself for the root */
	uint32_t context;  /* index: its own, or an ancestor's */
	uint32_t flags;    /* enum swz_node_flags */
	uint32_t folded_caller; /* a folded node's caller, where it is known:
				 * into profile->functions; else
				 * SWZ_INDEX_NONE */
	uint64_t call_site;
	uint64_t calls;
	uint64_t hits; /* SWZ_NODE_HIT: of the parent's samples; calls is 0 */
	uint64_t unwound;    /* calls that an exception has ended */
	int64_t ticks;       /* closed, repaired; never negative */
	int64_t outer_ticks; /* the same; <= ticks and <= total_ticks */
	int64_t min_ticks;   /* sampled: 0 */
	int64_t max_ticks;   /* sampled: 0 */
	uint64_t timed;      /* sampled: calls of which the time was taken */
	double variance;     /* of ticks; 0 if all calls were timed */
	/* The following members are set where context == own index: */
	int64_t raw_self;   /* ticks in this context itself; >= 0 */
	int64_t self;       /* without the hooks' cost; >= 0 */
	int64_t raw_below;  /* sum of raw_self over the subtree */
	int64_t self_below; /* sum of self over the subtree */
	int64_t waiting; /* of raw_self: it did not run, where knows_waiting */
	uint64_t seen_running, seen_waiting; /* by looks, ns */
	int64_t blocked; /* of these waiting, for certain; ticks */
	double self_variance;
	/* by swz_report_add(), of what is shown: */
	int64_t self_ns;  /* the context's part of its function's self time */
	int64_t below_ns; /* sum of self_ns over the subtree */
	int64_t self_waiting_ns; /* beside self_ns: it did not run */
	int64_t below_waiting_ns;
	uint64_t below_calls; /* samples: sum of calls over the subtree */
	bool is_leaf;         /* SWZ_FUNCTION_LEAF */
	bool is_code;         /* SWZ_FUNCTION_AT_RUN_TIME: it has no time of
			       * its own */
	bool uncounted; /* its ticks may be of activations that are no calls
			 * here: resumed, or begun before the fork or the
			 * range */
	uint32_t unit;  /* of its slot: file offset / 64 */
	uint32_t top;   /* topmost context that recursion out of this subtree
			 * leads to; itself if there is none */
};

/* How many calls of a function took so long (--percentiles). */
struct swz_tree_times {
	uint32_t function; /* into profile->functions, or SWZ_INDEX_NONE: of
			    * any, there was no room */
	uint32_t bucket;   /* base/time_bucket.h; of ticks, raw */
	uint64_t calls;
};

struct swz_tree {
	struct swz_tree_node *nodes; /* [0] is the root */
	size_t count;
	uint32_t *contexts; /* indices of contexts, parents before children */
	size_t context_count;
	int64_t total_ticks;   /* the thread's time, raw: sum of raw_self, less
				* the ticks of folded nodes, which are within
				* the raw_self of an unknown context */
	uint64_t cost_outside; /* as in the header; 0: not compensated */
	uint64_t cost_inside;
	uint64_t cost_untimed;   /* sampled: of a call that was not timed */
	uint64_t cost_leaf;      /* the same, of a leaf */
	int64_t untraced_ticks;  /* in the range: there are no events of it */
	uint64_t untraced_calls; /* that were made then, as far as one can tell
				  */
	int64_t untraced_own;    /* of these ticks: work of ours */
	bool absent;             /* the thread was not there in the range */
	bool compensated;
	bool knows_waiting;    /* by context switches, or by looks */
	int64_t waiting_ticks; /* of total_ticks: what its processor time leaves
				* of them, as far as that is known */
	int64_t read_waiting_ns; /* waiting until the last reading of its
				  * processor time */
	int64_t unread_ns;       /* its time after that */
	bool looked;             /* it was looked at where it runs and waits: */
	uint64_t waited_ns;
	bool unseen_switches;      /* there are some, and too many unknown */
	uint64_t missing_switches; /* lost or overwritten: there was more
				    * waiting, in all of its time */
	bool sampled; /* only some calls were timed: times are estimates */
	bool samples; /* `calls` are samples that hit the context itself */
	bool counts;  /* calls of edges are known, and no time: all are 0 */
	bool merged;  /* of a sum of profiles */
	/* Times of calls, by function (--percentiles); in a range of those
	 * calls of which all lies in it. */
	struct swz_tree_times *times;
	size_t times_count;
	uint64_t not_shown;      /* calls, or samples, of what a view hides */
	uint64_t dropped_nodes;  /* left out as inconsistent */
	uint64_t repaired_nodes; /* torn or absurd times */
};

/* Builds the tree of a thread of PROFILE. With COMPENSATE the hooks' own cost
 * is subtracted, and other work of ours; otherwise self equals raw_self. The
 * caller frees it with swz_tree_free(). */
void swz_tree_build(struct swz_tree *tree, struct swz_profile *profile,
		    const struct swz_profile_thread *thread, bool compensate);
void swz_tree_free(struct swz_tree *tree);

/* A range of time, in ticks (rdtsc). */
struct swz_range {
	uint64_t from;
	uint64_t to;
};

/* The same with what a trace says of a range of time only. */
void swz_tree_build_range(struct swz_tree *tree, struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  bool compensate, const struct swz_range *range);

/* The cost that the hooks of the node's calls have for its caller, beside the
 * node's ticks. May be negative: in a sampled node's ticks each call has the
 * cost that only those had that were timed. */
int64_t swz_tree_cost_outside(const struct swz_tree *tree,
			      const struct swz_tree_node *node);

/* The inclusive ticks of a node's outermost activations, compensated. */
int64_t swz_tree_inclusive(const struct swz_tree *tree,
			   const struct swz_tree_node *node);

/* A sum of a node with so many activations that are open, as if they had ended
 * at EXIT (as nodes have it). *repaired is set if the number was wrong. */
int64_t swz_close_ticks(int64_t ticks, uint64_t open, uint64_t exit,
			bool *repaired);

/* --- self times and sums ------------------------------------------------- */

/* Where contexts lie in preorder, which tells what encloses what. */
struct swz_tree_order {
	struct swz_tree *tree;
	const struct swz_profile_thread *thread;
	uint32_t *preorder;   /* per node: position, SWZ_INDEX_NONE if
			       * unreachable */
	uint32_t *last_below; /* per node: position of its last descendant */
};

static inline bool swz_tree_is_context(const struct swz_tree *tree,
				       uint32_t index)
{
	return tree->nodes[index].context == index;
}

/* True if the inner context lies in the outer one. */
static inline bool swz_tree_encloses(const struct swz_tree_order *order,
				     uint32_t outer, uint32_t inner)
{
	return order->preorder[outer] <= order->preorder[inner] &&
	       order->preorder[inner] <= order->last_below[outer];
}

/* The last step of building a tree: self times, sums over subtrees, the
 * total. */
void swz_tree_cost(const struct swz_tree_order *order);

/* --- costs by the events of a range --------------------------------------- */

/* The costs of a tree's nodes by the events of a range of time. */

/* Replaces calls and times of all nodes: those of the file by those of the
 * events in RANGE. UNITS leads to the nodes. */
void swz_tree_take_events(struct swz_tree *tree,
			  const struct swz_unit_index *units,
			  const struct swz_profile *profile,
			  const struct swz_profile_thread *thread,
			  const struct swz_range *range);

/* --- waiting by context switches ----------------------------------------- */

/* In which contexts a thread did not run, by the context switches of a trace.
 */

/* Sets waiting of the contexts, if switches of the thread are known: of the
 * part of time that RANGE says, or of all (NULL). */
void swz_tree_take_switches(struct swz_tree *tree,
			    const struct swz_unit_index *units,
			    const struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    const struct swz_range *range);

/* Looks at the thread from outside: nodes get `waiting` in any unit, until
 * swz_tree_place_waiting(). */
void swz_tree_take_looks(struct swz_tree *tree,
			 const struct swz_unit_index *units,
			 const struct swz_profile *profile,
			 const struct swz_profile_thread *thread);

/* When self times are there: divides tree->waiting_ticks among the contexts.
 * It belongs to those that the thread was seen to wait in, as far as they have
 * time for it, and what is left to all. */
void swz_tree_place_waiting(struct swz_tree *tree);

/* --- what a trace does not hold ------------------------------------------ */

/* The time of which a trace holds no events: all that the nodes have, less what
 * the events say. */

struct swz_untraced {
	int64_t ticks;     /* how long it is */
	uint64_t calls;    /* that were made then */
	int64_t own_ticks; /* work of ours (SWZ_FUNCTION_OURSELVES) */
};

/* Reads all events of the thread where there is such a time. */
struct swz_untraced swz_untraced(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread);

/* --- how many calls took how long ---------------------------------------- */

/* How the times of a function's calls are distributed, and percentiles: the one
 * place where they are computed. A profile has buckets of ticks
 * (base/time_bucket.h); each becomes its middle, compensated as the shortest
 * and the longest call are, in ns. So a time is within 0.8 % of the real one,
 * or half a ns; in a sum of profiles, which has buckets of these, within 1.6 %.
 */

struct swz_call_time {
	int64_t ns;
	uint64_t calls;
};

/* All zeros: no times are known. */
struct swz_call_times {
	struct swz_call_time *items; /* sorted by ns, each of which is there
				      * once */
	size_t count, capacity;
	uint64_t calls; /* of all of them; saturates */
};

/* Rounds NS to ten significant bits: so there are at most 512 in an octave.
 * What is negative becomes 0. */
void swz_call_times_add(struct swz_call_times *times, int64_t ns,
			uint64_t calls);

void swz_call_times_merge(struct swz_call_times *to,
			  const struct swz_call_times *from);

void swz_call_times_free(struct swz_call_times *times);

/* The percentiles that are shown: p50, p90, p99, p99.9. */
enum swz_percentile {
	SWZ_P50,
	SWZ_P90,
	SWZ_P99,
	SWZ_P999,
	SWZ_PERCENTILES_SHOWN
};

/* "p50", "p90", "p99", "p99.9"; for names of fields: "p50_ns" ... "p999_ns". */
const char *swz_percentile_title(enum swz_percentile which);
const char *swz_percentile_name(enum swz_percentile which);

/* The time that so many of the calls do not exceed: of the least number of
 * calls that is that share of all (nearest rank). Between the shortest and the
 * longest one, where these are known (not 0). -1: no times are known. */
int64_t swz_percentile_ns(const struct swz_call_times *times,
			  enum swz_percentile which, int64_t min_ns,
			  int64_t max_ns);

/* Half the width of the range in which the percentile lies with a probability
 * of 95 %, if the calls are independent of each other: from the ranks of the
 * binomial distribution (Conover, Practical Nonparametric Statistics, 3.2). 0
 * where no times are known. */
int64_t swz_percentile_noise(const struct swz_call_times *times,
			     enum swz_percentile which);

/* True if there are calls enough for that range to lie among them: of 10 calls
 * none says anything of the slowest of 100. */
bool swz_percentile_is_sure(const struct swz_call_times *times,
			    enum swz_percentile which);

#endif
