#include "watch/task_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/proc_task.h"
#include "watch/process_check.h"

/* So many tasks are looked at each time, besides those that ran lately. */
#define SOME_TASKS 512u
/* An exec takes less. */
#define EXEC_NS 50000000u

static size_t first_due; /* of the SOME_TASKS */

void swz_task_search_next(const struct swz_tasks *tasks)
{
	first_due += SOME_TASKS;
	if (first_due >= tasks->count)
		first_due = 0;
}

bool swz_task_is_due(const struct swz_tasks *tasks, size_t index)
{
	const struct swz_task *task = &tasks->items[index];

	return tasks->count <= SOME_TASKS || task->looks ||
	       (task->live && task->tid == task->image->pid) ||
	       index - first_due < SOME_TASKS;
}

/* ----------------------------------------------------- threads, processes */

struct search {
	struct swz_watch *watch;
	uint64_t now;
	int32_t pid;
	bool running; /* what is found may be of another user, too */
};

static void find(const struct search *search, int32_t pid, int32_t tid)
{
	struct swz_tasks *tasks = &search->watch->tasks;

	if (!swz_task_find(tasks, tid))
		swz_task_adopt(tasks, pid, tid, search->now)->looks =
			SWZ_TASK_LOOKS;
}

static void find_thread(void *context, int32_t tid)
{
	const struct search *search = context;

	find(search, search->pid, tid);
}

/* (One that has ended is listed until its parent asks for its status.) */
static bool is_wanted(const struct search *search, int32_t child)
{
	char *refused;

	if (!search->running)
		return swz_process_runs(child);
	refused = swz_process_refused(child, "");
	free(refused);
	return !refused;
}

/* (The sampler itself is below the program until the process between them has
 * ended: it would never end.) */
static void find_child(void *context, int32_t child)
{
	const struct search *search = context;

	if (child != getpid() && !swz_task_find(&search->watch->tasks, child) &&
	    is_wanted(search, child))
		find(search, child, child);
}

static void find_children(struct search *search, int32_t tid)
{
	if (search->watch->options->follow)
		swz_proc_children(search->pid, tid, find_child, search);
}

/* How many threads a process has, and two; 0: it has none. */
static uint64_t count_links(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_nlink : 0;
}

/* A list of thousands takes long: it is read where their number is another one,
 * or if ALL. */
static void find_threads(struct search *search, size_t index, bool all)
{
	struct swz_task *task = &search->watch->tasks.items[index];
	uint64_t links;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)search->pid);
	links = count_links(path);
	if (!all && links > SOME_TASKS && links == task->links)
		return;
	task->links = links;
	swz_proc_numbers(path, find_thread, search);
}

void swz_task_search_all(struct swz_watch *watch, uint64_t now_ns)
{
	struct swz_tasks *tasks = &watch->tasks;

	/* (what is found is looked at as well) */
	for (size_t i = 0; i < tasks->count; i++) {
		struct search search = {watch, now_ns, 0, true};
		int32_t tid = tasks->items[i].tid;

		if (!tasks->items[i].live)
			continue;
		search.pid = tasks->items[i].image->pid;
		if (tid == search.pid)
			find_threads(&search, i, true);
		find_children(&search, tid);
	}
}

void swz_task_search(struct swz_watch *watch, uint64_t now_ns, bool all)
{
	struct swz_tasks *tasks = &watch->tasks;
	size_t count = tasks->count;

	for (size_t i = 0; i < count; i++) {
		struct search search = {watch, now_ns, 0, false};
		int32_t tid = tasks->items[i].tid;

		if (!tasks->items[i].live || !swz_task_is_due(tasks, i))
			continue;
		search.pid = tasks->items[i].image->pid;
		if (all)
			find_children(&search, tid);
		if (tid == search.pid)
			find_threads(&search, i, all);
	}
}

/* ----------------------------------------------------------------- programs */

static void look_for_exec(struct swz_watch *watch, struct swz_task *task,
			  const struct swz_proc_task *proc, uint64_t now)
{
	if (!proc->start_stack)
		return;
	if (task->start_stack && task->start_stack != proc->start_stack) {
		if (!watch->launched && now - task->image->start_ns < EXEC_NS) {
			/* the same exec, seen when it was not yet done */
			swz_image_describe(task->image);
			swz_image_read_maps(task->image);
			swz_task_reads_name(task);
			task->start_stack = proc->start_stack;
			return;
		}
		swz_task_executed(&watch->tasks, task->tid, now);
		swz_image_read_maps(task->image);
		swz_task_reads_name(task);
		watch->launched = false;
	}
	task->start_stack = proc->start_stack;
}

void swz_task_search_execs(struct swz_watch *watch, uint64_t now_ns)
{
	size_t count = watch->tasks.count;

	for (size_t i = 0; i < count; i++) {
		struct swz_task *task = &watch->tasks.items[i];
		struct swz_proc_task proc;

		if (task->live && task->tid == task->image->pid &&
		    swz_proc_task_read(task->tid, task->tid, &proc))
			look_for_exec(watch, task, &proc, now_ns);
	}
}
