#ifndef SWZ_PROFILE_SUPPORT_SEARCH_H
#define SWZ_PROFILE_SUPPORT_SEARCH_H

/* Records that are sorted by a number of 32 bits. */

#include <stddef.h>
#include <stdint.h>

/* Index of the first record with that NUMBER among COUNT, BYTES each, which
 * have theirs at OFFSET; UINT32_MAX: there is none. */
uint32_t swz_search(const void *records, size_t count, size_t bytes,
		    size_t offset, uint32_t number);

/* The same of an array of structures with that field. */
#define SWZ_SEARCH(array, count, field, number) \
	swz_search((array), (count), sizeof(*(array)), \
		   (size_t)((const char *)&(array)->field - \
			    (const char *)(array)), \
		   (number))

#endif
