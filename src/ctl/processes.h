#ifndef SWZ_CTL_PROCESSES_H
#define SWZ_CTL_PROCESSES_H

/* Finds the profiled processes that a command line means. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl_options.h"

struct swz_ctl_process {
	int32_t pid, parent;
	char name[16];
	char *profile; /* its path; NULL: it is not profiled */
};

struct swz_ctl_processes {
	struct swz_ctl_process *list; /* profiled ones, by pid */
	size_t count, capacity;
	bool missing; /* some that were asked for are not there, or not
		       * profiled: that was said */
};

/* Finds those that the options name: the user's, or for root everybody's. To be
 * freed. */
void swz_ctl_processes_find(struct swz_ctl_processes *found,
			    const struct swz_ctl_options *options);
void swz_ctl_processes_free(struct swz_ctl_processes *found);

#endif
