#ifndef SWZ_WATCH_NAMES_PYTHON_TASKS_H
#define SWZ_WATCH_NAMES_PYTHON_TASKS_H

/* Tasks of asyncio: which one an event loop runs, and who awaits it. */

#include "watch/names/python_memory.h"

/* So many names are told apart; the tasks of others are one. */
#define SWZ_MOST_TASK_NAMES 256u

struct swz_python_tasks {
	uint32_t coroutine;       /* in a task; 0: not known so far */
	uint32_t coroutine_frame; /* the same, in a coroutine */
	struct swz_script_code codes[SWZ_MOST_TASK_NAMES];
	size_t count;
};

/* A row above a task's coroutine. */
struct swz_python_link {
	const struct swz_script_code *task; /* NULL: it is a frame */
	uint64_t frame; /* of a coroutine that is suspended */
};

/* The file of rows that stand for tasks. */
#define SWZ_TASK_FILE "(asyncio)"

/* Writes what is between the event loop and the coroutine with that FRAME,
 * which the loop runs by way of HANDLE, an asyncio.Handle; the innermost
 * first: the task, then the coroutines that await it, their task, and so on.
 * Returns how many; 0: what runs is no task. */
size_t swz_python_tasks_chain(struct swz_python_tasks *tasks,
			      const struct swz_python_memory *memory,
			      uint64_t handle, uint64_t frame,
			      struct swz_python_link *links, size_t most);

void swz_python_tasks_free(struct swz_python_tasks *tasks);

#endif
