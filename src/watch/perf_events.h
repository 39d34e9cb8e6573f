#ifndef SWZ_WATCH_PERF_EVENTS_H
#define SWZ_WATCH_PERF_EVENTS_H

/* The kernel's samples of a process and its children: perf_event_open(2), one
 * event and one ring of records per processor. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "watch/unwind/unwinder.h"

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

#endif
