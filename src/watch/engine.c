#include "watch/engine.h"

#include <string.h>
#include <sys/resource.h>

#include "profile/support/memory.h"

/* Many processes, many descriptors; and what comes too late is lost. */
static void raise_limits(void)
{
	struct rlimit limit;

	(void)setpriority(PRIO_PROCESS, 0, -10);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

bool swz_engine_open(struct swz_watch *watch, const char **why_pause,
		     const char **problem)
{
	enum swz_sample_engine wanted = watch->options->engine;
	const char *refused;

	*why_pause = NULL;
	raise_limits();
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
	*problem = swz_print("--engine pause: %s", *problem);
	return false;
}

void swz_engine_run(struct swz_watch *watch)
{
	if (watch->run.engine == SWZ_ENGINE_PERF)
		swz_perf_engine_run(watch);
	else
		swz_pause_engine_run(watch);
}
