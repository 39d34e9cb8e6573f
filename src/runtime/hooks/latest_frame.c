#include "runtime/hooks/latest_frame.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/syscall.h"
#include "runtime/hooks/exposed_frames.h"
#include "runtime/hooks/leave.h"
#include "runtime/hooks/spans.h"
#include "runtime/hooks/suspend.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/context.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/slow_stack.h"

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

/* Whether the frame must have been left when one with this slot runs: it lies
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
	if (!until || until == thread->top || swz_is_suspended(until) ||
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

	if (swz_is_suspended(thunk)) {
		swz_slowly(thread, resume_slowly, &skip);
		return;
	}
	swz_close_skipped(thread, thunk->slot, thunk);
	if (thread->top == thunk)
		return;
	swz_slowly(thread, suspend_slowly, &skip);
	swz_set_key(thread, thunk);
}
