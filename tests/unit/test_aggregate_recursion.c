/* Costs of functions that call themselves, directly or through others. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

/* fib(3), 100 ticks in each of its 5 calls; two call sites. */
static void build_fib(void)
{
	sum_call(1, 0, 1, 1, 1, 500, 500);
	sum_call(2, 1, 1, 1, 2, 400, 0);
	sum_call(3, 1, 1, 1, 2, 200, 0);
	sum_node(3)->call_site = SITE + 8;
}

START_TEST(recursion_counts_outermost_time_only)
{
	build_fib();
	sum_up(false);
	ck_assert_uint_eq(sum_costs(1).calls, 5);
	ck_assert_int_eq(sum_costs(1).self_ns, 500);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 500);
	ck_assert_uint_eq(sum_edge(1, 1).calls, 4);
	ck_assert_int_eq(sum_edge(1, 1).inclusive_ns, 0);
	ck_assert_int_eq(sum_edge(0, 1).inclusive_ns, 500);
	ck_assert(sum.catalog.functions[sum_index(1)].recursive);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_recursion)
{
	build_fib();
	sum_up(true);
	/* 500 - 10 * 5 calls - 4 * 4 calls made */
	ck_assert_int_eq(sum_costs(1).self_ns, 434);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 434);
	ck_assert_int_eq(sum_costs(0).self_ns, 496);
	ck_assert_int_eq(sum_costs(0).inclusive_ns, 930);
	ck_assert_int_eq(sum.report.total_ns, 930);
	ck_assert_int_eq(sum.report.raw_ns, 1000);
}
END_TEST

/* even calls odd calls even calls odd; 100 ticks in each. */
static void build_mutual(void)
{
	sum_call(1, 0, 1, 1, 1, 400, 400);
	sum_call(2, 1, 2, 2, 2, 400, 300);
	sum_call(3, 2, 1, 1, 1, 200, 0);
}

START_TEST(mutual_recursion)
{
	build_mutual();
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 200);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 400);
	ck_assert_int_eq(sum_costs(2).self_ns, 200);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 300);
	ck_assert_uint_eq(sum_edge(2, 1).calls, 1);
	ck_assert_int_eq(sum_edge(2, 1).inclusive_ns, 0);
	ck_assert(sum.catalog.functions[sum_index(1)].recursive);
	ck_assert(sum.catalog.functions[sum_index(2)].recursive);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_mutual_recursion)
{
	build_mutual();
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).self_ns, 200 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(sum_costs(2).self_ns, 200 - 2 * 10 - 1 * 4);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 348);
	/* 300 of the raw 400, in which 348 remain */
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 261);
	ck_assert_int_eq(sum.report.total_ns, 600 - 4 + 348);
}
END_TEST

/* even calls odd calls even, which calls a third; 100 ticks in each. */
static void build_true_stack(void)
{
	sum_call(1, 0, 1, 1, 1, 400, 400);
	sum_call(2, 1, 2, 2, 1, 300, 300);
	sum_call(3, 2, 3, 1, 1, 200, 0);
	sum_call(4, 3, 4, 3, 1, 100, 100);
}

START_TEST(a_function_may_be_on_a_path_twice)
{
	build_true_stack();
	sum_up(false);
	ck_assert_uint_eq(sum.report.dropped_nodes, 0);
	ck_assert_uint_eq(sum.report.folded_recursion, 0);
	ck_assert_uint_eq(sum_costs(1).calls, 2);
	ck_assert_int_eq(sum_costs(1).self_ns, 200);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 400);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 300);
	ck_assert_int_eq(sum_costs(3).inclusive_ns, 100);
	ck_assert_int_eq(sum_edge(0, 1).inclusive_ns, 400);
	ck_assert_int_eq(sum_edge(1, 2).inclusive_ns, 300);
	ck_assert_uint_eq(sum_edge(2, 1).calls, 1);
	ck_assert_int_eq(sum_edge(2, 1).inclusive_ns, 0);
	ck_assert_int_eq(sum_edge(1, 3).inclusive_ns, 100);
	ck_assert(sum.catalog.functions[sum_index(1)].recursive);
	ck_assert(!sum.catalog.functions[sum_index(2)].recursive);
	ck_assert_uint_eq(swz_report_split(&sum.report), 0);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_each_context_of_a_function)
{
	build_true_stack();
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).self_ns, 200 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(sum_costs(2).self_ns, 100 - 10 - 4);
	ck_assert_int_eq(sum_costs(3).self_ns, 100 - 10);
	/* 100 - 14 twice and 100 - 14, 100 - 10 */
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 86 + 86 + 86 + 90);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 86 + 86 + 90);
}
END_TEST

/* The third goes on in the outer even: nothing of it lies below odd. */
START_TEST(folding_says_whose_time_is_not_below_it)
{
	build_mutual();
	sum_call(4, 1, 4, 3, 1, 100, 100);
	sum_up(false);
	ck_assert_uint_eq(sum.report.folded_recursion, 1);
	ck_assert(sum_costs(2).split);
	ck_assert(!sum_costs(1).split);
	ck_assert(!sum_costs(3).split);
	ck_assert_uint_eq(swz_report_split(&sum.report), 1);
}
END_TEST

/* 1 calls 2 calls 3, which calls 2, which calls 1. */
START_TEST(compensates_recursion_that_leads_out_of_recursion)
{
	sum_call(1, 0, 1, 1, 1, 600, 600);
	sum_call(2, 1, 2, 2, 1, 500, 500);
	sum_call(3, 2, 3, 3, 1, 300, 300);
	sum_call(4, 3, 2, 2, 1, 100, 0);
	sum_call(5, 2, 1, 1, 1, 50, 0);
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).self_ns, 150 - 2 * 10 - 1 * 4);
	ck_assert_int_eq(sum_costs(2).self_ns, 250 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(sum_costs(3).self_ns, 200 - 1 * 10 - 1 * 4);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 534);
	/* each may have called 1: 500 and 300 of its raw 600 */
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 445);
	ck_assert_int_eq(sum_costs(3).inclusive_ns, 267);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate_recursion");
	TCase *tests = tcase_create("aggregate_recursion");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests, recursion_counts_outermost_time_only);
	tcase_add_test(tests, compensates_recursion);
	tcase_add_test(tests, mutual_recursion);
	tcase_add_test(tests, compensates_mutual_recursion);
	tcase_add_test(tests, a_function_may_be_on_a_path_twice);
	tcase_add_test(tests, compensates_each_context_of_a_function);
	tcase_add_test(tests, folding_says_whose_time_is_not_below_it);
	tcase_add_test(tests,
		       compensates_recursion_that_leads_out_of_recursion);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
