/* The shortest and the longest call of a function. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

/* 1 is called once and calls 2 ten times: of 500 ticks hooks took 10 and 140.
 */
START_TEST(a_single_call_is_the_longest_and_all)
{
	sum_call(1, 0, 1, 1, 1, 500, 500);
	sum_call(2, 1, 2, 2, 10, 300, 300);
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 350);
	ck_assert_int_eq(sum_costs(1).min_ns, 350);
	ck_assert_int_eq(sum_costs(1).max_ns, 350);
	ck_assert_int_eq(sum_costs(2).max_ns, 30 - 10);
}
END_TEST

/* 1 is called twice, for 500 and 100 ticks, in which it calls 2 20 times. Of
 * what remains of it without its own hooks, 580, its calls' took 280. */
START_TEST(the_cost_of_nested_calls_is_in_proportion)
{
	sum_call(1, 0, 1, 1, 2, 600, 600);
	sum_node(1)->min_ticks = 100;
	sum_node(1)->max_ticks = 500;
	sum_call(2, 1, 2, 2, 20, 400, 400);
	sum_node(2)->min_ticks = 15;
	sum_node(2)->max_ticks = 60;
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 300);
	ck_assert_int_eq(sum_costs(1).min_ns, 90 * 300 / 580);
	ck_assert_int_eq(sum_costs(1).max_ns, 490 * 300 / 580);
	/* they call nothing */
	ck_assert_int_eq(sum_costs(2).min_ns, 5);
	ck_assert_int_eq(sum_costs(2).max_ns, 50);
}
END_TEST

/* Nothing but that one of three takes at least their mean. */
START_TEST(calls_that_have_not_ended_bound_the_longest)
{
	sum_call(1, 0, 1, 1, 3, 100 + ENTRY(1200), 100 + ENTRY(1200));
	sum_node(1)->open = OPEN(1);
	sum_node(1)->min_ticks = 40;
	sum_node(1)->max_ticks = 60;
	sum_call(2, 1, 2, 2, 1, ENTRY(1500), ENTRY(1500));
	sum_node(2)->open = OPEN(1);
	sum_node(2)->min_ticks = sum_node(2)->max_ticks = 0;
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 900);
	ck_assert_int_eq(sum_costs(1).min_ns, 40);
	ck_assert_int_eq(sum_costs(1).max_ns, 300);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 500);
	ck_assert_int_eq(sum_costs(2).min_ns, 500);
	ck_assert_int_eq(sum_costs(2).max_ns, 500);
}
END_TEST

/* Two calls took 60 ns, of which one took all, as the other took less than its
 * hooks; two others took 100 ns, the longest that has ended 40. */
static void call_unevenly(bool merged)
{
	struct swz_file_header *header = builder_header(&sum.builder);

	if (merged)
		header->flags |= SWZ_FILE_MERGED;
	header->cost_inside = header->cost_outside = 0;
	sum_call(1, 0, 1, 1, 2, 60, 60);
	sum_node(1)->min_ticks = sum_node(1)->max_ticks = 60;
	sum_call(2, 0, 2, 2, 2, 100, 100);
	sum_node(2)->min_ticks = sum_node(2)->max_ticks = 40;
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 60);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 100);
}

START_TEST(the_mean_bounds_the_shortest_and_the_longest_call)
{
	call_unevenly(false);
	ck_assert_int_eq(sum_costs(1).min_ns, 30);
	ck_assert_int_eq(sum_costs(1).max_ns, 60);
	ck_assert_int_eq(sum_costs(2).min_ns, 40);
	ck_assert_int_eq(sum_costs(2).max_ns, 50);
}
END_TEST

START_TEST(in_a_sum_of_profiles_the_mean_of_all_bounds_no_call)
{
	call_unevenly(true);
	ck_assert_int_eq(sum_costs(1).min_ns, 60);
	ck_assert_int_eq(sum_costs(1).max_ns, 60);
	ck_assert_int_eq(sum_costs(2).min_ns, 40);
	ck_assert_int_eq(sum_costs(2).max_ns, 40);
}
END_TEST

START_TEST(compensation_stops_at_zero)
{
	sum_call(1, 0, 1, 1, 10, 50, 50);
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).self_ns, 0);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 0);
	/* no more than all together */
	ck_assert_int_eq(sum_costs(1).min_ns, 0);
	ck_assert_int_eq(sum_costs(1).max_ns, 0);
	ck_assert_int_eq(sum_costs(0).self_ns, 950 - 40);
	ck_assert_int_eq(sum.report.total_ns, 910);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate_extremes");
	TCase *tests = tcase_create("aggregate_extremes");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests, a_single_call_is_the_longest_and_all);
	tcase_add_test(tests, the_cost_of_nested_calls_is_in_proportion);
	tcase_add_test(tests, calls_that_have_not_ended_bound_the_longest);
	tcase_add_test(tests,
		       the_mean_bounds_the_shortest_and_the_longest_call);
	tcase_add_test(tests,
		       in_a_sum_of_profiles_the_mean_of_all_bounds_no_call);
	tcase_add_test(tests, compensation_stops_at_zero);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
