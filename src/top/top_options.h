#ifndef SWZ_TOP_TOP_OPTIONS_H
#define SWZ_TOP_TOP_OPTIONS_H

/* swizzle-top's command line. */

#include <stdbool.h>
#include <stdint.h>

#include "launch/sampling.h"
#include "options/command_line.h"

struct swz_top_options {
	bool batch;
	uint64_t delay_ns;
	uint64_t rounds;           /* 0: without end */
	unsigned int min_percent;  /* of all hits */
	unsigned int back_percent; /* of a function's hits */
	bool offsets;              /* of calls in back traces */
	bool only_samples;
	bool event_given;
	bool script;                  /* functions of scripts alone */
	struct swz_sampling sampling; /* pid 0: there is a program, or a list
				       * of processes is to be shown */
	const char *output;           /* of the program: a file; NULL */
	char **program;
};

/* Says what is wrong and exits, as it does for --help and --version. */
struct swz_top_options swz_top_options_read(char **argv);

extern const struct swz_option_table swz_top_option_table;

/* Neither a program nor a process was named. */
bool swz_top_wants_list(const struct swz_top_options *options);

/* "2", "0.5", ".25" seconds. False: it is none of those, or out of range. */
bool swz_top_delay(const char *text, uint64_t *ns);

#endif
