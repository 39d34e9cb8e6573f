#ifndef SWZ_WATCH_TASK_SEARCH_H
#define SWZ_WATCH_TASK_SEARCH_H

/* Threads, processes and programs that nobody tells of: they are found in
 * /proc. Of a process with thousands of threads not all are looked at in each
 * round: those that ran lately are, and some of the others in turn. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/engine.h"

/* For so many rounds a thread that ran is looked at. */
#define SWZ_TASK_LOOKS 10u

/* Adopts all threads of all processes that are known, and if children are
 * followed those of all processes below them that may be sampled. */
void swz_task_search_all(struct swz_watch *watch, uint64_t now_ns);

/* Begins a round. */
void swz_task_search_next(const struct swz_tasks *tasks);

/* Whether the task at INDEX is looked at in this round. */
bool swz_task_is_due(const struct swz_tasks *tasks, size_t index);

/* Adopts what is new, children only if ALL. */
void swz_task_search(struct swz_watch *watch, uint64_t now_ns, bool all);

/* Notes which processes run another program now. To be called before their
 * threads are looked for, which are of that program. */
void swz_task_search_execs(struct swz_watch *watch, uint64_t now_ns);

#endif
