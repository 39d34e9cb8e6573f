#ifndef SWZ_WATCH_PROC_TASK_H
#define SWZ_WATCH_PROC_TASK_H

/* What /proc says of threads, and their memory. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the scheduler says of a thread. The kernel may say nothing of the last
 * two, which are 0 then. */
struct swz_proc_turns {
	uint64_t processor_ns;
	uint64_t queued_ns; /* ready to run, without a processor: up to when it
			     * got one last */
	uint64_t turns;     /* how often it got one */
};

struct swz_proc_task {
	char state; /* as in /proc/PID/stat: R, S, D, T, Z, ... */
	int32_t parent_pid;
	uint64_t threads;     /* of its process, as the kernel counts them */
	uint64_t start_stack; /* another one after an exec; 0: not told */
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

/* Whether a signal is on its way that must interrupt what it waits for; true
 * where that is not told. */
bool swz_proc_task_has_signal(int32_t pid, int32_t tid);

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

#endif
