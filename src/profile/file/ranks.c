/* A sum of profiles keeps what each rank has spent in each function, packed:
 * there may be thousands of ranks. */

#include "profile/file/ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "swizzle/format.h"
#include "base/number_bytes.h"
#include "base/basics.h"
#include "util/memory.h"
#include "profile/file/scan.h"

/* --- packed costs -------------------------------------------------------- */

/* Columns, one behind the other, each of numbers in LEB128; all of it is a
 * frame of zstd. Of one column the numbers are alike, so they take less room
 * than records would: 4 bytes instead of 32, or so. */

#define LEVEL 1 /* of zstd: ranks come by the thousand */
#define COLUMNS 5u

static int compare_entries(const void *left, const void *right)
{
	const struct swz_rank_cost *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* Mostly they are, as profiles of one program are alike. */
static bool are_sorted(const struct swz_rank_cost *costs, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (compare_entries(&costs[i - 1], &costs[i]) > 0)
			return false;
	return true;
}

size_t swz_rank_costs_sort(struct swz_rank_cost *costs, size_t count)
{
	size_t kept = 0, i;

	if (!are_sorted(costs, count))
		qsort(costs, count, sizeof(*costs), compare_entries);
	for (i = 0; i < count; i++) {
		struct swz_rank_cost *to = &costs[kept ? kept - 1 : 0];

		if (!kept || compare_entries(to, &costs[i]) != 0) {
			costs[kept++] = costs[i];
			continue;
		}
		to->calls = swz_add_count(to->calls, costs[i].calls);
		to->self_ns = swz_add(to->self_ns, costs[i].self_ns);
		to->inclusive_ns = swz_add(to->inclusive_ns,
					   costs[i].inclusive_ns);
	}
	return kept;
}

static uint64_t column_of(const struct swz_rank_cost *costs, size_t at,
			  unsigned int column)
{
	const struct swz_rank_cost *cost = &costs[at];
	const struct swz_rank_cost *before = at ? cost - 1 : NULL;

	switch (column) {
	case 0:
		return before ? cost->thread - before->thread : cost->thread;
	case 1:
		return before && before->thread == cost->thread
			       ? cost->function - before->function
			       : cost->function;
	case 2:
		return cost->calls;
	case 3:
		return (uint64_t)cost->self_ns;
	default:
		return (uint64_t)cost->inclusive_ns - (uint64_t)cost->self_ns;
	}
}

uint8_t *swz_rank_costs_pack(const struct swz_rank_cost *costs, size_t count,
			     size_t *bytes)
{
	uint8_t *plain = swz_reallocate(NULL, count * COLUMNS + 1,
					SWZ_NUMBER_BYTES_64);
	uint8_t *end = plain, *packed;
	unsigned int column;
	size_t room, i;

	for (column = 0; column < COLUMNS; column++)
		for (i = 0; i < count; i++)
			end = swz_number_put(end, column_of(costs, i, column));
	room = ZSTD_compressBound((size_t)(end - plain));
	packed = swz_reallocate(NULL, room, 1);
	*bytes = ZSTD_compress(packed, room, plain, (size_t)(end - plain),
			       LEVEL);
	free(plain);
	if (ZSTD_isError(*bytes)) /* nothing else can fail */
		swz_out_of_memory();
	return swz_reallocate(packed, *bytes, 1);
}

struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t get_number(struct reader *reader)
{
	uint64_t number = 0;

	if (!swz_number_get(&reader->at, reader->end, UINT64_MAX, &number))
		reader->bad = true;
	return number;
}

/* False: it is out of the range of numbers, or not behind the one before. */
static bool place(struct swz_rank_cost *costs, size_t at, uint64_t step)
{
	const struct swz_rank_cost *before = at ? &costs[at - 1] : NULL;
	bool same = before && before->thread == costs[at].thread;
	uint64_t function = step;

	/* Not `same ? before->function + step : step`: gcc 14.2 multiplies the
	 * operand by the condition, and so reads it where that is false. */
	if (same)
		function += before->function;
	costs[at].function = (uint32_t)function;
	return step <= UINT32_MAX && function <= UINT32_MAX && !(same && !step);
}

static bool read_columns(struct reader *reader, struct swz_rank_cost *costs,
			 size_t count)
{
	uint64_t thread = 0;
	size_t i;

	for (i = 0; i < count && !reader->bad; i++) {
		uint64_t step = get_number(reader);

		thread += step;
		reader->bad |= step > UINT32_MAX || thread > UINT32_MAX;
		costs[i].thread = (uint32_t)thread;
	}
	for (i = 0; i < count && !reader->bad; i++)
		reader->bad |= !place(costs, i, get_number(reader));
	for (i = 0; i < count && !reader->bad; i++)
		costs[i].calls = get_number(reader);
	for (i = 0; i < count && !reader->bad; i++)
		costs[i].self_ns = (int64_t)get_number(reader);
	for (i = 0; i < count && !reader->bad; i++)
		costs[i].inclusive_ns = (int64_t)((uint64_t)costs[i].self_ns +
						  get_number(reader));
	return !reader->bad && reader->at == reader->end;
}

bool swz_rank_costs_unpack(const void *packed, size_t bytes,
			   struct swz_rank_cost *costs, size_t count)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed, bytes);
	size_t frame = ZSTD_findFrameCompressedSize(packed, bytes);
	struct reader reader;
	uint8_t *plain;
	bool good;

	if (count > SWZ_RANK_MOST_COSTS || ZSTD_isError(frame) ||
	    size < count * COLUMNS ||
	    size > count * COLUMNS * SWZ_NUMBER_BYTES_64)
		return false;
	plain = swz_reallocate(NULL, size + 1, 1);
	reader = (struct reader){plain, plain + size, false};
	good = ZSTD_decompress(plain, size, packed, frame) == size &&
	       read_columns(&reader, costs, count);
	free(plain);
	return good;
}

/* --- ranks --------------------------------------------------------------- */

/* Costs stay in the file until they are wanted: those of one rank at a time. */

struct swz_scan_costs {
	uint32_t rank, count;
	uint64_t offset, bytes;
};

static uint32_t *copy_words(const uint8_t *from, size_t count)
{
	uint32_t *words = swz_allocate(count + 1, sizeof(*words));

	if (count)
		memcpy(words, from, count * sizeof(*words));
	return words;
}

static struct swz_summed_rank rank_of(const uint8_t *body, size_t size,
				      size_t index)
{
	struct swz_rank_record record;
	struct swz_summed_rank rank;

	memcpy(&record, body + index * sizeof(record), sizeof(record));
	rank = (struct swz_summed_rank){.rank = record.rank,
					.pid = record.pid,
					.processes = record.processes};
	if (record.host && record.host < size && body[record.host])
		rank.host = (const char *)body + record.host;
	return rank;
}

void swz_scan_ranks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size)
{
	uint64_t functions = chunk->reserved[SWZ_RANKS_FUNCTIONS];
	uint64_t threads = chunk->reserved[SWZ_RANKS_THREADS];
	size_t records = chunk->count * sizeof(struct swz_rank_record);
	struct swz_summed_ranks *ranks;
	size_t words, i;

	if (scan->profile->ranks || !size || body[size - 1] || records > size ||
	    functions > size || threads > size ||
	    (functions + threads) * sizeof(uint32_t) > size - records) {
		scan->profile->damage.bad_chunks++;
		return;
	}
	ranks = swz_allocate(1, sizeof(*ranks));
	ranks->items = swz_allocate(chunk->count + 1, sizeof(*ranks->items));
	ranks->count = chunk->count;
	for (i = 0; i < ranks->count; i++)
		ranks->items[i] = rank_of(body, size, i);
	words = records;
	ranks->function_count = functions;
	ranks->functions = copy_words(body + words, functions);
	words += functions * sizeof(uint32_t);
	ranks->thread_count = threads;
	ranks->threads = copy_words(body + words, threads);
	scan->profile->ranks = ranks;
}

void swz_scan_rank_costs(struct swz_scan *scan, const struct swz_chunk *chunk,
			 size_t offset, size_t size)
{
	swz_grow(&scan->costs, &scan->cost_capacity, scan->cost_count,
		 sizeof(*scan->costs));
	scan->costs[scan->cost_count++] = (struct swz_scan_costs){
		.rank = chunk->owner,
		.count = chunk->count,
		.offset = offset,
		.bytes = size};
}

static int compare(const void *left, const void *right)
{
	const struct swz_summed_rank *a = left, *b = right;

	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int compare_words(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* A rank that is there twice is damage; the first counts. */
static void sort_ranks(struct swz_profile *profile)
{
	struct swz_summed_ranks *ranks = profile->ranks;
	size_t kept = 0, i;

	qsort(ranks->items, ranks->count, sizeof(*ranks->items), compare);
	for (i = 0; i < ranks->count; i++) {
		if (kept && ranks->items[kept - 1].rank == ranks->items[i].rank)
			profile->damage.bad_chunks++;
		else
			ranks->items[kept++] = ranks->items[i];
	}
	ranks->count = kept;
}

static void find_parts(struct swz_profile *profile)
{
	struct swz_summed_ranks *ranks = profile->ranks;
	size_t i;

	for (i = 0; i < ranks->function_count; i++)
		ranks->functions[i] = swz_profile_function_by_id(
			profile, ranks->functions[i]);
	for (i = 0; i < ranks->thread_count; i++)
		ranks->threads[i] = swz_profile_thread_by_index(
			profile, ranks->threads[i]);
	qsort(ranks->threads, ranks->thread_count, sizeof(*ranks->threads),
	      compare_words);
	while (ranks->thread_count &&
	       ranks->threads[ranks->thread_count - 1] == SWZ_INDEX_NONE) {
		ranks->thread_count--;
		profile->damage.bad_chunks++;
	}
}

void swz_ranks_index(struct swz_scan *scan)
{
	struct swz_profile *profile = scan->profile;
	size_t i;

	if (profile->ranks) {
		sort_ranks(profile);
		find_parts(profile);
	}
	for (i = 0; i < scan->cost_count; i++) {
		const struct swz_scan_costs *costs = &scan->costs[i];
		uint32_t at = profile->ranks ? SWZ_SEARCH(profile->ranks->items,
							  profile->ranks->count,
							  rank, costs->rank)
					     : SWZ_INDEX_NONE;
		struct swz_summed_rank *rank =
			at == SWZ_INDEX_NONE ? NULL
					     : &profile->ranks->items[at];

		if (!rank || rank->cost_count ||
		    costs->count > SWZ_RANK_MOST_COSTS) {
			profile->damage.bad_chunks++;
			continue;
		}
		rank->cost_count = costs->count;
		rank->offset = costs->offset;
		rank->bytes = costs->bytes;
	}
	free(scan->costs);
}

void swz_ranks_free(struct swz_profile *profile)
{
	if (!profile->ranks)
		return;
	free(profile->ranks->items);
	free(profile->ranks->functions);
	free(profile->ranks->threads);
	free(profile->ranks);
}

bool swz_profile_thread_has_rank(const struct swz_profile *profile,
				 size_t thread)
{
	uint32_t key = (uint32_t)thread;

	if (!profile->ranks)
		return swz_profile_rank(profile) != SWZ_INDEX_NONE;
	return profile->ranks->thread_count &&
	       bsearch(&key, profile->ranks->threads,
		       profile->ranks->thread_count, sizeof(key),
		       compare_words) != NULL;
}

uint64_t swz_profile_ranked_processes(const struct swz_profile *profile)
{
	uint64_t sum = 0;
	size_t i;

	if (!profile->ranks) {
		if (swz_profile_rank(profile) == SWZ_INDEX_NONE)
			return 0;
		return profile->header.flags & SWZ_FILE_MERGED
			       ? profile->header.merged_profiles
			       : 1;
	}
	for (i = 0; i < profile->ranks->count; i++)
		sum = swz_add_count(sum, profile->ranks->items[i].processes);
	return sum;
}

/* False if there is no such thread or function. */
static bool refer(const struct swz_profile *profile, struct swz_rank_cost *cost)
{
	const struct swz_summed_ranks *ranks = profile->ranks;
	uint32_t function = cost->function;

	cost->thread = swz_profile_thread_by_index(profile, cost->thread);
	if (cost->thread == SWZ_INDEX_NONE ||
	    !swz_profile_thread_has_rank(profile, cost->thread))
		return false;
	if (function < SWZ_RANK_SPECIAL) {
		cost->function = UINT32_MAX - function;
		return true;
	}
	if (function - SWZ_RANK_SPECIAL >= ranks->function_count)
		return false;
	cost->function = ranks->functions[function - SWZ_RANK_SPECIAL];
	return cost->function != SWZ_INDEX_NONE;
}

struct swz_rank_cost *swz_profile_rank_costs(struct swz_profile *profile,
					     size_t index)
{
	struct swz_summed_rank *rank = &profile->ranks->items[index];
	uint8_t *packed = swz_reallocate(NULL, rank->bytes + 1, 1);
	struct swz_rank_cost *costs = swz_reallocate(
		NULL, (size_t)rank->cost_count + 1, sizeof(*costs));
	bool good = swz_profile_bytes(profile, rank->offset, packed,
				      rank->bytes) == rank->bytes &&
		    (!rank->cost_count ||
		     swz_rank_costs_unpack(packed, rank->bytes, costs,
					   rank->cost_count));
	uint32_t i;

	for (i = 0; good && i < rank->cost_count; i++)
		good = refer(profile, &costs[i]);
	free(packed);
	if (good)
		return costs;
	free(costs);
	profile->damage.bad_chunks += !rank->damaged;
	rank->damaged = true;
	return NULL;
}

bool swz_profile_ranks_are_whole(struct swz_profile *profile)
{
	size_t i;

	for (i = 0; profile->ranks && i < profile->ranks->count; i++) {
		struct swz_rank_cost *costs = swz_profile_rank_costs(profile,
								     i);

		if (!costs)
			return false;
		free(costs);
	}
	return true;
}
