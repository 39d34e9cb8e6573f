#include "control/urgent.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

static int usual_priority;
static bool is_urgent, is_raised;

void swz_become_urgent(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	is_urgent = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
	if (is_urgent)
		return;
	errno = 0;
	usual_priority = getpriority(PRIO_PROCESS, 0);
	is_raised = !errno && setpriority(PRIO_PROCESS, 0, -20) == 0;
}

void swz_become_usual(void)
{
	const struct sched_param none = {0};

	if (is_urgent)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	if (is_raised)
		(void)setpriority(PRIO_PROCESS, 0, usual_priority);
	is_urgent = is_raised = false;
}

void swz_make_urgent(int32_t tid)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(tid, SCHED_FIFO, &first) != 0)
		(void)setpriority(PRIO_PROCESS, (id_t)tid, -20);
}
