#ifndef SWZ_RUNTIME_SUPPORT_OWN_THREAD_H
#define SWZ_RUNTIME_SUPPORT_OWN_THREAD_H

/* A thread of our own in a process that runs. libc does not know it: it may
 * call nothing of libc, and has thread-local storage of its own. All signals
 * must be blocked when it is started. */

#include <stdbool.h>
#include <stdint.h>

struct swz_own_thread {
	char *memory; /* its stack, and above that its thread-local storage */
	_Atomic uint32_t alive;
	int32_t tid, pid;
};

/* Of the mapping. */
#define SWZ_OWN_THREAD_BYTES (UINT64_C(1) << 20)

/* 0, or a negated error. The thread ends when FUNCTION returns. */
long swz_own_thread_start(struct swz_own_thread *thread,
			  void (*function)(void));

/* Not in a forked child: it has none of its parent's threads. */
bool swz_own_thread_lives(const struct swz_own_thread *thread);

/* Of one that has ended, or was never started: its memory is given back. */
void swz_own_thread_free(struct swz_own_thread *thread);

#endif
