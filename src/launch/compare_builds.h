#ifndef SWZ_LAUNCH_COMPARE_BUILDS_H
#define SWZ_LAUNCH_COMPARE_BUILDS_H

/* swizzle-run --compare: two builds run in turns until it is known whether one
 * is slower. */

#include <stdbool.h>

struct swz_compared {
	const char *old, *new;
	const char *output; /* the directory (-o), or NULL */
	char **arguments;   /* of both, ended by NULL */
	unsigned int most;  /* runs of each */
};

/* Returns the exit status. GIVEN is the environment before options changed it,
 * for swizzle-dump. */
int swz_compare_builds(const struct swz_compared *compared, const char *argv0,
		       char **given);

#endif
