#ifndef SWZ_TOP_SAMPLER_PROCESS_H
#define SWZ_TOP_SAMPLER_PROCESS_H

/* The process that takes samples for swizzle-top. Names are looked up by
 * another one than samples are taken by, so that none is lost meanwhile.
 *
 * Samples come as profiles in a folder of their own: whoever asks for them gets
 * those of the time since it asked before. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/sampling.h"

struct swz_top_sampler {
	pid_t pid;       /* 0: there is none */
	int ask, answer; /* pipes; -1 */
	char *folder;
	bool ended;        /* all that it samples has; or it has itself */
	char *why_pause;   /* NULL, or why it does not use perf */
	char problem[512]; /* what went wrong; "": nothing */
};

/* Starts it for process options->pid; with LAUNCHED, from the next program on
 * that this process executes. False: sampler->problem says why not. */
bool swz_top_sampler_start(struct swz_top_sampler *sampler,
			   const struct swz_sampling *options, bool launched);

/* Asks for samples. The answer is there when the descriptor `answer` can be
 * read. */
void swz_top_sampler_ask(struct swz_top_sampler *sampler);

/* Waits for it. */
void swz_top_sampler_wait(struct swz_top_sampler *sampler);

/* The profiles that are complete: calls TAKE for the path of each, which is
 * then removed. */
void swz_top_sampler_take(const struct swz_top_sampler *sampler,
			  void (*take)(void *context, const char *path),
			  void *context);

/* Ends it, and removes its folder. */
void swz_top_sampler_end(struct swz_top_sampler *sampler);

#endif
