#ifndef SWZ_PROFILE_FILE_RUN_PROFILES_H
#define SWZ_PROFILE_FILE_RUN_PROFILES_H

/* The profiles that the processes of a run have written. */

#include <sys/stat.h>

#include "base/run_totals.h"
#include "swizzle/format.h"

/* Valid during the visit. */
struct swz_run_profile {
	int folder, fd; /* open, for reading */
	const char *name;
	const struct stat *status;
	const struct swz_file_header *header; /* of this version; not a
					       * snapshot's */
};

typedef void swz_run_profile_visitor(void *context,
				     const struct swz_run_profile *profile);

/* Calls VISIT for each regular file in the folder of RUN->output that says it
 * is of RUN: of any process, hooked or sampled. Links are not followed. In no
 * order. What cannot be read is left out. */
void swz_run_profiles_each(const struct swz_run *run,
			   swz_run_profile_visitor *visit, void *context);

#endif
