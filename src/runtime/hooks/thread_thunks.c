/* A thread's thunks come in blocks of the arena. Once one has served a call
 * edge, it is free for that edge alone, or for those that share it: with the
 * same function and call site. What is fresh serves any, also as the record of
 * a tail call. */

#include "runtime/hooks/thread_thunks.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/followers.h"
#include "runtime/hooks/leave.h"
#include "runtime/record/frames.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/nodes.h"
#include "runtime/record/shared_thunks.h"
#include "thunks/leaders.h"

#define STOCK_BLOCKS 256u
#define KEPT_BLOCKS 4u /* by the state of a dead thread */

static struct swz_thread_cold *owners[SWZ_ARENA_BLOCKS]
	__attribute__((section(".bss.large")));

bool swz_thread_owns(const struct swz_thread *thread,
		     const struct swz_thunk *thunk)
{
	return owners[swz_arena_block_of(thunk)] == thread->cold;
}

/* A list of thunks is taken as a whole while it is changed: a signal handler
 * that comes between finds it empty and cannot get hold of what is being taken
 * here. One that never returns takes it away for good. */
static struct swz_thunk *detach(struct swz_thunk **list)
{
	/* acquire: matches the release in attach() where two threads share
	 * their thread-local storage */
	return __atomic_exchange_n(list, NULL, __ATOMIC_ACQUIRE);
}

/* Puts thunks back, before what has come to the list meanwhile. */
static void attach(struct swz_thunk **list, struct swz_thunk *thunks)
{
	struct swz_thunk *none = NULL;

	while (thunks && !__atomic_compare_exchange_n(list, &none, thunks,
						      false, __ATOMIC_RELEASE,
						      __ATOMIC_RELAXED)) {
		struct swz_thunk *others = detach(list), *last = others;

		none = NULL;
		if (!others)
			continue;
		while (last->link)
			last = last->link;
		last->link = thunks;
		thunks = others;
	}
}

static struct swz_thunk *pop(struct swz_thunk **list)
{
	struct swz_thunk *thunk = detach(list);

	if (thunk)
		attach(list, thunk->link);
	return thunk;
}

static void push(struct swz_thunk **list, struct swz_thunk *thunk)
{
	thunk->link = detach(list);
	attach(list, thunk);
}

void swz_thread_free_record(struct swz_thread *thread, struct swz_thunk *record)
{
	record->return_address = 0; /* SWZ_RECORD_CAPTURED */
	push(&thread->cold->records, record);
}

struct swz_thunk *swz_thread_pop_record(struct swz_thread *thread)
{
	struct swz_thunk *record = pop(&thread->cold->records);

	if (!record)
		record = pop(&thread->cold->fresh);
	if (record) {
		record->slot = NULL;
		record->return_address = 0;
	}
	return record;
}

void swz_thread_give_up_thunk(struct swz_thunk *thunk, uint64_t *slot)
{
	__atomic_compare_exchange_n(&thunk->slot, &slot, SWZ_SLOT_GONE, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What was stored there was for one return: by nongnu libunwind where it has
 * landed in the frame's caller, be it at a thunk (src/runtime/hooks/landing.c),
 * or by who asked for swizzle_resolve_return_location. A node that stands for
 * more than one call site, or for a jump, does not know what was there; nor
 * does a child's file, where it has zeros in the place of a parent's node. */
static void mend_return_address(struct swz_thunk *thunk,
				const struct swz_node *node)
{
	uint64_t site = node->call_site;

	if (thunk->return_address != site && site != SWZ_CALL_SITE_TAIL &&
	    !(site & SWZ_CALL_SITE_LONG))
		thunk->return_address = site;
}

void swz_thread_free_thunk(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_node *node;
	struct swz_thunk *record;

	if (!swz_thread_owns(thread, thunk) || !thunk->node) {
		thunk->slot = SWZ_SLOT_GONE;
		return;
	}
	thunk->slot = NULL;
	while ((record = swz_frame_pop_record(thunk)) != NULL)
		swz_thread_free_record(thread, record);
	thunk->pending = NULL;
	node = swz_unit_at(thunk->node);
	mend_return_address(thunk, node);
	swz_free_push(swz_free_thunks(thread, node), thunk);
}

static void give_back(uint32_t block)
{
	owners[block] = NULL;
	swz_arena_give_block(block);
}

static enum swz_status note_block(struct swz_thread_cold *cold, uint32_t block)
{
	if (cold->block_count == cold->block_room) {
		uint32_t room = 4 * cold->block_room;
		uint32_t *more, *old = cold->blocks;

		more = swz_sys_mmap(NULL, room * sizeof(uint32_t),
				    PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!more)
			return SWZ_E_NOMEM;
		memcpy(more, old, cold->block_count * sizeof(uint32_t));
		/* a child forked by another thread reads the list */
		__atomic_store_n(&cold->blocks, more, __ATOMIC_RELEASE);
		swz_sys_munmap(old, cold->block_room * sizeof(uint32_t));
		cold->block_room = room;
	}
	cold->blocks[cold->block_count++] = block;
	owners[block] = cold;
	return SWZ_OK;
}

static void put_fresh(struct swz_thread_cold *cold, uint32_t block)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block), *list = NULL;
	uint64_t alive = swz_block_alive(block, NULL, false);

	for (unsigned i = SWZ_BLOCK_THUNKS; i-- > 0;) {
		if (!(alive >> i & 1)) {
			memset(&thunks[i], 0, sizeof(thunks[i]));
			thunks[i].link = list;
			list = &thunks[i];
			continue;
		}
		/* a dead thread's, on a stack that has outlived it: with no
		 * accounts, since those were that thread's */
		thunks[i].pending = SWZ_CLOSED;
		thunks[i].node = 0;
		thunks[i].parent = cold->root;
	}
	attach(&cold->fresh, list);
}

static enum swz_status add_block(struct swz_thread_cold *cold)
{
	uint32_t block = swz_arena_take_block();

	if (block == SWZ_BLOCK_NONE)
		return SWZ_E_NOMEM;
	if (note_block(cold, block) != SWZ_OK) {
		swz_arena_give_block(block);
		return SWZ_E_NOMEM;
	}
	put_fresh(cold, block);
	return SWZ_OK;
}

/* Of frames that were suspended some may be gone with their stack: as many as
 * there are thunks are worth a sweep. Frames can go unseen too (a stack that is
 * destroyed): for these a sweep may take a 65th of the time, or, where it has
 * found few of late, down to a 1025th. Where it finds many, it costs little for
 * each of them, and there would be ever more if it came later: then it may take
 * more, a third of the time where half of all are gone. One that was itself
 * interrupted counts as no longer than this many ticks for each thunk.
 */
#define MOST_SWEEP_TICKS 64u
#define USUAL_SWEEP_SHIFT 6u
#define MOST_SWEEP_SHIFT 10u

static bool sweep_is_due(const struct swz_thread_cold *cold)
{
	uint64_t thunks = (uint64_t)cold->block_count * SWZ_BLOCK_THUNKS;
	uint64_t took = cold->sweep_ticks;

	if (took > thunks * MOST_SWEEP_TICKS)
		took = thunks * MOST_SWEEP_TICKS;
	return cold->suspended >= thunks ||
	       swz_ticks() - cold->swept_at >= took << cold->sweep_shift;
}

static void choose_sweep_shift(struct swz_thread_cold *cold, uint64_t found)
{
	uint64_t thunks = (uint64_t)cold->block_count * SWZ_BLOCK_THUNKS;
	unsigned shift = 1;

	while (shift < USUAL_SWEEP_SHIFT && found < thunks >> shift)
		shift++;
	if (found >= thunks >> shift || cold->sweep_shift < shift)
		cold->sweep_shift = shift;
	else if (cold->sweep_shift < MOST_SWEEP_SHIFT)
		cold->sweep_shift++;
}

static void free_gone(struct swz_thread *thread, struct swz_thunk *thunk)
{
	if (!thunk->node) {
		memset(thunk, 0, sizeof(*thunk));
		push(&thread->cold->fresh, thunk);
		return;
	}
	/* if it was not linked when it was skipped */
	swz_leave(thread, thunk, swz_now(thread), SWZ_EVENT_SKIP);
	swz_thread_free_thunk(thread, thunk);
}

/* Marks the thunks whose frames are gone without a word. Whatever was at the
 * slot that is being entered is gone, although it holds a return address. */
static uint64_t find_gone(const struct swz_thread_cold *cold,
			  const uint64_t *entering)
{
	uint64_t found = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t alive = swz_block_alive(cold->blocks[b], entering,
						 cold->born_amid_hook);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (t[i].slot &&
			    (!(alive >> i & 1) || t[i].slot == entering)) {
				t[i].slot = SWZ_SLOT_GONE;
				found++;
			}
	}
	return found;
}

static bool is_gone(const struct swz_thunk *frame)
{
	return frame && frame->slot == SWZ_SLOT_GONE;
}

/* Some may be among the latest frames: what an exception or a longjmp has left
 * is there until the next call, and what a signal handler has been given may
 * lie on it before. (Links may go in circles.) */
static void unlink_gone(struct swz_thread *thread)
{
	uint64_t most = (uint64_t)thread->cold->block_count * SWZ_BLOCK_THUNKS;
	struct swz_thunk *frame;

	for (; is_gone(thread->top) && most; most--)
		thread->top = thread->top->link ? thread->top->link
						: &swz_bottom;
	for (frame = thread->top; frame && frame != &swz_bottom && most;
	     frame = frame->link, most--)
		for (; swz_thread_owns(thread, frame) && is_gone(frame->link) &&
		       most;
		     most--)
			frame->link = frame->link->link;
}

static void free_all_gone(struct swz_thread *thread)
{
	const struct swz_thread_cold *cold = thread->cold;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (is_gone(&t[i]))
				free_gone(thread, &t[i]);
	}
}

static void sweep(struct swz_thread *thread, const uint64_t *entering)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t start = swz_ticks(), found = find_gone(cold, entering);

	if (found) {
		unlink_gone(thread);
		free_all_gone(thread);
	}
	choose_sweep_shift(cold, found);
	cold->suspended = 0;
	cold->swept_at = swz_ticks();
	cold->sweep_ticks = cold->swept_at - start;
}

static uint64_t take_over(struct swz_thread *thread, struct swz_node *from,
			  const struct swz_node *to, uint64_t most)
{
	struct swz_thunk **list = swz_free_thunks(thread, from), *t;
	struct swz_thunk **free = swz_free_thunks(thread, to);
	uint64_t count = 0;

	for (; count < most && (t = swz_free_pop(list)) != NULL; count++) {
		if (swz_free_first(list) == t) /* it is twice on its list */
			*list = NULL;
		t->node = swz_unit_of(to);
		t->parent = to->parent;
		swz_free_push(free, t);
	}
	return count;
}

static uint64_t gather_from(struct swz_thread *thread,
			    const struct swz_chunk *chunk,
			    const struct swz_node *node, uint64_t most)
{
	struct swz_node *nodes = (struct swz_node *)(chunk + 1);
	struct swz_thunk **own = swz_free_thunks(thread, node);
	uint64_t count = 0;

	for (uint32_t i = 0; i < chunk->count && count < most; i++)
		if (nodes[i].function == node->function &&
		    nodes[i].call_site == node->call_site &&
		    swz_free_thunks(thread, &nodes[i]) != own)
			count += take_over(thread, &nodes[i], node,
					   most - count);
	return count;
}

/* A frame that was resumed by another caller has taken its thunk along to that
 * caller's edge (runtime/hooks/suspend.c). Here one that has none left gets
 * some from the edges with its function and its call site, which differ in
 * their context only. The frames that moved pay for the search: a quarter of
 * what it may bring. */
static void gather(struct swz_thread *thread, const struct swz_node *node)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t most = SWZ_BLOCK_THUNKS + cold->nodes_made / 4, count = 0;
	const struct swz_chunk *chunk = NULL;

	if (cold->moved < most / 4)
		return;
	cold->moved -= most / 4;
	while (count < most && (chunk = swz_nodes_chunk(cold, chunk)) != NULL)
		count += gather_from(thread, chunk, node, most - count);
}

static struct swz_thunk *take_fresh(struct swz_thread_cold *cold)
{
	struct swz_thunk *thunk = pop(&cold->fresh);

	if (!thunk && add_block(cold) == SWZ_OK)
		thunk = pop(&cold->fresh);
	return thunk;
}

static void lead_back(const struct swz_thread *thread, struct swz_thunk *thunk,
		      const struct swz_node *node, const uint8_t *body,
		      const uint64_t *slot)
{
	thunk->body = body;
	thunk->return_address = *slot;
	thunk->node = swz_unit_of(node);
	thunk->parent = node->parent;
	thunk->pending = NULL;
	if (swz_thunk_follows(thunk))
		swz_leader_note_parent(swz_arena_thunk_at((uintptr_t)body),
				       thread->cold->index, node->parent);
}

struct swz_thunk *swz_thread_free_thunk_for(const struct swz_thread *thread,
					    const struct swz_node *node,
					    const uint64_t *slot)
{
	struct swz_thunk **free = swz_free_thunks(thread, node);

	if ((intptr_t)*free < 0 && !swz_thread_at_home(thread, slot))
		return NULL;
	return swz_free_pop(free);
}

struct swz_thunk *swz_thread_fresh_thunk(struct swz_thread *thread,
					 const struct swz_node *node,
					 const uint8_t *body,
					 const uint64_t *slot)
{
	struct swz_thunk *thunk;

	if (!thread->cold->fresh)
		return NULL;
	body = swz_follow(thread, node, body, slot, false);
	thunk = body ? pop(&thread->cold->fresh) : NULL;
	if (thunk)
		lead_back(thread, thunk, node, body, slot);
	return thunk;
}

struct swz_thunk *swz_thread_take_thunk(struct swz_thread *thread,
					struct swz_node *node,
					const uint8_t *body,
					const uint64_t *slot)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_thunk **free = swz_free_thunks(thread, node), *thunk;

	if (!*free && !cold->fresh && sweep_is_due(cold))
		sweep(thread, slot);
	if (!*free && !cold->fresh && cold->moved)
		gather(thread, node);
	thunk = swz_thread_free_thunk_for(thread, node, slot);
	if (thunk)
		return thunk;
	thunk = take_fresh(cold);
	if (!thunk) {
		cold->retry_at = swz_ticks() + SWZ_RETRY_TICKS;
		return NULL;
	}
	lead_back(thread, thunk, node,
		  swz_follow(thread, node, body, slot, true), slot);
	return thunk;
}

void swz_thread_stock_up(struct swz_thread *thread)
{
	for (unsigned i = 0; i < STOCK_BLOCKS; i++)
		if (add_block(thread->cold) != SWZ_OK)
			return;
}

struct swz_thunk *swz_thread_make_record(struct swz_thread *thread)
{
	struct swz_thunk *record = take_fresh(thread->cold);

	if (record) {
		record->slot = NULL;
		record->return_address = 0;
	}
	return record;
}

static void keep_block_of(struct swz_thread_cold *cold,
			  const struct swz_thunk *thunk)
{
	uint32_t block = swz_arena_block_of(thunk);

	if (owners[block] == cold)
		return;
	owners[block] = cold;
	cold->blocks[cold->block_count++] = block;
}

void swz_thread_keep_live_blocks(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;

	for (uint32_t b = 0; b < cold->block_count; b++)
		owners[cold->blocks[b]] = NULL;
	cold->block_count = 0;
	for (struct swz_thunk *t = thread->top; t != &swz_bottom; t = t->link)
		keep_block_of(cold, t);
	for (struct swz_thunk *t = cold->fresh; t; t = t->link)
		keep_block_of(cold, t);
}

/* A dead thread's blocks serve the new one; of those that are wholly unused,
 * all but a few go back. */
void swz_thread_begin_thunks(struct swz_thread_cold *cold)
{
	uint32_t kept = 0, count = cold->block_count;

	cold->suspended = cold->moved = 0;
	cold->sweep_shift = USUAL_SWEEP_SHIFT;
	cold->fresh = cold->records = NULL;
	cold->born_amid_hook = false;
	for (uint32_t b = 0; b < count; b++) {
		uint32_t block = cold->blocks[b];

		if (kept >= KEPT_BLOCKS &&
		    swz_block_alive(block, NULL, false) == 0) {
			give_back(block);
			continue;
		}
		cold->blocks[kept++] = block;
		put_fresh(cold, block);
	}
	cold->block_count = kept;
}
