#ifndef SWZ_THUNKS_FIXUPS_H
#define SWZ_THUNKS_FIXUPS_H

/* What must change in relocated code when the code, and the module that it came
 * from, are somewhere else. It is found in the code itself, instruction by
 * instruction, whoever wrote it. Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "image/elf_view.h"

struct swz_fixups {
	/* Offsets in the region. */
	uint32_t *relative; /* 32-bit displacements to the module */
	uint32_t *absolute; /* 64-bit addresses in the module */
	uint32_t relative_count, absolute_count;
	uint32_t relative_room, absolute_room;
	bool fixed; /* there are 32-bit addresses: the module cannot move */
};

/* Adds those of the copies that begin at region.data[begin] and that were made
 * of the instructions at `site`. Displacements within the region stay.
 * SWZ_E_FORMAT: it is not understood; SWZ_E_NOMEM: there are too many. */
enum swz_status swz_fixups_find(struct swz_fixups *fixups,
				struct swz_bytes region, uint32_t begin,
				struct swz_bytes site) SWZ_MUST_CHECK;

/* Adds `by` to the values at these offsets, which must all lie in the region.
 * SWZ_E_RANGE: one does not fit in any more. */
enum swz_status swz_fixups_apply_relative(uint8_t *region, const uint32_t *at,
					  uint32_t count,
					  int64_t by) SWZ_MUST_CHECK;
void swz_fixups_apply_absolute(uint8_t *region, const uint32_t *at,
			       uint32_t count, uint64_t by);

#endif
