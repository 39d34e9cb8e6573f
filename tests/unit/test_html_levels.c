/* A trace from afar: calls of 1.5 pixels stay one, the others are merged by
 * pixel, and no call is lost. And where a block begins in the midst of calls.
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/page/html_blocks.h"
#include "tests/unit/page_bytes.h"
#include "tests/unit/run_suite.h"

#define ORIGIN 1000u
/* The finest level's pixel has as many ticks. */
#define PIXEL 16u
#define LENGTH (PIXEL << 18)
#define RUN 8u

static uint8_t *block, *at;

static uint64_t number(void)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (uint64_t)(*at & 127) << shift;
		if (*at++ < 128)
			return value;
	}
}

static void expect(const uint64_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(number() == expected[i], "number %zu", i);
}

#define EXPECT(...) \
	expect((const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static char *page;
static size_t page_size;

static void read_block(FILE *stream, const char *name, size_t *size)
{
	fclose(stream);
	at = block = page_bytes(page, page_size, name, size);
	free(page);
}

static struct swz_html_levels *levels;

static void add(uint64_t row, uint64_t start, uint64_t length, uint32_t context)
{
	struct swz_html_activation a = {.start = ORIGIN + start,
					.end = ORIGIN + start + length,
					.context = context,
					.flags = context == 9 ? 2 : 0,
					.calls = context == 9 ? 5 : 0};

	swz_html_levels_add(levels, row, &a);
}

START_TEST(narrow_calls_of_a_pixel_are_one)
{
	FILE *stream = open_memstream(&page, &page_size);
	size_t size;

	levels = swz_html_levels_begin(ORIGIN, ORIGIN + LENGTH);
	add(1, 2, 3, 7);
	add(1, 6, 1, 8);
	/* the next pixel, up to the one after it */
	add(1, 20, 20, 8);
	/* 1.5 pixels: not narrow */
	add(1, 48, 24, 9);
	/* a pixel and a little: alone, and narrow */
	add(1, 1600, 17, 7);
	add(0, 0, LENGTH, 4);
	swz_html_levels_end(levels, stream, "levels 0", ORIGIN - 10);
	read_block(stream, "levels 0", &size);

	EXPECT(10, 3);
	EXPECT(PIXEL, 2, 1, 4);
	EXPECT(0, LENGTH, 4, 0);
	EXPECT(2, 5, 7, 2 << 5 | RUN, 13, 20, 8, 0, 8, 24, 9, 5 << 5 | 2,
	       1600 - 72, 17, 7, 0);
	/* all before 128 is one, and ended by an exception as one of them */
	EXPECT(UINT64_C(8) * PIXEL, 2, 1, 2);
	EXPECT(0, LENGTH, 4, 0);
	EXPECT(2, 70, 7, 4 << 5 | RUN | 2, 1600 - 72, 17, 7, 0);
	EXPECT(UINT64_C(64) * PIXEL, 2, 1, 2);
	EXPECT(0, LENGTH, 4, 0);
	EXPECT(2, 70, 7, 4 << 5 | RUN | 2, 1600 - 72, 17, 7, 0);
	ck_assert_uint_eq((size_t)(at - block), size);
	free(block);
}
END_TEST

START_TEST(no_call_is_lost)
{
	FILE *stream = open_memstream(&page, &page_size);
	uint64_t count[3][2] = {{0}};
	size_t size;

	levels = swz_html_levels_begin(ORIGIN, ORIGIN + LENGTH);
	for (uint64_t i = 0; i < 30000; i++) {
		add(0, i * 100, i % 90, 1);
		add(1, i * 100, i % 7, 1);
	}
	/* too deep to be drawn from afar */
	add(1024, 5, 5, 1);
	swz_html_levels_end(levels, stream, "levels 0", ORIGIN);
	read_block(stream, "levels 0", &size);

	EXPECT(0, 3);
	for (unsigned level = 0; level < 3; level++) {
		uint64_t boxes[2];

		EXPECT(PIXEL << 3 * level, 2);
		boxes[0] = number();
		boxes[1] = number();
		ck_assert_uint_le(boxes[1], LENGTH / (PIXEL << 3 * level));
		for (unsigned row = 0; row < 2; row++)
			for (; boxes[row]; boxes[row]--) {
				uint64_t what;

				number();
				number();
				number();
				what = number();
				count[level][row] += what & RUN ? what >> 5 : 1;
			}
		ck_assert_uint_eq(count[level][0], 30000);
		ck_assert_uint_eq(count[level][1], 30000);
	}
	ck_assert_uint_eq((size_t)(at - block), size);
	free(block);
}
END_TEST

START_TEST(a_block_knows_what_is_open)
{
	FILE *stream = open_memstream(&page, &page_size);
	struct swz_html_index *index = swz_html_index_begin();
	struct swz_html_activation outer = {.start = ORIGIN + 5,
					    .end = ORIGIN + 95,
					    .context = 3,
					    .calls = 40};
	struct swz_html_activation inner = {.start = ORIGIN + 20,
					    .end = ORIGIN + 60,
					    .context = 4,
					    .flags = SWZ_HTML_UNWOUND,
					    .calls = 7};
	uint32_t one, two;
	size_t size;

	swz_html_index_block(index, ORIGIN, 0, 0);
	swz_html_index_block(index, ORIGIN + 30, 25, 0);
	one = swz_html_index_open(index);
	two = swz_html_index_open(index);
	swz_html_index_block(index, ORIGIN + 70, 35, 1);
	swz_html_index_close(index, two, &inner);
	swz_html_index_close(index, one, &outer);
	swz_html_index_end(index, stream, "index 2", ORIGIN, 42);
	read_block(stream, "index 2", &size);

	EXPECT(2, 5, 90, 3, 0, 40, 15, 40, 4, 2, 7);
	EXPECT(3, 0, 25, 0, 0, 30, 10, 0, 2, 40, 7, 1, 0);
	ck_assert_uint_eq((size_t)(at - block), size);
	free(block);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("html_levels");
	TCase *t = tcase_create("html_levels");

	tcase_add_test(t, narrow_calls_of_a_pixel_are_one);
	tcase_add_test(t, no_call_is_lost);
	tcase_add_test(t, a_block_knows_what_is_open);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
