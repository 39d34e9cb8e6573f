#ifndef SWZ_WATCH_ENGINE_H
#define SWZ_WATCH_ENGINE_H

/* The engines that take samples. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "launch/sampling.h"
#include "watch/tasks.h"
#include "watch/unwind/unwinder.h"

/* A second; more pauses are not to be had. */
#define SWZ_MOST_PAUSES 1000u

/* What becomes of a system call that a pause cuts short. Without it calls that
 * did nothing yet are made again, and a part stays a part. */
struct swz_pause_calls {
	/* True if the thread must get other registers (*AGAIN). */
	bool (*resume)(int32_t pid, int32_t tid,
		       const struct user_regs_struct *now,
		       struct user_regs_struct *again);
	/* The thread's own registers, where it makes the rest of a call. */
	struct user_regs_struct (*origin)(int32_t pid, int32_t tid,
					  const struct user_regs_struct *now);
	/* Stops one thread and calls WORK while it stands, on the thread that
	 * traces it. Others that are woken for its signals meanwhile have
	 * their calls go on. Nothing is done if it does not stop. */
	void (*stop_alone)(int32_t pid, int32_t tid,
			   void (*work)(void *context,
					const struct user_regs_struct *now),
			   void *context);
	void (*end)(void);
};

/* NULL, or set before an engine is opened. */
extern const struct swz_pause_calls *swz_pause_calls;

struct swz_watch {
	const struct swz_sampling *options;
	struct swz_sample_run run;
	struct swz_tasks tasks;
	int32_t pid;      /* of the first process */
	bool launched;    /* it has not executed its program yet */
	bool is_launcher; /* the same, for who gets no pauses: swizzle-run is
			   * no part of the run, and waits for helpers */
	int pidfd;        /* of it */
	int stop;         /* readable: the user wants it to end; or -1 */
	uint64_t end_ns;  /* CLOCK_MONOTONIC; UINT64_MAX: never */
	void (*root_ended)(struct swz_watch *watch);
	/* Called between samples, every 20 ms or so; NULL: nobody wants it. */
	void (*between)(struct swz_watch *watch);
	bool told; /* of its end */
};

/* Prepares to sample by the engine that options->engine names or, if it names
 * none, by perf or else by pauses: *why_pause then says why, otherwise it is
 * NULL. Raises the limit of open files. False: *problem says why it cannot be.
 */
bool swz_engine_open(struct swz_watch *watch, const char **why_pause,
		     const char **problem);
/* Samples until all processes have ended, or it is to stop. */
void swz_engine_run(struct swz_watch *watch);

/* Prepares to sample. False: *problem says why it cannot be. */
bool swz_perf_engine_open(struct swz_watch *watch, const char **problem);
/* Samples until all processes have ended, or it is to stop. */
void swz_perf_engine_run(struct swz_watch *watch);

/* True if a process may be stopped. */
bool swz_pauses_permitted(int32_t pid);
/* From now on the threads of an image have samples by pauses, beside another
 * engine: it tells of what begins and ends. */
void swz_pauses_begin(struct swz_watch *watch, struct swz_image *image);
/* Takes samples of such images. Returns when to do so again. */
uint64_t swz_pauses_take(struct swz_watch *watch);

bool swz_pause_engine_open(struct swz_watch *watch, const char **problem);
void swz_pause_engine_run(struct swz_watch *watch);

/* --- what both engines do without perf ------------------------------------ */

/* Threads that wait, new tasks that nobody tells of, and copies of stacks
 * (pause_engine.c). */

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
