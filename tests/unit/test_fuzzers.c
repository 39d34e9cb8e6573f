/* The fuzzers of tests/fuzz, each for a moment: bytes drawn at random, the
 * seeds, and seeds with bytes changed. `make fuzz` looks for more. */

#include <check.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swizzle/format.h"
#include "tests/unit/run_suite.h"

#define SEEDS "tests/fuzz/corpus/"
#define MOST_BYTES 65536u
#define RANDOM_INPUTS 300u
#define CHANGED_INPUTS 100u

typedef int fuzzer(const uint8_t *data, size_t size);

fuzzer fuzz_code_names, fuzz_config, fuzz_diff, fuzz_eh_frame, fuzz_elf_view,
	fuzz_events, fuzz_inflate, fuzz_line_table, fuzz_reader, fuzz_relocate,
	fuzz_saved_plan, fuzz_unwinder;

static const struct {
	const char *name;
	fuzzer *run;
	unsigned seeds; /* there are at least so many */
} fuzzers[] = {
	{"fuzz_code_names", fuzz_code_names, 2},
	{"fuzz_config", fuzz_config, 1},
	{"fuzz_diff", fuzz_diff, 1},
	{"fuzz_eh_frame", fuzz_eh_frame, 0},
	{"fuzz_elf_view", fuzz_elf_view, 0},
	{"fuzz_events", fuzz_events, 0},
	{"fuzz_inflate", fuzz_inflate, 0},
	{"fuzz_line_table", fuzz_line_table, 0},
	{"fuzz_reader", fuzz_reader, 11},
	{"fuzz_relocate", fuzz_relocate, 0},
	{"fuzz_saved_plan", fuzz_saved_plan, 0},
	{"fuzz_unwinder", fuzz_unwinder, 4},
};

static uint64_t state = 1;

/* Knuth's generator of 64 bits (MMIX). */
static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* Of a copy of its own, so that reading beyond its end is seen. */
static void run(fuzzer *fuzz, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, size);
	ck_assert_int_eq(fuzz(copy, size), 0);
	free(copy);
}

static void run_changed(fuzzer *fuzz, const uint8_t *seed, size_t size)
{
	static uint8_t changed[MOST_BYTES];

	for (unsigned i = 0; size && i < CHANGED_INPUTS; i++) {
		memcpy(changed, seed, size);
		for (uint32_t n = draw(8) + 1; n > 0; n--)
			changed[draw((uint32_t)size)] = (uint8_t)draw(256);
		run(fuzz, changed, draw(8) ? size : draw((uint32_t)size));
	}
}

/* A seed of another version would be refused, and try nothing. */
static void check_version(const char *path, const uint8_t *seed, size_t size)
{
	uint32_t version;
	size_t at;

	for (at = 0; at + 12 <= size && at <= 4; at += 4)
		if (memcmp(seed + at, SWZ_FILE_MAGIC, 8) == 0) {
			memcpy(&version, seed + at + 8, sizeof(version));
			ck_assert_msg(version == SWZ_FILE_VERSION,
				      "%s is of version %u", path, version);
		}
}

static void run_seed(fuzzer *fuzz, const char *path)
{
	static uint8_t seed[MOST_BYTES];
	FILE *file = fopen(path, "rb");
	size_t size;

	ck_assert_msg(file, "%s", path);
	size = fread(seed, 1, sizeof(seed), file);
	fclose(file);
	ck_assert_uint_lt(size, sizeof(seed));
	check_version(path, seed, size);
	run(fuzz, seed, size);
	run_changed(fuzz, seed, size);
}

START_TEST(random_bytes)
{
	uint8_t bytes[700];

	for (unsigned i = 0; i < RANDOM_INPUTS; i++) {
		size_t size = draw(sizeof(bytes) + 1);

		for (size_t at = 0; at < size; at++)
			bytes[at] = (uint8_t)draw(256);
		run(fuzzers[_i].run, bytes, size);
	}
}
END_TEST

/* In the order of their names: each is changed by what is drawn then, which is
 * the same everywhere. */
START_TEST(seeds)
{
	char directory[256], path[600];
	struct dirent **entries = NULL;
	unsigned count = 0;
	int all;

	snprintf(directory, sizeof(directory), SEEDS "%s", fuzzers[_i].name);
	all = scandir(directory, &entries, NULL, alphasort);
	for (int i = 0; i < all; i++) {
		if (entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", directory,
				 entries[i]->d_name);
			run_seed(fuzzers[_i].run, path);
			count++;
		}
		free(entries[i]);
	}
	free(entries);
	ck_assert_uint_ge(count, fuzzers[_i].seeds);
}
END_TEST

int main(void)
{
	const int count = sizeof(fuzzers) / sizeof(*fuzzers);
	Suite *suite = suite_create("fuzzers");
	TCase *tests = tcase_create("fuzzers");

	tcase_set_timeout(tests, 120); /* of a busy machine */
	tcase_add_loop_test(tests, random_bytes, 0, count);
	tcase_add_loop_test(tests, seeds, 0, count);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
