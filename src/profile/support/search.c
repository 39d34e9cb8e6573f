#include "profile/support/search.h"

#include <string.h>

static uint32_t number_at(const void *records, size_t index, size_t bytes,
			  size_t offset)
{
	uint32_t number;

	memcpy(&number, (const char *)records + index * bytes + offset,
	       sizeof(number));
	return number;
}

uint32_t swz_search(const void *records, size_t count, size_t bytes,
		    size_t offset, uint32_t number)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (number_at(records, middle, bytes, offset) < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && number_at(records, low, bytes, offset) == number
		       ? (uint32_t)low
		       : UINT32_MAX;
}
