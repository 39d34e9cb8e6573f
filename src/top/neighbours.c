/* A function that calls itself has contexts below its own. Only the topmost
 * ones have its time once; the others are callees of these. */

#include "top/neighbours.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

/* Parents come before their children. */
static void add_callees(struct swz_contexts *callees,
			const struct swz_contexts *contexts, uint32_t function)
{
	uint32_t *place = swz_allocate(contexts->count, sizeof(*place));

	for (size_t i = 1; i < contexts->count; i++) {
		const struct swz_context *c = &contexts->items[i];
		uint32_t above = place[c->parent];

		place[i] = SWZ_MAP_NONE;
		if (c->function == function && c->topmost)
			place[i] = SWZ_CONTEXT_ROOT;
		else if (c->parent && above != SWZ_MAP_NONE)
			place[i] = swz_contexts_child(
				callees, above, c->function, SWZ_PLACE_UNKNOWN,
				c->folded);
		if (place[i] != SWZ_MAP_NONE)
			swz_context_merge(&callees->items[place[i]], c);
	}
	free(place);
	swz_contexts_sum(callees);
}

static void add_path(struct swz_contexts *callers,
		     const struct swz_contexts *contexts,
		     const struct swz_context *from)
{
	uint32_t at = SWZ_CONTEXT_ROOT;

	for (uint32_t i = from->parent; i; i = contexts->items[i].parent)
		at = swz_contexts_child(callers, at,
					contexts->items[i].function,
					SWZ_PLACE_UNKNOWN, false);
	callers->items[at].self_ns = swz_add(callers->items[at].self_ns,
					     from->inclusive_ns);
	callers->items[at].calls = swz_add_count(callers->items[at].calls,
						 from->calls);
}

static void add_callers(struct swz_contexts *callers,
			const struct swz_contexts *contexts, uint32_t function)
{
	for (size_t i = 1; i < contexts->count; i++) {
		const struct swz_context *c = &contexts->items[i];

		if (c->function == function && c->topmost &&
		    (c->inclusive_ns || c->calls))
			add_path(callers, contexts, c);
	}
	for (size_t i = callers->count; i-- > 1;) {
		const struct swz_context *c = &callers->items[i];

		callers->items[c->parent].calls = swz_add_count(
			callers->items[c->parent].calls, c->calls);
	}
	swz_contexts_sum(callers);
}

void swz_neighbours_find(struct swz_neighbours *n,
			 const struct swz_contexts *contexts, uint32_t function)
{
	swz_contexts_begin(&n->callers, function, false);
	swz_contexts_begin(&n->callees, function, false);
	add_callers(&n->callers, contexts, function);
	add_callees(&n->callees, contexts, function);
}

void swz_neighbours_free(struct swz_neighbours *n)
{
	swz_contexts_free(&n->callers);
	swz_contexts_free(&n->callees);
	*n = (struct swz_neighbours){0};
}
