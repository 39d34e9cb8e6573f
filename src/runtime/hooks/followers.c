#include "runtime/hooks/followers.h"

#include <stddef.h>

#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/home_stack.h"
#include "runtime/support/config.h"
#include "thunks/leaders.h"

/* So many frames are looked at for each that is found of the same function and
 * call site. */
#define LOOKED_AT 16u

/* Most new edges are of functions that are not on the path yet. */
static bool may_be_deep(const struct swz_thread *thread,
			const struct swz_node *node)
{
	return node->calls || !swz_config.own_frames ||
	       (node->function < swz_ids_bound() &&
		thread->cold->recursive[node->function]);
}

/* Whether as many frames of the same function and call site are live as have
 * their own thunks' code. */
static bool is_deep(const struct swz_thread *thread, const uint8_t *body,
		    uint64_t return_address)
{
	const struct swz_thunk *y = thread->top;
	unsigned found = 0, left = LOOKED_AT;

	for (; found < swz_config.own_frames && y && y->node && left;
	     y = y->link, left--)
		if (y->return_address == return_address &&
		    swz_thunk_body(y) == body) {
			found++;
			left += LOOKED_AT;
		}
	return found == swz_config.own_frames;
}

const uint8_t *swz_follow(struct swz_thread *thread,
			  const struct swz_node *node, const uint8_t *body,
			  const uint64_t *slot, bool may_ask)
{
	const struct swz_thunk *leader;

	if (!may_be_deep(thread, node) || !is_deep(thread, body, *slot))
		return body;
	if (may_ask ? !swz_thread_same_stack(thread, slot, slot)
		    : thread->cold->home_high &&
			      !swz_thread_at_home(thread, slot))
		return body;
	leader = may_ask ? swz_leader_make(body, *slot)
			 : swz_leader_find(body, *slot);
	if (may_ask || (leader && thread->cold->home_high))
		return leader ? swz_thunk_code(leader) : body;
	return swz_leaders_have_room() ? NULL : body;
}

static bool is_it(const struct swz_thunk *frame, const struct swz_thunk *leader,
		  const uint64_t *slot)
{
	return frame->slot == slot && frame->body == swz_thunk_code(leader);
}

/* From the latest frame on, up to one that lies above the slot on the same
 * stack. Links may go in circles (suspend.c): the frame at each power of two is
 * met again then. */
static struct swz_thunk *find_by_links(const struct swz_thread *thread,
				       const struct swz_thunk *leader,
				       const uint64_t *slot)
{
	struct swz_thunk *y = thread->top;
	const struct swz_thunk *met = NULL;

	for (uint64_t i = 1; y && y->slot && y != met; i++, y = y->link) {
		if (is_it(y, leader, slot))
			return y;
		if (y->slot > slot && swz_thread_at_home(thread, y->slot))
			return NULL;
		if (!(i & (i - 1)))
			met = y;
	}
	return NULL;
}

struct swz_thunk *swz_frame_among_all(const struct swz_thread_cold *cold,
				      struct swz_thunk *thunk,
				      const uint64_t *slot)
{
	if (!swz_thunk_leads(thunk))
		return thunk;
	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (is_it(&t[i], thunk, slot))
				return &t[i];
	}
	return thunk;
}

struct swz_thunk *swz_frame_at(const struct swz_thread *thread,
			       struct swz_thunk *thunk, const uint64_t *slot)
{
	struct swz_thunk *frame;

	if (!swz_thunk_leads(thunk))
		return thunk;
	if (!thread->top) /* in a forked child, yet */
		return swz_frame_among_all(swz_thread_cold_of(thread), thunk,
					   slot);
	frame = find_by_links(thread, thunk, slot);
	return frame ? frame : thunk;
}

struct swz_thunk *swz_frame_stop_following(const struct swz_thread *thread,
					   struct swz_thunk *thunk,
					   uint64_t *slot)
{
	struct swz_thunk *frame = swz_frame_at(thread, thunk, slot);

	if (swz_thunk_follows(frame)) {
		/* what it is when it is free again (swz_free_push) */
		frame->next_free = (struct swz_thunk *)(uintptr_t)frame->body;
		*slot = (uintptr_t)frame - SWZ_UNIT_CODE_BYTES +
			SWZ_THUNK_AFTER_CALL;
		frame->body = swz_thunk_body(frame);
	}
	return frame;
}
