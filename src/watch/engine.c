#include "watch/engine.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/memory.h"
#include "watch/script_frames.h"

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
static bool wants_pauses(const struct swz_watch *watch)
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
	if (wants_pauses(watch) && swz_pause_engine_open(watch, &refused)) {
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
