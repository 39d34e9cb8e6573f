#ifndef SWZ_BASE_NUMBER_BYTES_H
#define SWZ_BASE_NUMBER_BYTES_H

/* Numbers in as few bytes as they need: seven bits a byte, the lowest first;
 * the uppermost bit says that there are more. */

#include <stdbool.h>
#include <stdint.h>

/* What 32 and 64 bits take at most. */
#define SWZ_NUMBER_BYTES_32 5u
#define SWZ_NUMBER_BYTES_64 10u

/* Returns the end. */
static inline uint8_t *swz_number_put(uint8_t *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (uint8_t)(number | 0x80);
	*to++ = (uint8_t)number;
	return to;
}

/* Reads one from *AT, which goes on. False: none ends before LIMIT, or it is
 * larger than MOST. */
static inline bool swz_number_get(const uint8_t **at, const uint8_t *limit,
				  uint64_t most, uint64_t *number)
{
	const uint8_t *from = *at;
	uint64_t sum = 0;

	for (unsigned i = 0; i < SWZ_NUMBER_BYTES_64 && from < limit; i++) {
		uint8_t byte = *from++;

		/* the last one has a bit */
		if (i == SWZ_NUMBER_BYTES_64 - 1 && byte > 1)
			return false;
		sum |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte & 0x80)
			continue;
		*at = from;
		*number = sum;
		return sum <= most;
	}
	return false;
}

/* Small distances are small numbers: the sign is the lowest bit. */
static inline uint64_t swz_number_of_signed(int64_t distance)
{
	return (uint64_t)distance << 1 ^ -(uint64_t)(distance < 0);
}

static inline int64_t swz_number_to_signed(uint64_t number)
{
	return (int64_t)(number >> 1 ^ -(number & 1));
}

#endif
