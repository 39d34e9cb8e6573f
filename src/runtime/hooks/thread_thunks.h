#ifndef SWZ_RUNTIME_HOOKS_THREAD_THUNKS_H
#define SWZ_RUNTIME_HOOKS_THREAD_THUNKS_H

/* The return thunks that a thread has, and the records of tail calls, which are
 * thunks that nothing goes through. */

#include <stdbool.h>
#include <stdint.h>

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

/* Whether the thunk is in one of the thread's blocks. */
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

#endif
