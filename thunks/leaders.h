#ifndef SWZ_THUNKS_LEADERS_H
#define SWZ_THUNKS_LEADERS_H

/* Return thunks whose code serves many frames at once.
 *
 * Natively all frames of a recursion return to one address, and the processor
 * foresees that when its stack of return addresses has run over. With a thunk
 * for each frame it does not. So the thunks of deeper frames follow a leader:
 * their data are as ever, but the call goes through the leader's code, whose T
 * is then in all their slots. Which frame it is that returns is known by its
 * slot.
 *
 * A leader stands for no frame itself. It belongs to one function and call
 * site, of all threads, and stays for good: whatever comes to its T goes where
 * it was made to go. See docs/internals/thunks.md. */

#include <stdbool.h>
#include <stdint.h>

#include "thunks/arena.h"

/* When it is known which exit hook they go to, and before the first is made. */
void swz_leaders_begin(void);

/* Takes some in advance, as there will be no system calls any more. */
void swz_leaders_stock_up(void);

/* The leader for calls of the function with this relocated prologue that return
 * there; NULL: there is none. Lock free, async-signal-safe, thread safe. */
struct swz_thunk *swz_leader_find(const uint8_t *body, uint64_t return_address);

/* The same, made if need be; NULL: there are too many, or memory is refused.
 * Signals must be blocked. Thread safe. */
struct swz_thunk *swz_leader_make(const uint8_t *body, uint64_t return_address);

/* In which context the frames were called that follow it: of the thread with
 * this number, the latest for which a thunk was made. 0: that was another
 * thread's. Async-signal-safe, thread safe. */
void swz_leader_note_parent(struct swz_thunk *leader, uint32_t thread,
			    uint32_t parent);
uint32_t swz_leader_parent(const struct swz_thunk *leader, uint32_t thread);

/* The profile is another one: contexts are not what they were. */
void swz_leaders_forget_parents(void);

/* Whether another one may be had. */
bool swz_leaders_have_room(void);

#endif
