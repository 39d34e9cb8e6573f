#ifndef SWZ_RUNTIME_RECORD_THREAD_H
#define SWZ_RUNTIME_RECORD_THREAD_H

/* The state of a thread: its frames, stacks and clocks. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "asm/x86_64/offsets.h"
#include "runtime/record/record_file.h"
#include "thunks/arena.h"

/* GCC compiles a caller by what it sees of a callee in the same file: inlined,
 * with more stack and saved registers, or by what the callee leaves unchanged
 * (-fipa-ra, -fipa-modref). A function with this mark is to its callers as if
 * it were in another file: usual calls do not pay for seldom ones. */
#ifdef __clang__
#define SWZ_NO_IPA __attribute__((noinline))
#else
#define SWZ_NO_IPA __attribute__((noipa))
#endif

/* The state of a thread. The hot part lies on pages that the kernel wipes in a
 * forked child (MADV_WIPEONFORK, Linux 4.14): whatever way a process forks,
 * the child's first hook finds no `links` or a foreign `top` and leaves the
 * assembly's fast path, and `cold` being NULL tells why. See
 * docs/internals/threads.md. */

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
	 * list begins that it shares: see context.h */
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
	/* by function id: the unit of its chunk HISTOGRAM_INDEX, 0: none yet
	 * (record/counts.h) */
	uint32_t *histograms;
	uint64_t no_histogram; /* unit: of calls for which there is no room */
	uint64_t *times;       /* where the next call's time goes until it is
				* in a histogram: a word of a chunk TIMES */
};

#define SWZ_MOST_ROOT_SPANS 8u

struct swz_root_span {
	uint32_t node; /* units */
	uint64_t start;
};

/* The call whose events are recorded with --slow (record/kept_calls.h). */
struct swz_watched_call {
	const uint64_t *slot;       /* its frame's; NULL: there is none */
	const struct swz_thunk *by; /* its frame, or record of a jump */
	const struct swz_thunk *frame;
	uint64_t start;  /* as in nodes */
	uint64_t number; /* of all that this process has watched */
	uint32_t chunks; /* the latest, in units; SWZ_CALL_NEXT is the rest */
	uint8_t rule;    /* of the function */
	bool cut;        /* there was no room for all events */
	bool suspended;  /* its stack is not the thread's now */
	/* a call in it that another rule watches, and the slowest such call
	 * that has ended and was slow: its rule + 1 */
	uint8_t inner_rule, other;
	const uint64_t *inner_slot;
	const struct swz_thunk *inner_by;
	uint64_t inner_start, other_ticks;
	struct swz_chunk *spare;  /* empty, for the next call's events */
	const uint64_t *changing; /* the slot of who changes this; or NULL */
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
	struct swz_watched_call watched;
	atomic_flag busy;    /* the slow stack is in use */
	bool used;           /* by a thread, or before a fork: not all zeros */
	uint64_t first_slot; /* on it */
	uint32_t *open;
	uint32_t *recursive; /* by function id: see record/context.h */
	/* thunks */
	uint32_t *blocks;
	uint32_t block_count;
	uint32_t block_room;
	struct swz_thunk *fresh; /* never used, or by a dead thread */
	bool born_amid_hook;     /* forked in one, to which it may return */
	bool unwind_is_forced;   /* see hooks/unwind.h */
	uint16_t expose_next;    /* see exposed_high */
	uint64_t swept_at;       /* ticks at the end of the last sweep */
	uint64_t swept_thunks;   /* so many were looked at */
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
	 * (high: not NULL), expose_next the next time (hooks/thread_thunks.h);
	 * and the first that an unwinder has passed, or NULL (hooks/unwind.h)
	 */
	const uint64_t *exposed_low;
	const uint64_t *exposed_high;
	const uint64_t *unwound_from;
	const void *walk_frame; /* of our walker, if it is running */
	const void *exception;  /* that was on its way last */
	/* contexts */
	uint64_t table_block; /* what is left of it: see record_file.h */
	uint32_t *sites;      /* or NULL: see edge_table.h */
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
	uint32_t unwound; /* units: see runtime/hooks/unwind.h; 0: none yet */
	/* spans that no frame holds, the outermost first: hooks/hooks.h */
	struct swz_root_span spans[SWZ_MOST_ROOT_SPANS];
	uint32_t span_count;
	bool pauses; /* swizzle_pause(): hooks/hooks.h */
	struct swz_chunk
		*marks; /* that is filled, or NULL: record/annotations.h */
	/* events */
	struct swz_chunk *events; /* the chunk that is filled, or NULL */
	struct swz_chunk *earlier_events; /* the one before, or NULL */
	uint64_t event_pages;             /* number of the next page */
	struct swz_packer *packer;        /* or NULL, until it is needed */
	struct swz_switches *switches;    /* or NULL, until it is needed */
	/* arguments and results: see values.h */
	/* -m count: its table (record/counts.h) */
	struct swz_chunk *counts; /* the latest, or NULL */
	uint64_t counts_least;    /* see swz_counts_begin */
	uint32_t counts_used;     /* slots of it */
	uint32_t counts_strange;  /* of all, whose call sites are in no file */
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
#define SWZ_COLD_PAGES 7u

/* Entries pass unrecorded while this is false. */
extern bool swz_recording;

/* `top` and the last `link` point at this when no frame is live: it is above
 * all. */
extern struct swz_thunk swz_bottom;

/* The state of the calling thread. Before it has one, that of nobody, in which
 * the hooks find no links and nothing expected: so they need not look whether
 * it is there. NULL in a process that was cloned with zeros in place of
 * thread-local storage. */
extern __thread struct swz_thread *swz_thread_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern const struct swz_thread swz_nobody;

/* -m count: where the hooks look for the counters of the calling thread's edges
 * (thunks/counting.h). 0 before its first call. */
extern __thread struct swz_count_place {
	uint64_t base, mask;
} swz_count_place
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* While a thread is paused it has the state of one of these, too: nothing in
 * it, so that calls leave the hooks' fast path. Its own is swz_paused_state. */
extern const struct swz_thread swz_paused_thread;  /* swizzle_pause() */
extern const struct swz_thread swz_paused_process; /* swz_request.paused */
extern __thread struct swz_thread *swz_paused_state
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
		return swz_paused_state;
	return swz_thread_self == &swz_nobody ? NULL : swz_thread_self;
}

/* True if the calling thread's thread-local storage is libc's. In any other,
 * what is ours may be memory of the program. */
bool swz_thread_has_storage(void);

/* The distance of a variable of the initial-exec model from the thread pointer:
 * the same in all threads. The compiler must not see that it is one: gcc makes
 * `sub x@gottpoff` of it (14) or a load of 32 bits (16), for which the
 * assembler (binutils 2.44) knows no relocation. */
static inline int64_t swz_thread_offset_of(const volatile void *variable)
{
	const volatile char *at = variable;

	__asm__("" : "+r"(at));
	return at - (const volatile char *)__builtin_thread_pointer();
}

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

/* The stack that a thread began on, as against those of fibers, coroutines and
 * signal handlers. */

/* True if both places lie on the stack that the thread began on. Signals must
 * be blocked. */
bool swz_thread_same_stack(struct swz_thread *thread, const uint64_t *a,
			   const uint64_t *b);

/* True if a place lies on that stack, as far as it was asked for before. */
bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot);

/* Notes where the main thread's stack begins; to be called before the first
 * thread is made. */
void swz_thread_set_main_stack(const void *top);

/* True if it lies on the main thread's stack, where any word may be read. */
bool swz_on_main_stack(const uint64_t *slot);

/* The fields of a thunk describe its frame, and tell whether that is still
 * there. */

/* In thunk->pending: the frame's accounts are closed, it only returns yet. */
#define SWZ_CLOSED ((struct swz_thunk *)SWZ_IS_CLOSED)

/* In thunk->pending, behind the records: with sampled timing a call by a jump
 * that is not timed needs no record, if its function is not on the path yet.
 * The latest one's node tells all of them: between it and the frame's own there
 * are only such. */
static inline bool swz_is_jumps(const struct swz_thunk *pending)
{
	return (uintptr_t)pending & SWZ_IS_JUMPS;
}

static inline uint32_t swz_jumps_unit(const struct swz_thunk *pending)
{
	return (uint32_t)((uintptr_t)pending >> SWZ_JUMPS_SHIFT);
}

/* The same without a node: the first frame of a thread, whose end is mostly the
 * thread's. Its exit goes to C, which reads the processor time then. */
#define SWZ_FIRST_FRAME ((struct swz_thunk *)SWZ_IS_JUMPS)
/* In the return_address of a record, which has none: the values of its call are
 * captured, so that its end is to be done in C. Otherwise 0. */
#define SWZ_RECORD_CAPTURED UINT64_C(1)

static inline bool swz_is_record(const struct swz_thunk *pending)
{
	return pending && pending != SWZ_CLOSED && !swz_is_jumps(pending);
}

/* More than any frame has. Two threads that share their storage may take the
 * same record, and records may go in a circle then. */
#define SWZ_MOST_RECORDS 256u

/* Returns the bytes behind a record. *PASSED: how many there were before it. */
static inline struct swz_thunk *swz_record_next(const struct swz_thunk *record,
						unsigned *passed)
{
	return ++*passed < SWZ_MOST_RECORDS ? record->pending : NULL;
}

/* The thunk behind the records, if a thunk's or a record's `pending` names
 * one. */
static inline struct swz_thunk **swz_frame_behind_records(
	struct swz_thunk **pending)
{
	for (unsigned i = 0; i < SWZ_MOST_RECORDS && swz_is_record(*pending);
	     i++)
		pending = &(*pending)->pending;
	return pending;
}

/* True if it is SWZ_FIRST_FRAME, behind its records. */
static inline bool swz_is_first_frame(struct swz_thunk *thunk)
{
	return *swz_frame_behind_records(&thunk->pending) == SWZ_FIRST_FRAME;
}

/* The slot of a thunk whose frame is gone, for the next sweep: no address. */
#define SWZ_SLOT_GONE ((uint64_t *)8)
/* In thunk->start_ticks: the frame is suspended with its stack
 * (runtime/hooks/thread_thunks.h); in the low bits what they were
 * (runtime/record/sampling.h). No start is like that: times have their bias. */
#define SWZ_SUSPENDED SWZ_START_STEP
#define SWZ_SUSPENDED_LAST (2 * SWZ_START_STEP - 1)

static inline bool swz_start_is_suspended(uint64_t start)
{
	return start >= SWZ_SUSPENDED && start <= SWZ_SUSPENDED_LAST;
}

/* Takes the latest record from a frame; NULL: none. Who does so ends it and
 * frees it: a signal handler that comes between may switch to another stack,
 * whose frame has the same thunk, and no record may be in two places. So all
 * are taken, and the rest put back: what comes behind a record is known only to
 * who has it. */
static inline struct swz_thunk *swz_frame_pop_record(struct swz_thunk *thunk)
{
	struct swz_thunk *record = __atomic_load_n(&thunk->pending,
						   __ATOMIC_RELAXED);

	while (swz_is_record(record))
		if (__atomic_compare_exchange_n(&thunk->pending, &record, NULL,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			thunk->pending = record->pending;
			record->pending = NULL; /* an end to any circle */
			return record;
		}
	return NULL;
}

/* Hangs one from it, as the latest. */
static inline void swz_frame_push_record(struct swz_thunk *thunk,
					 struct swz_thunk *record)
{
	record->pending = __atomic_load_n(&thunk->pending, __ATOMIC_RELAXED);
	while (record->pending != SWZ_CLOSED &&
	       !__atomic_compare_exchange_n(&thunk->pending, &record->pending,
					    record, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/* Words of a stack from a place on, up to the end of its page, by way of the
 * kernel: what lies there may be nothing that the program has written (memcheck
 * minds who looks at that), or no memory. Returns how many; 0: none can be
 * read.
 */
#define SWZ_PAGE_WORDS 512u

unsigned swz_stack_words(const uint64_t *from, uint64_t words[SWZ_PAGE_WORDS]);

/* One bit for each thunk of a block: whether it is live and its frame may still
 * be there, which is so as long as its return slot holds its address T, or,
 * where it may be at its entry or exit, the real return address. IN_USE: where
 * the part of the calling thread's stack begins that is in use, or NULL. What
 * is elsewhere may be gone, or protected, and is read by way of the kernel.
 * CLOSED_TOO: a thunk that is closed may be at its entry or exit, too. */
uint64_t swz_block_alive(uint32_t block, const uint64_t *in_use,
			 bool closed_too);

/* A stack of each thread's, for what the hooks do seldom: the program's may
 * have no room for more. */

#define SWZ_SLOW_STACK_BYTES (32u << 10)

/* Calls the function with signals blocked, on the thread's slow stack, which
 * the caller may be on; not at all if another one is. */
void swz_slowly(const struct swz_thread *thread, void (*function)(void *),
		void *argument);

/* Before signals are blocked: what it takes of the caller's stack until they
 * are no more. If there is no room for it, the program is to have its SIGSEGV
 * now: one that is blocked is the end. */
void swz_need_stack(void);

/* Calls function(argument) on another stack (asm/x86_64/wrappers.S); its top is
 * a multiple of 16. */
void swz_call_on_stack(void (*function)(void *), void *argument,
		       void *stack_top);

/* The processor time that a thread has used, in its record: what of its time it
 * ran, and did not wait. It is read where there is time for a system call: at
 * the thread's beginning and its end, at the end of the process, and now and
 * then in between, for a process that is killed. Async-signal-safe. */

/* At the start of the calling thread, which the record is of. */
void swz_processor_time_begin(struct swz_thread_record *record);

/* Now; the record may be of any thread of the process that has not ended. Where
 * the kernel does not tell, the record stays as it is. */
void swz_processor_time_note(struct swz_thread_record *record);

/* Between two such readings, in ticks: they take less than a thousandth of the
 * time. */
#define SWZ_PROCESSOR_TIME_TICKS (1u << 22)

/* The same unless it has just been done; NOW is rdtsc. */
static inline void swz_processor_time_note_sometimes(
	struct swz_thread_record *record, uint64_t now)
{
	if (record->processor_ticks &&
	    now - record->processor_ticks >= SWZ_PROCESSOR_TIME_TICKS &&
	    now > record->processor_ticks)
		swz_processor_time_note(record);
}

#endif
