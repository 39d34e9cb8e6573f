#ifndef SWZ_PROFILE_FILE_RUN_TIME_CODE_H
#define SWZ_PROFILE_FILE_RUN_TIME_CODE_H

/* Code made at run time that has called hooked functions (SWZ_FUNCTION_CODE):
 * it becomes functions of a module of its own, by the names that the profile
 * has (SWZ_CHUNK_CODE), or those in files that the process has left. */

#include <stdint.h>
#include <sys/types.h>

#include "profile/file/scan.h"

/* Before the profile is indexed, with its clock known: gives each such node a
 * function, and the profile these. OWNER: of the profile's file; NULL: no other
 * file is read. */
void swz_run_time_code_index(struct swz_scan *scan, const uid_t *owner);

#endif
