#include "watch/engine.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "util/memory.h"
#include "watch/code_file.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"

#define ROUND_MS 20   /* or when a quarter of a ring is full */
#define WAITING_MS 10 /* between looks at threads that wait */
/* Nothing is written to a ring for longer. */
#define SETTLED_NS 500000u
/* The kernel tells a thread's time after its end. */
#define ENDED_NS 5000000u
#define CLOCKS_NS 100000000u
/* For threads that are made while others are looked for. */
#define MOST_SEARCHES 10
/* After so many more a process is judged again. */
#define SOME_SAMPLES 100u
/* A new thread is seen a moment before it is told of. */
#define FORK_MS 2

static struct swz_perf perf;

/* Scripts' functions are to be shown: interpreters are stopped for that. */
static bool wants_pauses, has_pauses;

/* How often records were lost, of whatever kind. */
static uint64_t losses;

/* Among what was lost may be that code was mapped: what /proc says by now. Or
 * that the process has executed another program: if so, samples from now on are
 * that one's, unless the record of it is still to come. */
static void make_up(struct swz_image *image)
{
	image->losses_seen = losses;
	if (swz_image_is_left(image))
		image->left_ns = swz_watch_now();
	else
		swz_image_read_maps(image);
}

static void take_pauses(struct swz_watch *watch, struct swz_image *image)
{
	if (!swz_pauses_permitted(image->pid))
		return;
	swz_pauses_begin(watch, image);
	has_pauses = true;
}

/* True if it is an interpreter is asked before it has a sample. Its samples are
 * taken by pauses then: its frames must not change while they are read, and
 * these samples are behind the time. Other programs may have an interpreter for
 * extensions: they are asked again and again how much they run of scripts. */
static void judge(struct swz_watch *watch, struct swz_image *image)
{
	uint64_t scripts;

	if (!wants_pauses || image->pause_period_ns)
		return;
	if (!image->is_judged) {
		image->is_judged = true;
		if (image->executable &&
		    swz_script_frames_known_in(image->pid, image->executable))
			take_pauses(watch, image);
		return;
	}
	if (image->samples - image->judged_samples < SOME_SAMPLES)
		return;
	scripts = swz_script_frames_samples(image);
	if (scripts >= image->judged_scripts + SOME_SAMPLES / 4)
		take_pauses(watch, image);
	image->judged_samples = image->samples;
	image->judged_scripts = scripts;
}

static struct swz_task *task_of(struct swz_tasks *tasks,
				const struct swz_perf_record *record)
{
	struct swz_task *task = swz_task_find(tasks, record->tid);

	if (task && task->image->left_ns &&
	    record->time_ns > task->image->left_ns) {
		swz_task_executed(tasks, record->pid, record->time_ns);
		task = swz_task_find(tasks, record->tid);
		if (task)
			swz_image_read_maps(task->image);
	}
	if (!task)
		task = swz_task_adopt(tasks, record->pid, record->tid,
				      record->time_ns);
	if (task->image->losses_seen != losses)
		make_up(task->image);
	return task;
}

static void take_sample(struct swz_watch *watch,
			const struct swz_perf_record *record)
{
	struct swz_task *task = task_of(&watch->tasks, record);
	struct swz_stack stack = {
		.start = record->registers.sp,
		.bytes = record->stack,
		.size = record->stack_bytes,
	};
	struct swz_sampled_hit hit = {
		.in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
			     PERF_RECORD_MISC_KERNEL,
		.time_ns = record->time_ns,
		.processor = record->processor,
		.weight = record->period_ns ? record->period_ns : 1,
	};

	judge(watch, task->image);
	if (task->image->pause_period_ns)
		return;
	/* The kernel copies 64 KB at most, and no page that was never written
	 * to: a large buffer, say. Outer frames stay longer than inner ones. */
	swz_stack_read_on(task->image->pid, task->tid, &stack);
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
		if (!task)
			break;
		swz_image_loaded(task->image, record->text);
		swz_image_map(task->image, record->start,
			      record->start + record->length, record->offset,
			      record->text, record->inode);
		break;
	case PERF_RECORD_COMM:
		if (record->misc & PERF_RECORD_MISC_COMM_EXEC) {
			swz_task_executed(tasks, record->pid, record->time_ns);
			watch->is_launcher &= record->pid != watch->pid;
		}
		swz_task_named(tasks, record->pid, record->tid, record->text,
			       record->time_ns);
		break;
	case PERF_RECORD_FORK:
		if (record->pid != record->parent_pid &&
		    !watch->options->follow)
			break;
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
		losses++;
		lose(watch, record);
		break;
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

/* Opens the events of a task that runs already. What has ended meanwhile, or
 * belongs to another user, has none. False: there are too few descriptors. */
static bool add_task(struct swz_watch *watch, size_t index,
		     const struct swz_perf_options *options)
{
	struct swz_task *task = &watch->tasks.items[index];

	if (task->tid != watch->pid &&
	    !swz_perf_add_task(&perf, task->tid, options))
		return errno != EMFILE && errno != ENOMEM;
	if (swz_proc_task_time(task->image->pid, task->tid, &task->before_ns)) {
		task->known_ns = task->before_ns;
		task->was_known = true;
	}
	return true;
}

static bool add_tasks(struct swz_watch *watch, size_t first,
		      const struct swz_perf_options *options)
{
	for (size_t i = first; i < watch->tasks.count; i++)
		if (!add_task(watch, i, options))
			return false;
	return true;
}

/* A task that a sampled one makes is sampled, too, and tells so. One that is
 * not sampled yet may make others meanwhile: tasks are looked for until no new
 * one is found. */
static bool add_what_runs(struct swz_watch *watch,
			  const struct swz_perf_options *options)
{
	struct swz_tasks *tasks = &watch->tasks;

	for (int i = 0; i < MOST_SEARCHES; i++) {
		size_t known = tasks->count;

		swz_task_search_all(watch, swz_watch_now());
		if (tasks->count == known)
			return true;
		if (!add_tasks(watch, known, options))
			return false;
		(void)poll(NULL, 0, FORK_MS);
		swz_perf_drain(&perf, swz_watch_now(), take, watch);
	}
	return true;
}

/* False: there are no more descriptors. */
static bool set_apart(const struct swz_watch *watch, struct swz_task *task)
{
	uint64_t ns;

	task->time_fd = swz_perf_set_apart(task->tid, watch->launched);
	if (task->time_fd < 0)
		return errno != EMFILE;
	if (!watch->launched &&
	    swz_proc_task_time(task->image->pid, task->tid, &ns) &&
	    ns > task->before_ns)
		task->early_ns = ns - task->before_ns;
	return true;
}

static void set_all_apart(struct swz_watch *watch)
{
	for (size_t i = 0; i < watch->tasks.count; i++) {
		struct swz_task *task = &watch->tasks.items[i];

		if (task->live && !set_apart(watch, task))
			return;
	}
}

bool swz_perf_engine_open(struct swz_watch *watch, const char **problem)
{
	struct swz_perf_options options;

	fill_options(watch, &options);
	if (!swz_perf_open(&perf, watch->pid, &options, problem))
		return false;
	wants_pauses = !watch->options->engine &&
		       watch->options->rate <= SWZ_MOST_PAUSES &&
		       strcmp(watch->options->event, "cpu-clock") == 0;
	watch->run.engine = SWZ_ENGINE_PERF;
	watch->run.period_ns = perf.period_ns;
	watch->run.stack_bytes = perf.stack_bytes;
	if (perf.of_kernel)
		watch->run.flags |= SWZ_SAMPLES_OF_KERNEL;
	swz_task_adopt(&watch->tasks, watch->pid, watch->pid, swz_watch_now());
	if (!watch->launched && (!add_task(watch, 0, &options) ||
				 !add_what_runs(watch, &options))) {
		*problem = "the process has too many threads for so few open "
			   "files (ulimit -n)";
		swz_perf_close(&perf);
		return false;
	}
	set_all_apart(watch);
	watch->tasks.on_process = on_process;
	return true;
}

/* ------------------------------------------------------------------ waiting */

/* Any event of a ring tells of all that is written to it, so one of each is
 * waited for, of tasks that have not ended. */
struct rings {
	struct pollfd *fds; /* of each ring, and of what stops */
	size_t *events;     /* index of perf.cpus; perf.count: all have ended */
};

static void next_event(struct rings *rings, size_t ring)
{
	size_t i = rings->events[ring];

	while (++i < perf.count && perf.cpus[i].ring != ring)
		;
	rings->events[ring] = i;
	rings->fds[ring].fd = i < perf.count ? perf.cpus[i].fd : -1;
}

static void begin_waiting(const struct swz_watch *watch, struct rings *rings)
{
	rings->fds = swz_allocate(perf.rings + 1, sizeof(*rings->fds));
	rings->events = swz_allocate(perf.rings, sizeof(*rings->events));
	for (size_t i = 0; i < perf.rings; i++) {
		rings->events[i] = i;
		rings->fds[i] = (struct pollfd){perf.cpus[i].fd, POLLIN, 0};
	}
	rings->fds[perf.rings] = (struct pollfd){watch->stop, POLLIN, 0};
}

static bool all_ended(const struct rings *rings)
{
	for (size_t i = 0; i < perf.rings; i++)
		if (rings->events[i] < perf.count)
			return false;
	return true;
}

/* False: it is to stop, or nothing is left that could be sampled. */
static bool wait_for_records(struct rings *rings, uint64_t most_ns)
{
	struct timespec most = {(time_t)(most_ns / 1000000000u),
				(long)(most_ns % 1000000000u)};

	while (ppoll(rings->fds, perf.rings + 1, &most, NULL) > 0) {
		bool ended = false;

		if (rings->fds[perf.rings].revents & POLLIN)
			return false;
		for (size_t i = 0; i < perf.rings; i++)
			if (rings->fds[i].revents &
			    (POLLHUP | POLLERR | POLLNVAL)) {
				next_event(rings, i);
				ended = true;
			}
		if (!ended)
			break;
		/* the next one may have ended, too */
		most = (struct timespec){0, 0};
	}
	return !all_ended(rings);
}

/* How long records are waited for. */
static uint64_t rest_of(const struct swz_watch *watch, uint64_t next_pause)
{
	uint64_t ns = UINT64_C(1000000) *
		      (watch->options->wall ? WAITING_MS : ROUND_MS);
	uint64_t now = swz_watch_now();

	if (has_pauses && next_pause < now + ns)
		ns = next_pause > now ? next_pause - now : 0;
	return ns;
}

void swz_perf_engine_run(struct swz_watch *watch)
{
	struct rings rings;
	uint64_t next_waiting = 0, next_clocks = 0, next_pause = 0;
	bool going = true;

	begin_waiting(watch, &rings);
	while (going) {
		uint64_t now;

		swz_beside_be_prompt(has_pauses);
		going = wait_for_records(&rings, rest_of(watch, next_pause));
		now = swz_watch_now();
		if (now < next_pause)
			swz_beside_be_prompt(false);
		going &= now < watch->end_ns;
		swz_perf_drain(&perf, going ? now - SETTLED_NS : UINT64_MAX,
			       take, watch);
		if (has_pauses && going && now >= next_pause)
			next_pause = swz_pauses_take(watch);
		if (watch->options->wall && !watch->is_launcher && going &&
		    now >= next_waiting)
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
	free(rings.fds);
	free(rings.events);
}

/* --- which engine takes the samples --------------------------------------- */

#define MANY_FILES (1u << 20)

/* Many processes, many descriptors; and what comes too late is lost. */
static void raise_limits(void)
{
	struct rlimit limit;

	(void)setpriority(PRIO_PROCESS, 0, -10);
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	/* root may have more */
	if (limit.rlim_max < MANY_FILES) {
		limit.rlim_cur = limit.rlim_max = MANY_FILES;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The program is known to be an interpreter whose memory tells the script's
 * functions: it has to stand still for that. */
static bool needs_pauses_from_start(const struct swz_watch *watch)
{
	char path[64], target[4096];
	ssize_t n;

	if (watch->options->engine || watch->options->rate > SWZ_MOST_PAUSES ||
	    strcmp(watch->options->event, "cpu-clock") != 0)
		return false;
	if (watch->launched)
		return watch->options->program &&
		       swz_script_frames_known(watch->options->program);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)watch->pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return swz_script_frames_known_in(watch->pid, target);
}

bool swz_engine_open(struct swz_watch *watch, const char **why_pause,
		     const char **problem)
{
	enum swz_sample_engine wanted = watch->options->engine;
	const char *refused;

	*why_pause = NULL;
	raise_limits();
	if (watch->launched && watch->options->program)
		swz_code_file_of_program(watch->options->program);
	if (needs_pauses_from_start(watch) &&
	    swz_pause_engine_open(watch, &refused)) {
		*why_pause = "they show the script's functions";
		return true;
	}
	if (wanted != SWZ_ENGINE_PAUSE) {
		if (swz_perf_engine_open(watch, &refused))
			return true;
		if (wanted == SWZ_ENGINE_PERF ||
		    strcmp(watch->options->event, "cpu-clock") != 0) {
			*problem = swz_print("--engine perf --event %s: %s",
					     watch->options->event, refused);
			return false;
		}
		*why_pause = refused;
	}
	if (swz_pause_engine_open(watch, problem))
		return true;
	*problem = swz_print("%s%s--engine pause: %s",
			     *why_pause ? *why_pause : "",
			     *why_pause ? "; " : "", *problem);
	return false;
}

void swz_engine_run(struct swz_watch *watch)
{
	if (watch->run.engine == SWZ_ENGINE_PERF)
		swz_perf_engine_run(watch);
	else
		swz_pause_engine_run(watch);
	if (swz_pause_calls)
		swz_pause_calls->end();
}
