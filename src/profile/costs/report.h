#ifndef SWZ_PROFILE_COSTS_REPORT_H
#define SWZ_PROFILE_COSTS_REPORT_H

/* The places of a function that samples hit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/names/function_rules.h"
#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/names/catalog.h"

struct swz_hit {
	uint32_t function; /* of the catalog */
	uint32_t place;    /* of the catalog, known */
	uint64_t samples;
	int64_t self_ns; /* of the function's */
	int64_t self_waiting_ns;
};

struct swz_hits {
	bool wanted; /* to be set before anything is added, or nothing is */
	struct swz_hit *items;
	size_t count, capacity;
	struct swz_map index; /* (function, place) */
};

/* True if a node is what hit the function of CALLER, its parent, itself. */
bool swz_hits_are_of(const struct swz_tree *tree,
		     const struct swz_tree_node *node);

/* The place that such a node's samples hit. */
uint32_t swz_hits_place(struct swz_binding *binding,
			const struct swz_tree_node *node);

/* --- functions and edges ------------------------------------------------- */

/* Functions and the calls between them, in ns: what flat and callgrind outputs
 * show. Running and waiting are apart: what a time holds of a thread whose
 * waiting is known is what it ran; of other threads it is all. A report holds
 * any number of threads, of one file or of several. It is empty when it is all
 * zeros. */

struct swz_report_function {
	bool present;         /* appears in this report, if only as a caller */
	bool uncounted;       /* joined: its calls were not recorded */
	uint64_t calls;       /* samples: that hit the function itself */
	uint64_t unwound;     /* of these, ended by an exception */
	double variance_ns;   /* of self_ns, where only some calls were timed,
			       * or it stands for samples: these are a Poisson
			       * process */
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
	/* How long its calls took, the report's; those that have not ended are
	 * not among them. */
	struct swz_call_times times;
	/* Beside these times: what it did not run, as far as known; see
	 * knows_waiting. */
	int64_t self_waiting_ns;
	int64_t inclusive_waiting_ns;
};

struct swz_report_edge {
	uint32_t caller; /* functions of the catalog */
	uint32_t callee;
	uint32_t place;       /* of the catalog */
	uint64_t calls;       /* samples: of it and of what lies below */
	int64_t inclusive_ns; /* see thread_sums.c */
	int64_t waiting_ns;   /* beside that */
	uint64_t jumps;       /* counted calls that came through a jump: of what
			       * the caller calls there (-m count) */
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
	bool knows_waiting; /* of a thread at least: by context switches, by
			     * looking at it, or since calls that wait
			     * (catalog.c) were recorded, if any were made:
			     * there are imports */
	bool knows_switches;  /* of a thread at least by the former */
	bool records_waiting; /* of a thread at least it was asked for: by
			       * --switches or --imports */
	bool sampled;         /* times are estimates, in some thread at least */
	bool samples;         /* what is called calls here are samples */
	bool without_times;   /* -m count: all times are 0, and not known */
	bool first_calls;     /* -m cover: what is called calls here are
			       * profiles with a first call */
	bool ends_unseen;     /* joined: calls were counted by -m count */
	bool has_times;       /* of a function at least: --percentiles */
	uint64_t lost_times;  /* of calls: there was no room for them */
	/* Calls are of one run, times of another, which was sampled: see
	 * runs.h. A time of 0 then means less than bound_ns. */
	bool joined;
	bool calls_by_edge;  /* joined: of functions and edges. Contexts that
			      * have time have no count, and the others no
			      * time */
	size_t thread_count; /* that were there in the range of time */
	uint64_t missing_switches; /* there was more waiting than is known */
	uint64_t silent_threads; /* of which no waiting is known, not even that
				  * there was none */
	uint64_t unseen_threads; /* of these: their switches are recorded, but
				  * too much came after the last look */
	/* Before the first thread: times are multiples of so many ns, which
	 * takes nothing from what is said of their sums; 0: of one. */
	int64_t unit_ns;
	double hook_ns; /* that a call's hooks cost, where it was taken from
			 * times; 0: it was not */
	struct swz_hits hits; /* of samples, if they are wanted */
	int64_t bound_ns;
	int64_t total_ns;    /* what self_ns add up to */
	int64_t waiting_ns;  /* what self_waiting_ns add up to */
	int64_t unplaced_ns; /* of total_ns: waiting, too, but it is not known
			      * where */
	int64_t unknown_ns;  /* of total_ns: running or waiting, it is not known
			      * which */
	int64_t late_waiting_ns;   /* see swz_thread_times_see() */
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

/* The cost of the hooks, which is in no other time. */
static inline int64_t swz_report_cost(const struct swz_report *report)
{
	int64_t shown = swz_add(report->total_ns, report->waiting_ns);

	return report->raw_ns > shown ? report->raw_ns - shown : 0;
}

/* Self times have a variance. */
static inline bool swz_report_is_estimated(const struct swz_report *report)
{
	return report->sampled || report->samples || report->joined;
}

/* The end of each call was seen. Otherwise `unwound` is 0 and not known, nor
 * are min_ns and max_ns, which are not known where they are 0. */
static inline bool swz_report_sees_ends(const struct swz_report *report)
{
	return !report->samples && !report->without_times &&
	       !report->ends_unseen;
}

/* The function's calls are so short that the hooks, of which the cost varies
 * from call to call, may have changed its running time by as much. What it
 * waited, or was ready and had no processor, says nothing about that. */
static inline bool swz_is_rough(const struct swz_report *report,
				const struct swz_report_function *function)
{
	const double hooks = 3;

	return function->calls && function->self_ns &&
	       (double)function->self_ns <
		       hooks * report->hook_ns * (double)function->calls;
}

/* The number of functions whose inclusive time is not the sum over contexts. */
size_t swz_report_split(const struct swz_report *report);

/* Sorts the edges by caller, callee and place, and the hits. */
void swz_report_sort(struct swz_report *report);

void swz_report_free(struct swz_report *report);

/* The function's costs; zeros if it does not appear. */
struct swz_report_function swz_report_function(const struct swz_report *report,
					       uint32_t function);

/* --- adding a thread ----------------------------------------------------- */

/* From context trees to a report. */

/* Adds a thread, and sets the tree's self_ns and below_ns. REPORT is
 * zero-initialised before the first; all threads of a report belong to bindings
 * of the same catalog. */
void swz_report_add(struct swz_report *report, struct swz_binding *binding,
		    struct swz_tree *tree);

/* --- the sums of one thread ----------------------------------------------- */

/* One thread's context tree, summed by function and call, in ticks. */

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

/* --- filters -------------------------------------------------------------- */

/* Filters choose by names of functions what of a profile is shown. They
 * have the same meaning as those of swizzle-run, after the fact. What is left
 * out is marked hidden in the tree, so its time is its caller's. */

struct swz_view {
	struct swz_patterns only;    /* these, and what they call */
	struct swz_patterns without; /* not these, nor what they call */
	struct swz_patterns hidden;  /* not these, but what they call */
	struct swz_patterns callers; /* these, and what leads to them: calls
				      * from which none of these is reached are
				      * left out, and what these call */
	struct swz_rules *rules;     /* the configuration's; or NULL */
	bool script; /* of those: only functions of scripts and code made at
		      * run time */
};

/* True if nothing is left out. */
bool swz_view_is_whole(const struct swz_view *view);

/* Lets the catalog know the functions of a thread. To be called for all threads
 * before the first is filtered: names may depend on each other. */
void swz_view_prepare(struct swz_binding *binding,
		      const struct swz_profile_thread *thread);

/* Marks what is not shown. Names are resolved for that. */
void swz_view_apply(const struct swz_view *view, struct swz_binding *binding,
		    struct swz_tree *tree);

/* The nodes of a thread that are shown, for swz_events_show_only(); all if
 * nothing is left out. To be freed. */
struct swz_unit_set swz_view_units(const struct swz_view *view,
				   struct swz_binding *binding,
				   const struct swz_profile_thread *thread);
void swz_unit_set_free(struct swz_unit_set *set);

void swz_view_free(struct swz_view *view);

/* --- what was recorded since a snapshot ----------------------------------- */

/* The part of a profile that was recorded since a snapshot of it. */

/* Changes PROFILE to what it has more than EARLIER, a snapshot of the same
 * process: calls and times since then, of threads that begin then. Nothing is
 * open any more; the shortest and the longest calls stay those of the whole.
 * SWZ_E_FORMAT, and nothing is changed: it is no such snapshot, *error says
 * why. */
enum swz_status swz_interval_take(struct swz_profile *profile,
				  const struct swz_profile *earlier,
				  struct swz_error *error) SWZ_MUST_CHECK;

#endif
