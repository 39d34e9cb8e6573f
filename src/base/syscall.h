#ifndef SWZ_BASE_SYSCALL_H
#define SWZ_BASE_SYSCALL_H

/* Where in the target what is mapped is ours. What is small is not noted, nor
 * what comes when a table of some thousand places is full. Lock free, async-
 * signal-safe, thread safe: a range that is being added or removed meanwhile
 * may be found or not. */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* --- memory of this process ---------------------------------------------- */

/* By swz_sys_mmap and swz_sys_munmap, if it is worth it. What is unmapped of
 * one that was added is its whole, its beginning or its end. */
extern uint64_t swz_own_least;
void swz_own_add(uint64_t start, uint64_t bytes);
void swz_own_remove(uint64_t start, uint64_t bytes);

/* The first range of ours that begins at `low` or later, or holds it, and ends
 * before `high`: *start and *end, cut to those. False: there is none. */
bool swz_own_next(uint64_t low, uint64_t high, uint64_t *start, uint64_t *end);

/* --- system calls -------------------------------------------------------- */

/* Raw Linux system calls for code that runs inside the target: no libc, no
 * errno, no cancellation point. Each returns the result or -errno. Async-
 * signal-safe. */

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* The program has given up system calls: one of ours might kill it. Those of
 * which its filters do not say that they pass fail with EPERM, and so do most
 * others: what is for memory is left. */
extern bool swz_system_calls_end;

struct sock_filter;

/* A filter that the program is about to enter; it is kept where it is. */
void swz_sys_add_filter(const struct sock_filter *code, uint32_t length);

/* Nor will any other call be made. */
void swz_sys_end_all(void);

/* True if the call may be made all the same. */
bool swz_sys_passes(long number, long a, long b, long c, long d, long e,
		    long f);

/* The program has had all that is mapped from now on locked in memory. What is
 * ours and large is not to be. */
extern bool swz_memory_is_locked;

#ifdef __clang_analyzer__
/* It does not see the kernel write through pointers that pass an asm. */
extern long swz_syscall6(long number, long a, long b, long c, long d, long e,
			 long f);
#else
static inline long swz_make_syscall6(long number, long a, long b, long c,
				     long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* No call may come between the registers' values and their use. */
static inline long swz_syscall6(long number, long a, long b, long c, long d,
				long e, long f)
{
	if (__builtin_expect(swz_system_calls_end, false) &&
	    !swz_sys_passes(number, a, b, c, d, e, f))
		return -EPERM;
	return swz_make_syscall6(number, a, b, c, d, e, f);
}
#endif

#define SWZ_SYSCALL(number, ...) \
	SWZ_SYSCALL_PAD(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define SWZ_SYSCALL_PAD(number, a, b, c, d, e, f, ...) \
	swz_syscall6((number), (long)(a), (long)(b), (long)(c), (long)(d), \
		     (long)(e), (long)(f))

static inline long swz_sys_mprotect(void *start, size_t bytes, int protection)
{
	return SWZ_SYSCALL(SYS_mprotect, start, bytes, protection);
}

/* Returns NULL on failure. */
static inline void *swz_sys_mmap(void *hint, size_t bytes, int protection,
				 int flags, int fd, uint64_t offset)
{
	long r = SWZ_SYSCALL(SYS_mmap, hint, bytes, protection, flags, fd,
			     offset);

	if (r < 0 && r > -4096)
		return NULL;
	if (bytes >= swz_own_least) {
		swz_own_add((uint64_t)r, bytes);
		if (swz_memory_is_locked)
			SWZ_SYSCALL(SYS_munlock, r, bytes);
	}
	return (void *)r;
}

static inline long swz_sys_munmap(void *start, size_t bytes)
{
	swz_own_remove((uintptr_t)start, bytes);
	return SWZ_SYSCALL(SYS_munmap, start, bytes);
}

static inline uint64_t swz_sys_monotonic_ns(void)
{
	struct timespec now = {0, 0};

	SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* True if eight bytes of memory are readable: the kernel takes them for a set
 * of signals, which are blocked for a moment. (With a first argument that asks
 * for nothing one call would do, but valgrind says so on stderr.) */
static inline bool swz_sys_is_readable(uint64_t address)
{
	uint64_t before;
	long status = SWZ_SYSCALL(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */,
				  address, &before, 8);

	if (status == 0)
		SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before,
			    NULL, 8);
	return status != -EFAULT;
}

/* --- when a process began ------------------------------------------------ */

/* When a process began, in clock ticks since the system's start, which with its
 * number tells it from all others; 0: it is not there or has ended, or there is
 * no /proc. PID 0: the caller. Async-signal-safe. */
uint64_t swz_process_start(int32_t pid);

/* --- filters of system calls ---------------------------------------------- */

/* A program's own filters of system calls (seccomp) may refuse ours. They are
 * programs of the kernel's oldest kind (BPF), without state and without memory
 * but their own, so what one answers is known before the kernel asks it. */

/* True if the filter lets this call pass, and does nothing else about it. False
 * too if it asks for what is not known (where the call comes from), or is none
 * that the kernel would take. */
bool swz_call_filter_allows(const struct sock_filter *code, uint32_t length,
			    const struct seccomp_data *call);

#endif
