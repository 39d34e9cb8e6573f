#ifndef SWZ_PROFILE_FILE_CODE_CHUNK_H
#define SWZ_PROFILE_FILE_CODE_CHUNK_H

/* Names of code made at run time, as the file has them (SWZ_CHUNK_CODE). */

#include <stddef.h>
#include <stdint.h>

#include "profile/code/code_ranges.h"
#include "profile/file/scan.h"

/* Those of the profile, which may be none. */
struct swz_code_ranges *swz_code_ranges_of(struct swz_profile *profile);

/* A node slot, to be changed. */
static inline struct swz_node *swz_code_slot(const struct swz_profile *profile,
					     uint32_t unit)
{
	return (struct swz_node *)(void *)(profile->data +
					   (size_t)unit * SWZ_UNIT_BYTES);
}

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
