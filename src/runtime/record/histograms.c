/* Histograms of call times grow while the program runs: a function gets its
 * index when a call of it ends for the first time in a thread, an octave its
 * counters when a time falls into it. At the memory bound both lead to counters
 * of no function, so the hooks come here no more often than before. */

#include "runtime/record/histograms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time_bucket.h"
#include "runtime/record/annotations.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"

_Static_assert(SWZ_BUCKET_BITS == SWZ_BLOCK_SHIFT, "buckets");

_Static_assert(SWZ_TIME_BLOCKS <= SWZ_HISTOGRAM_UNITS, "octaves");

_Static_assert(sizeof(struct swz_chunk) == SWZ_CHUNK_BODY, "chunk");

bool swz_histogram_is_wanted(uint32_t function)
{
	if (!swz_config.percentiles)
		return false;
	if (!swz_config.percentiles_of_all)
		return swz_ids_filter(function) & SWZ_FILTER_PERCENTILES;
	return function < swz_ids_next() && !swz_is_span(function);
}

static uint32_t *index_at(uint32_t unit)
{
	return (uint32_t *)(void *)((struct swz_chunk *)swz_unit_at(unit) + 1);
}

static uint64_t *counters_at(uint32_t unit)
{
	return (uint64_t *)(void *)((struct swz_chunk *)swz_unit_at(unit) + 1);
}

/* Returns the unit; 0: there is no room. */
static uint32_t take(const struct swz_thread *thread, uint32_t type,
		     uint32_t count, uint64_t bytes, uint32_t function,
		     uint32_t octave)
{
	struct swz_chunk *chunk = swz_chunk_take(swz_file, type, bytes, count,
						 thread->cold->index);

	if (!chunk)
		return 0;
	chunk->reserved[SWZ_HISTOGRAM_FUNCTION] = function;
	chunk->reserved[SWZ_HISTOGRAM_BLOCK] = octave;
	swz_chunk_publish(chunk);
	return swz_unit_of(chunk);
}

static uint32_t take_index(const struct swz_thread *thread, uint32_t function)
{
	return take(thread, SWZ_CHUNK_HISTOGRAM_INDEX, SWZ_HISTOGRAM_UNITS,
		    SWZ_HISTOGRAM_UNITS * sizeof(uint32_t), function, 0);
}

static uint32_t take_block(const struct swz_thread *thread, uint32_t function,
			   uint32_t octave)
{
	return take(thread, SWZ_CHUNK_HISTOGRAM, SWZ_BLOCK_BUCKETS,
		    SWZ_BLOCK_BUCKETS * sizeof(uint64_t), function, octave);
}

bool swz_histograms_begin(struct swz_thread *thread)
{
	uint32_t index = take_index(thread, SWZ_FUNCTION_NONE);
	uint32_t block = take_block(thread, SWZ_FUNCTION_NONE, 0);

	if (!index || !block)
		return false;
	for (unsigned i = 0; i < SWZ_HISTOGRAM_UNITS; i++)
		index_at(index)[i] = block;
	thread->no_histogram = index;
	return true;
}

/* What is kept for folded contexts is not for histograms. */
static bool is_room(void)
{
	return swz_chunks_room() > swz_nodes_fold_reserve();
}

struct making {
	struct swz_thread *thread;
	uint32_t function, bucket;
};

/* (A signal handler may have made it meanwhile.) */
static void make(void *argument)
{
	const struct making *making = argument;
	const struct swz_thread *thread = making->thread;
	uint32_t *index = &thread->histograms[making->function], *block;
	uint32_t octave = making->bucket >> SWZ_BUCKET_BITS;

	if (!*index && is_room())
		*index = take_index(thread, making->function);
	if (!*index)
		*index = (uint32_t)thread->no_histogram;
	block = &index_at(*index)[octave];
	if (!*block && is_room())
		*block = take_block(thread, making->function, octave);
	if (!*block)
		*block = *index_at((uint32_t)thread->no_histogram);
	counters_at(*block)[making->bucket & (SWZ_BLOCK_BUCKETS - 1)]++;
}

void swz_histogram_make(struct swz_thread *thread, uint64_t where)
{
	struct making making = {thread, (uint32_t)(where >> 32),
				(uint32_t)where};

	swz_slowly(thread, make, &making);
}

void swz_histogram_add(struct swz_thread *thread, struct swz_node *node,
		       uint64_t ticks)
{
	uint32_t bucket = swz_time_bucket(ticks);
	uint32_t index = thread->histograms[node->function], block;

	if ((ticks | SWZ_MIN_IN_HISTOGRAM) < node->min_ticks)
		node->min_ticks = ticks | SWZ_MIN_IN_HISTOGRAM;
	block = index ? index_at(index)[bucket >> SWZ_BUCKET_BITS] : 0;
	if (block)
		counters_at(block)[bucket & (SWZ_BLOCK_BUCKETS - 1)]++;
	else
		swz_histogram_make(thread,
				   (uint64_t)node->function << 32 | bucket);
}
