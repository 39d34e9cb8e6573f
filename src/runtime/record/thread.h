#ifndef SWZ_RUNTIME_RECORD_THREAD_H
#define SWZ_RUNTIME_RECORD_THREAD_H

/* What the runtime knows of a thread.
 *
 * The hot part lies on pages that the kernel wipes in a forked child
 * (MADV_WIPEONFORK, Linux 4.14): whatever way a process forks, the child's
 * first hook finds no `links` or a foreign `top` and leaves the assembly's fast
 * path, and `cold` being NULL tells why.
 * See docs/internals/threads.md. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "asm/x86_64/offsets.h"
#include "base/status.h"
#include "runtime/record/file.h"
#include "swizzle/format.h"
#include "thunks/arena.h"

struct swz_kept_values;
struct swz_packer;
struct swz_switches;
struct swz_thread_cold;

/* In each of swz_links.children if there are more than those: see edge_table.h.
 */
#define SWZ_CHILDREN_IN_TABLE (UINT32_C(1) << 31)

/* Beside each node, 32 bytes for each 64 of the profile. */
struct swz_links {
	/* thunks of the edge, by `next_free`; or, negative and odd, ~ where the
	 * list begins that it shares: see shared_thunks.h */
	struct swz_thunk *free;
	/* units of the edges that came last time: */
	uint32_t first; /* in this context */
	uint32_t next;  /* after a call of this edge, in its caller's context */
	/* units of the edges in this context: see edge_table.h */
	_Alignas(16) uint32_t children[SWZ_CHILDREN];
};

struct swz_thread {
	struct swz_links *links; /* by unit; NULL after a fork */
	uint64_t key;            /* current context's unit << 32 */
	struct swz_thunk *top;   /* latest live thunk */
	uint32_t *expected; /* in links: where the hook looks for the edge */
	uint32_t *open;     /* by function id: minus its live activations */
	struct swz_thread_record *record;
	uint64_t epoch;               /* subtracted from rdtsc: see swz_now */
	struct swz_file_header *file; /* swz_file */
	char *tables;                 /* swz_table_room_end() */
	struct swz_thread_cold *cold; /* NULL after a fork */
	uint64_t event;               /* where the next event goes: see
					 runtime/record/events.h */
	uint64_t min_ticks; /* events of shorter calls are taken back */
	uint64_t seen; /* a start: when frames were told a time (sampling.h) */
	uint64_t spare[3];
};

#define SWZ_MOST_ROOT_SPANS 8u
struct swz_root_span {
	uint32_t node; /* units */
	uint64_t start;
};

/* Survives a fork. A thread that has died leaves all of it to the next new
 * thread, blocks and tables included. */
struct swz_thread_cold {
	_Atomic uint64_t owner;    /* process << 32 | thread; 0: not in use */
	struct swz_thunk *records; /* free records of tail calls */
	uint64_t random;           /* see SWZ_RANDOM_MULTIPLIER */
	uint64_t home_low; /* the stack that the thread began on, once asked */
	uint64_t home_high;
	struct swz_thread *hot;
	char *slow_stack_top;
	uint32_t index; /* in the profile */
	/* While this call runs there are no events: it is none of those that
	 * are to be recorded (record/events.h). */
	const struct swz_thunk *muted_by; /* its frame, or record of a jump */
	const struct swz_thunk *muted_frame;
	const uint64_t *muted_slot; /* the frame's */
	uint64_t muted_event;       /* where the next event will go */
	uint64_t muted_events;      /* that there would have been */
	atomic_flag busy;           /* the slow stack is in use */
	bool used;           /* by a thread, or before a fork: not all zeros */
	uint64_t first_slot; /* on it */
	uint32_t *open;
	uint32_t *recursive; /* by function id: see record/recursion.h */
	/* thunks */
	uint32_t *blocks;
	uint32_t block_count;
	uint32_t block_room;
	struct swz_thunk *fresh; /* never used, or by a dead thread */
	bool born_amid_hook;     /* forked in one, to which it may return */
	bool unwind_is_forced;   /* see hooks/landing.h */
	uint16_t expose_next;    /* see exposed_high */
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
	/* slots of which the kernel has said that they are not on the signal
	 * stack: see hooks/latest_frame.c */
	const uint64_t **settled;
	/* the lowest and the highest slot of those that are exposed, if any
	 * (high: not NULL), expose_next the next time (hooks/exposed_frames.h);
	 * and the first that an unwinder has passed, or NULL (hooks/landing.h)
	 */
	const uint64_t *exposed_low;
	const uint64_t *exposed_high;
	const uint64_t *unwound_from;
	const void *walk_frame; /* of our walker, if it is running */
	/* contexts */
	uint64_t table_block; /* what is left of it: see table_room.h */
	uint32_t *sites;      /* or NULL: see site_table.h */
	uint64_t sites_bytes;
	uint64_t sites_used;
	struct swz_node *next_node; /* rest of the current chunk of nodes */
	struct swz_node *last_node;
	uint32_t latest_chunk; /* of nodes, in units; 0: none */
	bool no_room;          /* in the file, for good */
	bool first_to_come;    /* its first frame: SWZ_FIRST_FRAME */
	uint32_t chunk_nodes;  /* of the next chunk */
	uint32_t kept_nodes;   /* of the latest chunk, for folded contexts */
	uint32_t nodes_made;
	uint32_t root; /* units */
	uint32_t fold_root;
	uint32_t unwound; /* units: see runtime/hooks/unwound.h; 0: none yet */
	/* spans that no frame holds, the outermost first: hooks/spans.h */
	struct swz_root_span spans[SWZ_MOST_ROOT_SPANS];
	uint32_t span_count;
	bool pauses;             /* swizzle_pause(): hooks/pause.h */
	struct swz_chunk *marks; /* that is filled, or NULL: record/marks.h */
	/* events */
	struct swz_chunk *events; /* the chunk that is filled, or NULL */
	struct swz_chunk *earlier_events; /* the one before, or NULL */
	uint64_t event_pages;             /* number of the next page */
	struct swz_packer *packer;        /* or NULL, until it is needed */
	struct swz_switches *switches;    /* or NULL, until it is needed */
	/* arguments and results: see values.h */
	struct swz_chunk *values; /* the chunk that is filled, or NULL */
	uint64_t value_at;        /* where the next record goes; 0: nowhere */
	uint64_t value_chunks;
	bool values_full;                    /* there is no more room */
	struct swz_kept_values *kept;        /* or NULL, until it is needed */
	const struct swz_thunk *first_frame; /* what had SWZ_FIRST_FRAME since
					      * it is the first */
	struct swz_thread_cold *next;
};

/* How many there may be in swz_thread_cold.settled, a power of two. */
#define SWZ_SETTLED_SLOTS 512u

/* States are made in groups: a page of hot parts, then their cold parts. */
#define SWZ_THREAD_PAGE ((size_t)4096)
#define SWZ_THREAD_GROUP (SWZ_THREAD_PAGE / sizeof(struct swz_thread))
#define SWZ_COLD_PAGES 5u

/* Entries pass unrecorded while this is false. */
extern bool swz_recording;

/* What `top` and the last `link` point at when no frame is live: above all. */
extern struct swz_thunk swz_bottom;

/* Of the calling thread. Before it has a state, that of nobody, in which the
 * hooks find no links and nothing expected: so they need not look whether it is
 * there. NULL in a process that was cloned with zeros in place of thread-local
 * storage. */
extern __thread struct swz_thread *swz_thread_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern const struct swz_thread swz_nobody;

/* While a thread is paused it has the state of one of these, too: nothing in
 * it, so that calls leave the hooks' fast path. Its own is kept aside. */
extern const struct swz_thread swz_paused_thread;  /* swizzle_pause() */
extern const struct swz_thread swz_paused_process; /* swz_request.paused */
extern __thread struct swz_thread *swz_thread_aside
	__attribute__((tls_model("initial-exec")));

static inline bool swz_thread_is_paused(void)
{
	return swz_thread_self == &swz_paused_thread ||
	       swz_thread_self == &swz_paused_process;
}

/* NULL: it has none yet. */
static inline struct swz_thread *swz_thread_here(void)
{
	if (swz_thread_is_paused())
		return swz_thread_aside;
	return swz_thread_self == &swz_nobody ? NULL : swz_thread_self;
}

/* Whether the calling thread's thread-local storage is libc's. In any other,
 * what is ours may be memory of the program. */
bool swz_thread_has_storage(void);

/* The cold part of a hot one, wiped or not. */
struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot);

static inline uint64_t swz_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Now, as the sums in nodes have it (SWZ_TICKS_BIAS), and back to rdtsc. */
static inline uint64_t swz_now(const struct swz_thread *thread)
{
	return swz_ticks() - thread->epoch;
}

static inline uint64_t swz_ticks_of(const struct swz_thread *thread,
				    uint64_t now)
{
	return now + thread->epoch;
}

#endif
