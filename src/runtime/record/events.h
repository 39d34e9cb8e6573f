#ifndef SWZ_RUNTIME_RECORD_EVENTS_H
#define SWZ_RUNTIME_RECORD_EVENTS_H

/* Trace mode: every entry and exit with its time, in chunks of the profile
 * (swizzle/format.h). The calling context tree goes on beside it.
 *
 * swz_thread.event is the address of the thread's next event. It is moved on by
 * one compare-and-exchange, for which the clock was read after it was: so what
 * a signal handler records in between makes that fail, and all is done again
 * with signals blocked. Events are thus in the order of their times, and each
 * has a place of its own, whatever interrupts. The last eight bytes of a page
 * (its time) never hold an event: who comes to them turns the page
 * (swz_events_turn_in_hook). A page whose time is too long ago for the bits of
 * an event is turned, too.
 * See docs/internals/record.md. */

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "asm/x86_64/offsets.h"
#include "runtime/record/thread.h"
#include "runtime/support/worker_threads.h"
#include "swizzle/format.h"

/* swz_thread.event of a thread that records no events. Like the end of a page:
 * the hooks need only one check. */
#define SWZ_NO_EVENTS ((uint64_t)(int64_t)SWZ_EVENTS_OFF)

/* Before anything is planned, and before the first thread begins. */
void swz_events_begin(void);

/* Before the clock's calibration is known too little to be of use: how long the
 * shortest calls must be. Of the calling thread, and of all that begin later.
 */
void swz_events_set_min_time(struct swz_thread *thread);

/* A thread has begun: its first chunk. Signals must be blocked, or nothing of
 * the program run. */
void swz_events_begin_thread(struct swz_thread *thread);

/* In a forked child: they are in the parent's file. */
void swz_events_forget(struct swz_thread_cold *cold);

/* Forgets the thread's events so far: those of our calibration. */
void swz_events_restart(struct swz_thread *thread);

/* --slow: from now on the thread's events go to this chunk, of a call that
 * begins; it is empty, and not valid yet. */
void swz_events_begin_call(struct swz_thread *thread, struct swz_chunk *chunk);

/* --slow: no call of the thread is watched any more, and nothing is recorded.
 * Returns up to where in its chunk of events something may be; 0: there is
 * none, or no more room in it. */
uint64_t swz_events_leave_out(struct swz_thread *thread);

/* Something happens to a node at a time (swz_now). */
void swz_events_add(struct swz_thread *thread, const struct swz_node *node,
		    enum swz_event_kind kind, uint64_t now);

/* A call has ended. If it was too short, and has no other calls' events in it,
 * its entry is taken back. */
void swz_events_add_end(struct swz_thread *thread, const struct swz_node *node,
			enum swz_event_kind kind, uint64_t start, uint64_t now);

/* Leaves out the events of a call that is about to be entered, and of what it
 * calls, until swz_events_mute_by(NULL). False: there are none as it is. */
bool swz_events_mute(struct swz_thread *thread, const uint64_t *slot);

/* BY is the call's frame, or its record on the frame. */
static inline void swz_events_mute_by(struct swz_thread *thread,
				      const struct swz_thunk *by,
				      const struct swz_thunk *frame)
{
	struct swz_thread_cold *cold = thread->cold;

	cold->muted_by = by;
	cold->muted_frame = frame;
	if (by)
		return;
	cold->muted_slot = NULL;
	/* an entry and an end each */
	thread->record->short_calls += cold->muted_events / 2;
	__atomic_store_n(&thread->event, cold->muted_event, __ATOMIC_RELAXED);
}

/* A call has ended: events go on, if it was the one. */
static inline void swz_events_unmute(struct swz_thread *thread,
				     const struct swz_thunk *by)
{
	if (__builtin_expect(thread->cold && thread->cold->muted_by == by && by,
			     0))
		swz_events_mute_by(thread, NULL, NULL);
}

/* For the hooks: the thread's next event has no place in the page. What to do:
 * nothing, as there are no events any more; try again; or as if a handler had
 * come between (below). */
enum swz_turn { SWZ_TURN_NONE = 0, SWZ_TURN_AGAIN = 1, SWZ_TURN_SLOWLY = 2 };
enum swz_turn swz_events_turn_in_hook(struct swz_thread *thread);

/* For the hooks, when a handler has come between: adds the entry or the return
 * of the thunk's call with signals blocked, and returns its time (rdtsc). */
uint64_t swz_events_enter_again(struct swz_thread *thread,
				const struct swz_thunk *thunk);
uint64_t swz_events_return_again(struct swz_thread *thread,
				 const struct swz_thunk *thunk);

/* For the exit hook: the thunk's call is shorter than min_ticks. Whether its
 * entry was the thread's latest event, and is no more. */
bool swz_events_take_back(struct swz_thread *thread,
			  const struct swz_thunk *thunk);

/* --- chunks of events ---------------------------------------------------- */

/* Chunks of events, and their packing. */

/* Packs the events that a thread has recorded, some pages at a time, while they
 * are in the cache yet: mostly to an eighth of their bytes, which would cost
 * the kernel's making of pages of a file and the disk's time, much more than
 * packing. How: swizzle/format.h. */

struct swz_packer;

enum swz_packing {
	SWZ_PACKING_DONE, /* all of the chunk is packed, and may be reused */
	SWZ_PACKING_HELD, /* from some page on it has to stay as it is: an
			   * event is yet to be written */
	SWZ_PACKING_FULL /* there is no room; all pages are valid as they are */
};

/* Memory for the thread that calls it; NULL if it is refused. */
struct swz_packer *swz_packer_new(void);

/* For another thread, or in another file. */
void swz_packer_restart(struct swz_packer *packer);

/* In a forked child: what it was filling is the parent's. */
void swz_packer_forget(struct swz_packer *packer);

/* Packs a chunk of events of the thread `owner`, the one after that of the last
 * call. Signals must be blocked. Whoever is killed in the midst of it leaves a
 * file from which each event is read once. */
enum swz_packing swz_pack(struct swz_packer *packer, struct swz_chunk *events,
			  uint32_t owner);

/* Room for events: the file, as long as it may grow; with --ring then the
 * chunks that were left the longest ago, with --slow these before all. */

/* Events are recorded (-m trace). */
extern bool swz_tracing;

/* Before the first thread begins. */
void swz_event_chunks_begin(void);

/* In a forked child, whose file has none yet: none was left. */
void swz_event_chunks_forget(void);

/* A chunk of that type, all zero (but a packed one that was used before), not
 * published if it is new: `pages` long, or as long as there is room for, but no
 * shorter than `least`. NULL: there is none. Async-signal-safe. */
struct swz_chunk *swz_event_chunk_take(enum swz_chunk_type type, uint32_t pages,
				       uint32_t least, uint32_t owner);

/* Nothing will be written to it any more: with --ring or --slow it may be taken
 * by whoever needs one. */
void swz_event_chunk_leave(const struct swz_chunk *chunk);

/* If the chunk was the last in a stretch of SWZ_HUGE_PAGE bytes, the kernel may
 * forget where that is mapped: the process need not hold what it has written.
 * (The file has it.) Whoever is not done with another part of it pays a page
 * fault. May be NULL. Makes a system call. */
void swz_event_chunk_pass(const struct swz_chunk *chunk);

/* --- context switches ---------------------------------------------------- */

/* When each thread did not run (--switches): the kernel writes a record into a
 * ring of the thread's whenever the scheduler takes the processor from it or
 * gives it back (perf_event_open), and the thread takes them from there into
 * the profile when it has time. What the ring has no room for is counted as
 * lost. */

#define SWZ_SWITCH_RING_BYTES (4ul * 4096ul)

/* Switches of a thread, on a page of its own. */
struct swz_switches {
	struct perf_event_mmap_page *ring; /* NULL: there is none */
	atomic_flag busy;                  /* somebody takes from it */
	uint64_t taken;                    /* bytes */
	uint64_t off_ns; /* since when it does not run; or 0 */
	bool preempted;  /* then */
	struct swz_switch_record *unended; /* that this began; or NULL */
	uint64_t lost_so_far; /* records that were counted before the kernel
			       * said how many there are */
	/* one moment by both clocks: when it was last taken from */
	uint64_t ticks;
	uint64_t raw_ns;         /* CLOCK_MONOTONIC_RAW */
	struct swz_chunk *chunk; /* that is filled, or NULL */
	/* while the ring is made */
	struct swz_raw_thread maker;
	int32_t tid;
	long result;
};

/* For the calling thread, of which THREAD is a new state: leaves it without a
 * ring unless --switches is given, and where the kernel gives none; of the
 * first thread that is said. Signals may be open. */
void swz_switches_begin_thread(struct swz_thread *thread);

/* In a forked child: the parent's is not here. */
void swz_switches_forget(struct swz_thread_cold *cold);

/* Takes what is in the ring (of any thread of the process; ARGUMENT is a
 * struct swz_thread). On the slow stack, signals blocked. */
void swz_switches_take(void *argument);

/* The same for the calling thread, from wherever that is. */
void swz_switches_take_now(struct swz_thread *thread);

/* The same, and nothing is to come after it: the thread, or the process, ends
 * or has ended. If it goes on nevertheless, so do its switches. */
void swz_switches_end(struct swz_thread *thread);

/* True if it is time to. */
static inline bool swz_switches_are_due(const struct swz_thread *thread)
{
	const struct swz_switches *s = thread->cold->switches;

	return s && s->ring &&
	       __atomic_load_n(&s->ring->data_head, __ATOMIC_RELAXED) -
			       s->taken >=
		       SWZ_SWITCH_RING_BYTES / 2;
}

/* --slow: a call begins that is watched, and what was before it is not wanted.
 * Async-signal-safe. */
void swz_switches_pass(struct swz_thread *thread);

/* --slow: it has ended, and its chunks are not the thread's any more. */
void swz_switches_leave_out(struct swz_thread_cold *cold);

#endif
