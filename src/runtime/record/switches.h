#ifndef SWZ_RUNTIME_RECORD_SWITCHES_H
#define SWZ_RUNTIME_RECORD_SWITCHES_H

/* When each thread did not run (--switches): the kernel writes a record into a
 * ring of the thread's whenever the scheduler takes the processor from it or
 * gives it back (perf_event_open), and the thread takes them from there into
 * the profile when it has time. What the ring has no room for is counted as
 * lost. */

#include <linux/perf_event.h>
#include <stdatomic.h>

#include "runtime/record/thread.h"
#include "runtime/support/worker_threads.h"

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
