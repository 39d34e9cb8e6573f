#ifndef SWZ_BASE_TIME_BUCKET_H
#define SWZ_BASE_TIME_BUCKET_H

/* The buckets of a log-linear histogram of call times (SWZ_CHUNK_HISTOGRAM).
 * Each octave has 64 buckets of one width, which is at most 1/64 of the times
 * in it. Times below 128 ticks have a bucket each. The hooks do the same sum
 * (asm/x86_64/macros.h, ADD_TIME). Pure. */

#include <stdint.h>

/* A block has the counters of so many buckets: log2. */
#define SWZ_BUCKET_BITS 6u
#define SWZ_BLOCK_BUCKETS (1u << SWZ_BUCKET_BITS)
/* Blocks, the lowest times first, up to the longest time of 64 bits. */
#define SWZ_TIME_BLOCKS (65u - SWZ_BUCKET_BITS)
#define SWZ_TIME_BUCKETS (SWZ_TIME_BLOCKS << SWZ_BUCKET_BITS)

/* The bucket of a time, less than SWZ_TIME_BUCKETS. */
static inline uint32_t swz_time_bucket(uint64_t time)
{
	unsigned octave = 63u - SWZ_BUCKET_BITS -
			  (unsigned)__builtin_clzll(time | SWZ_BLOCK_BUCKETS);

	return (octave << SWZ_BUCKET_BITS) + (uint32_t)(time >> octave);
}

/* The least time of a bucket, and how many times it holds. */
static inline uint64_t swz_bucket_start(uint32_t bucket)
{
	unsigned block = bucket >> SWZ_BUCKET_BITS;
	uint64_t within = bucket & (SWZ_BLOCK_BUCKETS - 1);

	return block ? (within | SWZ_BLOCK_BUCKETS) << (block - 1) : within;
}

static inline uint64_t swz_bucket_width(uint32_t bucket)
{
	unsigned block = bucket >> SWZ_BUCKET_BITS;

	return block ? UINT64_C(1) << (block - 1) : 1;
}

#endif
