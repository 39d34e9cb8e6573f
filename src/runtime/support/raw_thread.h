#ifndef SWZ_RUNTIME_SUPPORT_RAW_THREAD_H
#define SWZ_RUNTIME_SUPPORT_RAW_THREAD_H

/* Threads of ours, made by clone alone: without thread-local storage of their
 * own (they have the caller's, and must not use it) and unknown to libc. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct swz_raw_thread {
	long id;
	_Atomic uint32_t alive; /* its number: the kernel makes it zero */
};

/* Whether nothing speaks against one: a seccomp filter might kill for it, and a
 * tracer would see it. */
bool swz_raw_threads_may_be(void);

/* Starts one, which calls the function. The caller has blocked all signals, so
 * that it never takes one that is for the program. False: there is none. */
bool swz_raw_thread_start(struct swz_raw_thread *thread, char *stack_top,
			  void (*function)(void *), void *argument);

/* Until it is no thread of the process any more: to some calls a process must
 * have one only. What a tracer has come to hold meanwhile is not waited for. */
void swz_raw_thread_wait(struct swz_raw_thread *thread);

#endif
