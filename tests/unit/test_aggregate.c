/* Costs, by numbers worked out by hand: what functions take, who gets it, and
 * what it adds up to. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/summed_profile.h"

START_TEST(self_is_inclusive_less_callees)
{
	sum_call(1, 0, 1, 1, 1, 700, 700);
	sum_call(2, 1, 2, 2, 3, 300, 300);
	sum_up(false);
	ck_assert_int_eq(sum_costs(0).self_ns, 300);
	ck_assert_int_eq(sum_costs(0).inclusive_ns, 1000);
	ck_assert_int_eq(sum_costs(1).self_ns, 400);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 700);
	ck_assert_int_eq(sum_costs(2).self_ns, 300);
	ck_assert_uint_eq(sum_costs(2).calls, 3);
	ck_assert_int_eq(sum_costs(2).min_ns, 100);
	ck_assert_uint_eq(sum_edge(1, 2).calls, 3);
	ck_assert_int_eq(sum_edge(1, 2).inclusive_ns, 300);
	ck_assert_int_eq(sum.report.total_ns, 1000);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

/* Two chunks of the thread's, and one of a thread that is not there. */
START_TEST(counts_calls_that_exceptions_ended)
{
	static const struct {
		uint32_t owner, node;
		uint64_t count;
	} records[] = {{0, 1, 3}, {0, 2, 5}, {7, 1, 100}, {0, 6000, 9}};
	size_t i;

	sum_call(1, 0, 1, 1, 10, 100, 100);
	sum_call(2, 1, 2, 2, 10, 50, 50);
	sum_call(3, 0, 3, 2, 10, 50, 50);
	for (i = 0; i < sizeof(records) / sizeof(*records); i++) {
		size_t at = builder_chunk(&sum.builder, SWZ_CHUNK_UNWOUND, 4,
					  records[i].owner, 64);
		struct swz_unwound_record *slots =
			(void *)(sum.builder.data + at +
				 sizeof(struct swz_chunk));

		slots[2].node = sum.root +
				records[i].node; /* 0, 1, 3: unused */
		slots[2].count = records[i].count;
	}
	sum_up(false);
	ck_assert_uint_eq(sum.profile->unwound_count, 4);
	ck_assert_uint_eq(sum.profile->threads[0].unwound_count, 3);
	ck_assert_uint_eq(sum.report.functions[sum_index(1)].unwound, 3);
	ck_assert_uint_eq(sum.report.functions[sum_index(2)].unwound, 5);
	ck_assert_uint_eq(sum.report.functions[sum_index(0)].unwound, 0);
	ck_assert_uint_eq(sum.report.functions[sum_index(2)].calls, 20);
	ck_assert(!swz_profile_damaged(sum.profile));
}
END_TEST

START_TEST(a_context_lasts_as_long_as_what_it_calls)
{
	sum_call(1, 0, 1, 1, 1, 0, 0);
	sum_call(2, 1, 2, 2, 1, 400, 400);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 0);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 400);
	ck_assert_int_eq(sum_costs(0).self_ns, 600);
	ck_assert_int_eq(sum.report.total_ns, 1000);
}
END_TEST

/* The work of patching a library, within 1's call of dlopen. */
static void build_own_work(void)
{
	sum_call(1, 0, 1, 1, 1, 700, 700);
	sum_call(2, 1, 2, SWZ_FUNCTION_OURSELVES, 0, 400, 400);
	sum_node(2)->open = SWZ_NODE_HIDDEN;
	sum_call(3, 1, 3, 3, 2, 100, 100);
	builder_header(&sum.builder)->cost_inside = 0;
	builder_header(&sum.builder)->cost_outside = 0;
}

START_TEST(own_work_is_nobodys)
{
	build_own_work();
	sum_up(true);
	ck_assert_int_eq(sum_costs(1).self_ns, 200);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 300);
	ck_assert_int_eq(sum_costs(3).self_ns, 100);
	ck_assert_int_eq(sum.report.total_ns, 600);
	ck_assert_int_eq(sum.report.raw_ns, 1000);
	ck_assert_int_eq(sum_of_self(), 600);
}
END_TEST

START_TEST(own_work_is_there_without_compensation)
{
	build_own_work();
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 600);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 700);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(hidden_contexts_count_for_their_callers)
{
	sum_call(1, 0, 1, 1, 1, 300, 300);
	sum_call(2, 1, 2, 2, 1, 200, 200);
	sum_node(2)->open = SWZ_NODE_HIDDEN;
	sum_call(3, 2, 3, 3, 4, 50, 50);
	sum_up(false);
	ck_assert_int_eq(sum_costs(1).self_ns, 250);
	ck_assert(!sum_costs(2).present);
	ck_assert_int_eq(sum_costs(3).self_ns, 50);
	ck_assert_uint_eq(sum_edge(1, 3).calls, 4);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(keeps_functions_without_a_record)
{
	sum_call(1, 0, 1, 77, 1, 300, 300);
	sum_up(false);
	ck_assert_str_eq(sum.catalog.functions[sum_index(77)].name,
			 "function_77");
	ck_assert_int_eq(sum_costs(77).self_ns, 300);
}
END_TEST

START_TEST(names_functions_without_symbols_by_address)
{
	sum_call(1, 0, 1, 3, 1, 300, 300);
	sum_up(false);
	ck_assert_str_eq(sum.catalog.functions[sum_index(3)].name, "sub_1200");
}
END_TEST

START_TEST(names_functions_as_they_were_asked_for)
{
	builder_names(&sum.builder, 0, 3, 1, "free", sizeof("free"));
	sum_call(1, 0, 1, 3, 1, 300, 300);
	sum_up(false);
	ck_assert_str_eq(sum.catalog.functions[sum_index(3)].name, "free");
}
END_TEST

START_TEST(walks_deep_trees_without_recursion)
{
	uint32_t depth = 200000, i;

	builder_free(&sum.builder);
	builder_begin(&sum.builder);
	builder_module(&sum.builder, 0, "prog", 0x400000, 1, 4);
	sum.root = builder_thread(&sum.builder, 0, 100, "main", 2000, depth);
	for (i = 1; i < depth; i++)
		sum_call(i, i - 1, i, 1 + i % 4, 1, 500, 500);
	sum_up(true);
	ck_assert_uint_eq(sum.report.dropped_nodes, 0);
	ck_assert_int_eq(sum_of_self(), sum.report.total_ns);
}
END_TEST

START_TEST(adds_up_threads)
{
	uint32_t second = builder_thread(&sum.builder, 1, 101, "w", 1600, 2);

	builder_call(&sum.builder, second + 1, second, second + 1, 1, SITE, 2,
		     400, 400);
	sum_call(1, 0, 1, 1, 1, 700, 700);
	sum_up(false);
	ck_assert_uint_eq(sum_costs(1).calls, 3);
	ck_assert_int_eq(sum_costs(1).inclusive_ns, 1100);
	ck_assert_int_eq(sum.report.total_ns, 1600);
	ck_assert_uint_eq(sum.report.thread_count, 2);
}
END_TEST

START_TEST(rounding_keeps_the_sum)
{
	/* 3 ticks are 1 ns */
	builder_header(&sum.builder)->clock[1].ticks = 1000 + 3 * 4000;
	builder_header(&sum.builder)->clock[1].monotonic_ns = 4500;
	sum_call(1, 0, 1, 1, 1, 302, 302);
	sum_call(2, 1, 2, 2, 1, 200, 200);
	sum_call(3, 1, 3, 3, 1, 100, 100);
	sum_up(false);
	ck_assert_int_eq(sum.report.total_ns, 333);
	ck_assert_int_eq(sum_of_self(), 333);
	/* what a reader of the tree adds up; 302 ticks are 100.67 ns */
	ck_assert_int_eq(sum_costs(1).inclusive_ns,
			 sum_costs(1).self_ns + sum_costs(2).self_ns +
				 sum_costs(3).self_ns);
	ck_assert_int_ge(sum_costs(1).inclusive_ns, 100);
	ck_assert_int_le(sum_costs(1).inclusive_ns, 101);
}
END_TEST

START_TEST(rounding_keeps_self_within_inclusive)
{
	uint32_t i;

	/* 3 ticks are 1 ns; 1 + 1/3 ns of self time, thrice and what is left */
	builder_header(&sum.builder)->clock[1].ticks = 1000 + 3 * 4000;
	builder_header(&sum.builder)->clock[1].monotonic_ns = 4500;
	for (i = 1; i <= 3; i++)
		sum_call(i, 0, i, i, 1, 4, 4);
	sum_up(false);
	ck_assert_int_eq(sum_of_self(), sum.report.total_ns);
	for (i = 0; i <= 3; i++) {
		ck_assert_int_ge(sum_costs(i).inclusive_ns,
				 sum_costs(i).self_ns);
		ck_assert_int_le(sum_costs(i).inclusive_ns,
				 sum.report.total_ns);
	}
}
END_TEST

START_TEST(merges_profiles_by_module_and_address)
{
	struct profile_builder other;
	struct swz_binding other_binding;
	struct swz_profile *other_profile;
	struct swz_tree tree;
	uint32_t unit;

	sum_call(1, 0, 1, 2, 1, 700, 700);
	sum_up(false);
	/* the same module elsewhere, with other ids and another clock */
	builder_begin(&other);
	builder_module(&other, 5, "prog", 0x7f00000, 11, 4);
	unit = builder_thread(&other, 0, 9, "main", 2000, 2);
	builder_call(&other, unit + 1, unit, unit + 1, 12, 0, 1, 700, 700);
	other_profile = builder_read(&other);
	swz_catalog_bind(&other_binding, &sum.catalog, other_profile);
	swz_tree_build(&tree, other_profile, &other_profile->threads[0], false);
	swz_report_add(&sum.report, &other_binding, &tree);
	ck_assert_uint_eq(sum.catalog.module_count, 1);
	ck_assert_uint_eq(sum_costs(2).calls, 2);
	ck_assert_int_eq(sum_costs(2).inclusive_ns, 700 + 350);
	ck_assert_int_eq(sum.report.total_ns, 1500);
	swz_tree_free(&tree);
	swz_binding_free(&other_binding);
	swz_profile_free(other_profile);
	builder_free(&other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tests = tcase_create("aggregate");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, sum_begin, sum_end);
	tcase_add_test(tests, self_is_inclusive_less_callees);
	tcase_add_test(tests, counts_calls_that_exceptions_ended);
	tcase_add_test(tests, a_context_lasts_as_long_as_what_it_calls);
	tcase_add_test(tests, own_work_is_nobodys);
	tcase_add_test(tests, own_work_is_there_without_compensation);
	tcase_add_test(tests, hidden_contexts_count_for_their_callers);
	tcase_add_test(tests, keeps_functions_without_a_record);
	tcase_add_test(tests, names_functions_without_symbols_by_address);
	tcase_add_test(tests, names_functions_as_they_were_asked_for);
	tcase_add_test(tests, walks_deep_trees_without_recursion);
	tcase_add_test(tests, adds_up_threads);
	tcase_add_test(tests, rounding_keeps_the_sum);
	tcase_add_test(tests, rounding_keeps_self_within_inclusive);
	tcase_add_test(tests, merges_profiles_by_module_and_address);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
