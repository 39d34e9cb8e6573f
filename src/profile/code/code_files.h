#ifndef SWZ_PROFILE_CODE_CODE_FILES_H
#define SWZ_PROFILE_CODE_CODE_FILES_H

/* What a process has written about the code that it made at run time, read
 * afterwards: /tmp/perf-PID.map, and jit-PID.dump in its working directory. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/code/code_ranges.h"

struct swz_code_process {
	int32_t pid;     /* as it knows it itself */
	const char *cwd; /* "": not known */
	int64_t start;   /* seconds since the epoch */
	int64_t end;     /* the same; 0: not known to have ended */
	uid_t owner;     /* whose files are read, too */
};

/* Adds what files say that belong to root, to the user or to `owner`, and were
 * written last while the process ran. */
void swz_code_files_read(struct swz_code_ranges *ranges,
			 const struct swz_code_process *process);

#endif
