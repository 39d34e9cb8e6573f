/* Histograms of call times grow while the program runs: a function gets its
 * index when a call of it ends for the first time in a thread, an octave its
 * counters when a time falls into it. At the memory bound both lead to counters
 * of no function, so the hooks come here no more often than before. */

#include "runtime/record/counts.h"

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

_Static_assert(SWZ_TIME_BUCKETS <= SWZ_TIME_PENDING &&
		       SWZ_TIME_PENDING == SWZ_NOTED_TIME,
	       "notes");

/* The end of the notes. */
#define END UINT64_MAX

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
	uint32_t times = take(thread, SWZ_CHUNK_TIMES, SWZ_PENDING_TIMES,
			      (SWZ_PENDING_TIMES + 1) * sizeof(uint64_t), 0, 0);

	if (!index || !block || !times)
		return false;
	for (unsigned i = 0; i < SWZ_HISTOGRAM_UNITS; i++)
		index_at(index)[i] = block;
	thread->no_histogram = index;
	counters_at(times)[SWZ_PENDING_TIMES] = END;
	thread->times = counters_at(times);
	return true;
}

void swz_histograms_disarm(struct swz_thread *thread)
{
	static uint64_t no_room = END;

	thread->times = &no_room;
}

/* Room that is kept for folded contexts is not for histograms. */
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

static SWZ_NO_IPA void make_counter(struct swz_thread *thread,
				    uint32_t function, uint32_t bucket)
{
	struct making making = {thread, function, bucket};

	swz_slowly(thread, make, &making);
}

static inline void count(struct swz_thread *thread, uint32_t function,
			 uint32_t bucket)
{
	uint32_t index = thread->histograms[function], block;

	block = index ? index_at(index)[bucket >> SWZ_BUCKET_BITS] : 0;
	if (block)
		counters_at(block)[bucket & (SWZ_BLOCK_BUCKETS - 1)]++;
	else
		make_counter(thread, function, bucket);
}

static inline void count_note(struct swz_thread *thread, uint64_t noted)
{
	count(thread, (uint32_t)(noted >> 32),
	      (uint32_t)noted & (SWZ_TIME_PENDING - 1));
}

/* Takes a note, unless a signal handler's hooks have taken it meanwhile. They
 * run in this thread, so the instruction needs no lock. */
static inline bool take_note(uint64_t *place, uint64_t noted)
{
	bool taken;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@cce"(taken), "+m"(*place), "+a"(noted)
			 : "r"(UINT64_C(0)));
	return taken;
}

/* Looks at all places: of hooks that signals have interrupted some may be free
 * before the last one. */
static void count_notes(struct swz_thread *thread, uint64_t *end)
{
	uint64_t *place;

	for (place = end - SWZ_PENDING_TIMES; place < end; place++) {
		uint64_t noted = *place;

		if (noted && take_note(place, noted))
			count_note(thread, noted);
	}
	thread->times = end - SWZ_PENDING_TIMES;
}

void swz_histogram_pass(struct swz_thread *thread, uint64_t noted)
{
	uint64_t *place = thread->times;

	count_note(thread, noted);
	if (*place != END)
		thread->times = place + 1;
	else if (thread->no_histogram)
		count_notes(thread, place);
}

void swz_histogram_add(struct swz_thread *thread, struct swz_node *node,
		       uint64_t ticks)
{
	if ((ticks | SWZ_MIN_IN_HISTOGRAM) < node->min_ticks)
		node->min_ticks = ticks | SWZ_MIN_IN_HISTOGRAM;
	count(thread, node->function, swz_time_bucket(ticks));
}
