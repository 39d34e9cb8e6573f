#include "watch/engine.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static struct {
	bool known, usable, is;
	cpu_set_t usual;
} away;

bool swz_beside_go(int32_t processor)
{
	cpu_set_t one;

	if (processor < 0 || processor >= CPU_SETSIZE)
		return false;
	if (!away.known) {
		away.known = true;
		away.usable = sched_getaffinity(0, sizeof(away.usual),
						&away.usual) == 0;
	}
	if (!away.usable)
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)processor, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return false;
	away.is = true;
	return true;
}

void swz_beside_sleep(void)
{
	const struct timespec time = {0, 50000 + random() % 100000};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void swz_beside_leave(void)
{
	if (away.is)
		(void)sched_setaffinity(0, sizeof(away.usual), &away.usual);
	away.is = false;
}

void swz_beside_be_prompt(bool prompt)
{
	const struct sched_param parameters = {.sched_priority = prompt};
	static bool is_prompt, refused;

	if (prompt == is_prompt || refused)
		return;
	if (prompt && sched_getscheduler(0) != SCHED_OTHER)
		refused = true;
	else if (sched_setscheduler(0, prompt ? SCHED_FIFO : SCHED_OTHER,
				    &parameters) == 0)
		is_prompt = prompt;
	else
		refused = true;
}
