/* An exception removes frames. Where the unwinder goes from frame to frame its
 * way is that of the native run (exposed_frames.h). What is left to see is
 * where it ends, for the exits of the frames that it has passed are accounted
 * at that moment: whoever sends it to a landing pad says so by _Unwind_SetIP,
 * which has a wrapper (src/runtime/compat/stack_walkers.c). It makes the
 * unwinder go to a thunk first. To who walks the stack meanwhile that is one as
 * of any other call: its return address is that of the call in the frame that
 * lands.
 *
 * Where the thunk's frame and the handler's follow one another the unwinder
 * would take one for the other. There, and where another stack begins, it lands
 * at the thunk (unwind.c), and is sent on by _Unwind_Resume. */

#include "runtime/hooks/landing.h"

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/hooks/exposed_frames.h"
#include "runtime/hooks/captured.h"
#include "runtime/hooks/latest_frame.h"
#include "runtime/hooks/leave_frame.h"
#include "runtime/hooks/pause.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/hooks/unwind.h"
#include "runtime/hooks/unwound.h"
#include "runtime/record/frames.h"
#include "runtime/record/signatures.h"
#include "runtime/record/slow_stack.h"

/* In thunk->pending, of a thunk that has no node: no record, and no frame's. */
#define LANDING ((struct swz_thunk *)(SWZ_IS_CLOSED | SWZ_IS_JUMPS))

/* Of the landing to come, between the personality routine and the landing. */
static __thread const struct swz_unwinder *landing_unwinder
	__attribute__((tls_model("initial-exec")));

/* The exception that was on its way last. */
static __thread const void *landing_exception
	__attribute__((tls_model("initial-exec")));

void swz_landing_exception(const void *exception)
{
	landing_exception = exception;
}

static struct swz_thread *recorded_thread(void)
{
	struct swz_thread *thread = swz_thread_here();

	return swz_recording && thread && thread->cold ? thread : NULL;
}

void swz_landing_walk(const void *frame)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		thread->cold->walk_frame = frame;
}

void swz_landing_forced(void)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		thread->cold->unwind_is_forced = true;
}

static void pass_from(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	const uint64_t **from = &thread->cold->unwound_from;

	if (!*from || *from > thunk->slot)
		*from = thunk->slot;
}

/* Its own frames are the latest: they return to its module. */
void swz_landing_begin(uint64_t address)
{
	struct swz_thread *thread = recorded_thread();
	enum swz_unwinding what;
	uint64_t start, end;
	struct swz_thunk *y;

	if (!thread || thread->top == &swz_bottom)
		return;
	what = swz_unwinder_begins(address, &start, &end);
	if (what == SWZ_UNWINDING_NOT ||
	    (uintptr_t)__builtin_frame_address(0) <
		    (uintptr_t)thread->cold->walk_frame)
		return;
	if (what == SWZ_UNWINDING_RAISES)
		thread->cold->unwind_is_forced = false;
	if (thread->cold->unwind_is_forced)
		return;
	y = thread->top;
	while (y != &swz_bottom && swz_frame_is_amid_stack(thread, y) &&
	       y->return_address - start < end - start)
		y = y->link;
	if (y == &swz_bottom || !swz_frame_is_amid_stack(thread, y))
		return;
	pass_from(thread, y);
	swz_frames_expose(thread, y);
}

void swz_landing_search(struct swz_thunk *thunk)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		swz_frames_expose_callers(thread, thunk);
}

bool swz_landing_pass(struct swz_thunk *thunk)
{
	struct swz_thread *thread = recorded_thread();

	if (!thread || !swz_frame_is_amid_stack(thread, thunk))
		return false;
	pass_from(thread, thunk);
	swz_frames_expose_callers(thread, thunk);
	return true;
}

uint64_t swz_landing_prepare(const uint64_t *cfa, uint64_t call_site,
			     uint64_t pad)
{
	struct swz_thread *thread = recorded_thread();
	struct swz_thunk *thunk;

	if (!thread)
		return pad;
	if (!thread->cold->unwound_from || thread->cold->unwound_from >= cfa) {
		swz_frames_cover(thread, cfa);
		return pad;
	}
	thunk = swz_take_record(thread);
	if (!thunk) {
		thread->cold->unwound_from = NULL;
		swz_frames_cover(thread, cfa);
		return pad;
	}
	thunk->body = (const uint8_t *)pad;
	thunk->return_address = call_site;
	thunk->node = 0;
	thunk->start_ticks = 0;
	thunk->slot = NULL;
	thunk->pending = LANDING;
	return swz_thunk_address(thunk);
}

bool swz_is_landing(const struct swz_thunk *thunk)
{
	return thunk->pending == LANDING && !thunk->node;
}

struct unwinding {
	struct swz_thread *thread;
	struct swz_thunk *thunk;
};

static void note_unwound(void *argument)
{
	const struct unwinding *u = argument;

	swz_unwound_note(u->thread, u->thunk);
}

/* Before it ends. */
static void note_unwinding(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct unwinding u = {thread, thunk};

	if (!swz_unwound_note_again(thread, thunk))
		swz_slowly(thread, note_unwound, &u);
}

/* Behind its end, by its node. */
static void note_exception(struct swz_thread *thread, uint32_t node)
{
	if (swz_capturing && node)
		swz_captured_exception(thread, node, landing_exception);
}

static void end_frame(struct swz_thread *thread, struct swz_thunk *thunk)
{
	bool is_own = swz_thread_owns(thread, thunk) && thunk->slot;
	uint32_t node = thunk->node;

	if (is_own)
		note_unwinding(thread, thunk);
	swz_leave_frame(thread, thunk, thunk->slot, SWZ_EVENT_UNWIND);
	if (is_own)
		note_exception(thread, node);
}

/* The unwinder's own frames are the latest, then come those that it has passed:
 * up to `last`, and not `until`. Their stack is free: a signal handler's frames
 * may lie there, and close them as skipped. Who moves `top` on has the one that
 * it was to itself. */
static void end_passed(struct swz_thread *thread, const uint64_t *last,
		       const struct swz_thunk *until)
{
	const uint64_t *from = thread->cold->unwound_from;
	struct swz_thunk *y;

	thread->cold->unwound_from = NULL;
	while (from && (y = thread->top) != until) {
		const uint64_t *slot = y->slot;
		bool is_passed = slot >= from, ends;
		uint32_t node = y->node;

		ends = slot > last || !swz_frame_is_amid_stack(thread, y);
		if (ends && y == thread->top)
			break;
		if (ends)
			continue; /* it was closed just now */
		thread->key = (uint64_t)y->parent << 32;
		if (!__atomic_compare_exchange_n(&thread->top, &y, y->link,
						 false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			continue;
		y->slot = NULL;
		atomic_signal_fence(memory_order_seq_cst);
		if (is_passed)
			note_unwinding(thread, y);
		swz_leave_taken(thread, y,
				is_passed ? SWZ_EVENT_UNWIND : SWZ_EVENT_SKIP);
		if (is_passed)
			note_exception(thread, node);
	}
}

uint64_t swz_landing_arrive(struct swz_thunk *thunk, const uint64_t *slot)
{
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t pad = (uintptr_t)thunk->body;

	if (!thread)
		return pad;
	if (swz_thread_is_paused())
		swz_pause_catch_up(thread, thread->top->slot - 1);
	swz_frames_cover(thread, slot + 1);
	end_passed(thread, slot, NULL);
	if (thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
	if (swz_thread_owns(thread, thunk)) {
		thunk->pending = NULL;
		swz_thread_free_record(thread, thunk);
	}
	return pad;
}

void *swz_unwound(struct swz_thunk *thunk)
{
	struct swz_thread *thread = swz_this_thread(thunk, thunk->slot);
	const uint64_t *slot = thunk->slot;

	if (!thread)
		return landing_unwinder->resume;
	if (swz_thread_is_paused() && slot)
		swz_pause_catch_up(thread, thread->top->slot - 1);
	if (slot) {
		swz_frames_cover(thread, slot + 1);
		end_passed(thread, slot, thunk);
	}
	end_frame(thread, thunk);
	if (swz_thread_is_paused() && slot)
		swz_pause_goes_on(thread, slot);
	return landing_unwinder->resume;
}

void swz_unwind_begin(const struct swz_unwinder *unwinder)
{
	landing_unwinder = unwinder;
}
