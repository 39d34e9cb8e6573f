/* A process that forks has its parent's code until it executes a program. An
 * image of that kind without a sample leaves no file: there is nothing to be
 * said, and its time is that of the program that comes after it. */

#include "watch/tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"
#include "watch/image.h"

struct swz_task *swz_task_find(struct swz_tasks *tasks, int32_t tid)
{
	uint32_t index = swz_map_get(&tasks->by_tid, (uint32_t)tid, 0);

	if (index == SWZ_MAP_NONE || !tasks->items[index].live)
		return NULL;
	return &tasks->items[index];
}

/* Numbers are used again: so are the places of what has ended. */
static struct swz_task *add_task(struct swz_tasks *tasks, int32_t tid)
{
	uint32_t *index = swz_map_at(&tasks->by_tid, (uint32_t)tid, 0);
	struct swz_task *task;

	if (*index == SWZ_MAP_NONE) {
		swz_grow(&tasks->items, &tasks->capacity, tasks->count,
			 sizeof(*tasks->items));
		*index = (uint32_t)tasks->count++;
	}
	task = &tasks->items[*index];
	*task = (struct swz_task){
		.tid = tid, .live = true, .time_fd = -1, .apart_fd = -1};
	return task;
}

static void add_image(struct swz_tasks *tasks, struct swz_image *image)
{
	swz_grow(&tasks->images, &tasks->image_capacity, tasks->image_count,
		 sizeof(struct swz_image *));
	tasks->images[tasks->image_count++] = image;
}

static struct swz_image *image_of(const struct swz_tasks *tasks, int32_t pid)
{
	for (size_t i = tasks->image_count; i-- > 0;)
		if (tasks->images[i]->pid == pid && !tasks->images[i]->end_ns)
			return tasks->images[i];
	return NULL;
}

static void set_name(struct swz_image_thread *thread, const char *name)
{
	size_t length = strnlen(name, sizeof(thread->name) - 1);

	memset(thread->name, 0, sizeof(thread->name));
	memcpy(thread->name, name, length);
}

static void read_name(struct swz_image_thread *thread, int32_t pid)
{
	char path[64], text[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid,
		 (int)thread->tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = '\0';
		set_name(thread, text);
	}
	fclose(file);
}

struct swz_task *swz_task_adopt(struct swz_tasks *tasks, int32_t pid,
				int32_t tid, uint64_t now_ns)
{
	struct swz_image *image = image_of(tasks, pid);
	bool is_new = !image;
	struct swz_task *task;

	if (is_new) {
		image = swz_image_create(pid, now_ns);
		image->counted.output = tasks->run->counts_output;
		image->keeps_moments = tasks->run->keeps_moments;
		image->ran_before = pid == tasks->attached;
		swz_image_describe(image);
		swz_image_read_maps(image);
		add_image(tasks, image);
		swz_profile_file_make(tasks->run, image);
	}
	task = add_task(tasks, tid);
	task->image = image;
	task->thread = swz_image_add_thread(image, tid, now_ns);
	image->live_threads++;
	read_name(task->thread, pid);
	if (is_new && tasks->on_process)
		tasks->on_process(tasks->context, task);
	return task;
}

void swz_task_forked(struct swz_tasks *tasks, int32_t pid, int32_t tid,
		     int32_t parent_tid, int32_t parent_pid, uint64_t now_ns)
{
	struct swz_task *parent = swz_task_find(tasks, parent_tid), *task;
	char name[sizeof(parent->thread->name)] = "";
	struct swz_image *image, *from;

	from = parent ? parent->image : image_of(tasks, parent_pid);
	if (parent)
		memcpy(name, parent->thread->name, sizeof(name));
	if (!from || swz_task_find(tasks, tid))
		return; /* adopted by its first sample */
	image = from;
	if (pid != parent_pid) {
		image = swz_image_fork(from, pid, now_ns);
		add_image(tasks, image);
	}
	task = add_task(tasks, tid);
	task->image = image;
	task->thread = swz_image_add_thread(image, tid, now_ns);
	image->live_threads++;
	memcpy(task->thread->name, name, sizeof(name));
	if (pid != parent_pid && tasks->on_process)
		tasks->on_process(tasks->context, task);
}

static void close_events(struct swz_task *task)
{
	if (task->time_fd >= 0)
		close(task->time_fd);
	if (task->apart_fd >= 0)
		close(task->apart_fd);
	task->time_fd = task->apart_fd = -1;
}

#define ENOUGH_NS 50000000u

static uint64_t exact_time(const struct swz_tasks *tasks, uint64_t event_ns)
{
	if (tasks->event_ns < ENOUGH_NS || tasks->exact_ns >= tasks->event_ns)
		return event_ns;
	return (uint64_t)((unsigned __int128)event_ns * tasks->exact_ns /
			  tasks->event_ns);
}

/* The time of a task that goes to the image that it runs now. */
static void settle_time(const struct swz_tasks *tasks, struct swz_task *task)
{
	struct swz_image_thread *thread = task->thread;
	uint64_t counted;

	if (!thread)
		return;
	if (task->time_fd >= 0) {
		if (read(task->time_fd, &counted, sizeof(counted)) ==
		    sizeof(counted)) {
			task->counted_ns = counted;
			task->counted = true;
		}
	}
	if (task->counted)
		counted = exact_time(tasks, task->counted_ns) + task->early_ns;
	else if (task->known_ns > task->before_ns)
		counted = task->known_ns - task->before_ns;
	else
		counted = 0;
	if (!task->counted && !task->was_known)
		return;
	thread->processor_ns = counted > task->spent_ns
				       ? counted - task->spent_ns
				       : 0;
	thread->processor_known = true;
}

struct swz_command *swz_command_of(const char *program, char *const *arguments)
{
	struct swz_command *command = swz_allocate(1, sizeof(*command));

	command->program = program;
	for (; *arguments; arguments++) {
		size_t length = strlen(*arguments) + 1;

		command->arguments = swz_reallocate(command->arguments,
						    command->bytes + length, 1);
		memcpy(command->arguments + command->bytes, *arguments, length);
		command->bytes += length;
		command->count++;
	}
	return command;
}

/* A program that ended at once is not in /proc any more. What the first one was
 * started with is known. If it ended before anybody looked, IMAGE is BEFORE. */
static void use_command(struct swz_tasks *tasks, struct swz_image *image,
			struct swz_image *before)
{
	struct swz_command *command = tasks->command;
	bool unseen = image == before;

	if (!command || image->pid != tasks->run->root_pid)
		return;
	tasks->command = NULL;
	if (!image->argument_count || unseen) {
		free(image->arguments);
		image->arguments = command->arguments;
		image->argument_bytes = command->bytes;
		image->argument_count = command->count;
		command->arguments = NULL;
		if (before)
			image->labels = before->labels;
	}
	if (unseen && command->program) {
		free(image->executable);
		image->executable = swz_duplicate(command->program);
	}
	if (!image->directory && before && before->directory)
		image->directory = swz_duplicate(before->directory);
	free(command->arguments);
	free(command);
}

void swz_task_executed(struct swz_tasks *tasks, int32_t pid, uint64_t now_ns)
{
	struct swz_task *task = swz_task_find(tasks, pid);
	struct swz_image *before = task ? task->image : image_of(tasks, pid);
	struct swz_image *image = swz_image_create(pid, now_ns);

	image->counted.output = tasks->run->counts_output;
	image->keeps_moments = tasks->run->keeps_moments;
	image->is_loading = true;
	if (!task)
		task = add_task(tasks, pid);
	else if (task->thread)
		/* nobody knows how much it was just now: what samples say */
		task->spent_ns += tasks->run->period_ns ? task->thread->weight
							: 0;
	if (before) {
		image->parent_pid = before->parent_pid;
		/* a file that was made for nothing */
		if (!before->samples) {
			image->fd = before->fd;
			image->path = before->path;
			before->fd = -1;
			before->path = NULL;
		}
		before->end_ns = now_ns;
		before->by_exec_ended = true;
		for (size_t i = 0; i < before->thread_count; i++)
			if (!before->threads[i]->end_ns)
				before->threads[i]->end_ns = now_ns;
	}
	swz_image_describe(image);
	use_command(tasks, image, before);
	add_image(tasks, image);
	task->image = image;
	task->thread = swz_image_add_thread(image, pid, now_ns);
	image->live_threads++;
	swz_profile_file_make(tasks->run, image);
}

void swz_task_named(struct swz_tasks *tasks, int32_t pid, int32_t tid,
		    const char *name, uint64_t now_ns)
{
	struct swz_task *task = swz_task_find(tasks, tid);

	if (!task)
		task = swz_task_adopt(tasks, pid, tid, now_ns);
	set_name(task->thread, name);
}

void swz_task_known(const struct swz_tasks *tasks, struct swz_task *task,
		    uint64_t ns)
{
	task->known_ns = ns;
	task->was_known = true;
	settle_time(tasks, task);
}

void swz_task_reads_name(struct swz_task *task)
{
	read_name(task->thread, task->image->pid);
}

void swz_task_counted(struct swz_tasks *tasks, int32_t tid, uint64_t ns)
{
	uint32_t index = swz_map_get(&tasks->by_tid, (uint32_t)tid, 0);
	struct swz_task *task;

	if (index == SWZ_MAP_NONE)
		return;
	task = &tasks->items[index];
	task->counted_ns += ns;
	task->counted = true;
	settle_time(tasks, task);
}

void swz_task_exited(struct swz_tasks *tasks, int32_t tid, uint64_t now_ns)
{
	struct swz_task *task = swz_task_find(tasks, tid);
	struct swz_image *image;

	if (!task)
		return;
	settle_time(tasks, task);
	task->live = false;
	task->thread->end_ns = now_ns;
	image = task->image;
	if (--image->live_threads == 0) {
		image->end_ns = now_ns;
		image->ended = true;
	}
	close_events(task);
}

#define MOST_CLOCKS 64

static void compare_clocks(struct swz_tasks *tasks, struct swz_task *task)
{
	int fd = task->time_fd >= 0 ? task->time_fd : task->apart_fd;
	uint64_t event_ns, exact_ns;

	if (fd < 0 ||
	    read(fd, &event_ns, sizeof(event_ns)) != sizeof(event_ns) ||
	    !swz_proc_task_time(task->image->pid, task->tid, &exact_ns))
		return;
	if (task->compared && event_ns >= task->event_ns &&
	    exact_ns >= task->exact_ns) {
		tasks->event_ns += event_ns - task->event_ns;
		tasks->exact_ns += exact_ns - task->exact_ns;
	}
	task->event_ns = event_ns;
	task->exact_ns = exact_ns;
	task->compared = true;
}

void swz_tasks_compare_clocks(struct swz_tasks *tasks,
			      int (*open_clock)(int32_t tid, bool on_exec))
{
	size_t count = 0;

	for (size_t i = 0; i < tasks->count && count < MOST_CLOCKS; i++) {
		struct swz_task *task = &tasks->items[i];

		if (!task->live || task->image->end_ns)
			continue;
		if (task->time_fd < 0 && task->apart_fd < 0)
			task->apart_fd = open_clock(task->tid, false);
		compare_clocks(tasks, task);
		count++;
	}
}

/* Reads from /proc what processor time the tasks of an image have used. */
static void tasks_read_times(struct swz_tasks *tasks,
			     const struct swz_image *image)
{
	for (size_t i = 0; i < tasks->count; i++) {
		struct swz_task *task = &tasks->items[i];
		uint64_t ns;

		if (!task->live || task->image != image)
			continue;
		if (!task->counted &&
		    swz_proc_task_time(image->pid, task->tid, &ns)) {
			task->known_ns = ns;
			task->was_known = true;
		}
		settle_time(tasks, task);
	}
}

/* ------------------------------------------------------------- writing */

/* Samples that were due while its threads ran. */
static void count_missed(const struct swz_sample_run *all,
			 struct swz_image *image)
{
	const struct swz_sample_run own = swz_run_of_image(all, image);
	const struct swz_sample_run *run = &own;

	image->missed = 0;
	if (!(run->flags & SWZ_SAMPLES_OF_KERNEL) || !run->period_ns)
		return;
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct swz_image_thread *t = image->threads[i];
		uint64_t due = t->processor_ns / run->period_ns;
		uint64_t taken = run->engine == SWZ_ENGINE_PERF
					 ? t->weight / run->period_ns
					 : t->samples;

		if (swz_image_is_own_thread(image, t))
			continue;
		/* both are rounded */
		if (t->processor_known && due > taken + t->lost + 1)
			image->missed += due - taken - t->lost;
	}
}

static void add_totals(struct swz_sample_totals *totals,
		       const struct swz_image *image)
{
	totals->samples += image->samples;
	totals->lost += image->lost;
	totals->missed += image->missed;
	totals->cut += image->cut_stacks;
	totals->broken += image->broken_stacks;
	totals->unread += image->unread_scripts;
	totals->scripts |= image->script_count != 0;
	totals->files++;
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct swz_image_thread *t = image->threads[i];

		if (swz_image_is_own_thread(image, t))
			continue;
		totals->threads++;
		totals->processor_ns += t->processor_ns;
		totals->unsampled_ns += t->samples ? 0 : t->processor_ns;
		totals->unsampled_threads += !t->samples;
	}
}

static void note_path(struct swz_tasks *tasks, const struct swz_image *image)
{
	if (!tasks->totals.first_path && image->path &&
	    image->pid == tasks->run->root_pid)
		tasks->totals.first_path = swz_duplicate(image->path);
}

/* It ran no program of its own, and nobody saw it. */
static bool is_nothing(const struct swz_image *image)
{
	return !image->samples && !image->waits &&
	       (image->by_exec_ended || (image->by_fork && !image->end_ns));
}

static void note_interpreter(struct swz_sample_totals *totals,
			     const struct swz_image *image)
{
	totals->interpreter_samples += image->samples;
	if (!totals->interpreter)
		totals->interpreter = swz_duplicate(image->executable);
}

static void write_image(struct swz_tasks *tasks, struct swz_image *image)
{
	count_missed(tasks->run, image);
	if (is_nothing(image)) {
		swz_profile_file_drop(image);
		return;
	}
	swz_jit_functions_settle(image);
	swz_profile_file_make(tasks->run, image);
	note_path(tasks, image);
	if (!tasks->totals.advice)
		tasks->totals.advice = swz_script_advice(image);
	if (!tasks->totals.advice)
		tasks->totals.advice = swz_script_version_advice(image);
	if (tasks->run->engine == SWZ_ENGINE_PERF && !image->pause_period_ns &&
	    swz_script_needs_pauses(image))
		note_interpreter(&tasks->totals, image);
	swz_profile_file_write(tasks->run, image);
}

void swz_tasks_finish(struct swz_tasks *tasks, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < tasks->image_count; i++) {
		struct swz_image *image = tasks->images[i];

		if (!image->end_ns || image->end_ns >= before_ns) {
			tasks->images[kept++] = image;
			continue;
		}
		if (image->ended)
			use_command(tasks, image, image);
		write_image(tasks, image);
		if (!is_nothing(image))
			add_totals(&tasks->totals, image);
		if (image->pid == tasks->run->root_pid && image->ended)
			tasks->root_ended = true;
		for (size_t j = 0; j < tasks->count; j++)
			if (tasks->items[j].image == image) {
				tasks->items[j].image = NULL;
				tasks->items[j].thread = NULL;
				tasks->items[j].live = false;
			}
		swz_image_free(image);
	}
	tasks->image_count = kept;
}

void swz_tasks_write(struct swz_tasks *tasks)
{
	for (size_t i = 0; i < tasks->image_count; i++) {
		tasks_read_times(tasks, tasks->images[i]);
		write_image(tasks, tasks->images[i]);
	}
}

/* The kernel tells a thread's time after its end. */
#define SETTLED_NS 50000000u

static void forget_thread(struct swz_image *image, size_t index)
{
	struct swz_image_thread *thread = image->threads[index];

	free(thread->nodes);
	swz_sample_times_forget(thread);
	free(thread->children);
	free(thread);
	image->threads[index] = image->threads[--image->thread_count];
}

static void restart_image(struct swz_image *image, uint64_t now_ns)
{
	image->samples = image->waits = image->lost = image->missed = 0;
	image->cut_stacks = image->broken_stacks = 0;
	for (size_t i = image->thread_count; i-- > 0;) {
		struct swz_image_thread *t = image->threads[i];

		if (t->end_ns && t->end_ns + SETTLED_NS < now_ns)
			forget_thread(image, i);
		else
			swz_image_restart_thread(t, now_ns);
	}
}

static void restart_tasks(struct swz_tasks *tasks, uint64_t now_ns)
{
	for (size_t i = 0; i < tasks->count; i++) {
		struct swz_task *task = &tasks->items[i];

		if (!task->thread)
			continue;
		if (task->thread->processor_known)
			task->spent_ns += task->thread->processor_ns;
		if (task->thread->end_ns &&
		    task->thread->end_ns + SETTLED_NS < now_ns)
			task->thread = NULL;
	}
}

void swz_tasks_hand_over(struct swz_tasks *tasks, uint64_t now_ns)
{
	swz_tasks_write(tasks);
	restart_tasks(tasks, now_ns);
	for (size_t i = 0; i < tasks->image_count; i++) {
		struct swz_image *image = tasks->images[i];

		if (image->fd >= 0)
			close(image->fd);
		image->fd = -1;
		free(image->path);
		image->path = NULL;
		restart_image(image, now_ns);
	}
}

void swz_tasks_stop(struct swz_tasks *tasks, uint64_t now_ns)
{
	for (size_t i = 0; i < tasks->image_count; i++) {
		struct swz_image *image = tasks->images[i];

		tasks_read_times(tasks, image);
		if (image->end_ns)
			continue;
		image->end_ns = now_ns;
		image->ended = true;
	}
	swz_tasks_finish(tasks, UINT64_MAX);
}

struct swz_sample_totals swz_tasks_totals(const struct swz_tasks *tasks)
{
	struct swz_sample_totals totals = tasks->totals;

	for (size_t i = 0; i < tasks->image_count; i++)
		if (!is_nothing(tasks->images[i])) {
			add_totals(&totals, tasks->images[i]);
			totals.processes++;
		}
	return totals;
}
