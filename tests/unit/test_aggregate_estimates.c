/* Costs where some calls were timed and stand for the others. */

#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

/* Of a hundred calls twenty were timed, for fifty: an estimate. */
START_TEST(estimates_from_timed_calls)
{
	struct swz_file_header *header = builder_header(&sum.builder);

	header->flags |= SWZ_FILE_SAMPLED;
	header->cost_inside = 1024;
	header->cost_outside = 1024;
	header->cost_untimed = 512;
	sum_call(1, 0, 1, 1, 1, 700, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 2, 2, 100, 150, 50);
	sum_node(2)->timed = 20;
	sum_node(2)->squares = 100;
	sum_up(true);
	/* 300 by all calls, less one for each */
	ck_assert_int_eq(sum_costs(2).self_ns, 200);
	ck_assert_uint_eq(sum_costs(2).calls, 100);
	/* 400, less one for its own call; what the hooks beneath took was 20 x
	 * 2 + 80 x 0.5, of which 100 are taken already */
	ck_assert_int_eq(sum_costs(1).self_ns, 400 - 1 + 20);
	/* its one call took two */
	ck_assert_int_eq(sum_costs(0).self_ns, 300 - 2 + 1);
	/* 16 x 100 - 3 x 3 x 50 x (50 / 20 - 1) */
	ck_assert_double_eq_tol(sum_costs(2).variance_ns, 925, 0.01);
	ck_assert_double_eq_tol(sum_costs(1).variance_ns, 925, 0.01);
	ck_assert(sum.report.sampled);
}
END_TEST

/* What a context calls of itself is no uncertainty of its own time. */
START_TEST(estimates_of_recursion)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
	sum_call(1, 0, 1, 1, 100, 150, 50);
	sum_call(2, 1, 1, 1, 100, 150, 50);
	for (uint32_t i = 1; i <= 2; i++) {
		sum_node(i)->timed = 20;
		sum_node(i)->squares = 100;
	}
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 300);
	ck_assert_double_eq_tol(sum_costs(1).variance_ns, 925, 0.01);
	ck_assert_double_eq_tol(sum_costs(0).variance_ns, 925, 0.01);
}
END_TEST

/* Those that are not outermost, however many, add nothing. */
START_TEST(estimates_of_recursion_have_its_outermost_time)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
	sum_call(1, 0, 1, 1, 100, 150, 50);
	sum_call(2, 1, 1, 1, 10, 15, 5);
	sum_call(3, 1, 1, 1, 10, 15, 5);
	sum_node(1)->timed = 20;
	sum_node(2)->timed = sum_node(3)->timed = 2;
	sum_up(false);
	ck_assert_uint_eq(sum_costs(1).calls, 120);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 300);
}
END_TEST

/* The calls of a leaf that are not timed cost less. */
START_TEST(estimates_the_cost_of_leaves)
{
	struct swz_file_header *header = builder_header(&sum.builder);

	header->flags |= SWZ_FILE_SAMPLED;
	header->cost_inside = 1024;
	header->cost_outside = 1024;
	header->cost_untimed = 512;
	header->cost_leaf = 256;
	builder_function_record(&sum.builder, 0, 1)->flags = SWZ_FUNCTION_LEAF;
	sum_call(1, 0, 1, 1, 1, 700, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 2, 2, 100, 150, 50);
	sum_node(2)->timed = 20;
	sum_up(true);
	ck_assert_int_eq(sum_costs(2).self_ns, 200);
	/* the hooks beneath took 20 x 2 + 80 x 0.25, of which 100 are taken
	 * already */
	ck_assert_int_eq(sum_costs(1).self_ns, 400 - 1 + 40);
	ck_assert_int_eq(sum_costs(0).self_ns, 300 - 2 + 1);
}
END_TEST

/* What was timed was long by chance. */
START_TEST(estimates_do_not_exceed_the_time)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
	sum_call(1, 0, 1, 1, 1, 900, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 2, 2, 1000, 500, 100);
	sum_node(2)->timed = 50;
	sum_up(false);
	ck_assert_int_le(sum_of_self(), 1000);
	ck_assert_int_ge(sum_of_self(), 998); /* each is rounded down */
	ck_assert_int_le(sum_costs(2).inclusive_ns, 1000);
	ck_assert_int_ge(sum_costs(2).self_ns, 998);
}
END_TEST

/* The callee has had less than the hooks in all of its calls would have taken,
 * had they been timed; its caller gets back what they took less. */
START_TEST(estimates_without_the_hooks_do_not_exceed_the_time)
{
	struct swz_file_header *header = builder_header(&sum.builder);

	header->flags |= SWZ_FILE_SAMPLED;
	header->cost_inside = 1024;
	header->cost_outside = 1024;
	sum_call(1, 0, 1, 1, 1, 900, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 2, 2, 100, 10, 50);
	sum_node(2)->timed = 20;
	sum_up(true);
	ck_assert_int_le(sum_of_self(), 1000);
	ck_assert_int_ge(sum_of_self(), 998);
	ck_assert_int_eq(sum_costs(2).self_ns, 0);
}
END_TEST

/* Beside a hundred calls, of which those that were timed stand for all, two
 * that stand for themselves. */
START_TEST(long_calls_count_for_themselves)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
	sum_call(1, 0, 1, 1, 1, 900, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 2, 2, 100, 150, 50);
	sum_node(2)->timed = 20;
	sum_node(2)->squares = 100;
	sum_call(3, 1, 2, 2, 2, 200, 2);
	sum_node(3)->timed = 2;
	sum_node(3)->call_site |= SWZ_CALL_SITE_LONG;
	sum_up(false);
	ck_assert_int_eq(sum_costs(2).self_ns, 300 + 200);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 300 + 200);
	ck_assert_uint_eq(sum_costs(2).calls, 102);
	ck_assert_int_eq(sum_costs(1).self_ns, 900 - 500);
	/* 16 x 100 - 3 x 3 x 50 x (50 / 20 - 1) */
	ck_assert_double_eq_tol(sum_costs(2).variance_ns, 925, 0.01);
}
END_TEST

/* Of a recursion that was resumed together with its stack, again and again,
 * each activation has lasted as long as all that; none has begun here. */
START_TEST(resumed_recursion_needs_no_repair)
{
	for (int resumed = 0; resumed < 2; resumed++) {
		if (resumed) {
			sum_end();
			sum_begin();
		}
		builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
		sum_call(1, 0, 1, 1, 1, 900, 1);
		sum_node(1)->timed = 1;
		sum_call(2, 1, 2, 2, 0, 0, 0);
		sum_node(2)->open |= resumed ? SWZ_NODE_RESUMED : 0;
		sum_call(3, 1, 2, 2, 0, 3000, 0);
		sum_node(3)->timed = 30;
		sum_node(3)->call_site |= SWZ_CALL_SITE_LONG;
		sum_up(false);
		ck_assert_uint_eq(sum.report.repaired_nodes, resumed ? 0 : 1);
		ck_assert_int_le(sum_of_self(), 1000);
	}
}
END_TEST

/* Where a damaged file says of which edge they are, that is none. */
START_TEST(long_calls_of_no_edge_are_dropped)
{
	builder_header(&sum.builder)->flags |= SWZ_FILE_SAMPLED;
	sum_call(1, 0, 1, 1, 1, 900, 1);
	sum_node(1)->timed = 1;
	sum_call(2, 1, 0, 2, 2, 200, 2);
	sum_node(2)->call_site |= SWZ_CALL_SITE_LONG;
	sum_call(3, 1, 1000000, 2, 2, 200, 2);
	sum_node(3)->call_site |= SWZ_CALL_SITE_LONG;
	sum_up(false);
	ck_assert_uint_eq(sum_costs(2).calls, 0);
	ck_assert_int_eq(sum_costs(1).self_ns, 900);
}
END_TEST

/* The hooks' cost stands against the running time alone. */
START_TEST(waiting_makes_no_short_call_long)
{
	struct swz_report report = {.hook_ns = 20};
	struct swz_report_function costs = {
		.calls = 100, .self_ns = 500, .self_waiting_ns = 1000000};

	ck_assert(swz_is_rough(&report, &costs));
	costs.self_ns = 6000;
	ck_assert(!swz_is_rough(&report, &costs));
}
END_TEST

static void look(uint32_t node, enum swz_look_kind kind, uint64_t ns)
{
	size_t at = builder_chunk(&sum.builder, SWZ_CHUNK_LOOKS, 1, 0,
				  sizeof(struct swz_look));
	struct swz_look look = {sum.root + node, kind, ns};

	memcpy(sum.builder.data + at + sizeof(struct swz_chunk), &look,
	       sizeof(look));
}

/* The one who looks took the processor from what ran, and few looks at what
 * slept say little: but for 480 ns it cannot have run. */
START_TEST(what_was_blocked_did_not_run)
{
	struct swz_thread_record *record = builder_thread_record(&sum.builder,
								 0);

	record->processor_ns = 400;
	record->processor_ticks = 2000;
	sum_call(1, 0, 1, 1, 1, 500, 1);
	sum_call(2, 0, 2, 2, 1, 400, 1);
	look(1, SWZ_LOOK_BLOCKED, 480);
	look(2, SWZ_LOOK_WAITED, 1000000000);
	sum_up(false);
	ck_assert_int_ge(sum_costs(1).self_waiting_ns, 480);
	ck_assert_int_le(sum_costs(1).self_ns, 20);
	ck_assert_int_ge(sum_costs(2).self_ns, 280);
	ck_assert_int_eq(sum_costs(0).self_ns + sum_costs(1).self_ns +
				 sum_costs(2).self_ns,
			 400);
}
END_TEST

/* Its processor time was read for the last time soon after its start; then it
 * was seen to wait for 600 us of 999, and killed. */
START_TEST(what_came_after_the_last_reading_is_not_known_to_run)
{
	struct swz_thread_record *record = builder_thread_record(&sum.builder,
								 0);

	record->processor_ns = 400;
	record->processor_ticks = record->start_ticks + 1000;
	record->last_ticks = record->start_ticks + 1000000;
	sum_call(1, 0, 1, 1, 1, 900000, 1);
	look(1, SWZ_LOOK_WAITED, 600600);
	sum_up(false);
	ck_assert_int_eq(sum.report.late_waiting_ns + sum.report.unknown_ns,
			 999000);
	ck_assert_int_eq(sum.report.unknown_ns, sum_of_self() - 400);
	ck_assert_int_le(sum.report.waiting_ns, 600600);
	ck_assert_int_ge(sum.report.waiting_ns, 600599);
	ck_assert_int_eq(sum.report.waiting_ns + sum_of_self(), 1000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate_estimates");
	TCase *tests = tcase_create("aggregate_estimates");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests, estimates_from_timed_calls);
	tcase_add_test(tests, estimates_of_recursion);
	tcase_add_test(tests, estimates_of_recursion_have_its_outermost_time);
	tcase_add_test(tests, estimates_the_cost_of_leaves);
	tcase_add_test(tests, estimates_do_not_exceed_the_time);
	tcase_add_test(tests,
		       estimates_without_the_hooks_do_not_exceed_the_time);
	tcase_add_test(tests, long_calls_count_for_themselves);
	tcase_add_test(tests, resumed_recursion_needs_no_repair);
	tcase_add_test(tests, long_calls_of_no_edge_are_dropped);
	tcase_add_test(tests, waiting_makes_no_short_call_long);
	tcase_add_test(tests, what_was_blocked_did_not_run);
	tcase_add_test(tests,
		       what_came_after_the_last_reading_is_not_known_to_run);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
