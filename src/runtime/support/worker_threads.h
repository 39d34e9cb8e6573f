#ifndef SWZ_RUNTIME_SUPPORT_WORKER_THREADS_H
#define SWZ_RUNTIME_SUPPORT_WORKER_THREADS_H

/* Threads of the library's own, made by clone alone: libc does not know them.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"

/* A thread of our own in a process that runs. libc does not know it: it may
 * call nothing of libc, and has thread-local storage of its own. All signals
 * must be blocked when it is started. */

struct swz_own_thread {
	char *memory; /* its stack, and above that its thread-local storage */
	uint64_t bytes;
	_Atomic uint32_t alive;
	int32_t tid, pid;
};

/* 0, or a negated error. The thread ends when FUNCTION returns. Its
 * thread-local variables lie in the BELOW bytes before the thread pointer: in a
 * program with large ones of its own that is far. */
long swz_own_thread_start(struct swz_own_thread *thread, void (*function)(void),
			  uint64_t below);

/* Not in a forked child: it has none of its parent's threads. */
bool swz_own_thread_lives(const struct swz_own_thread *thread);

/* Gives the memory back of a thread that has ended, or was never started. */
void swz_own_thread_free(struct swz_own_thread *thread);

/* Writes /proc/self/task/TID/FILE to PATH. */
#define SWZ_TASK_PATH 64u
void swz_task_path(char path[SWZ_TASK_PATH], uint32_t tid, const char *file);

/* Threads of ours, made by clone alone: without thread-local storage of their
 * own (they have the caller's, and must not use it) and unknown to libc. */

struct swz_raw_thread {
	long id;
	_Atomic uint32_t alive; /* its number: the kernel makes it zero */
};

/* True if nothing speaks against one: a seccomp filter might kill for it, and
 * a tracer would see it. */
bool swz_raw_threads_may_be(void);

/* Starts one, which calls the function. The caller has blocked all signals, so
 * that it never takes one that is for the program. False: there is none. */
bool swz_raw_thread_start(struct swz_raw_thread *thread, char *stack_top,
			  void (*function)(void *), void *argument);

/* Until it is no thread of the process any more: to some calls a process must
 * have one only. What a tracer has come to hold meanwhile is not waited for. */
void swz_raw_thread_wait(struct swz_raw_thread *thread);

/* Threads that share the work of planning, on processors that the program's one
 * thread leaves idle. Only at the start, before anything of the program runs:
 * when they have ended nothing is left of them. They have no thread-local
 * storage and no signals. */

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

/* The portion of work that is worth while for a thread: less in tests, where
 * small programs are to be planned by several (SWIZZLE_TEST_WORKERS). */
uint32_t swz_workers_portion(uint32_t usual);
void swz_workers_end(void);

/* One for each worker thread. */
struct swz_decoders {
	struct swz_decoder *of[SWZ_MOST_MEMBERS];
};

/* In scratch memory. False: there is none. */
bool swz_decoders_new(struct swz_decoders *decoders) SWZ_MUST_CHECK;

#endif
