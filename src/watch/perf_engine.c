#include "watch/engine.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "watch/clock.h"
#include "watch/perf_events.h"
#include "watch/proc_task.h"
#include "watch/waiting.h"

#define ROUND_MS 20   /* or when a quarter of a ring is full */
#define WAITING_MS 10 /* --wall */
/* Nothing is written to a ring for longer. */
#define SETTLED_NS 500000u
/* The kernel tells a thread's time after its end. */
#define ENDED_NS 5000000u
#define CLOCKS_NS 100000000u

static struct swz_perf perf;

static bool read_memory(void *context, uint64_t address, void *into,
			size_t size)
{
	/* what lies beyond the copy has changed since */
	(void)context;
	(void)address;
	(void)into;
	(void)size;
	return false;
}

static void take_sample(struct swz_watch *watch,
			const struct swz_perf_record *record)
{
	struct swz_task *task = swz_task_find(&watch->tasks, record->tid);
	struct swz_stack stack = {
		.start = record->registers.sp,
		.bytes = record->stack,
		.size = record->stack_bytes,
		.read = read_memory,
	};
	struct swz_hit hit = {
		.in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			     PERF_RECORD_MISC_KERNEL,
		.time_ns = record->time_ns,
		.weight = 1,
	};

	if (!task)
		task = swz_task_adopt(&watch->tasks, record->pid, record->tid,
				      record->time_ns);
	swz_image_add(task->image, task->thread,
		      record->has_registers ? &record->registers : NULL, &stack,
		      &hit);
}

static void lose(struct swz_watch *watch, const struct swz_perf_record *record)
{
	struct swz_task *task = swz_task_find(&watch->tasks, record->tid);

	if (!task) {
		watch->tasks.totals.lost += record->lost;
		return;
	}
	task->thread->lost += record->lost;
	task->image->lost += record->lost;
}

static void take(void *context, const struct swz_perf_record *record)
{
	struct swz_watch *watch = context;
	struct swz_tasks *tasks = &watch->tasks;
	struct swz_task *task;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(watch, record);
		break;
	case PERF_RECORD_MMAP2:
		task = swz_task_find(tasks, record->tid);
		if (task)
			swz_image_map(task->image, record->start,
				      record->start + record->length,
				      record->offset, record->text,
				      record->inode);
		break;
	case PERF_RECORD_COMM:
		if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
			swz_task_executed(tasks, record->pid, record->time_ns);
		swz_task_named(tasks, record->pid, record->tid, record->text,
			       record->time_ns);
		break;
	case PERF_RECORD_FORK:
		swz_task_forked(tasks, record->pid, record->tid,
				record->parent_tid, record->parent_pid,
				record->time_ns);
		break;
	case PERF_RECORD_EXIT:
		swz_task_exited(tasks, record->tid, record->time_ns);
		break;
	case PERF_RECORD_READ:
		if (record->is_time)
			swz_task_counted(tasks, record->tid, record->value);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		lose(watch, record);
		break;
	}
}

/* Its threads may then be told apart. */
static void on_process(void *context, struct swz_task *task)
{
	(void)context;
	task->apart_fd = swz_perf_set_apart(task->tid, false);
}

static void fill_options(const struct swz_watch *watch,
			 struct swz_perf_options *options)
{
	*options = (struct swz_perf_options){
		.rate = watch->options->rate ? watch->options->rate : 1000,
		.event = watch->options->event,
		.stack_bytes = watch->options->stack_bytes,
		.on_exec = watch->launched,
		.follow = watch->options->follow,
	};
}

static void adopt(struct swz_watch *watch, int32_t tid)
{
	struct swz_task *task = swz_task_adopt(&watch->tasks, watch->pid, tid,
					       swz_watch_now());

	task->time_fd = swz_perf_set_apart(tid, watch->launched);
}

struct adding {
	struct swz_watch *watch;
	const struct swz_perf_options *options;
	bool failed;
};

static void add_thread(void *context, int32_t tid)
{
	struct adding *adding = context;

	if (adding->failed || tid == adding->watch->pid)
		return;
	if (swz_perf_add_task(&perf, tid, adding->options))
		adopt(adding->watch, tid);
	else
		adding->failed = errno != ESRCH;
}

static bool add_threads(struct swz_watch *watch,
			const struct swz_perf_options *options)
{
	struct adding adding = {watch, options, false};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)watch->pid);
	swz_proc_numbers(path, add_thread, &adding);
	return !adding.failed;
}

bool swz_perf_engine_open(struct swz_watch *watch, const char **problem)
{
	struct swz_perf_options options;

	fill_options(watch, &options);
	if (!swz_perf_open(&perf, watch->pid, &options, problem))
		return false;
	watch->run.engine = SWZ_ENGINE_PERF;
	watch->run.period_ns = perf.period_ns;
	watch->run.stack_bytes = perf.stack_bytes;
	if (perf.of_kernel)
		watch->run.flags |= SWZ_SAMPLES_OF_KERNEL;
	adopt(watch, watch->pid);
	if (!watch->launched && !add_threads(watch, &options)) {
		*problem = "the process has too many threads for so few open "
			   "files (ulimit -n)";
		swz_perf_close(&perf);
		return false;
	}
	watch->tasks.on_process = on_process;
	return true;
}

static bool all_hung_up(void)
{
	for (size_t i = 0; i < perf.count; i++)
		if (!perf.cpus[i].hung_up)
			return false;
	return true;
}

static void wait_for_records(struct swz_watch *watch, struct pollfd *fds)
{
	size_t count = 0;

	for (size_t i = 0; i < perf.count; i++)
		fds[count++] = (struct pollfd){
			perf.cpus[i].hung_up ? -1 : perf.cpus[i].fd, POLLIN, 0};
	fds[count++] = (struct pollfd){watch->stop, POLLIN, 0};
	if (poll(fds, count, watch->options->wall ? WAITING_MS : ROUND_MS) <= 0)
		return;
	for (size_t i = 0; i < perf.count; i++)
		if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			perf.cpus[i].hung_up = true;
}

void swz_perf_engine_run(struct swz_watch *watch)
{
	struct pollfd *fds = swz_allocate(perf.count + 1, sizeof(*fds));
	uint64_t next_waiting = 0, next_clocks = 0;
	bool going = true;

	while (going) {
		uint64_t now;

		wait_for_records(watch, fds);
		now = swz_watch_now();
		going = !all_hung_up() && now < watch->end_ns &&
			!(fds[perf.count].revents & POLLIN);
		swz_perf_drain(&perf, going ? now - SETTLED_NS : UINT64_MAX,
			       take, watch);
		if (watch->options->wall && going && now >= next_waiting)
			next_waiting = swz_waiting_sample(watch);
		if (going && now >= next_clocks) {
			swz_tasks_compare_clocks(&watch->tasks,
						 swz_perf_set_apart);
			next_clocks = now + CLOCKS_NS;
		}
		swz_tasks_finish(&watch->tasks,
				 going ? now - ENDED_NS - SETTLED_NS
				       : UINT64_MAX);
		if (watch->tasks.root_ended && !watch->told) {
			watch->told = true;
			watch->root_ended(watch);
		}
		if (watch->between)
			watch->between(watch);
	}
	swz_tasks_stop(&watch->tasks, swz_watch_now());
	swz_perf_close(&perf);
	free(fds);
}
