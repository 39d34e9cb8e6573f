#ifndef SWZ_RUNTIME_HOOKS_THREAD_THUNKS_H
#define SWZ_RUNTIME_HOOKS_THREAD_THUNKS_H

/* The return thunks that a thread has, and the records of tail calls, which are
 * thunks that nothing goes through. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"

/* Room for a list of so many blocks has each state from the beginning. */
#define SWZ_FIRST_BLOCK_ROOM 1024u

/* A thunk for the edge, with body, return address (*slot) and node in it: one
 * of its free ones, one that is found to have been skipped, or a new one. NULL
 * if memory is refused. `slot` is being entered now. Signals must be blocked.
 */
struct swz_thunk *swz_thread_take_thunk(struct swz_thread *thread,
					struct swz_node *node,
					const uint8_t *body,
					const uint64_t *slot);

/* One of those that are free for the edge; NULL: none for a frame at `slot`.
 * Async-signal-safe. */
struct swz_thunk *swz_thread_free_thunk_for(const struct swz_thread *thread,
					    const struct swz_node *node,
					    const uint64_t *slot);

/* As swz_thread_take_thunk() without a system call: one that was never used.
 * NULL: there is none at hand. Async-signal-safe. */
struct swz_thunk *swz_thread_fresh_thunk(struct swz_thread *thread,
					 const struct swz_node *node,
					 const uint8_t *body,
					 const uint64_t *slot);

/* Takes a good number of thunks in advance. Signals must be blocked. */
void swz_thread_stock_up(struct swz_thread *thread);

/* The thunk's frame is gone: it and its records are free again, each for its
 * own edge. One that is not of the thread's own blocks, or has no edge in the
 * profile (from before a fork, or of a thread that has ended), waits for the
 * sweep of who owns it. */
void swz_thread_free_thunk(struct swz_thread *thread, struct swz_thunk *thunk);

/* The same of one whose frame was entered by another thread, and has returned
 * from this slot. Who owns it may have found that out, by the word in the slot,
 * and be using it for another frame already: that one is left alone. */
void swz_thread_give_up_thunk(struct swz_thunk *thunk, uint64_t *slot);

/* Records of tail calls: a free one or NULL (async-signal-safe); a new one,
 * with signals blocked, or NULL if memory is refused. */
struct swz_thunk *swz_thread_pop_record(struct swz_thread *thread);
struct swz_thunk *swz_thread_make_record(struct swz_thread *thread);
void swz_thread_free_record(struct swz_thread *thread,
			    struct swz_thunk *record);

/* True if the thunk is in one of the thread's blocks. */
bool swz_thread_owns(const struct swz_thread *thread,
		     const struct swz_thunk *thunk);

/* In a forked child: the thread keeps the blocks of its live frames, from `top`
 * on, and of what was never used. Its others are nobody's from now on: a frame
 * that is left in one just returns. */
void swz_thread_keep_live_blocks(struct swz_thread *thread);

/* For a thread that begins: takes over what thunks its state has, a dead
 * thread's. Signals must be blocked. */
void swz_thread_begin_thunks(struct swz_thread_cold *cold);

/* Where memory is refused, how long to go without before asking again: calls
 * that are lost should not cost a system call each. */
#define SWZ_RETRY_TICKS (1u << 22)

/* Which thunks follow a leader (thunks/arena.h), and which frame it is that
 * comes to one. There are such only on the stack that the thread began on,
 * where the order of its frames is that of their slots. */

/* A new thunk is made for a frame of the edge, with this relocated prologue,
 * that is entered at `slot`. Returns the code of the leader that it is to
 * follow, if the frame is one of a deep recursion, or else `body`; NULL: a
 * leader has to be made, or the kernel asked, which can be only with signals
 * blocked (may_ask). Async-signal-safe. */
const uint8_t *swz_follow(struct swz_thread *thread,
			  const struct swz_node *node, const uint8_t *body,
			  const uint64_t *slot, bool may_ask);

/* The frame of the thread's that lies at `slot`, which holds the T of this
 * thunk, or comes from there: the thunk's own; or, if it is a leader, that of a
 * thunk which follows it. The leader itself, which is nobody's: there is none
 * (any more). Async-signal-safe. */
struct swz_thunk *swz_frame_at(const struct swz_thread *thread,
			       struct swz_thunk *thunk, const uint64_t *slot);

/* The same, and the frame goes through its thunk's own code from now on: what
 * is stored in that as its return address takes effect. */
struct swz_thunk *swz_frame_stop_following(const struct swz_thread *thread,
					   struct swz_thunk *thunk,
					   uint64_t *slot);

/* As swz_frame_at() by all of its thunks, where it is not known which frame is
 * the latest.
 */
struct swz_thunk *swz_frame_among_all(const struct swz_thread_cold *cold,
				      struct swz_thunk *thunk,
				      const uint64_t *slot);

/* Calls by jumps that have no record (runtime/record/thread.h, swz_is_jumps).
 */

/* As many are known of a frame, at most, as may be pending on one. */
#define SWZ_MOST_JUMPS 48u

/* Their nodes in a profile, the latest first. Returns how many. */
unsigned swz_jumps_of(const struct swz_file_header *file,
		      const struct swz_thunk *frame,
		      uint32_t units[SWZ_MOST_JUMPS]);

/* True if there are any, and the function is one of theirs or the frame's own:
 * then some end when that is jumped to. */
bool swz_jumps_lead_to(const struct swz_thunk *frame, uint32_t function);

/* Gives each of them a record, which `take` makes; those for which there is
 * none are counted, and not known of any more. */
void swz_jumps_spell_out(struct swz_thread *thread, struct swz_thunk *frame,
			 struct swz_thunk *(*take)(struct swz_thread *));

/* The end of a frame, as its thread's accounts have it. */

/* The activation that runs in a frame: its own, or the one that it has gone on
 * to by a tail call. */
static inline struct swz_node *swz_frame_node(const struct swz_thunk *thunk)
{
	const struct swz_thunk *pending = thunk->pending;

	if (pending == SWZ_FIRST_FRAME)
		return swz_unit_at(thunk->node);
	if (swz_is_jumps(pending))
		return swz_unit_at(swz_jumps_unit(pending));
	return swz_unit_at(pending ? pending->node : thunk->node);
}

/* Ends, at a biased time, what a frame stands for: its activation, and those
 * that it has gone on to by tail calls. Once; nothing if it was closed before.
 */
void swz_leave(struct swz_thread *thread, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how);

/* --- the latest frame ---------------------------------------------------- */

/* Which of a thread's frames is the latest: nobody says that a frame was left
 * by a longjmp, or suspended with its stack, until another one is seen to run.
 */

/* The thread's context is that of its latest frame, which is this one. */
void swz_set_key(struct swz_thread *thread, const struct swz_thunk *top);

/* Closes the frames that a longjmp has cut off: those of the same stack that
 * lie beneath `slot` although they are later, or at it; not `until` (or NULL),
 * nor what is earlier. */
void swz_close_skipped(struct swz_thread *thread, const uint64_t *slot,
		       struct swz_thunk *until);

/* True if the latest frame lies so far above that it may be on another stack.
 */
static inline bool swz_is_far_above(const struct swz_thread *thread,
				    const uint64_t *slot)
{
	return thread->top != &swz_bottom &&
	       (uintptr_t)thread->top->slot > (uintptr_t)slot + 8192;
}

/* A frame is entered for which there is no edge, and the latest one is far
 * above: if that is on another stack than the one that the thread began on, and
 * the new one is not, those there were left by a longjmp off the signal stack,
 * or are suspended. */
void swz_close_above(struct swz_thread *thread, const uint64_t *slot);

/* A live frame of the thread runs and is not the latest: what is later has been
 * skipped, or is suspended; or it was suspended itself. */
void swz_make_latest(struct swz_thread *thread, struct swz_thunk *thunk);

/* Frames whose slots hold the real return addresses for a while, so that an
 * unwinder need not go through their thunks. All are async-signal-safe. */

/* Exposes the frame of this live thunk of the thread's, and those that called
 * it: a number of them, behind which the unwinder meets thunks again. */
void swz_frames_expose(struct swz_thread *thread,
		       const struct swz_thunk *thunk);

/* The same where the unwinder has come to the thunk: but for its own frame,
 * since the unwinder finds the thunk's data by what is in its slot. */
void swz_frames_expose_callers(struct swz_thread *thread,
			       const struct swz_thunk *thunk);

/* Puts the thunks' addresses back into the slots of exposed frames, but for
 * those beneath `least`, which are gone. */
void swz_frames_cover(struct swz_thread *thread, const uint64_t *least);

/* True if the frame is open, one of the thread's, and its caller's lies above
 * it on the same stack, or there is none. */
bool swz_frame_is_amid_stack(const struct swz_thread *thread,
			     const struct swz_thunk *frame);

/* Frames that are suspended with their stack (fibers, coroutines).
 * See docs/internals/frames.md. */

/* The latest frame that is not elsewhere than on the stack that the thread
 * began on (swz_thread_at_home()), or &swz_bottom; one that is elsewhere, if
 * there are very many; NULL: links lead nowhere. */
struct swz_thunk *swz_latest_at_home(const struct swz_thread *thread);

/* `until` (or &swz_bottom) is the latest frame of the stack that runs now: ends
 * the times of those that are later, and makes it `top`. Does nothing if it is
 * not among the thread's latest frames. Returns whether it was. Signals must be
 * blocked. */
bool swz_suspend_after(struct swz_thread *thread, struct swz_thunk *until);

/* A suspended frame runs again: it and those that called it on its stack (the
 * nearest 64) are open from now on, called by the thread's current context.
 * Signals must be blocked. */
void swz_resume(struct swz_thread *thread, struct swz_thunk *thunk);

/* Calls whose arguments and results are recorded (record/values.h).
 * Their frames have the mark SWZ_FIRST_FRAME, or where a frame has jumped to
 * them SWZ_RECORD_CAPTURED in their record: so their exits come to C, with the
 * registers as the function has left them. All are async-signal-safe. */

/* An exception has ended the activation of a node, at the thread's latest
 * time. What it points at need not be there. */
void swz_captured_exception(struct swz_thread *thread, uint32_t node,
			    const void *exception);

/* The thunk's frame, which was at this slot, has ended: accounts it and frees
 * the thunk, if that is live and the thread's. The context is its caller's from
 * now on. HAS_VALUE: what it returns lies in the registers that the exit hook
 * has saved below the slot. Async-signal-safe. */
void swz_leave_frame(struct swz_thread *thread, struct swz_thunk *thunk,
		     uint64_t *slot, enum swz_event_kind how, bool has_value);

/* The same of one that was the latest, all the thread's own, and is no more:
 * who calls has moved `top` on, and made its slot NULL. */
void swz_leave_taken(struct swz_thread *thread, struct swz_thunk *thunk,
		     enum swz_event_kind how);

#endif
