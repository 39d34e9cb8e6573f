#ifndef SWZ_RUNTIME_SUPPORT_WORKER_THREADS_H
#define SWZ_RUNTIME_SUPPORT_WORKER_THREADS_H

/* Threads that share the work of planning, on processors that the program's one
 * thread leaves idle. Only at the start, before anything of the program runs:
 * when they have ended nothing is left of them. They have no thread-local
 * storage and no signals. */

#include <stdint.h>

#define SWZ_MOST_MEMBERS 8u

/* [begin, end) of something, by member number `member`. */
typedef void swz_workers_work(void *context, uint32_t begin, uint32_t end,
			      unsigned member);

/* Starts threads, if that is worth while for planning so many bytes of text,
 * and nothing speaks against it: there are other processors, and no seccomp
 * filter, which might kill for it, and nobody traces the process. */
void swz_workers_begin(uint64_t text_bytes);

/* How many members there are, the caller included. */
unsigned swz_workers_members(void);

/* Has [0, count) done in portions of so many (swz_workers_portion), by all
 * members or by the caller alone (number 0). Returns when all of it is done.
 * Not from within a portion. */
void swz_workers_run(swz_workers_work *work, void *context, uint32_t count,
		     uint32_t portion);

/* What is worth while for a thread: less in tests, where small programs are to
 * be planned by several (SWIZZLE_TEST_WORKERS). */
uint32_t swz_workers_portion(uint32_t usual);

void swz_workers_end(void);

#endif
