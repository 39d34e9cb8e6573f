/* What is not known is generated at run time, or has been compiled by V8 itself
 * (its builtins, in the midst of the text): no other code of such a module is
 * as rarely found. */

#include "runtime/module/known_code.h"

#include "runtime/module/loaded.h"

#define MOST_MODULES 64u

struct known {
	uint32_t first_id, end_id;
	uint64_t load_bias, start, end;
	const struct swz_code_part *parts;
	uint32_t part_count;
};

static struct known all[MOST_MODULES];
static uint32_t known_count; /* stored last, with release */

bool swz_known_code_note(const struct swz_module *m, uint32_t end,
			 const struct swz_code_part *parts, uint32_t count)
{
	if (known_count == MOST_MODULES)
		return false;
	all[known_count] = (struct known){.first_id = m->first_id,
					  .end_id = end,
					  .load_bias = m->load_bias,
					  .start = m->start,
					  .end = m->end,
					  .parts = parts,
					  .part_count = count};
	/* release: matches the acquire in known_of */
	__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
	return true;
}

static const struct known *known_of(uint32_t function)
{
	uint32_t n = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (function >= all[i].first_id && function < all[i].end_id)
			return &all[i];
	return NULL;
}

/* A call returns behind its last byte, which may be the function's. */
static bool has(const struct known *k, uint64_t return_address)
{
	uint64_t at = return_address - k->load_bias;
	uint32_t low = 0, high = k->part_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (k->parts[middle].start < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at <= k->parts[low - 1].end;
}

bool swz_known_code_pass(uint32_t function, uint64_t call_site)
{
	const struct known *k = known_of(function);
	const struct link_map *map;
	uint64_t end;

	if (!k)
		return false;
	if (call_site >= k->start && call_site < k->end)
		return !has(k, call_site);
	return !swz_loaded_map_at(call_site, &map, &end) || !map;
}
