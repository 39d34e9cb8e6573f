#ifndef SWZ_PROFILE_FILE_PACKING_H
#define SWZ_PROFILE_FILE_PACKING_H

/* swizzle-run's watcher packs profiles after the program's end: profiles with
 * many contexts are made smaller, of killed processes, too. */

#include <sys/stat.h>

#include "swizzle/format.h"
#include "base/run_summary.h"

/* Replaces large profiles of the run, once nobody writes them, by shorter ones
 * that say the same. Waits some seconds for processes that are about to end.
 * What cannot be done, for want of room for instance, is left as it is. */
void swz_packing_run(const struct swz_run *run);

/* --- the end of a run ---------------------------------------------------- */

/* The process that RUN began with has ended at RUN->end_ticks. If it could not
 * write so itself, because it was killed, its latest profile gets that time:
 * what it was in lasted until then. */
void swz_run_note_end(const struct swz_run *run);

/* --- the profiles of a run ----------------------------------------------- */

/* The profiles that the processes of a run have written. */

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
