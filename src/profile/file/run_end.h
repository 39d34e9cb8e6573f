#ifndef SWZ_PROFILE_FILE_RUN_END_H
#define SWZ_PROFILE_FILE_RUN_END_H

#include "base/run_totals.h"

/* The process that RUN began with has ended at RUN->end_ticks. If it could not
 * write so itself, because it was killed, its latest profile gets that time:
 * what it was in lasted until then. */
void swz_run_note_end(const struct swz_run *run);

#endif
