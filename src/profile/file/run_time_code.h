#ifndef SWZ_PROFILE_FILE_RUN_TIME_CODE_H
#define SWZ_PROFILE_FILE_RUN_TIME_CODE_H

/* Code made at run time that has called hooked functions (SWZ_FUNCTION_CODE):
 * it becomes functions of a module of its own, by the names that the profile
 * has (SWZ_CHUNK_CODE), or those in files that the process has left. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/file/code_files.h"
#include "profile/file/scan.h"

/* Before the profile is indexed, with its clock known: gives each such node a
 * function, and the profile these. OWNER: of the profile's file; NULL: no other
 * file is read. */
void swz_run_time_code_index(struct swz_scan *scan, const uid_t *owner);

/* --- the chunk of names -------------------------------------------------- */

/* Names of code made at run time, as the file has them (SWZ_CHUNK_CODE). */

/* A chunk of names. */
void swz_scan_code(struct swz_scan *scan, const uint8_t *body, size_t size);

/* SIZE bytes of the profile, from an offset on that is a multiple of 64, become
 * as they are in the file. */
void swz_run_time_code_undo(const struct swz_profile *profile, uint64_t offset,
			    uint8_t *bytes, size_t size);

/* The chunk of names for the profile, if it has none: SWZ_CHUNK_CODE, with its
 * header; the caller's to free. NULL: there is nothing to be said. *names: how
 * many functions it names. */
uint8_t *swz_run_time_code_chunk(const struct swz_profile *profile,
				 size_t *names);

void swz_run_time_code_free(struct swz_profile *profile);

#endif
