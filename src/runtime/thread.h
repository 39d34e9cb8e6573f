#ifndef SWZ_RUNTIME_THREAD_H
#define SWZ_RUNTIME_THREAD_H

/* What the runtime knows of a thread.
 *
 * The hot part lies on pages that the kernel wipes in a forked child
 * (MADV_WIPEONFORK, Linux 4.14): whatever way a process forks, the child's
 * first hook finds an empty free list or a foreign `top` and leaves the
 * assembly's fast path, where `cold` being NULL tells why. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "swizzle/format.h"
#include "thunks/arena.h"

struct swz_thread_cold;

struct swz_thread {
	struct swz_thunk *free; /* LIFO through link; NULL: none, or forked */
	uint64_t key;           /* current context's unit << 32 */
	struct swz_thunk *top;  /* latest live thunk */
	struct swz_node **table; /* context table: open addressing, by hash */
	uint64_t table_mask;    /* bytes of the table - 8 */
	uint32_t *open;         /* by function id: minus its live activations */
	struct swz_thread_record *record;
	struct swz_thread_cold *cold; /* NULL after a fork */
	uint64_t spare[8];
};

/* Survives a fork. A thread that has died leaves all of it to the next new
 * thread, blocks and tables included. */
struct swz_thread_cold {
	_Atomic int32_t tid; /* 0: not in use */
	uint32_t index;      /* in the profile */
	struct swz_thread *hot;
	char *slow_stack_top;
	uint32_t *open;
	/* blocks of thunks */
	uint32_t *blocks;
	uint32_t block_count;
	uint32_t block_room;
	/* contexts */
	struct swz_node **table;
	uint64_t table_bytes;
	uint64_t table_used;
	struct swz_node **spare_table; /* to be unmapped at the next growth */
	uint64_t spare_table_bytes;
	struct swz_node *next_node; /* rest of the current chunk of nodes */
	struct swz_node *last_node;
	uint32_t chunk_nodes; /* of the next chunk */
	uint32_t root;      /* units */
	uint32_t fold_root;
	struct swz_thread_cold *next;
};

extern __thread struct swz_thread *swz_thread_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Sets the calling thread up: state (a dead thread's where there is one), a
 * block of thunks, a record and a root context in the profile. Signals must be
 * blocked. Returns NULL if memory is refused; the thread then runs unrecorded.
 */
struct swz_thread *swz_thread_begin(void);

/* Gives the thread free thunks: takes back those whose frames are gone, then
 * adds blocks if that was too little. `slot` is the return slot of the entry
 * being made. Signals must be blocked. */
enum swz_status swz_thread_refill(struct swz_thread *thread, uint64_t *slot)
	SWZ_MUST_CHECK;

/* The slot of a record that is pending on another thunk. */
#define SWZ_SLOT_OF_RECORD ((uint64_t *)8)

/* Puts a thunk, and what is pending on it, on the thread's free list. */
void swz_thread_put_free(struct swz_thread *thread, struct swz_thunk *thunk);

/* Whether the thunk is in one of the thread's blocks. */
bool swz_thread_owns(const struct swz_thread *thread,
		     const struct swz_thunk *thunk);

/* Whether the stack above `slot` holds a signal frame that interrupted our own
 * code: a hook may then be holding a thunk that it has not filled yet. Looks
 * no farther than 64 KiB or the end of what may be read. */
bool swz_interrupts_a_hook(const uint64_t *slot);

/* One bit for each thunk of a block: whether its frame may still be there,
 * which is so as long as its return slot holds its address T. Slots whose
 * memory may be gone are read by way of the kernel. */
uint64_t swz_block_alive(uint32_t block);

/* Lets the records go that are pending on thunks whose frames are gone; one
 * thunk may be taken to be alive whatever its slot holds. */
void swz_thread_drop_records(struct swz_thread *thread,
			     const struct swz_thunk *but);

/* Where the main thread's stack begins; to be set before the first thread. */
void swz_thread_set_main_stack(const void *top);

/* Notes in the profile which threads have ended by now. */
void swz_thread_note_ended(void);

/* Puts the thread's current name into its record. */
void swz_thread_note_name(struct swz_thread *thread);

/* The list of thread states, in use or not; grows at its head. */
struct swz_thread_cold *swz_thread_first(void);

/* In a forked child: makes the state that the calling thread had (hot, all of
 * which the kernel has wiped) usable again, with a new record in the new
 * profile, no thunk free and none live; the other threads' states become
 * free. */
enum swz_status swz_thread_revive(struct swz_thread *hot) SWZ_MUST_CHECK;

/* The cold part of a hot one, wiped or not. */
struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot);

/* The number of function ids that `open` must have room for; set once before
 * the first thread begins, and again (upwards) when modules arrive. */
void swz_thread_set_functions(uint32_t count);

/* The kernel's id of the calling thread. */
int32_t swz_gettid(void);

static inline uint64_t swz_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#endif
