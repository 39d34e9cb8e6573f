/* Any bytes as a perf map and as a jitdump file: no crash, and names that are
 * found are text. */

#include <stdlib.h>
#include <string.h>

#include "profile/file/code_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static void look(struct swz_code_ranges *ranges)
{
	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++)
		for (size_t j = 0; j < ranges->lists[i].count && j < 64; j++) {
			const struct swz_code_range *range =
				&ranges->lists[i].ranges[j];
			const char *name = swz_code_ranges_find(
				ranges, range->start + range->size - 1,
				range->time_ns);

			REQUIRE(name && *name);
			REQUIRE(range->size);
			for (; *name; name++)
				REQUIRE((unsigned char)*name >= ' ');
		}
}

static void read_dump(struct swz_code_ranges *ranges, const uint8_t *data,
		      size_t size)
{
	struct swz_jitdump dump = {0};
	uint64_t done, at = 0;

	while (at < size &&
	       (done = swz_jitdump_read(&dump, ranges, data + at, size - at)))
		at += done;
	swz_jitdump_free(&dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_code_ranges ranges = {0};

	REQUIRE(swz_perf_map_read(&ranges, (const char *)data, size, 0) <=
		size);
	look(&ranges);
	read_dump(&ranges, data, size);
	look(&ranges);
	swz_code_ranges_free(&ranges);
	return 0;
}
