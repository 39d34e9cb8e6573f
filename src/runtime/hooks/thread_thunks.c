/* A thread's thunks come in blocks of the arena. Once one has served a call
 * edge, it is free for that edge alone, or for those that share it: with the
 * same function and call site. What is fresh serves any, also as the record of
 * a tail call. */

#include "runtime/hooks/thread_thunks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/record/kept_calls.h"
#include "runtime/support/config.h"
#include "thunks/arena.h"

/* --- followers ----------------------------------------------------------- */

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

/* True if as many frames of the same function and call site are live as have
 * their own thunks' code. One that follows already stands for them. */
static bool is_deep(const struct swz_thread *thread, const uint8_t *body,
		    uint64_t return_address)
{
	const struct swz_thunk *y = thread->top;
	unsigned found = 0, left = LOOKED_AT;

	for (; found < swz_config.own_frames && y && y->node && left;
	     y = y->link, left--)
		if (y->return_address == return_address &&
		    swz_thunk_body(y) == body) {
			if (swz_thunk_follows(y))
				return true;
			found++;
			left += LOOKED_AT;
		}
	return found == swz_config.own_frames;
}

SWZ_NO_IPA const uint8_t *swz_follow(struct swz_thread *thread,
				     const struct swz_node *node,
				     const uint8_t *body, const uint64_t *slot,
				     bool may_ask)
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

static bool is_frame_at(const struct swz_thunk *frame,
			const struct swz_thunk *leader, const uint64_t *slot)
{
	return frame->slot == slot && frame->body == swz_thunk_code(leader);
}

/* From the latest frame on, up to one that lies above the slot on the same
 * stack. Links may go in circles (latest_frame.c): the frame at each power of
 * two is met again then. */
static struct swz_thunk *find_by_links(const struct swz_thread *thread,
				       const struct swz_thunk *leader,
				       const uint64_t *slot)
{
	struct swz_thunk *y = thread->top;
	const struct swz_thunk *met = NULL;

	for (uint64_t i = 1; y && y->slot && y != met; i++, y = y->link) {
		if (is_frame_at(y, leader, slot))
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
			if (is_frame_at(&t[i], thunk, slot))
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

/* --- jumps that leave frames --------------------------------------------- */

/* The usual tail call, with sampled timing, is not timed, and nothing has to be
 * done when it ends; so asm/x86_64/enter_sampled.S notes with the frame only
 * which node it has come to. What needs more, the order of what has jumped to
 * what, finds it by the nodes, which are each other's parents. */

static const struct swz_node *node_of(const struct swz_file_header *file,
				      uint32_t unit)
{
	return (const void *)((const char *)file +
			      (uint64_t)unit * SWZ_UNIT_BYTES);
}

SWZ_NO_IPA unsigned swz_jumps_of(const struct swz_file_header *file,
				 const struct swz_thunk *frame,
				 uint32_t units[SWZ_MOST_JUMPS])
{
	struct swz_thunk *first = frame->pending;
	const struct swz_thunk *jumps = *swz_frame_behind_records(&first);
	uint32_t unit, own;
	unsigned count = 0;

	if (!swz_is_jumps(jumps) || jumps == SWZ_FIRST_FRAME || !frame->node)
		return 0;
	own = node_of(file, frame->node)->context;
	for (unit = swz_jumps_unit(jumps); unit != own;
	     unit = node_of(file, unit)->parent) {
		if (count == SWZ_MOST_JUMPS ||
		    node_of(file, unit)->call_site != SWZ_CALL_SITE_TAIL ||
		    node_of(file, unit)->function == SWZ_FUNCTION_ROOT)
			break;
		units[count++] = unit;
	}
	return count;
}

bool swz_jumps_lead_to(const struct swz_thunk *frame, uint32_t function)
{
	uint32_t units[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, frame, units);
	bool leads = count &&
		     node_of(swz_file, frame->node)->function == function;

	for (unsigned i = 0; i < count && !leads; i++)
		leads = node_of(swz_file, units[i])->function == function;
	return leads;
}

void swz_jumps_spell_out(struct swz_thread *thread, struct swz_thunk *frame,
			 struct swz_thunk *(*take)(struct swz_thread *))
{
	struct swz_thunk **last = swz_frame_behind_records(&frame->pending);
	uint32_t units[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, frame, units);

	if (!swz_is_jumps(*last))
		return;
	*last = NULL;
	for (unsigned i = 0; i < count; i++) {
		struct swz_thunk *record = take(thread);

		if (!record)
			return;
		record->node = units[i];
		record->start_ticks = frame->start_ticks;
		record->pending = NULL;
		last = swz_frame_behind_records(&frame->pending);
		*last = record;
	}
}

/* --- leaving ------------------------------------------------------------- */

/* Jumps without a record end with the frame. The time that the frame got from
 * its first timed call is theirs: jumps behind that have records. */
static void leave_jumps(struct swz_thread *thread,
			const struct swz_thunk *thunk, uint64_t start,
			uint64_t now, enum swz_event_kind how)
{
	uint32_t jumps[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, thunk, jumps);

	for (unsigned i = 0; i < count; i++)
		swz_activation_leave(thread, swz_unit_at(jumps[i]), start, now,
				     how);
}

static void leave(struct swz_thread *thread, struct swz_thunk *thunk,
		  uint64_t now, enum swz_event_kind how)
{
	uint64_t start = thunk->start_ticks;
	uint64_t called = 0; /* when the latest timed one of these began */
	unsigned passed = 0;

	/* 0: its entry was abandoned before anything was accounted, or its exit
	 * after */
	thunk->start_ticks = 0;
	if (thunk->pending == SWZ_CLOSED || !thunk->node || !start ||
	    swz_start_is_suspended(start))
		return;
	for (struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = swz_record_next(p, &passed)) {
		if (called)
			swz_sampling_see(&p->start_ticks, called);
		swz_activation_leave(thread, swz_unit_at(p->node),
				     p->start_ticks, now, how);
		swz_events_unmute(thread, p);
		swz_watched_calls_ended(thread, p, now, how);
		if (swz_sampling && swz_start_is_timed(p->start_ticks))
			called = p->start_ticks;
	}
	if (called)
		swz_sampling_see(&start, called);
	if (swz_sampling && !swz_start_is_timed(start))
		leave_jumps(thread, thunk, start, now, how);
	swz_activation_leave(thread, swz_unit_at(thunk->node), start, now, how);
	if (swz_sampling && swz_start_is_timed(start))
		called = start;
	if (called)
		swz_sampling_see_callers(thunk->link, called);
}

SWZ_NO_IPA void swz_leave(struct swz_thread *thread, struct swz_thunk *thunk,
			  uint64_t now, enum swz_event_kind how)
{
	leave(thread, thunk, now, how);
	swz_events_unmute(thread, thunk);
	swz_watched_calls_ended(thread, thunk, now, how);
}

/* --- the thread's thunks ------------------------------------------------- */

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

/* More than a list of thunks has. One of records may go in a circle, where two
 * threads share their storage. */
#define MOST_LISTED (2 * STOCK_BLOCKS * SWZ_BLOCK_THUNKS)

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
		for (unsigned i = 0; last->link && i < MOST_LISTED; i++)
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

/* The address stored there was for one return: by nongnu libunwind where it has
 * landed in the frame's caller, be it at a thunk (src/runtime/hooks/unwind.c),
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

/* Suspended frames may be gone with their stack: as many as there were thunks
 * at the last sweep are worth the next one. (Where frames are suspended as fast
 * as thunks are made, they are never as many as there are by now, and no sweep
 * would come.) Frames can go unseen too (a stack that is destroyed): for these
 * a sweep may take a 65th of the time, or, where it has found few of late, down
 * to a 1025th. Where it finds many, it costs little for each of them, and there
 * would be ever more if it came later: then it may take more, a third of the
 * time where half of all are gone. One that was itself interrupted counts as no
 * longer than this many ticks for each thunk. */
#define MOST_SWEEP_TICKS 64u
#define USUAL_SWEEP_SHIFT 6u
#define MOST_SWEEP_SHIFT 10u

static bool sweep_is_due(const struct swz_thread_cold *cold)
{
	uint64_t thunks = (uint64_t)cold->block_count * SWZ_BLOCK_THUNKS;
	uint64_t took = cold->sweep_ticks, enough = cold->swept_thunks;

	if (enough > thunks)
		enough = thunks;
	if (took > thunks * MOST_SWEEP_TICKS)
		took = thunks * MOST_SWEEP_TICKS;
	return cold->suspended >= enough ||
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

/* The frame behind another one. (A thread that shares our storage may change
 * the link at any moment. The hooks look at the latest frame's slot without a
 * check.) */
static struct swz_thunk *frame_behind(const struct swz_thunk *frame)
{
	struct swz_thunk *link = __atomic_load_n(&frame->link,
						 __ATOMIC_RELAXED);

	return link ? link : &swz_bottom;
}

/* Some may be among the latest frames: what an exception or a longjmp has left
 * is there until the next call, and what a signal handler has been given may
 * lie on it before. (Links may go in circles.) */
static void unlink_gone(struct swz_thread *thread)
{
	uint64_t most = (uint64_t)thread->cold->block_count * SWZ_BLOCK_THUNKS;
	struct swz_thunk *frame, *link;

	for (frame = thread->top; is_gone(frame) && most; most--) {
		frame = frame_behind(frame);
		thread->top = frame;
	}
	for (; frame && frame != &swz_bottom && most; most--) {
		link = frame_behind(frame);
		if (swz_thread_owns(thread, frame) && is_gone(link))
			frame->link = frame_behind(link);
		else
			frame = link;
	}
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
	cold->swept_thunks = (uint64_t)cold->block_count * SWZ_BLOCK_THUNKS;
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
 * caller's edge (runtime/hooks/latest_frame.c). Here one that has none left
 * gets some from the edges with its function and its call site, which differ in
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
