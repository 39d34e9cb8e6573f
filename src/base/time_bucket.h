#ifndef SWZ_BASE_TIME_BUCKET_H
#define SWZ_BASE_TIME_BUCKET_H

/* The buckets of a log-linear histogram of call times (SWZ_CHUNK_HISTOGRAM).
 * Each octave has 64 buckets of one width, which is at most 1/64 of the times
 * in it. Times below 128 ticks have a bucket each. The hooks do the same sum
 * (asm/x86_64/macros.h, ADD_TIME). Pure. */

#include <stdint.h>

#include "asm/x86_64/offsets.h"

/* A block has the counters of so many buckets. */
#define SWZ_BLOCK_BUCKETS (1u << SWZ_BLOCK_SHIFT)
/* Blocks, the lowest times first, up to the longest time of 64 bits. */
#define SWZ_TIME_BLOCKS (65u - SWZ_BLOCK_SHIFT)
#define SWZ_TIME_BUCKETS (SWZ_TIME_BLOCKS << SWZ_BLOCK_SHIFT)

/* The bucket of a time, less than SWZ_TIME_BUCKETS. */
static inline uint32_t swz_time_bucket(uint64_t time)
{
	unsigned octave = 63u - SWZ_BLOCK_SHIFT -
			  (unsigned)__builtin_clzll(time | SWZ_BLOCK_BUCKETS);

	return (octave << SWZ_BLOCK_SHIFT) + (uint32_t)(time >> octave);
}

/* The least time of a bucket, and how many times it holds. */
static inline uint64_t swz_bucket_start(uint32_t bucket)
{
	unsigned block = bucket >> SWZ_BLOCK_SHIFT;
	uint64_t within = bucket & (SWZ_BLOCK_BUCKETS - 1);

	return block ? (within | SWZ_BLOCK_BUCKETS) << (block - 1) : within;
}

static inline uint64_t swz_bucket_width(uint32_t bucket)
{
	unsigned block = bucket >> SWZ_BLOCK_SHIFT;

	return block ? UINT64_C(1) << (block - 1) : 1;
}

#endif
