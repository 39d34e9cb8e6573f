/* Ranges are kept apart by their size: in a list of ranges of at most S bytes,
 * those that hold an address begin less than S before it. So a map with one
 * huge range is searched as fast as any other. */

#include "profile/code/code_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define USER_SPACE (1ull << 47)
#define MOST_RANGES (1u << 24)
#define MOST_TEXT (1u << 31)

static unsigned class_of(uint64_t size)
{
	return 63u - (unsigned)__builtin_clzll(size);
}

static uint32_t add_name(struct swz_code_ranges *ranges, const char *name,
			 size_t length)
{
	uint32_t at = (uint32_t)ranges->text_bytes;

	if (ranges->text_capacity - ranges->text_bytes <= length) {
		ranges->text_capacity += ranges->text_capacity / 2 + length +
					 4096;
		ranges->text = swz_reallocate(ranges->text,
					      ranges->text_capacity, 1);
	}
	memcpy(ranges->text + at, name, length);
	ranges->text[at + length] = '\0';
	ranges->text_bytes += length + 1;
	return at;
}

void swz_code_ranges_add(struct swz_code_ranges *ranges, uint64_t start,
			 uint64_t size, uint64_t time_ns, const char *name,
			 size_t length)
{
	struct swz_code_range_list *list;

	if (!size || start >= USER_SPACE || size > USER_SPACE - start ||
	    !length || ranges->count == MOST_RANGES ||
	    ranges->text_bytes + length >= MOST_TEXT)
		return;
	list = &ranges->lists[class_of(size)];
	swz_grow(&list->ranges, &list->capacity, list->count,
		 sizeof(*list->ranges));
	list->ranges[list->count++] = (struct swz_code_range){
		.start = start,
		.size = size,
		.time_ns = time_ns,
		.number = ranges->count++,
		.name = add_name(ranges, name, length),
	};
}

static int by_start(const void *left, const void *right)
{
	const struct swz_code_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Those that came since are few: they are sorted and put between the others. */
static void sort(struct swz_code_range_list *list)
{
	size_t news = list->count - list->sorted, old = list->sorted;
	size_t at = list->count;
	struct swz_code_range *copy;

	if (!news)
		return;
	copy = swz_allocate(news, sizeof(*copy));
	memcpy(copy, list->ranges + old, news * sizeof(*copy));
	qsort(copy, news, sizeof(*copy), by_start);
	while (news)
		if (old &&
		    by_start(&list->ranges[old - 1], &copy[news - 1]) > 0)
			list->ranges[--at] = list->ranges[--old];
		else
			list->ranges[--at] = copy[--news];
	list->sorted = list->count;
	free(copy);
}

/* How many begin at the address or before. */
static size_t count_before(const struct swz_code_range_list *list,
			   uint64_t address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The one is the better answer. */
static bool is_better(const struct swz_code_range *a,
		      const struct swz_code_range *b, uint64_t time_ns)
{
	bool was = a->time_ns <= time_ns;

	if (!b)
		return true;
	if (was != (b->time_ns <= time_ns))
		return was;
	if (a->time_ns != b->time_ns)
		return (a->time_ns > b->time_ns) == was;
	return a->number > b->number;
}

static const struct swz_code_range *find_in(struct swz_code_range_list *list,
					    unsigned class, uint64_t address,
					    uint64_t time_ns,
					    const struct swz_code_range *best)
{
	sort(list);
	for (size_t i = count_before(list, address); i-- > 0;) {
		const struct swz_code_range *range = &list->ranges[i];

		if ((address - range->start) >> class >= 2)
			break;
		if (address - range->start < range->size &&
		    is_better(range, best, time_ns))
			best = range;
	}
	return best;
}

const char *swz_code_ranges_find(struct swz_code_ranges *ranges,
				 uint64_t address, uint64_t time_ns)
{
	const struct swz_code_range *best = NULL;

	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++)
		if (ranges->lists[i].count)
			best = find_in(&ranges->lists[i], i, address, time_ns,
				       best);
	return best ? ranges->text + best->name : NULL;
}

static void *copy_of(const void *from, size_t count, size_t size)
{
	void *to = swz_allocate(count, size);

	memcpy(to, from, count * size);
	return to;
}

void swz_code_ranges_copy(struct swz_code_ranges *to,
			  const struct swz_code_ranges *from)
{
	*to = *from;
	if (!from->count) /* (text comes with a range) */
		return;
	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++) {
		struct swz_code_range_list *list = &to->lists[i];

		list->capacity = list->count;
		if (list->count)
			list->ranges = copy_of(list->ranges, list->count,
					       sizeof(*list->ranges));
	}
	to->text_capacity = to->text_bytes;
	to->text = copy_of(from->text, from->text_bytes, 1);
}

void swz_code_ranges_free(struct swz_code_ranges *ranges)
{
	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++)
		free(ranges->lists[i].ranges);
	free(ranges->text);
	*ranges = (struct swz_code_ranges){0};
}
