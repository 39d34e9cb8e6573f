/* Columns, one behind the other, each of numbers in LEB128; all of it is a
 * frame of zstd. Of one column the numbers are alike, so they take less room
 * than records would: 4 bytes instead of 32, or so. */

#include "profile/file/rank_costs.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/number_bytes.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define LEVEL 1 /* of zstd: ranks come by the thousand */
#define COLUMNS 5u

static int compare(const void *left, const void *right)
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
		if (compare(&costs[i - 1], &costs[i]) > 0)
			return false;
	return true;
}

size_t swz_rank_costs_sort(struct swz_rank_cost *costs, size_t count)
{
	size_t kept = 0, i;

	if (!are_sorted(costs, count))
		qsort(costs, count, sizeof(*costs), compare);
	for (i = 0; i < count; i++) {
		struct swz_rank_cost *to = &costs[kept ? kept - 1 : 0];

		if (!kept || compare(to, &costs[i]) != 0) {
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
	uint64_t function = same ? before->function + step : step;

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
