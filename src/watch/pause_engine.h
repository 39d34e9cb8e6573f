#ifndef SWZ_WATCH_PAUSE_ENGINE_H
#define SWZ_WATCH_PAUSE_ENGINE_H

/* Samples without perf: threads that wait, new tasks that nobody tells of, and
 * copies of stacks, for both engines. engine.h has the engine itself. */

#include <stdint.h>

#include "watch/engine.h"
#include "watch/unwind/unwinder.h"

/* Reads bytes that the copy of thread TID's stack does not have from the
 * process PID, which runs: frames that lie far up seldom change, unless the
 * thread has ended. Good until the next call. */
void swz_stack_read_on(int32_t pid, int32_t tid, struct swz_stack *stack);

/* Takes a sample of each thread that waits, without a stop. Returns when to do
 * it again (CLOCK_MONOTONIC). */
uint64_t swz_waiting_sample(struct swz_watch *watch);

/* Threads, processes and programs that nobody tells of: they are found in
 * /proc. Of a process with thousands of threads not all are looked at in each
 * round: those that ran lately are, and some of the others in turn. */

/* Adopts all threads of all processes that are known, and if children are
 * followed those of all processes below them that may be sampled. */
void swz_task_search_all(struct swz_watch *watch, uint64_t now_ns);

#endif
