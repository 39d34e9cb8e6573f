#ifndef SWZ_RUNTIME_THREAD_H
#define SWZ_RUNTIME_THREAD_H

/* What the runtime knows of a thread.
 *
 * The hot part lies on pages that the kernel wipes in a forked child
 * (MADV_WIPEONFORK, Linux 4.14): whatever way a process forks, the child's
 * first hook finds no `links` or a foreign `top` and leaves the assembly's fast
 * path, and `cold` being NULL tells why. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/file.h"
#include "swizzle/format.h"
#include "thunks/arena.h"

struct swz_packer;
struct swz_thread_cold;

/* Beside each node, 16 bytes for each 64 of the profile. */
struct swz_links {
	/* thunks of the edge, by `next_free`; or, negative, ~ where the list
	 * begins that it shares: see swz_free_thunks */
	struct swz_thunk *free;
	/* units of the edges that came last time: */
	uint32_t first; /* in this context */
	uint32_t next;  /* after a call of this edge, in its caller's context */
};

struct swz_thread {
	struct swz_links *links; /* by unit; NULL after a fork */
	uint64_t key;            /* current context's unit << 32 */
	struct swz_thunk *top;   /* latest live thunk */
	uint32_t *table;         /* context table: units, open addressing */
	uint64_t table_mask;     /* bytes of the table - 4 */
	uint32_t *open; /* by function id: minus its live activations */
	struct swz_thread_record *record;
	uint64_t epoch;               /* subtracted from rdtsc: see swz_now */
	struct swz_file_header *file; /* swz_file */
	uint32_t *expected; /* in links: where the hook looks for the edge */
	struct swz_thread_cold *cold; /* NULL after a fork */
	uint64_t event; /* where the next event goes: see runtime/events.h */
	uint64_t min_ticks; /* events of shorter calls are taken back */
	uint64_t seen; /* a start: when frames were told a time (sampling.h) */
	uint64_t spare[2];
};

/* Survives a fork. A thread that has died leaves all of it to the next new
 * thread, blocks and tables included. */
struct swz_thread_cold {
	_Atomic int32_t tid;       /* 0: not in use */
	uint32_t index;            /* in the profile */
	struct swz_thunk *records; /* free records of tail calls */
	uint64_t random;           /* see SWZ_RANDOM_MULTIPLIER */
	struct swz_thread *hot;
	char *slow_stack_top;
	atomic_flag busy;  /* the slow stack is in use */
	uint64_t home_low; /* the stack that the thread began on, once asked */
	uint64_t home_high;
	uint64_t first_slot; /* on it */
	uint32_t *open;
	/* thunks */
	uint32_t *blocks;
	uint32_t block_count;
	uint32_t block_room;
	struct swz_thunk *fresh; /* never used, or by a dead thread */
	uint64_t swept_at;       /* ticks at the end of the last sweep */
	uint64_t sweep_ticks;    /* that it took */
	uint32_t sweep_shift;    /* log2 of the time until the next, in these */
	uint64_t retry_at;       /* no thunk is to be had before */
	uint64_t suspended;      /* frames suspended since */
	uint64_t moved;          /* frames that have come to other edges */
	uint32_t promoted;       /* edges that no longer share their thunks */
	/* the last time that nothing could be said of `top`: it, and the page
	 * of the slot that was below it */
	const struct swz_thunk *apart_top;
	uintptr_t apart_page;
	/* the latest frame of which the kernel said that it is not on the
	 * signal stack: its thunk and its slot */
	const struct swz_thunk *settled;
	const uint64_t *settled_slot;
	/* contexts */
	uint32_t *table;
	uint64_t table_bytes;
	uint64_t table_used;
	struct swz_node *next_node; /* rest of the current chunk of nodes */
	struct swz_node *last_node;
	bool no_room;         /* in the file, for good */
	uint32_t chunk_nodes; /* of the next chunk */
	uint32_t nodes_made;
	uint32_t root; /* units */
	uint32_t fold_root;
	uint32_t unwound; /* units: see runtime/unwound.h; 0: none yet */
	/* events */
	struct swz_chunk *events; /* the chunk that is filled, or NULL */
	struct swz_chunk *earlier_events; /* the one before, or NULL */
	uint64_t event_pages;             /* number of the next page */
	struct swz_packer *packer;        /* or NULL, until it is needed */
	struct swz_thread_cold *next;
};

/* What `top` and the last `link` point at when no frame is live: above all. */
extern struct swz_thunk swz_bottom;

/* Of the calling thread. Before it has a state, that of nobody, in which the
 * hooks find no links and nothing expected: so they need not look whether it is
 * there. NULL in a process that was cloned with zeros in place of thread-local
 * storage. */
extern __thread struct swz_thread *swz_thread_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern const struct swz_thread swz_nobody;

/* NULL: it has none yet. */
static inline struct swz_thread *swz_thread_here(void)
{
	return swz_thread_self == &swz_nobody ? NULL : swz_thread_self;
}

/* Whether the calling thread's thread-local storage is libc's. In any other,
 * what is ours may be memory of the program. */
bool swz_thread_has_storage(void);

/* Sets the calling thread up: state (a dead thread's where there is one), a
 * block of thunks, a record and a root context in the profile. Signals must be
 * blocked. Returns NULL if memory is refused; the thread then runs unrecorded.
 */
struct swz_thread *swz_thread_begin(void);

/* Notes in the profile which threads have ended by now. */
void swz_thread_note_ended(void);

/* Puts the thread's current name into its record. */
void swz_thread_note_name(struct swz_thread *thread);

/* The list of thread states, in use or not; grows at its head. */
struct swz_thread_cold *swz_thread_first(void);

/* Who makes the new profile of a forked child: one thread, mostly the one that
 * forked, but it may start others first. */
enum swz_child {
	SWZ_CHILD_OURS = 0, /* the calling thread has to make it */
	SWZ_CHILD_DONE,     /* it is made, or this is no forked child */
	SWZ_CHILD_OTHER,    /* another thread is making it, for very long */
};
enum swz_child swz_thread_claim_child(void);
void swz_thread_child_done(void);

/* In a forked child whose first hook is on a new thread: no state but new ones
 * may be taken, since one of them is the forking thread's still. */
void swz_thread_orphan_states(void);

/* For the forking thread, then: its state, with no frame open. */
enum swz_status swz_thread_rejoin(struct swz_thread *hot) SWZ_MUST_CHECK;

/* In a forked child: makes the state that the calling thread had (hot, all of
 * which the kernel has wiped) usable again, with a new record in the new
 * profile, no thunk free and none live; the other threads' states become
 * free. */
enum swz_status swz_thread_revive(struct swz_thread *hot) SWZ_MUST_CHECK;

/* The cold part of a hot one, wiped or not. */
struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot);

/* The number of function ids that `open` must have room for; set once before
 * the first thread begins. */
void swz_thread_set_functions(uint32_t count);

/* Whether the caller runs on the thread's slow stack. */
bool swz_thread_on_slow_stack(const struct swz_thread *thread);

static inline uint64_t swz_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#endif
