#ifndef SWZ_CTL_CTL_OPTIONS_H
#define SWZ_CTL_CTL_OPTIONS_H

/* swizzle-ctl's command line. */

#include <stdbool.h>
#include <stdint.h>

#include "options/command_line.h"

enum swz_ctl_command {
	SWZ_CTL_LIST,
	SWZ_CTL_STATUS,
	SWZ_CTL_START,
	SWZ_CTL_STOP,
	SWZ_CTL_SNAPSHOT,
	SWZ_CTL_MARK,
	SWZ_CTL_DETACH
};

struct swz_ctl_options {
	enum swz_ctl_command command;
	const char *argument; /* of snapshot and mark */
	bool all;             /* processes of the user's */
	bool json;
	bool verbose;
	const char **names; /* NULL at the end */
	int32_t *trees;     /* 0 at the end: processes with what they started */
	int32_t *pids;      /* 0 at the end */
	uint64_t for_ns;    /* 0: not given */
	uint64_t every_ns;
};

/* Says what is wrong and exits, as it does for --help and --version. */
struct swz_ctl_options swz_ctl_options_read(char **argv);

extern const struct swz_option_table swz_ctl_option_table;

#endif
