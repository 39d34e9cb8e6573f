#include "runtime/latest_frame.h"

#include <stddef.h>

#include "base/syscall.h"
#include "runtime/context.h"
#include "runtime/home_stack.h"
#include "runtime/hooks.h"
#include "runtime/suspend.h"
#include "runtime/thread_thunks.h"

void swz_leave(struct swz_thread *thread, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how)
{
	uint64_t start = thunk->start_ticks;

	/* 0: its entry was abandoned before anything was accounted, or its exit
	 * after */
	thunk->start_ticks = 0;
	if (thunk->pending == SWZ_CLOSED || !thunk->node || !start ||
	    swz_start_is_suspended(start))
		return;
	for (struct swz_thunk *p = thunk->pending; p; p = p->pending)
		swz_context_leave(thread, swz_unit_at(p->node), p->start_ticks,
				  now, how);
	swz_context_leave(thread, swz_unit_at(thunk->node), start, now, how);
}

void swz_set_key(struct swz_thread *thread, const struct swz_thunk *top)
{
	if (top == &swz_bottom)
		thread->key = (uint64_t)thread->cold->root << 32;
	else if (top->pending != SWZ_CLOSED && top->node)
		thread->key = (uint64_t)swz_frame_node(top)->context << 32;
}

struct skip {
	struct swz_thread *thread;
	struct swz_thunk *until; /* this one is not skipped; or NULL */
	const uint64_t *slot;
};

/* Whether the frame with slot `a` must have been left when a frame with slot
 * `b` runs: it lies beneath it on the same stack, or on the signal stack, which
 * is not in use any more. Stacks of other kinds may be resumed. */
static bool is_left(struct swz_thread *thread, const uint64_t *a,
		    const uint64_t *b)
{
	struct {
		char *start;
		int flags;
		size_t bytes;
	} signal_stack; /* stack_t */
	size_t bytes;

	if (a <= b && swz_thread_same_stack(thread, a, b))
		return true;
	if (SWZ_SYSCALL(SYS_sigaltstack, NULL, &signal_stack) != 0)
		return false;
	bytes = signal_stack.bytes;
	return (size_t)((const char *)a - signal_stack.start) < bytes &&
	       (size_t)((const char *)b - signal_stack.start) >= bytes;
}

/* A frame is entered on the stack that the thread began on, and the latest ones
 * are elsewhere: they have been suspended. */
static void suspend_elsewhere(struct swz_thread *thread, const uint64_t *slot)
{
	struct swz_thunk *frame = thread->top;

	if (!swz_thread_at_home(thread, slot))
		return;
	for (unsigned i = 0; i < SWZ_MOST_SUSPENDED; i++) {
		if (!frame || frame == &swz_bottom || !frame->slot ||
		    frame->slot == SWZ_SLOT_GONE ||
		    swz_thread_at_home(thread, frame->slot))
			break;
		frame = frame->link;
	}
	if (frame && frame != thread->top && !swz_is_suspended(frame) &&
	    swz_suspend_after(thread, frame))
		swz_set_key(thread, frame);
}

static uintptr_t page_of(const uint64_t *slot)
{
	return (uintptr_t)slot >> 12;
}

static void close_skipped_slowly(void *argument)
{
	struct skip *skip = argument;
	struct swz_thread *thread = skip->thread;
	struct swz_thunk *y = thread->top;
	uint64_t now = swz_now(thread);

	while (y && y != &swz_bottom && y != skip->until && y->slot &&
	       is_left(thread, y->slot, skip->slot)) {
		struct swz_thunk *next = y->link;

		if (!swz_thread_owns(thread, y))
			break;
		/* a link may be stale; the clock may have stood still */
		if (next && next != &swz_bottom && y->start_ticks &&
		    (next->start_ticks > y->start_ticks || next == y))
			next = &swz_bottom;
		swz_leave(thread, y, now, SWZ_EVENT_SKIP);
		swz_thread_free_thunk(thread, y);
		y = next;
	}
	if (y && y != thread->top) {
		thread->top = y;
		swz_set_key(thread, y);
	}
	if (skip->until)
		return;
	suspend_elsewhere(thread, skip->slot);
	if (thread->top && thread->top->slot <= skip->slot) {
		thread->cold->apart_top = thread->top;
		thread->cold->apart_page = page_of(skip->slot);
	}
}

void swz_close_skipped(struct swz_thread *thread, const uint64_t *slot,
		       struct swz_thunk *until)
{
	struct skip skip = {thread, until, slot};
	const struct swz_thunk *top = thread->top;

	if (!top->slot) /* returned, and not in order: of another stack */
		thread->top = &swz_bottom;
	else if (top == until || top->slot > slot)
		return;
	else if (!until && top == thread->cold->apart_top &&
		 page_of(slot) == thread->cold->apart_page)
		return; /* as before: of another stack */
	else
		swz_hooks_slowly(thread, close_skipped_slowly, &skip);
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
		swz_hooks_slowly(thread, resume_slowly, &skip);
		return;
	}
	swz_close_skipped(thread, thunk->slot, thunk);
	if (thread->top != thunk)
		swz_hooks_slowly(thread, suspend_slowly, &skip);
}
