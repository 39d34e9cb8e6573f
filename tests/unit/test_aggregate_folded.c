/* Costs of contexts that were merged: whose they are, and that the sum stays.
 */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

START_TEST(folded_contexts_are_taken_from_the_function_that_calls)
{
	sum_call(1, 0, 1, 2, 1, 400, 400);
	sum_call(2, 1, 2, 1, 1, 300, 300);
	sum_call(3, 0, 3, 3, 4, 100, 100); /* SITE is in function 1 */
	sum_node(3)->open = SWZ_NODE_FOLDED;
	sum_up(false);
	ck_assert_int_eq(sum_costs(0).self_ns, 600);
	ck_assert_int_eq(sum_costs(2).self_ns, 100);
	ck_assert_int_eq(sum_costs(1).self_ns, 200);
	ck_assert_int_eq(sum_costs(3).self_ns, 100);
	ck_assert_uint_eq(sum_edge(1, 3).calls, 4);
	ck_assert_int_eq(sum.report.total_ns, 1000);
}
END_TEST

START_TEST(compensates_folded_contexts)
{
	sum_call(1, 0, 1, 1, 1, 400, 400);
	sum_call(2, 0, 2, 3, 4, 100, 100); /* SITE is in function 1 */
	sum_node(2)->open = SWZ_NODE_FOLDED;
	sum_up(true);
	ck_assert_int_eq(sum_costs(3).self_ns, 100 - 4 * 10);
	/* less what it called, and what that cost outside */
	ck_assert_int_eq(sum_costs(1).self_ns, 400 - 10 - 100 - 4 * 4);
	ck_assert_int_eq(sum_costs(0).self_ns, 600 - 4);
	ck_assert_int_eq(sum_of_self(), sum.report.total_ns);
}
END_TEST

START_TEST(folded_contexts_may_hang_below_a_root_of_their_own)
{
	sum_call(1, 0, 1, 1, 1, 400, 400);
	sum_call(2, 0, 2, SWZ_FUNCTION_ROOT, 0, 0, 0);
	sum_node(2)->open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN;
	sum_node(2)->call_site = 0;
	sum_call(3, 2, 3, 2, 4, 300, 300); /* called by 1 */
	sum_node(3)->open = SWZ_NODE_FOLDED;
	sum_call(4, 2, 4, 3, 4, 100, 100); /* called by 2 */
	sum_node(4)->open = SWZ_NODE_FOLDED;
	sum_node(4)->call_site = 0x401110;
	sum_up(false);
	ck_assert_uint_eq(sum.report.dropped_nodes, 0);
	ck_assert_int_eq(sum_costs(0).self_ns, 600);
	ck_assert_int_eq(sum_costs(1).self_ns, 100);
	ck_assert_int_eq(sum_costs(2).self_ns, 200);
	ck_assert_int_eq(sum_costs(3).self_ns, 100);
	ck_assert_uint_eq(sum_edge(0, 2).calls, 0);
	ck_assert_uint_eq(sum_edge(2, 3).calls, 4);
}
END_TEST

START_TEST(folded_contexts_may_hang_below_one_that_stands_for_their_caller)
{
	sum_call(1, 0, 1, 1, 1, 400, 400);
	sum_call(2, 0, 2, SWZ_FUNCTION_ROOT, 0, 0, 0);
	sum_call(3, 2, 3, 1, 0, 0, 0); /* all contexts of function 1 */
	sum_call(4, 2, 4, 2, 0, 0, 0); /* of function 2 */
	for (uint32_t i = 2; i <= 4; i++) {
		sum_node(i)->open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN;
		sum_node(i)->call_site = 0;
	}
	sum_call(5, 3, 5, 2, 4, 300, 300);
	sum_node(5)->open = SWZ_NODE_FOLDED;
	sum_node(5)->call_site = 0x10; /* in no function */
	sum_call(6, 4, 6, 3, 4, 100, 100);
	sum_node(6)->open = SWZ_NODE_FOLDED;
	sum_node(6)->call_site = SWZ_CALL_SITE_TAIL;
	sum_up(false);
	ck_assert_uint_eq(sum.report.dropped_nodes, 0);
	ck_assert_int_eq(sum_costs(0).self_ns, 600);
	ck_assert_int_eq(sum_costs(1).self_ns, 100);
	ck_assert_int_eq(sum_costs(2).self_ns, 200);
	ck_assert_int_eq(sum_costs(3).self_ns, 100);
	ck_assert_uint_eq(sum_edge(1, 2).calls, 4);
	ck_assert_uint_eq(sum_edge(2, 3).calls, 4);
	ck_assert_uint_eq(sum_costs(1).calls, 1);
}
END_TEST

START_TEST(folded_contexts_of_unknown_callers_keep_the_sum)
{
	int64_t called = 0;
	size_t i;

	sum_call(1, 0, 1, 1, 1, 900, 900);
	sum_call(2, 0, 2, 3, 1, 200, 200);
	sum_node(2)->open = SWZ_NODE_FOLDED;
	sum_node(2)->call_site = 0x10; /* in no function */
	sum_up(false);
	ck_assert_int_le(sum.report.total_ns, 1000);
	ck_assert_int_ge(sum.report.total_ns, 997);
	ck_assert_int_eq(sum_of_self(), sum.report.total_ns);
	ck_assert_uint_eq(sum_edge(0, 3).calls, 0);
	for (i = 0; i < sum.report.edge_count; i++)
		if (sum.report.edges[i].caller == SWZ_CATALOG_OUTSIDE)
			called += sum.report.edges[i].inclusive_ns;
	ck_assert_int_le(sum_costs(0).self_ns + called, sum.report.total_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate_folded");
	TCase *tests = tcase_create("aggregate_folded");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests,
		       folded_contexts_are_taken_from_the_function_that_calls);
	tcase_add_test(tests, compensates_folded_contexts);
	tcase_add_test(tests,
		       folded_contexts_may_hang_below_a_root_of_their_own);
	tcase_add_test(
		tests,
		folded_contexts_may_hang_below_one_that_stands_for_their_caller);
	tcase_add_test(tests, folded_contexts_of_unknown_callers_keep_the_sum);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
