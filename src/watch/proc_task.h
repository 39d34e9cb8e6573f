#ifndef SWZ_WATCH_PROC_TASK_H
#define SWZ_WATCH_PROC_TASK_H

/* Threads and processes as /proc shows them, their memory, and the clock. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/user.h>

/* The scheduler's account of a thread. The kernel may say nothing of the last
 * two, which are 0 then. */
struct swz_proc_turns {
	uint64_t processor_ns;
	uint64_t queued_ns; /* ready to run, without a processor: up to when it
			     * got one last */
	uint64_t turns;     /* how often it got one */
};

struct swz_proc_task {
	char state;     /* as in /proc/PID/stat: R, S, D, T, Z, ... */
	bool of_kernel; /* a thread of the kernel (PF_KTHREAD) */
	int32_t parent_pid;
	uint64_t threads;     /* of its process, as the kernel counts them */
	uint64_t start_stack; /* another one after an exec; 0: not told */
	int32_t processor;    /* where it runs, or ran last; -1: not told */
	char name[16];
	struct swz_proc_turns turns;
};

/* False: there is no such thread any more. */
bool swz_proc_task_read(int32_t pid, int32_t tid, struct swz_proc_task *task);

bool swz_proc_task_turns(int32_t pid, int32_t tid,
			 struct swz_proc_turns *turns);

/* Its processor time alone. */
bool swz_proc_task_time(int32_t pid, int32_t tid, uint64_t *ns);

/* Its name now, of at most 15 bytes. False: NAME is as it was. */
bool swz_proc_task_name(int32_t pid, int32_t tid, char name[16]);

/* How often it gave its processor up, to wait for something. */
bool swz_proc_task_waits_made(int32_t pid, int32_t tid, uint64_t *count);

/* Where a thread waits: its instruction and stack pointers. False: it runs, or
 * it cannot be read. */
bool swz_proc_task_waits(int32_t pid, int32_t tid, uint64_t *ip, uint64_t *sp);

/* The number of the system call in which a thread sleeps. False: it runs, is in
 * none, or it cannot be read. */
bool swz_proc_task_call(int32_t pid, int32_t tid, uint64_t *number);

/* True if a signal is pending for which a handler will run, which ends what it
 * waits for. (Of a thread that is traced, signals stay pending that are
 * ignored.) True where it is not told. */
bool swz_proc_task_catches(int32_t pid, int32_t tid);

/* True if a signal is pending for whichever thread of the process takes it, and
 * this one would. */
bool swz_proc_task_may_take(int32_t pid, int32_t tid);

/* The number that a process has for itself: another one in a namespace of
 * process ids (pid_namespaces(7)). */
int32_t swz_proc_inner_number(int32_t pid);

/* Calls VISIT for each number that is the name of an entry of a directory. */
void swz_proc_numbers(const char *directory,
		      void (*visit)(void *context, int32_t number),
		      void *context);

/* Calls VISIT for each child that the thread has started. */
void swz_proc_children(int32_t pid, int32_t tid,
		       void (*visit)(void *context, int32_t child),
		       void *context);

/* Copies memory of a process, up to what cannot be read; returns how much. */
size_t swz_proc_memory(int32_t pid, uint64_t address, void *to, size_t size);

/* CLOCK_MONOTONIC in ns, by which all times are. */
uint64_t swz_watch_now(void);

/* The processor time of the thread that asks, in ns. */
uint64_t swz_watch_used(void);

/* Sleeps, less than a second. */
void swz_watch_rest(uint64_t ns);

/* Numbers in what /proc says. */

/* Reads a number, behind blanks, and sets *AT behind it. False: there is none;
 * *VALUE is 0 then. */
static inline bool swz_scan(const char **at, int base, uint64_t *value)
{
	char *end;

	*value = strtoull(*at, &end, base);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* Moves behind so many words that are parted by blanks. */
static inline void swz_scan_past(const char **at, unsigned words)
{
	while (words--) {
		while (**at == ' ')
			(*at)++;
		while (**at && **at != ' ')
			(*at)++;
	}
}

/* True if a process that runs already can be sampled (-p PID). */

/* NULL: the process is there, and its owner is the user or the user is root.
 * Otherwise why it cannot be sampled by the program of the name TOOL; to be
 * freed. */
char *swz_process_refused(int32_t pid, const char *tool);

/* NULL: its program is one of x86-64, or cannot be read. Otherwise why it
 * cannot be sampled: stacks of 32 bits are not walked; to be freed. */
char *swz_process_program_refused(int32_t pid);

/* True if it is there and has not ended. A zombie has ended, unless only its
 * first thread has. */
bool swz_process_runs(int32_t pid);

/* A thread that is stopped leaves the system call in which it waits. No signal
 * has come, so it must not see an EINTR: the call is made again. */

/* True if a system call was interrupted by the stop, and may be made again:
 * then *again are the registers with which it is. (close(2) may not: its
 * descriptor is free, or another file's by now.) */
bool swz_call_makes_again(const struct user_regs_struct *registers,
			  struct user_regs_struct *again);

/* As a call's result: it has been interrupted, and is made again unless a
 * signal's handler is to run (ERESTARTNOHAND). The kernel looks at it when it
 * lets the thread go. */
#define SWZ_CALL_ANEW ((uint64_t)-514)

/* True if a system call would end with EINTR for a stop alone: then *AGAIN are
 * the registers with which the kernel makes it again. */
bool swz_call_anew(const struct user_regs_struct *registers,
		   struct user_regs_struct *again);

#endif
