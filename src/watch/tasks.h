#ifndef SWZ_WATCH_TASKS_H
#define SWZ_WATCH_TASKS_H

/* The processes and threads that are watched, as they come, execute programs
 * and end. Either engine tells what happens; profiles are written here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "watch/image.h"
#include "watch/proc_task.h"

/* --- the profile of an image --------------------------------------------- */

/* Made, empty and locked, when the image begins, so
 * that readers know that somebody is going to fill it; written at the end. */

/* The facts that all files of a run share. */
struct swz_sample_run {
	const char *output; /* the files' names: absolute, may hold %p */
	int32_t root_pid;
	uint64_t root_start;
	const char *counts_output; /* -m both: the same of the profiles with
				    * the counts; NULL: there are none */
	int32_t counts_pid;        /* as in the header */
	uint64_t counts_start;
	uint32_t plain_call, counted_call;
	uint64_t period_ns; /* 0: not by time */
	enum swz_sample_engine engine;
	uint32_t flags; /* enum swz_sample_flags */
	uint64_t stack_bytes;
	bool keeps_moments; /* each sample is in the file by itself, too */
	bool first_made; /* a file of the name that the user gave; set here */
	const char *problem; /* why a file could not be made or written: the
			      * first, NULL: none. Set here */
};

/* The run as it is for an image, which may be sampled in another way than
 * others. */
struct swz_sample_run swz_run_of_image(const struct swz_sample_run *run,
				       const struct swz_image *image);

/* Makes the file of an image that has none. Without success the image stays
 * without one and run->problem says why. */
void swz_profile_file_make(struct swz_sample_run *run, struct swz_image *image);

/* Writes all that is known; again, if it was written before. An image that has
 * ended gives its lock up. False: it could not be written. */
bool swz_profile_file_write(struct swz_sample_run *run,
			    struct swz_image *image);

/* Removes an image's file: there is nothing to be written. */
void swz_profile_file_drop(struct swz_image *image);

/* From a thread's samples to times: what each sample stands for, so that all
 * together are the thread's processor time. */

struct swz_thread_time {
	struct swz_stack_node *nodes; /* the thread's, perhaps two more */
	size_t count;
	uint64_t *total_ns;    /* by node: of it and those below */
	uint64_t *waiting_ns;  /* the part that it waited */
	uint64_t processor_ns; /* the program's */
	uint64_t own_ns;       /* the profiler's, in this thread */
};

/* END_NS: the thread's last moment. */
void swz_thread_time(struct swz_thread_time *time,
		     const struct swz_sample_run *run,
		     const struct swz_image_thread *thread, uint64_t end_ns);
void swz_thread_time_free(struct swz_thread_time *time);

struct swz_task {
	int32_t tid;
	bool live;
	struct swz_image *image;
	struct swz_image_thread *thread;
	uint64_t counted_ns; /* processor time, as far as it was told */
	bool counted;
	uint64_t spent_ns;    /* of it: on programs that were run before */
	uint64_t known_ns;    /* as it was read last from /proc */
	uint64_t before_ns;   /* of known_ns: before it was sampled */
	uint64_t early_ns;    /* while it was sampled, but before time_fd */
	unsigned looks;       /* see pause_engine.c */
	uint64_t links;       /* the same: of its process */
	uint64_t start_stack; /* of the pause engine */
	bool stopping;        /* the same: it was asked to */
	uint64_t weighed_ns;  /* the same: of known_ns, what samples have */
	struct swz_proc_turns turns; /* the same: when it was asked to stop */
	uint64_t
		asked_ns; /* it must have run then: when it was asked to stop */
	uint64_t waits;   /* the same: made up to its last stop */
	bool was_known;
	int time_fd;  /* counts its processor time since it is sampled; -1 */
	int apart_fd; /* from later on, and sets it apart; -1 */
	/* As both clocks were read last: see swz_tasks_compare_clocks(). */
	uint64_t event_ns, exact_ns;
	bool compared;
};

/* The totals of a run. */
struct swz_sample_totals {
	uint64_t samples, lost, missed, cut, broken, unread;
	bool scripts; /* some are in functions of a script */
	size_t files, threads, processes;
	uint64_t processor_ns;
	uint64_t unsampled_ns; /* of it: of threads that no sample hit */
	size_t unsampled_threads;
	char *advice; /* about code without names; NULL */
	/* With perf, of interpreters whose scripts only pauses show: */
	uint64_t interpreter_samples;
	char *interpreter; /* one of them; NULL: there is none */
	char *first_path;  /* of the file of the run's first process */
};

/* A program with its arguments: each has a NUL. */
struct swz_command {
	const char *program; /* the file; NULL: not known */
	char *arguments;
	size_t bytes, count;
};

struct swz_tasks {
	struct swz_sample_run *run;
	struct swz_task *items;
	size_t count, capacity;
	struct swz_map by_tid;
	struct swz_image **images; /* that are not written yet */
	size_t image_count, image_capacity;
	struct swz_sample_totals totals; /* of those that were written */
	int32_t attached; /* the process that ran already (-p); or 0 */
	bool root_ended;
	struct swz_command *command; /* what the root will execute; NULL: it
				      * has, or that is not known */
	uint64_t event_ns, exact_ns; /* the same time by both clocks */
	void (*on_process)(void *context, struct swz_task *task);
	void *context; /* of that; it is called for each new process */
};

/* To be given to swz_tasks as `command`: a copy, but of PROGRAM, which stays
 * the caller's. */
struct swz_command *swz_command_of(const char *program, char *const *arguments);

/* The task of that number; NULL: not known. */
struct swz_task *swz_task_find(struct swz_tasks *tasks, int32_t tid);

/* A process or thread that was there already, of which no start was told. */
struct swz_task *swz_task_adopt(struct swz_tasks *tasks, int32_t pid,
				int32_t tid, uint64_t now_ns);

void swz_task_forked(struct swz_tasks *tasks, int32_t pid, int32_t tid,
		     int32_t parent_tid, int32_t parent_pid, uint64_t now_ns);
void swz_task_executed(struct swz_tasks *tasks, int32_t pid, uint64_t now_ns);
void swz_task_named(struct swz_tasks *tasks, int32_t pid, int32_t tid,
		    const char *name, uint64_t now_ns);
/* All its processor time, as /proc has it. */
void swz_task_known(const struct swz_tasks *tasks, struct swz_task *task,
		    uint64_t ns);
/* Takes its name from /proc. */
void swz_task_reads_name(struct swz_task *task);
/* More processor time of a task, which may have ended just now. */
void swz_task_counted(struct swz_tasks *tasks, int32_t tid, uint64_t ns);
void swz_task_exited(struct swz_tasks *tasks, int32_t tid, uint64_t now_ns);

/* Events count time in which a virtual machine or an interrupt had the
 * processor; a thread's processor time does not have it. Reads both clocks of
 * tasks that run, so that the one may be told from the other. */
void swz_tasks_compare_clocks(struct swz_tasks *tasks,
			      int (*open_clock)(int32_t tid, bool on_exec));

/* Writes and forgets what has ended before that moment. */
void swz_tasks_finish(struct swz_tasks *tasks, uint64_t before_ns);

/* Writes all; what runs is written as it is and not forgotten. */
void swz_tasks_write(struct swz_tasks *tasks);

/* Writes all, and leaves the files, without a lock, to who reads them. What was
 * sampled is then forgotten, and threads that have ended are: the next files
 * say what comes from now on. */
void swz_tasks_hand_over(struct swz_tasks *tasks, uint64_t now_ns);

/* The end of sampling: all that runs still is taken to end now, and written. */
void swz_tasks_stop(struct swz_tasks *tasks, uint64_t now_ns);

/* The sums of all, of those that run, too. */
struct swz_sample_totals swz_tasks_totals(const struct swz_tasks *tasks);

#endif
