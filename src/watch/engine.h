#ifndef SWZ_WATCH_ENGINE_H
#define SWZ_WATCH_ENGINE_H

/* What takes samples. */

#include <stdbool.h>
#include <stdint.h>

#include "watch/sampler.h"
#include "watch/tasks.h"

struct swz_watch {
	const struct swz_sampling *options;
	struct swz_sample_run run;
	struct swz_tasks tasks;
	int32_t pid;     /* of the first process */
	bool launched;   /* it has not executed its program yet */
	int pidfd;       /* of it */
	int stop;        /* readable: the user wants it to end; or -1 */
	uint64_t end_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never */
	void (*root_ended)(struct swz_watch *watch);
	/* Called between samples, every 20 ms or so; NULL: nobody wants it. */
	void (*between)(struct swz_watch *watch);
	bool told; /* of its end */
};

/* Prepares to sample by the engine that options->engine names or, if it names
 * none, by perf or else by pauses: *why_pause then says why, otherwise it is
 * NULL. Raises the limit of open files. False: *problem says why it cannot be.
 */
bool swz_engine_open(struct swz_watch *watch, const char **why_pause,
		     const char **problem);
/* Samples until all processes have ended, or it is to stop. */
void swz_engine_run(struct swz_watch *watch);

/* Prepares to sample. False: *problem says why it cannot be. */
bool swz_perf_engine_open(struct swz_watch *watch, const char **problem);
/* Samples until all processes have ended, or it is to stop. */
void swz_perf_engine_run(struct swz_watch *watch);

bool swz_pause_engine_open(struct swz_watch *watch, const char **problem);
void swz_pause_engine_run(struct swz_watch *watch);

#endif
