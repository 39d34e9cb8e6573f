#ifndef SWZ_THUNKS_ARENA_H
#define SWZ_THUNKS_ARENA_H

/* Return thunks: one per live hooked frame. The function's own `ret` comes to
 * the thunk's address T; the thunk's code goes on to the exit hook with the
 * address of its data, and so the exit is known by identity, whatever order
 * frames are left in.
 *
 * A thunk belongs to one call site and function of one thread: its body and
 * return address are set when it is made and stay. A T that turns up again
 * after its frame has returned - a continuation that was copied and restored,
 * a frame wrongly taken to be gone - still leads to the place that it was made
 * for.
 *
 * Blocks of 64 thunks (a page of code, a page of data) are handed out to
 * threads; returned blocks wait in a lock-free stack.
 * See docs/internals/thunks.md. */

#include <stdbool.h>
#include <stdint.h>

#include "asm/x86_64/offsets.h"

/* A thunk's data. Its code lies SWZ_UNIT_CODE_BYTES below. A unit is 64 bytes
 * of the profile. The two lists have links of their own: what becomes of one
 * never reaches the other. */
struct swz_thunk {
	const uint8_t *body;         /* where the thunk's call goes; or the code
				      * of the thunk that it follows */
	uint64_t return_address;     /* the real one */
	uint32_t node;               /* the edge, in units; 0: none */
	uint32_t parent;             /* the thread's context before the call */
	uint64_t start_ticks;        /* of the activation; 0: not accounted; see
				      * SWZ_SUSPENDED */
	struct swz_thunk *next_free; /* of the same edge */
	struct swz_thunk *link;      /* live: the thread's latest thunk before
				      * this */
	uint64_t *slot;              /* where the return address lies; NULL: not
				      * live */
	struct swz_thunk *pending;   /* live: records of what the frame has gone
				      * on to by tail calls, the latest first */
};

#define SWZ_BLOCK_THUNKS 64u
#define SWZ_BLOCK_NONE UINT32_MAX
#define SWZ_ARENA_BLOCKS \
	(SWZ_ARENA_BYTES / (2 * SWZ_BLOCK_THUNKS * SWZ_THUNK_BYTES))

/* Where thunks go when their function has returned, if not to swz_hook_exit,
 * and leaders, if not to swz_hook_exit_following: to be said before the first
 * block is taken. Blocks that were prepared for another one wait
 * until that is set again. */
void swz_arena_set_exit(void (*hook)(void), void (*following)(void));

/* Takes a block of thunks, all fields zero but the code. Returns its number or
 * SWZ_BLOCK_NONE: the arena is used up or memory is refused. Lock free, async-
 * signal-safe, thread safe. */
uint32_t swz_arena_take_block(void);

/* In a forked child: threads that were preparing blocks are not here. */
void swz_arena_forked(void);

/* Gives a block back whose thunks are all free. */
void swz_arena_give_block(uint32_t block);

/* The first thunk of a block; the others follow it. */
struct swz_thunk *swz_arena_block_thunks(uint32_t block);

uint32_t swz_arena_block_of(const struct swz_thunk *thunk);

/* True if an address lies in the arena, and the thunk whose T it is (or whose
 * code it lies in). */
bool swz_arena_contains(uint64_t address);
bool swz_arena_is_code(uint64_t address); /* no thunk's data */
struct swz_thunk *swz_arena_thunk_at(uint64_t address);

/* In `pending`, of a thunk that has no node: a leader. No record, and no
 * frame's. */
#define SWZ_LEADS ((struct swz_thunk *)7)

static inline bool swz_thunk_leads(const struct swz_thunk *thunk)
{
	return thunk->pending == SWZ_LEADS && !thunk->node;
}

/* True if the thunk has a leader: its frame goes through that one's code. */
static inline bool swz_thunk_follows(const struct swz_thunk *thunk)
{
	return swz_arena_contains((uintptr_t)thunk->body);
}

/* Where a call goes that has taken the thunk: its code, or its leader's. */
const uint8_t *swz_thunk_code(const struct swz_thunk *thunk);

/* The relocated prologue that this code calls. */
const uint8_t *swz_thunk_body(const struct swz_thunk *thunk);

/* T: the address that the program finds in the return slot. */
uint64_t swz_thunk_address(const struct swz_thunk *thunk);

extern const char swz_arena_start[];
extern const char swz_arena_end[];

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

/* True if another one may be had. */
bool swz_leaders_have_room(void);

#endif
