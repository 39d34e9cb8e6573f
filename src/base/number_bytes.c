#include "base/number_bytes.h"

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* The most bytes that 32 and 64 bits take. */
#define SWZ_NUMBER_BYTES_32 5u

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

#define HEAD_UNIT 16u
#define GOES_BACK 0x80u

unsigned swz_trampoline_pack(uint8_t *to, struct swz_trampoline_place *before,
			     const struct swz_trampoline_place *place)
{
	int32_t head = (int32_t)(place->head / HEAD_UNIT) -
		       (int32_t)(before->head / HEAD_UNIT);
	int32_t site = (int32_t)(place->site - before->site);
	uint8_t *at = to;

	at = swz_number_put(at, (uint32_t)swz_number_of_signed(head));
	at = swz_number_put(at, (uint32_t)swz_number_of_signed(site));
	*at++ = place->copies;
	*at++ = (uint8_t)(place->moved | (place->goes_back ? GOES_BACK : 0));
	*before = *place;
	return (unsigned)(at - to);
}

bool swz_trampoline_unpack(const uint8_t **at, const uint8_t *limit,
			   struct swz_trampoline_place *place)
{
	const uint8_t *from = *at;
	uint64_t head, site;

	if (!swz_number_get(&from, limit, UINT32_MAX, &head) ||
	    !swz_number_get(&from, limit, UINT32_MAX, &site) ||
	    limit - from < 2)
		return false;
	place->head += (uint32_t)swz_number_to_signed(head) * HEAD_UNIT;
	place->site += (uint32_t)swz_number_to_signed(site);
	place->copies = from[0];
	place->moved = from[1] & (GOES_BACK - 1);
	place->goes_back = from[1] & GOES_BACK;
	*at = from + 2;
	return true;
}
