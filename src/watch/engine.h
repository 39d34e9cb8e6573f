#ifndef SWZ_WATCH_ENGINE_H
#define SWZ_WATCH_ENGINE_H

/* The engines that take samples. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/run_summary.h"
#include "launch/run_options.h"
#include "util/memory.h"
#include "watch/tasks.h"
#include "watch/unwind/unwinder.h"

/* --- rings of perf events ------------------------------------------------ */

/* The kernel's samples of a process and its children: perf_event_open(2), one
 * event and one ring of records per processor. */

struct swz_perf_options {
	uint64_t rate; /* a second */
	const char *event;
	uint32_t stack_bytes; /* a multiple of 8; 0: as many as there is room
			       * for */
	bool on_exec;         /* begin when the process executes a program */
	bool follow;          /* child processes, too */
};

struct swz_perf_cpu {
	int cpu;
	size_t ring; /* the index of the one that it writes to */
	int fd;      /* of the event that takes samples */
	int time_fd; /* of the one that counts processor time; may be `fd` */
	struct perf_event_mmap_page *page;
	size_t ring_bytes;
	uint64_t period_ns; /* 0: not by time */
};

struct swz_perf {
	struct swz_perf_cpu *cpus;
	size_t count, capacity;
	size_t rings; /* the first so many have one; the others share these */
	struct swz_map time_ids; /* of events that count processor time */
	size_t ring_bytes;       /* of each */
	uint32_t stack_bytes;    /* of a sample */
	bool mapping_failed;
	bool of_kernel;
	uint64_t period_ns; /* the mean of the processors'; 0: not by time */
	uint8_t *unwrapped; /* a record that goes over a ring's end */
};

/* Opens the events of task PID (of all its children, too). False: *problem says
 * why not, errno is the kernel's. */
bool swz_perf_open(struct swz_perf *perf, int32_t pid,
		   const struct swz_perf_options *options,
		   const char **problem);

/* The same of another task, which shares the rings: a further thread of a
 * process that runs already. False: errno says why not. */
bool swz_perf_add_task(struct swz_perf *perf, int32_t tid,
		       const struct swz_perf_options *options);

void swz_perf_close(struct swz_perf *perf);

/* An event of one task alone, not of its children: it counts the task's
 * processor time, from its next exec on if ON_EXEC. As long as it is open the
 * kernel does not swap the task's events with those of another one. Returns its
 * descriptor, or -1. */
int swz_perf_set_apart(int32_t tid, bool on_exec);

/* A record, as far as it matters here. */
struct swz_perf_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	int32_t pid, tid;
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t period_ns; /* of its processor; 0: not by time */
	/* PERF_RECORD_SAMPLE */
	uint64_t ip;
	uint32_t processor; /* its number + 1: whose ring has the record */
	bool has_registers;
	struct swz_registers registers;
	const uint8_t *stack;
	size_t stack_bytes;
	/* PERF_RECORD_MMAP2 */
	uint64_t start, length, offset, inode;
	const char *text; /* the path; PERF_RECORD_COMM: the name */
	/* PERF_RECORD_FORK, _EXIT */
	int32_t parent_pid, parent_tid;
	/* PERF_RECORD_LOST */
	uint64_t lost;
	/* PERF_RECORD_READ: of processor time, if it was counted */
	uint64_t value;
	bool is_time;
};

/* Calls TAKE for all records of before UNTIL_NS (of CLOCK_MONOTONIC), in the
 * order of their times. Those that are older than the record before, by less
 * than it takes to write one, come at once. */
void swz_perf_drain(struct swz_perf *perf, uint64_t until_ns,
		    void (*take)(void *context,
				 const struct swz_perf_record *record),
		    void *context);

/* --- engines ------------------------------------------------------------- */

/* A second; more pauses are not to be had. */
#define SWZ_MOST_PAUSES 1000u

/* Decides about a system call that a pause cuts short. Without it calls that
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

/* --- the sampler --------------------------------------------------------- */

/* The process that samples the program, or one that runs already. It is no
 * child of the program and in a session of its own; no signal is sent to
 * anybody. */

/* Starts it for the caller's process, which is about to execute the program,
 * and returns NULL when it is ready; else why it cannot be had, which the
 * caller frees. ARGV is written over, in the sampler. */
char *swz_sampler_start(const struct swz_run *run,
			const struct swz_sampling *options, char **argv);

/* Samples process options->pid until it ends, the time is over, or the caller
 * gets SIGINT, SIGTERM or SIGHUP. Returns the exit status. */
int swz_sampler_attach(const struct swz_run *run,
		       const struct swz_sampling *options);

/* --- where threads of hooked processes wait ------------------------------- */

/* Looks at all threads of the run once, without a stop, and notes in their
 * profiles where they wait. Returns in how many ns to do so again; it costs
 * less than 0.5 % of a processor then. The first call blocks no signals and
 * catches SIGBUS. */
uint64_t swz_hooked_waits_look(const struct swz_run *run);

/* --- beside a thread ----------------------------------------------------- */

/* How the sampler comes to a thread that runs, so that it stands where it was:
 * by taking its processor from it.
 *
 * The kernel marks a thread of another processor as one that is to stop, or to
 * make room, and sends an interrupt, which takes some 20 us in a virtual
 * machine. If the thread makes a system call meanwhile, it stops at the end of
 * that: a program with a call every 5 us was found in the kernel 8 of 10 times,
 * where it is 3 of 100. So the sampler goes to the thread's processor and
 * sleeps there for a moment. The timer's interrupt comes there, wherever the
 * thread is, and the sampler takes its place.
 *
 * To be used by one thread of the sampler. */

/* Goes to that processor, and stays there. False: it may not. */
bool swz_beside_go(int32_t processor);

/* Sleeps for 50 to 150 us, by chance. */
void swz_beside_sleep(void);

/* Any processor will do again. */
void swz_beside_leave(void);

/* True if the sampler, when its time has come, takes a processor from what runs
 * there at once (SCHED_FIFO, where it is permitted). Otherwise it may have to
 * wait until a turn ends, and finds threads where theirs ended. For waiting and
 * stopping alone, not for work. */
void swz_beside_be_prompt(bool prompt);

#endif
