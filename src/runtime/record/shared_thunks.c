/* The first edges of a thread (swz_config.own_thunks) have thunks of their own,
 * and so many more that are called often: their exits need not wait for what
 * the entry has found out. The others share theirs by function and call site:
 * where very many edges take turns, what a thunk costs is that the processor
 * foresees no jump to one of so many, and that their code and data must be
 * fetched. */

#include "runtime/record/shared_thunks.h"

#include "runtime/support/config.h"

#define MOST_PROMOTED 65536u

bool swz_thunks_are_shared(const struct swz_thread *thread)
{
	return thread->cold->nodes_made > swz_config.own_thunks;
}

void swz_share_thunks(const struct swz_thread *thread,
		      const struct swz_node *node, const struct swz_node *site)
{
	struct swz_links *links = thread->links;

	links[swz_unit_of(node)].free =
		(struct swz_thunk *)~(intptr_t)&links[swz_unit_of(site)].free;
}

void swz_own_thunks(const struct swz_thread *thread,
		    const struct swz_node *node)
{
	struct swz_thunk **free = &thread->links[swz_unit_of(node)].free;

	if (!((intptr_t)*free & SWZ_IS_LIST) ||
	    thread->cold->promoted >= MOST_PROMOTED || !swz_config.own_thunks)
		return;
	thread->cold->promoted++;
	*free = NULL;
}
