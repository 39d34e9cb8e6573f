#ifndef SWZ_TOP_OPTIONS_H
#define SWZ_TOP_OPTIONS_H

/* swizzle-top's command line. */

#include <stdbool.h>
#include <stdint.h>

#include "launch/sampling.h"

struct swz_top_options {
	bool batch;
	uint64_t delay_ns;
	uint64_t rounds;           /* 0: without end */
	unsigned int min_percent;  /* of all hits */
	unsigned int back_percent; /* of a function's hits */
	bool only_samples;
	struct swz_sampling sampling; /* pid 0: there is a program */
	char **program;
};

/* Says what is wrong and exits, as it does for --help and --version. */
struct swz_top_options swz_top_options_read(char **arguments);

#endif
