#ifndef SWZ_BASE_NUMBER_BYTES_H
#define SWZ_BASE_NUMBER_BYTES_H

/* Records of functions as a chunk PACKED_FUNCTIONS has them: each by its
 * distance from the one before, so that most take 3 or 4 bytes, not 16. Ids
 * follow each other and are not there. docs/file-format.md describes it. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* --- lists of functions -------------------------------------------------- */

/* The most bytes that a record takes. */
#define SWZ_PACKED_FUNCTION_BYTES 13u

/* Writes a record (flags below 32) to TO, which has room for the most. *END is
 * where the one before ends, at first 0, and then where this one does. Returns
 * how many bytes it took; with another status it takes one byte more or less.
 * Async-signal-safe. */
unsigned swz_function_pack(uint8_t *to, uint32_t *end,
			   const struct swz_function_record *record);

/* Reads one from *AT, which goes on; *END as above. The id stays as it is.
 * False: no whole record is before LIMIT. */
bool swz_function_unpack(const uint8_t **at, const uint8_t *limit,
			 uint32_t *end, struct swz_function_record *record);

/* A function's displaced instructions, and where they came from. */
struct swz_trampoline_place {
	uint32_t head;  /* where its trampoline begins, from the memory's start:
			 * a multiple of 16 */
	uint32_t site;  /* ELF virtual address of the first displaced one */
	uint8_t copies; /* where they begin, from the head: all before is ours
			 */
	uint8_t moved;  /* bytes from the site that were displaced, below 128 */
	bool goes_back; /* to what is behind them; else they are all of it */
};

#define SWZ_PACKED_TRAMPOLINE_BYTES 12u

/* The same for records of a chunk TRAMPOLINES. *BEFORE is the record before, at
 * first all zero, and then this one. */
unsigned swz_trampoline_pack(uint8_t *to, struct swz_trampoline_place *before,
			     const struct swz_trampoline_place *place);
bool swz_trampoline_unpack(const uint8_t **at, const uint8_t *limit,
			   struct swz_trampoline_place *place);

/* When samples were taken, as a chunk SAMPLES has them. Most take one byte: a
 * node that had a sample not long ago, as long after the one before as is
 * expected, on the same processor.
 *
 *     below 240   place * 3 + units - expected + 1: the node's place among the
 *                 latest ones, 0 for the latest
 *     240 + bits  the units since the sample before (at first since 0) less
 *                 those expected, a number with a sign; with bit 0 set the
 *                 processor's number + 1 (0: it is not known); then the node's
 *                 place, or with bit 1 set its number */

#define SWZ_LATEST_NODES 80u
#define SWZ_PACKED_SAMPLE_BYTES 26u

struct swz_packed_sample {
	uint64_t time;      /* in units */
	uint32_t node;      /* its number */
	uint32_t processor; /* its number + 1; 0: it is not known */
};

/* The state of the packing: all zero at first, but `expected`. */
struct swz_sample_packing {
	uint64_t expected; /* units between two samples */
	struct swz_packed_sample last;
	uint32_t latest[SWZ_LATEST_NODES];
	unsigned latest_count;
};

/* Writes one to TO, which has room for the most. Returns how many bytes. */
unsigned swz_sample_pack(uint8_t *to, struct swz_sample_packing *before,
			 const struct swz_packed_sample *sample);

/* Reads one from *AT, which goes on. False: no whole one is before LIMIT. */
bool swz_sample_unpack(const uint8_t **at, const uint8_t *limit,
		       struct swz_sample_packing *before,
		       struct swz_packed_sample *sample);

/* --- numbers ------------------------------------------------------------- */

/* Numbers in as few bytes as they need: seven bits a byte, the lowest first;
 * the uppermost bit says that there are more. */

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
