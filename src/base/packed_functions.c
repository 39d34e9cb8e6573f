#include "base/packed_functions.h"

#include "base/number_bytes.h"

/* The status is above the flags: patched functions need a byte for both. */
#define FLAG_BITS 5u

unsigned swz_function_pack(uint8_t *to, uint32_t *end,
			   const struct swz_function_record *record)
{
	/* functions may overlap */
	int32_t gap = (int32_t)(record->address - *end);
	uint8_t *at = to;

	at = swz_number_put(at, (uint32_t)swz_number_of_signed(gap));
	at = swz_number_put(at, record->size);
	at = swz_number_put(at, (uint32_t)record->status << FLAG_BITS |
					record->flags);
	*end = record->address + record->size;
	return (unsigned)(at - to);
}

bool swz_function_unpack(const uint8_t **at, const uint8_t *limit,
			 uint32_t *end, struct swz_function_record *record)
{
	const uint8_t *from = *at;
	uint64_t gap, size, kind;

	if (!swz_number_get(&from, limit, UINT32_MAX, &gap) ||
	    !swz_number_get(&from, limit, UINT32_MAX, &size) ||
	    !swz_number_get(&from, limit, UINT16_MAX, &kind))
		return false;
	*at = from;
	record->address = *end + (uint32_t)swz_number_to_signed(gap);
	record->size = (uint32_t)size;
	record->status = (uint16_t)(kind >> FLAG_BITS);
	record->flags = (uint16_t)(kind & ((1u << FLAG_BITS) - 1));
	*end = record->address + record->size;
	return true;
}
