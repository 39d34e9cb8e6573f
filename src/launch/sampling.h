#ifndef SWZ_LAUNCH_SAMPLING_H
#define SWZ_LAUNCH_SAMPLING_H

/* The settings of `--mode sample`. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

#define SWZ_MOST_RATE 20000u /* samples a second */
/* A record of the kernel has no more than 64 KB. */
#define SWZ_MOST_STACK_BYTES 65528u

struct swz_sampling {
	uint64_t rate;                 /* a second; 0: the engine's own */
	enum swz_sample_engine engine; /* 0: perf, or where that is refused
					* pause */
	const char *event;             /* of perf */
	uint32_t stack_bytes;          /* a multiple of 8; 0: as many as the
					* engine has room for */
	bool wall;   /* threads that wait are looked at, too */
	bool follow; /* child processes, too */
	bool quiet, verbose, summary;
	int32_t pid;               /* the process that runs already; 0: none */
	const char *counts_output; /* -m both: what the profiles with the counts
				    * are called; NULL: there are none */
	int32_t counts_pid;        /* what swz_file_header has of it */
	uint64_t counts_start;
	uint64_t for_ns;     /* of it: for so long; 0: until it ends */
	const char *program; /* the ELF file that is run; NULL: not known */
	char **command;      /* what is run; NULL: not known */
};

/* Reads the settings from the environment. If one is wrong, says so and exits.
 */
struct swz_sampling swz_sampling_read(void);

#endif
