#ifndef SWZ_PROFILE_NAMES_UNIT_INDEX_H
#define SWZ_PROFILE_NAMES_UNIT_INDEX_H

/* Where a thread's nodes, which the file names by units, are in an array. */

#include <stddef.h>
#include <stdint.h>

struct swz_unit_index {
	/* Per unit from the first to the last: 1 + index; 0: none. Pages that
	 * no node of the thread is in are never touched. */
	uint32_t *items;
	size_t count;
	uint32_t first;
	uint32_t root; /* the unit whose index is 0 */
};

/* UINT32_MAX if there is none. */
static inline uint32_t swz_unit_index(const struct swz_unit_index *units,
				      uint32_t unit)
{
	size_t at = (size_t)unit - units->first;

	if (unit == units->root)
		return 0;
	if (unit < units->first || at >= units->count)
		return UINT32_MAX;
	return units->items[at] - 1;
}

#endif
