#ifndef SWZ_PROFILE_COSTS_CONTEXTS_H
#define SWZ_PROFILE_COSTS_CONTEXTS_H

/* The calling contexts of a report: paths of functions, with what was spent
 * and called at the end of each. Threads and profiles are added to it as they
 * are to the report, and in both each function has the same calls and the same
 * self time. A recursive call that was folded is a context of its own without
 * time, which is that of the function's context further up. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "profile/costs/report.h"

#define SWZ_CONTEXT_ROOT 0u

/* No path is longer: what lies deeper is shown as called from the last but
 * one. A function occurs in a path --recursion times at most, so hardly more
 * than a forged file gets there. */
#define SWZ_CONTEXT_DEPTH 65536u

struct swz_context {
	uint32_t function; /* of the catalog; of the root SWZ_CATALOG_OUTSIDE */
	uint32_t parent;   /* index, less than its own; of the root itself */
	uint32_t place;    /* of the call, if contexts are told apart by it */
	uint32_t depth;    /* of the root 0 */
	bool folded;  /* its calls go on in the function's context further up */
	bool caused;  /* called by another thread than the parent's, which has
		       * posted it: groups.h */
	bool is_hit;  /* no call: what samples hit at this place of the parent's
		       * function */
	bool topmost; /* by swz_contexts_sum(): its function is not above it */
	uint64_t calls;
	uint64_t unwound; /* of these, ended by an exception */
	uint64_t jumps;   /* of these, through a jump: see finds_jumps */
	int64_t self_ns;
	int64_t inclusive_ns; /* by swz_contexts_sum(): of all beneath it, too
			       */
	int64_t self_waiting_ns; /* beside these times: it did not run */
	int64_t inclusive_waiting_ns;
};

struct swz_contexts {
	struct swz_context *items; /* parents before children */
	size_t count;
	size_t capacity;
	struct swz_map index; /* (parent, function and place) */
	bool by_place;
	/* To be set before the first thread is added, with by_place: a place is
	 * no line but what swz_binding_offset() says. */
	bool by_offset;
	/* To be set before the first thread is added, with by_place: samples
	 * are told apart by the place that they hit, in contexts of their own.
	 */
	bool by_hit;
	/* To be set likewise: the place of SWZ_CATALOG_COUNTING is the function
	 * whose call was counted, which need not be shown. */
	bool by_counted;
	/* To be set likewise: of counts it is said which calls came through a
	 * jump. */
	bool finds_jumps;
	/* With by_unit set before the first thread is added: (a node's unit, 0)
	 * to the context that its calls went to, SWZ_CONTEXT_ROOT if they are
	 * hidden. Units are those of one file. */
	bool by_unit;
	struct swz_map units;
};

/* Makes a tree that is nothing but a root for FUNCTION. With BY_PLACE calls
 * from different places are different contexts. */
void swz_contexts_begin(struct swz_contexts *contexts, uint32_t function,
			bool by_place);
void swz_contexts_free(struct swz_contexts *contexts);

/* Adds a thread to the report (as swz_report_add() does) and to the contexts.
 */
void swz_contexts_add(struct swz_contexts *contexts, struct swz_report *report,
		      struct swz_binding *binding, struct swz_tree *tree);

/* With by_unit: makes the context of what was not traced, of unit 0, without
 * any time. */
void swz_contexts_add_untraced(struct swz_contexts *contexts);

/* The context of calls to a function from one, which is made if it is new.
 * FOLDED: of those calls that go on further up. */
uint32_t swz_contexts_child(struct swz_contexts *contexts, uint32_t parent,
			    uint32_t function, uint32_t place, bool folded);

/* The same of what another thread did for a call (groups.h). */
uint32_t swz_contexts_caused(struct swz_contexts *contexts, uint32_t parent,
			     uint32_t function, uint32_t place);

/* Where a context's calls and times are: itself, or for a folded one the
 * context of its function further up. */
uint32_t swz_contexts_current(const struct swz_contexts *contexts,
			      uint32_t index);

/* The child of PARENT that stands for a context of another tree. */
uint32_t swz_contexts_like(struct swz_contexts *contexts, uint32_t parent,
			   const struct swz_context *other);

/* Adds what is spent and called in another context to this one. */
void swz_context_merge(struct swz_context *to, const struct swz_context *from);

/* Sets inclusive_ns and topmost everywhere. */
void swz_contexts_sum(struct swz_contexts *contexts);

/* The children of each context. */
struct swz_children {
	uint32_t *items; /* of context i: items[start[i]] to
			  * items[start[i + 1]] */
	uint32_t *start;
};

/* Groups the contexts by parent; each group in the order that COMPARE, which is
 * given pointers to indices, says, or in that of the items if it is NULL. */
void swz_children_find(struct swz_children *children,
		       const struct swz_contexts *contexts,
		       int (*compare)(const void *, const void *, void *),
		       void *argument);
void swz_children_free(struct swz_children *children);

#endif
