/* The list of mappings, against one entry for each page. */

#include <check.h>
#include <stdlib.h>

#include "tests/unit/run_suite.h"
#include "watch/unwind/unwind_row.h"

enum { PAGES = 200, ROUNDS = 20000 };
#define PAGE UINT64_C(4096)

static struct swz_mappings mappings;

struct page {
	bool mapped;
	uint64_t inode; /* tells mappings apart */
	uint64_t offset;
};

static uint64_t state = 7;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void put(uint64_t first, uint64_t end, uint64_t offset, uint64_t inode)
{
	swz_mappings_put(&mappings,
			 &(struct swz_unwinder_mapping){.start = first * PAGE,
							.end = end * PAGE,
							.offset = offset,
							.path = "",
							.inode = inode});
}

static void compare(const struct page *pages)
{
	uint64_t page;
	size_t i;

	for (page = 0; page < PAGES; page++) {
		uint64_t address = page * PAGE + draw(PAGE);
		const struct swz_mapping *m = swz_mappings_at(&mappings,
							      address);

		ck_assert_int_eq(m != NULL, pages[page].mapped);
		if (!m)
			continue;
		ck_assert_uint_eq(m->source->inode, pages[page].inode);
		ck_assert_uint_eq(m->offset + page * PAGE - m->start,
				  pages[page].offset);
	}
	for (i = 1; i < mappings.count; i++)
		ck_assert_uint_le(mappings.list[i - 1].end,
				  mappings.list[i].start);
}

START_TEST(is_what_the_last_changes_left)
{
	static struct page pages[PAGES];
	uint64_t round, page;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t first = draw(PAGES), end = first + draw(12);
		uint64_t offset = draw(100) * PAGE;
		bool map = draw(3) != 0;

		if (end > PAGES)
			end = PAGES;
		if (map)
			put(first, end, offset, round + 1);
		else
			swz_mappings_remove(&mappings, first * PAGE,
					    end * PAGE);
		for (page = first; page < end; page++) {
			pages[page].mapped = map;
			pages[page].inode = round + 1;
			pages[page].offset = offset + (page - first) * PAGE;
		}
		if (draw(20) == 0)
			compare(pages);
	}
	compare(pages);
	ck_assert_uint_gt(mappings.count, 10);
	swz_mappings_clear(&mappings);
	ck_assert_ptr_null(swz_mappings_at(&mappings, 0));
}
END_TEST

START_TEST(a_copy_is_its_own)
{
	struct swz_mappings copy = {0};

	put(1, 5, 0, 1);
	swz_mappings_copy(&copy, &mappings);
	swz_mappings_remove(&mappings, 2 * PAGE, 3 * PAGE);
	ck_assert_uint_eq(mappings.count, 2);
	ck_assert_uint_eq(copy.count, 1);
	swz_mappings_clear(&mappings);
	ck_assert_uint_eq(swz_mappings_at(&copy, 2 * PAGE)->source->inode, 1);
	swz_mappings_clear(&copy);
}
END_TEST

START_TEST(what_is_empty_or_ends_before_it_begins_is_nothing)
{
	put(1, 5, 0, 1);
	put(3, 3, 0, 2);
	put(4, 2, 0, 3);
	swz_mappings_remove(&mappings, 4 * PAGE, 2 * PAGE);
	swz_mappings_remove(&mappings, 2 * PAGE, 2 * PAGE);
	ck_assert_uint_eq(mappings.count, 1);
	swz_mappings_remove(&mappings, 0, UINT64_MAX);
	ck_assert_uint_eq(mappings.count, 0);
	swz_mappings_clear(&mappings);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mappings");
	TCase *tcase = tcase_create("mappings");

	tcase_add_test(tcase, is_what_the_last_changes_left);
	tcase_add_test(tcase, a_copy_is_its_own);
	tcase_add_test(tcase,
		       what_is_empty_or_ends_before_it_begins_is_nothing);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
