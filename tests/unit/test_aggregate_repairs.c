/* Costs where a process was killed, forked or wrote nonsense: calls that have
 * not ended, hooks that were cut short, contexts that cannot be. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

START_TEST(closes_open_frames)
{
	sum_call(1, 0, 1, 1, 1, ENTRY(1200), ENTRY(1200));
	sum_call(2, 1, 2, 2, 3, 100 + ENTRY(1700), 100 + ENTRY(1700));
	sum_node(1)->open = OPEN(1);
	sum_node(2)->open = OPEN(1);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 800);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 400);
	ck_assert_int_eq(sum_costs(1).self_ns, 400);
	ck_assert_uint_eq(sum.report.repaired_nodes, 0);
}
END_TEST

START_TEST(closes_deep_recursion_that_wrapped_around)
{
	uint64_t now = (uint64_t)1 << 52; /* after years of uptime */
	uint64_t entries = 0;
	uint32_t i;

	builder_thread_record(&sum.builder, 0)->start_ticks = now;
	builder_thread_record(&sum.builder, 0)->last_ticks = now + 1000;
	for (i = 0; i < 100; i++)
		entries += now + 2 + i + SWZ_TICKS_BIAS;
	sum_call(1, 0, 1, 1, 1, ENTRY(now + 1), ENTRY(now + 1));
	sum_call(2, 1, 1, 1, 100, (int64_t)(0 - entries), 0);
	sum_node(1)->open = OPEN(1);
	sum_node(2)->open = OPEN(100);
	sum_node(2)->max_ticks = 0;
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 999);
	ck_assert_int_eq(sum_costs(1).self_ns, 999);
	ck_assert_uint_eq(sum.report.repaired_nodes, 0);
}
END_TEST

START_TEST(repairs_a_torn_entry)
{
	/* killed between the two stores of an entry at tick 1500 */
	sum_call(1, 0, 1, 1, 1, ENTRY(1500), ENTRY(1500));
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 500);
	ck_assert_uint_eq(sum.report.repaired_nodes, 1);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(repairs_a_torn_exit)
{
	/* the exit was added, but the activation still counts as open */
	sum_call(1, 0, 1, 1, 1, 100, 100);
	sum_node(1)->open = OPEN(1);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 100);
	ck_assert_int_eq(sum_costs(1).self_ns, 100);
	ck_assert_uint_eq(sum.report.repaired_nodes, 1);
}
END_TEST

START_TEST(repairs_many_abandoned_hooks)
{
	/* two activations began at 1900 and are not counted as open */
	sum_call(1, 0, 1, 1, 100, 90 + 2 * ENTRY(1900), 100);
	sum_node(1)->open = OPEN(0);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 90 + 2 * 100);
	ck_assert_uint_eq(sum.report.repaired_nodes, 1);
}
END_TEST

START_TEST(outermost_time_is_no_more_than_all_time)
{
	sum_call(1, 0, 1, 1, 1, 300, 400);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 300);
	ck_assert_int_eq(sum_costs(1).self_ns, 300);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

/* Ten of a recursion, 250 ticks each, have ended in the child: the calls were
 * the parent's. */
START_TEST(frames_of_a_fork_need_no_repair)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_FORKED;
	sum_call(1, 0, 1, 1, 0, 300, 300);
	sum_call(2, 1, 1, 1, 0, 2500, 0);
	sum_node(1)->max_ticks = 300;
	sum_node(2)->max_ticks = 250;
	sum_up(false);
	ck_assert_uint_eq(sum.report.repaired_nodes, 0);
	ck_assert_uint_eq(sum_costs(1).calls, 0);
	ck_assert_int_eq(sum_costs(1).self_ns, 300);
}
END_TEST

START_TEST(drops_cycles_and_orphans)
{
	sum_call(1, 0, 1, 1, 1, 300, 300);
	sum_call(2, 3, 2, 2, 1, 100, 100); /* 2 and 3: a cycle */
	sum_call(3, 2, 3, 3, 1, 100, 100);
	sum_call(4, 1, 4, 2, 1, 100, 100);
	sum_node(4)->parent = 12345;       /* not there */
	sum_call(5, 5, 5, 2, 1, 100, 100); /* its own parent */
	sum_call(6, 1, 4, 2, 1, 100, 100); /* context was dropped */
	sum_up(false);
	ck_assert_uint_eq(sum.report.dropped_nodes, 5);
	ck_assert_int_eq(sum_costs(1).self_ns, 300);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(drops_a_context_that_is_no_ancestor)
{
	sum_call(1, 0, 1, 1, 1, 300, 300);
	sum_call(2, 0, 2, 2, 1, 300, 300);
	sum_call(3, 2, 1, 1, 1, 100, 0);
	sum_call(4, 2, 2, 3, 1, 100, 0); /* nor of its function */
	sum_up(false);
	ck_assert_uint_eq(sum.report.dropped_nodes, 2);
	ck_assert_int_eq(sum_costs(2).self_ns, 300);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate_repairs");
	TCase *tests = tcase_create("aggregate_repairs");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests, closes_open_frames);
	tcase_add_test(tests, closes_deep_recursion_that_wrapped_around);
	tcase_add_test(tests, repairs_a_torn_entry);
	tcase_add_test(tests, repairs_a_torn_exit);
	tcase_add_test(tests, repairs_many_abandoned_hooks);
	tcase_add_test(tests, outermost_time_is_no_more_than_all_time);
	tcase_add_test(tests, frames_of_a_fork_need_no_repair);
	tcase_add_test(tests, drops_cycles_and_orphans);
	tcase_add_test(tests, drops_a_context_that_is_no_ancestor);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
