/* The latest frame says in which context a thread runs, and nobody tells when
 * it changes other than by a call or a return: a longjmp cuts frames off, a
 * switch of stacks suspends them. Both are noticed when another frame runs;
 * slots that lie beneath it on the same stack are gone, others may come back.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/context.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/events.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "thunks/arena.h"

/* --- exposed frames ------------------------------------------------------ */

/* To an unwinder each thunk is one more frame, with unwind information to be
 * found, read and executed: as much work as a frame of the program's, and once
 * more if it lands there. So slots get their real return addresses back while
 * an unwinder is on its way through them.
 *
 * A slot changes only from its thunk's address to the real one that the thunk
 * leads to, and back: whatever has become of the frame meanwhile, control goes
 * where it would have gone. */

/* True if the live frame's accounts are closed until it is resumed. */
static inline bool is_suspended(const struct swz_thunk *thunk)
{
	return swz_start_is_suspended(thunk->start_ticks) && thunk->node &&
	       thunk->pending != SWZ_CLOSED;
}

/* At first; twice as many each next time, but no more than that. */
#define FIRST_EXPOSED 16u
#define MOST_EXPOSED 512u

/* The unwinder's own, and those of signal handlers, before the exposed ones. */
#define MOST_BEFORE 4096u

bool swz_frame_is_amid_stack(const struct swz_thread *thread,
			     const struct swz_thunk *frame)
{
	const struct swz_thunk *link = frame->link;

	return frame->slot && frame->node && swz_thread_owns(thread, frame) &&
	       frame->pending != SWZ_CLOSED && !is_suspended(frame) && link &&
	       (link == &swz_bottom || link->slot > frame->slot);
}

static void write_slot(uint64_t *slot, uint64_t address)
{
	*(volatile uint64_t *)slot = address;
}

void swz_frames_expose(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	struct swz_thread_cold *cold = thread->cold;
	const struct swz_thunk *y = thunk;
	unsigned most = cold->exposed_high ? cold->expose_next : FIRST_EXPOSED;

	cold->expose_next = (uint16_t)(most < MOST_EXPOSED ? 2 * most : most);
	for (;
	     most-- && y != &swz_bottom && swz_frame_is_amid_stack(thread, y) &&
	     *y->slot == swz_thunk_address(y);
	     y = y->link) {
		/* first: a signal handler may throw, too, and cover it */
		if (!cold->exposed_high || y->slot < cold->exposed_low)
			cold->exposed_low = y->slot;
		if (!cold->exposed_high || y->slot > cold->exposed_high)
			cold->exposed_high = y->slot;
		write_slot(y->slot, y->return_address);
	}
}

void swz_frames_expose_callers(struct swz_thread *thread,
			       const struct swz_thunk *thunk)
{
	if (swz_frame_is_amid_stack(thread, thunk))
		swz_frames_expose(thread, thunk->link);
}

void swz_frames_cover(struct swz_thread *thread, const uint64_t *least)
{
	struct swz_thread_cold *cold = thread->cold;
	const uint64_t *low = cold->exposed_low, *high = cold->exposed_high;
	const struct swz_thunk *y = thread->top;
	unsigned before = 0;

	if (!high)
		return;
	cold->exposed_high = NULL;
	for (; y && y != &swz_bottom; y = y->link) {
		if (y->slot < low || y->slot > high) {
			if (before++ == MOST_BEFORE)
				return;
			continue;
		}
		before = MOST_BEFORE; /* none behind them */
		if (y->slot >= least && *y->slot == y->return_address &&
		    swz_thread_owns(thread, y))
			write_slot(y->slot, swz_thunk_address(y));
	}
}

/* --- suspended frames ---------------------------------------------------- */

/* A switch of stacks says nothing. It is noticed when a frame returns that is
 * not the latest: those entered after it are either gone or suspended. Their
 * accounts are closed as if they had returned, but the thunks stay as they are.
 * When one of them returns, it and its callers have been resumed: they are
 * entered again, in the context of who resumed them, only without counting
 * calls. So times are those during which a stack was in use, and the tree is
 * one at any moment.
 *
 * `link` is all that is known of a stack's order. It is cut where the next
 * frame does not lie above, so that each stack is suspended for itself. Stacks
 * that lie side by side may be taken for one, which costs exactness of times,
 * no more. */

/* Bounds a walk along frames that turns out to lead nowhere. Of those that lead
 * somewhere each frame pays its own: it is suspended once, or as often as it
 * has been resumed. */
#define MOST_SUSPENDED 65536u
/* A switch must not take the longer the deeper the stack is: callers beyond
 * stay suspended until they are returned to. */
#define MOST_RESUMED 64u
#define MOST_RECORDS 64u

static bool is_own(const struct swz_thread *thread,
		   const struct swz_thunk *frame)
{
	return frame && frame != &swz_bottom && frame->slot &&
	       swz_thread_owns(thread, frame);
}

/* How many of the thread's latest frames there are before `until`, all its own;
 * 0: it is not found behind them. Links may go in circles, where a handler has
 * switched stacks in the midst of a hook: the frame at each power of two is met
 * again then. */
static unsigned frames_before(const struct swz_thread *thread,
			      const struct swz_thunk *until)
{
	const struct swz_thunk *frame = thread->top, *met = NULL;

	for (unsigned i = 0; i <= MOST_SUSPENDED; i++) {
		if (frame == until)
			return i;
		if (!is_own(thread, frame) || frame == met)
			return 0;
		if (!(i & (i - 1)))
			met = frame;
		frame = frame->link;
	}
	return 0;
}

struct swz_thunk *swz_latest_at_home(const struct swz_thread *thread)
{
	struct swz_thunk *frame = thread->top;
	const struct swz_thunk *met = NULL;

	for (unsigned i = 0; i < MOST_SUSPENDED; i++) {
		if (!is_own(thread, frame) || frame->slot == SWZ_SLOT_GONE ||
		    swz_thread_at_home(thread, frame->slot))
			break;
		if (frame == met)
			return NULL;
		if (!(i & (i - 1)))
			met = frame;
		frame = frame->link;
	}
	return frame;
}

bool swz_suspend_after(struct swz_thread *thread, struct swz_thunk *until)
{
	unsigned count = frames_before(thread, until);
	struct swz_thunk *frame = thread->top, *next;
	uint64_t now = swz_now(thread);

	if (!count)
		return false;
	/* looked at again: another one may use the thread's state, too (a clone
	 * with its thread-local storage) */
	for (; count && is_own(thread, frame); count--, frame = next) {
		uint64_t start = frame->start_ticks;

		next = frame->link;
		swz_jumps_spell_out(thread, frame, swz_thread_make_record);
		swz_leave(thread, frame, now, SWZ_EVENT_SUSPEND);
		if (frame->node && frame->pending != SWZ_CLOSED)
			frame->start_ticks = swz_start_like(start,
							    SWZ_SUSPENDED);
		if (count == 1 || !next || next->slot <= frame->slot)
			frame->link = &swz_bottom;
		thread->cold->suspended++;
	}
	thread->top = until;
	return true;
}

/* Enters one activation again. An edge of its own where the caller is another
 * one now; else, or if there is no room, the one that it had. */
static uint32_t enter_again(struct swz_thread *thread, uint32_t unit,
			    uint64_t key, bool moved, uint64_t start)
{
	struct swz_node *node = swz_unit_at(unit), *other = NULL;

	if (moved)
		other = swz_context_edge(thread, key, node->function,
					 node->call_site);
	if (other)
		node = other;
	node->open |= SWZ_NODE_RESUMED;
	thread->key = swz_activation_resume(thread, node, start);
	return swz_unit_of(node);
}

/* One activation of a frame: its own, or that of a record. */
static void resume_one(struct swz_thread *thread, struct swz_thunk *thunk,
		       bool moved, uint64_t at)
{
	thunk->start_ticks = swz_start_like(thunk->start_ticks, at);
	thunk->node = enter_again(thread, thunk->node, thread->key, moved,
				  thunk->start_ticks);
}

static void resume_frame(struct swz_thread *thread, struct swz_thunk *frame,
			 uint64_t at)
{
	struct swz_thunk *records[MOST_RECORDS];
	bool moved = frame->parent != thread->key >> 32;
	unsigned count = 0;

	thread->cold->moved += moved;
	frame->parent = (uint32_t)(thread->key >> 32);
	resume_one(thread, frame, moved, at);
	for (struct swz_thunk *p = frame->pending;
	     swz_is_record(p) && count < MOST_RECORDS; p = p->pending)
		records[count++] = p;
	while (count--)
		resume_one(thread, records[count], moved, at);
}

void swz_resume(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *frames[MOST_RESUMED];
	uint64_t now = swz_now(thread);
	unsigned count = 0;

	for (struct swz_thunk *next = thunk; count < MOST_RESUMED;) {
		frames[count++] = next;
		next = next->link;
		if (!next || next == &swz_bottom || !is_suspended(next) ||
		    next->slot <= frames[count - 1]->slot ||
		    !swz_thread_owns(thread, next))
			break;
	}
	frames[count - 1]->link = thread->top;
	/* each a step later than its caller: the order tells stale links */
	while (count--)
		resume_frame(thread, frames[count],
			     now - (uint64_t)count * SWZ_START_STEP);
	thread->top = thunk;
}

/* --- the latest frame ---------------------------------------------------- */

void swz_set_key(struct swz_thread *thread, const struct swz_thunk *top)
{
	if (top == &swz_bottom)
		thread->key = (uint64_t)swz_span_root(thread->cold) << 32;
	else if (top->pending != SWZ_CLOSED && top->node)
		thread->key = (uint64_t)swz_frame_node(top)->context << 32;
	swz_context_mend_key(thread);
}

struct skip {
	struct swz_thread *thread;
	struct swz_thunk *until; /* this one is not skipped; or NULL */
	const uint64_t *slot;
};

/* To ask the kernel takes longer than a longjmp. So its answer is kept for as
 * many slots as there is room for: a program that lands at many depths in turn
 * asks once for each. */
static const uint64_t **settled_place(const struct swz_thread *thread,
				      const uint64_t *slot)
{
	uintptr_t address = (uintptr_t)slot;

	return &thread->cold->settled[(address / 16 ^ address / 16384) %
				      SWZ_SETTLED_SLOTS];
}

static bool is_settled(const struct swz_thread *thread,
		       const struct swz_thunk *frame)
{
	return *settled_place(thread, frame->slot) == frame->slot;
}

/* True if the frame must have been left when one with this slot runs: it lies
 * beneath it on the same stack, or on the signal stack, which is not in use any
 * more. Stacks of other kinds may be resumed. */
static bool is_left(struct swz_thread *thread, const struct swz_thunk *frame,
		    const uint64_t *slot)
{
	struct {
		char *start;
		int flags;
		size_t bytes;
	} signal_stack; /* stack_t */
	size_t bytes;

	if (frame->slot <= slot &&
	    swz_thread_same_stack(thread, frame->slot, slot))
		return true;
	if (is_settled(thread, frame) ||
	    SWZ_SYSCALL(SYS_sigaltstack, NULL, &signal_stack) != 0)
		return false;
	bytes = signal_stack.bytes;
	if ((size_t)((const char *)frame->slot - signal_stack.start) < bytes)
		return (size_t)((const char *)slot - signal_stack.start) >=
		       bytes;
	*settled_place(thread, frame->slot) = frame->slot;
	return false;
}

/* A frame is entered on the stack that the thread began on, and the latest ones
 * are elsewhere: they have been suspended. */
static bool suspend_elsewhere(struct swz_thread *thread, const uint64_t *slot)
{
	struct swz_thunk *until;

	if (!swz_thread_at_home(thread, slot))
		return false;
	until = swz_latest_at_home(thread);
	if (!until || until == thread->top || is_suspended(until) ||
	    !swz_suspend_after(thread, until))
		return false;
	swz_set_key(thread, until);
	return true;
}

static uintptr_t page_of(const uint64_t *slot)
{
	return (uintptr_t)slot >> 12;
}

/* The clock may have stood still. */
static bool is_stale(const struct swz_thunk *frame,
		     const struct swz_thunk *link)
{
	return link && link != &swz_bottom && frame->start_ticks &&
	       (link->start_ticks > frame->start_ticks || link == frame);
}

static bool is_usual(const struct swz_thread *thread,
		     const struct swz_thunk *frame)
{
	const struct swz_thunk *link = frame->link;

	return frame->slot && swz_thread_at_home(thread, frame->slot) &&
	       swz_thread_owns(thread, frame) && frame->node &&
	       frame->pending != SWZ_CLOSED &&
	       !swz_start_is_suspended(frame->start_ticks) && link &&
	       !is_stale(frame, link);
}

/* The usual case of close_skipped_slowly(): on the stack that the thread began
 * on, down to a frame that is known to be still there. A signal handler may
 * come between: who moves `top` on has the frame that it was to itself. */
static bool close_usual(struct swz_thread *thread, const uint64_t *slot,
			const struct swz_thunk *until)
{
	uint64_t now = swz_now(thread);

	if (!swz_thread_at_home(thread, slot))
		return false;
	for (;;) {
		struct swz_thunk *y = thread->top, *next = y->link;

		if (y == until || y == &swz_bottom)
			return true;
		if (y->slot > slot)
			return !until && is_settled(thread, y);
		if (!is_usual(thread, y))
			return false;
		swz_set_key(thread, next);
		if (!__atomic_compare_exchange_n(&thread->top, &y, next, false,
						 __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			continue;
		y->slot = NULL;
		atomic_signal_fence(memory_order_seq_cst);
		swz_leave(thread, y, now, SWZ_EVENT_SKIP);
		swz_thread_free_thunk(thread, y);
	}
}

static void close_left(const struct skip *skip)
{
	struct swz_thread *thread = skip->thread;
	struct swz_thunk *y = thread->top;
	uint64_t now = swz_now(thread);

	while (y && y != &swz_bottom && y != skip->until && y->slot &&
	       is_left(thread, y, skip->slot)) {
		struct swz_thunk *next = y->link;

		if (!swz_thread_owns(thread, y))
			break;
		if (is_stale(y, next))
			next = &swz_bottom;
		swz_leave(thread, y, now, SWZ_EVENT_SKIP);
		swz_thread_free_thunk(thread, y);
		y = next;
	}
	if (y && y != thread->top) {
		thread->top = y;
		swz_set_key(thread, y);
	}
}

static void close_skipped_slowly(void *argument)
{
	const struct skip *skip = argument;
	struct swz_thread *thread = skip->thread;

	close_left(skip);
	if (skip->until)
		return;
	/* those that called them may have been left, too */
	while (suspend_elsewhere(thread, skip->slot))
		close_left(skip);
	if (thread->top && thread->top->slot <= skip->slot) {
		thread->cold->apart_top = thread->top;
		thread->cold->apart_page = page_of(skip->slot);
	}
}

/* The latest frame; NULL: it had returned, and not in order, as those of
 * another stack may. One that has no slot any more may also have been closed
 * just now, by a signal handler, which has left another one as the latest. */
static const struct swz_thunk *latest_frame(struct swz_thread *thread)
{
	for (;;) {
		struct swz_thunk *top = thread->top;

		if (top->slot)
			return top;
		if (__atomic_compare_exchange_n(&thread->top, &top, &swz_bottom,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return NULL;
	}
}

void swz_close_skipped(struct swz_thread *thread, const uint64_t *slot,
		       struct swz_thunk *until)
{
	struct skip skip = {thread, until, slot};
	const struct swz_thunk *top;

	swz_frames_cover(thread, slot); /* a signal handler left an unwinder */
	top = latest_frame(thread);
	if (!top)
		return;
	if (top == until || top->slot > slot)
		return;
	else if (!until && top == thread->cold->apart_top &&
		 page_of(slot) == thread->cold->apart_page)
		return; /* as before: of another stack */
	else if (!close_usual(thread, slot, until))
		swz_slowly(thread, close_skipped_slowly, &skip);
}

static void close_above_slowly(void *argument)
{
	const struct skip *skip = argument;
	struct swz_thread *thread = skip->thread;

	/* asks for the bounds, once */
	if (swz_thread_same_stack(thread, skip->slot, skip->slot) &&
	    !swz_thread_at_home(thread, thread->top->slot))
		close_skipped_slowly(argument);
}

void swz_close_above(struct swz_thread *thread, const uint64_t *slot)
{
	struct skip skip = {thread, NULL, slot};
	bool asked = thread->cold->home_high != 0;

	if (swz_system_calls_end ||
	    (asked && (!swz_thread_at_home(thread, slot) ||
		       swz_thread_at_home(thread, thread->top->slot))))
		return;
	swz_slowly(thread, close_above_slowly, &skip);
}

static void suspend_slowly(void *argument)
{
	struct skip *skip = argument;

	swz_suspend_after(skip->thread, skip->until);
}

static void resume_slowly(void *argument)
{
	struct skip *skip = argument;

	swz_resume(skip->thread, skip->until);
}

void swz_make_latest(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct skip skip = {thread, thunk, thunk->slot};

	if (is_suspended(thunk)) {
		swz_slowly(thread, resume_slowly, &skip);
		return;
	}
	swz_close_skipped(thread, thunk->slot, thunk);
	if (thread->top == thunk)
		return;
	swz_slowly(thread, suspend_slowly, &skip);
	swz_set_key(thread, thunk);
}

/* --- captured values ----------------------------------------------------- */

/* The frame has returned at a biased time; its records are there still. */
/* A frame's function and those that it has gone on to have one result. */
static SWZ_NO_IPA void captured_return(struct swz_thread *thread,
				       const struct swz_thunk *thunk,
				       uint64_t now, const uint64_t *slot)
{
	const struct swz_thunk *t = thunk->pending;
	unsigned passed = 0;

	if (t == SWZ_CLOSED)
		return;
	for (bool own = false; !own; t = swz_record_next(t, &passed)) {
		const struct swz_captured *c;
		const struct swz_node *node;

		own = !swz_is_record(t);
		if (own)
			t = thunk;
		node = swz_unit_at(t->node);
		c = swz_signature_of(node->function);
		if (c)
			swz_values_return(thread, c, t->node,
					  swz_ticks_of(thread, now), t, slot);
	}
}

void swz_captured_exception(struct swz_thread *thread, uint32_t node,
			    const void *exception)
{
	const struct swz_node *of = swz_unit_at(node);

	if (swz_signature_of(of->function))
		swz_values_exception(thread, node, thread->record->last_ticks,
				     exception);
}

/* --- leaving a frame ----------------------------------------------------- */

/* True if the thunk, which is not live, is free for the edge that it names: in
 * a forked child that may have been an edge of the parent's. */
static bool is_free(const struct swz_thread *thread,
		    const struct swz_thunk *thunk)
{
	const struct swz_thunk *t = swz_free_first(
		swz_free_thunks(thread, swz_unit_at(thunk->node)));

	for (unsigned i = 0; t && t != thunk && i < SWZ_ARENA_BLOCKS; i++)
		t = swz_free_next(t);
	return t == thunk;
}

/* A frame of one of the leader's followers returns a second time: which one it
 * was is not known any more. Those of a recursion have mostly been called in
 * one context. */
static void leave_returned(struct swz_thread *thread,
			   const struct swz_thunk *leader)
{
	uint32_t parent = swz_leader_parent(leader, thread->cold->index);

	if (!parent)
		return;
	thread->key = (uint64_t)parent << 32;
	thread->expected = &thread->links[parent].first;
}

/* True if it is the thread's first frame, which is none any more. */
static bool take_first(struct swz_thread *thread, struct swz_thunk *thunk)
{
	if (thread->cold->first_frame != thunk || !swz_is_first_frame(thunk))
		return false;
	thread->cold->first_frame = NULL;
	return true;
}

static uint64_t note_now(struct swz_thread *thread)
{
	uint64_t now = swz_now(thread);

	thread->record->last_ticks = swz_ticks_of(thread, now);
	return now;
}

static void note_processor_time(struct swz_thread *thread, bool is_first)
{
	if (!is_first) {
		swz_processor_time_note_sometimes(thread->record,
						  thread->record->last_ticks);
		return;
	}
	swz_processor_time_note(thread->record);
	swz_switches_take_now(thread);
}

void swz_leave_taken(struct swz_thread *thread, struct swz_thunk *thunk,
		     enum swz_event_kind how)
{
	uint64_t now = note_now(thread);
	bool is_first = take_first(thread, thunk);

	thread->expected = &thread->links[thunk->node].next;
	swz_leave(thread, thunk, now, how);
	swz_thread_free_thunk(thread, thunk);
	note_processor_time(thread, is_first);
}

void swz_leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
		     uint64_t *slot, enum swz_event_kind how, bool has_value)
{
	uint64_t now;
	bool is_first;

	/* one that is not live returns a second time: its stack was copied */
	bool live = thunk->slot != NULL;

	if (!swz_thread_owns(thread, thunk) || !thunk->node ||
	    (!live && !is_free(thread, thunk))) {
		/* its stack was resumed on this thread, or in a forked child:
		 * the accounts are those of another one */
		if (thread->top == thunk) {
			struct swz_thunk *link = thunk->link;

			thread->top = link ? link : &swz_bottom;
			swz_set_key(thread, link ? link : &swz_bottom);
		}
		if (live)
			swz_thread_give_up_thunk(thunk, slot);
		else if (swz_thunk_leads(thunk))
			leave_returned(thread, thunk);
		return;
	}
	if (live && thread->top != thunk)
		swz_make_latest(thread, thunk);
	now = note_now(thread);
	thread->key = (uint64_t)thunk->parent << 32;
	thread->expected = &thread->links[thunk->node].next;
	if (!live)
		return;
	is_first = take_first(thread, thunk);
	/* while the call's events are recorded, if they are */
	if (swz_capturing && has_value && !thread->cold->muted_slot &&
	    !swz_kept_calls_pass(thread->cold))
		captured_return(thread, thunk, now, slot);
	swz_leave(thread, thunk, now, how);
	thread->top = thunk->link ? thunk->link : &swz_bottom;
	swz_thread_free_thunk(thread, thunk);
	note_processor_time(thread, is_first);
}
