/* Costs of ranks, packed: what comes back, and what is refused. */

#include <stdlib.h>
#include <string.h>

#include "profile/file/ranks.h"
#include "tests/unit/run_suite.h"

#define COUNT 6

static const struct swz_rank_cost costs[COUNT] = {
	{0, 0, 0, 1234567, INT64_MAX},         {0, 17, 1, 0, 0},
	{0, UINT32_MAX, UINT64_MAX, 127, 128}, {3, 2, 7, 300, 300},
	{3, 3, 8, INT64_MAX, INT64_MAX},       {UINT32_MAX, 1, 9, 16384, 5},
};

START_TEST(costs_come_back)
{
	struct swz_rank_cost back[COUNT];
	size_t bytes;
	uint8_t *packed = swz_rank_costs_pack(costs, COUNT, &bytes);

	ck_assert(swz_rank_costs_unpack(packed, bytes, back, COUNT));
	ck_assert_mem_eq(costs, back, sizeof(costs));
	free(packed);
	packed = swz_rank_costs_pack(costs, 0, &bytes);
	ck_assert(swz_rank_costs_unpack(packed, bytes, back, 0));
	free(packed);
}
END_TEST

START_TEST(what_is_behind_them_does_not_matter)
{
	struct swz_rank_cost back[COUNT];
	size_t bytes;
	uint8_t *packed = swz_rank_costs_pack(costs, COUNT, &bytes);

	packed = realloc(packed, bytes + 64);
	ck_assert_ptr_nonnull(packed);
	memset(packed + bytes, 0, 64);
	ck_assert(swz_rank_costs_unpack(packed, bytes + 64, back, COUNT));
	ck_assert_mem_eq(costs, back, sizeof(costs));
	free(packed);
}
END_TEST

START_TEST(another_count_is_refused)
{
	struct swz_rank_cost back[2 * COUNT];
	size_t bytes, count;
	uint8_t *packed = swz_rank_costs_pack(costs, COUNT, &bytes);

	for (count = 0; count < 2 * COUNT; count++)
		ck_assert(swz_rank_costs_unpack(packed, bytes, back, count) ==
			  (count == COUNT));
	free(packed);
}
END_TEST

START_TEST(what_is_cut_off_is_refused)
{
	struct swz_rank_cost back[COUNT];
	size_t bytes, size;
	uint8_t *packed = swz_rank_costs_pack(costs, COUNT, &bytes);

	for (size = 0; size < bytes; size++) {
		uint8_t *part = malloc(size + 1); /* for ASan */

		ck_assert_ptr_nonnull(part);
		memcpy(part, packed, size);
		ck_assert(!swz_rank_costs_unpack(part, size, back, COUNT));
		free(part);
	}
	free(packed);
}
END_TEST

/* They come back in their order, or not at all. */
START_TEST(costs_in_no_order_are_refused)
{
	struct swz_rank_cost wrong[2] = {{1, 5, 1, 1, 1}, {1, 5, 1, 1, 1}};
	struct swz_rank_cost back[2];
	size_t bytes;
	uint8_t *packed = swz_rank_costs_pack(wrong, 2, &bytes);

	ck_assert(!swz_rank_costs_unpack(packed, bytes, back, 2));
	free(packed);
	wrong[1].thread = 0;
	packed = swz_rank_costs_pack(wrong, 2, &bytes);
	ck_assert(!swz_rank_costs_unpack(packed, bytes, back, 2));
	free(packed);
}
END_TEST

START_TEST(the_same_function_is_added_up)
{
	struct swz_rank_cost some[] = {
		{1, 2, 1, 10, 100}, {0, 9, 3, 30, 300}, {1, 2, 2, 20, 200},
		{1, 1, 5, 50, 500}, {1, 2, 4, 40, 400},
	};
	const struct swz_rank_cost expected[] = {
		{0, 9, 3, 30, 300}, {1, 1, 5, 50, 500}, {1, 2, 7, 70, 700}};

	ck_assert_uint_eq(swz_rank_costs_sort(some, 5), 3);
	ck_assert_mem_eq(some, expected, sizeof(expected));
	ck_assert_uint_eq(swz_rank_costs_sort(some, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rank_costs");
	TCase *tcase = tcase_create("rank_costs");

	tcase_add_test(tcase, costs_come_back);
	tcase_add_test(tcase, what_is_behind_them_does_not_matter);
	tcase_add_test(tcase, another_count_is_refused);
	tcase_add_test(tcase, what_is_cut_off_is_refused);
	tcase_add_test(tcase, costs_in_no_order_are_refused);
	tcase_add_test(tcase, the_same_function_is_added_up);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
