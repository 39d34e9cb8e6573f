/* Several runs in one report, by numbers worked out by hand. */

#include <check.h>
#include <stdlib.h>

#include "util/memory.h"
#include "profile/costs/runs.h"
#include "tests/unit/run_suite.h"

#define OUTSIDE SWZ_CATALOG_OUTSIDE
#define WORK 3u
#define LATE 4u

static struct swz_report report;
static struct swz_runs runs;

static void add(uint32_t function, uint64_t calls, int64_t self,
		int64_t inclusive)
{
	struct swz_report_function *to = &report.functions[function];

	to->present = true;
	to->calls += calls;
	to->self_ns += self;
	to->inclusive_ns += inclusive;
	report.total_ns += self;
}

static void setup(void)
{
	report = (struct swz_report){.function_capacity = LATE};
	report.functions = calloc(LATE + 1, sizeof(*report.functions));
	add(WORK, 10, 100, 300);
	report.thread_count = 1;
	swz_runs_note(&runs, &report);
	/* there are more functions now */
	report.function_capacity = LATE + 1;
	add(WORK, 10, 104, 310);
	add(LATE, 1, 6, 6);
	report.thread_count += 2;
	swz_runs_note(&runs, &report);
}

static void teardown(void)
{
	swz_report_free(&report);
	swz_runs_free(&runs);
}

/* From tables of Student's distribution, two-sided. */
START_TEST(limits_are_the_quantiles_of_students_distribution)
{
	static const struct {
		double degrees, chance, limit;
	} rows[] = {
		{1, 0.01, 63.657},  {2, 0.01, 9.925},    {4, 0.01, 4.604},
		{8, 0.001, 5.041},  {10, 0.05, 2.228},   {18, 0.001, 3.922},
		{30, 0.001, 3.646}, {4, 0.0002, 13.034}, {1e6, 0.001, 3.291},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_double_eq_tol(
			swz_student_limit(rows[i].degrees, rows[i].chance),
			rows[i].limit, 0.001 * rows[i].limit);
	ck_assert_double_gt(swz_student_limit(4, 1e-9),
			    swz_student_limit(4, 1e-6));
}
END_TEST

START_TEST(a_smaller_chance_takes_more_noise)
{
	const double a[] = {98, 100, 102}, b[] = {99, 100, 101};
	struct swz_spread old = swz_spread_of(a, 3), new = swz_spread_of(b, 3);
	double usual = swz_spread_noise(&old, &new);

	ck_assert_double_eq_tol(swz_spread_noise_at(&old, &new, 0.01), usual,
				0.01 * usual);
	ck_assert_double_gt(swz_spread_noise_at(&old, &new, 0.001),
			    1.5 * usual);
	old = swz_spread_of(a, 1);
	new = swz_spread_of(a, 1);
	ck_assert_double_eq(swz_spread_noise_at(&old, &new, 0.001), 0);
}
END_TEST

START_TEST(the_calls_of_a_run_are_those_of_all_functions)
{
	struct swz_spread calls = swz_runs_total_calls(&runs);

	ck_assert_double_eq(calls.mean, 10.5);
	ck_assert(!calls.exact);
}
END_TEST

START_TEST(each_run_is_what_it_has_added)
{
	struct swz_function_spread work = swz_runs_function(&runs, WORK);
	struct swz_function_spread late = swz_runs_function(&runs, LATE);
	struct swz_function_spread none = swz_runs_function(&runs, 99);
	struct swz_spread total = swz_runs_total(&runs);

	ck_assert(work.calls.exact);
	ck_assert_double_eq(work.calls.mean, 10);
	ck_assert_double_eq(work.self_ns.mean, 102);
	ck_assert_double_eq(work.self_ns.variance, 8);
	ck_assert_double_eq(work.inclusive_ns.mean, 305);
	ck_assert_double_eq(work.inclusive_ns.variance, 50);
	/* not there is none */
	ck_assert(!late.calls.exact);
	ck_assert_double_eq(late.calls.mean, 0.5);
	ck_assert_double_eq(late.self_ns.mean, 3);
	ck_assert(none.calls.exact);
	ck_assert_double_eq(none.calls.mean, 0);
	ck_assert_double_eq(total.mean, 105);
	ck_assert_uint_eq(runs.items[0].thread_count, 1);
	ck_assert_uint_eq(runs.items[1].thread_count, 2);
}
END_TEST

static void add_edge(uint32_t place, uint64_t calls, int64_t ns)
{
	swz_grow(&report.edges, &report.edge_capacity, report.edge_count,
		 sizeof(*report.edges));
	report.edges[report.edge_count++] = (struct swz_report_edge){
		.caller = OUTSIDE,
		.callee = WORK,
		.place = place,
		.calls = calls,
		.inclusive_ns = ns};
}

START_TEST(reports_become_means)
{
	add_edge(1, 3, 204);
	add_edge(2, 14, 406);
	add_edge(3, 3, 0);
	swz_report_average(&report, 2);
	ck_assert_uint_eq(report.functions[WORK].calls, 10);
	ck_assert_int_eq(report.functions[WORK].self_ns, 102);
	ck_assert_int_eq(report.functions[WORK].inclusive_ns, 305);
	ck_assert_uint_eq(report.functions[LATE].calls, 1); /* 0.5 */
	ck_assert_int_eq(report.total_ns, 105);
	/* 1.5, 7, 1.5: what is even stays, and they add up to 10 */
	ck_assert_uint_eq(report.edges[0].calls, 2);
	ck_assert_uint_eq(report.edges[1].calls, 7);
	ck_assert_uint_eq(report.edges[2].calls, 1);
	ck_assert_int_eq(report.edges[0].inclusive_ns, 102);
	ck_assert_int_eq(report.edges[1].inclusive_ns, 203);
}
END_TEST

START_TEST(a_single_run_stays_what_it_is)
{
	swz_report_average(&report, 1);
	ck_assert_uint_eq(report.functions[WORK].calls, 20);
	ck_assert_int_eq(report.functions[WORK].self_ns, 204);
}
END_TEST

START_TEST(contexts_become_means)
{
	struct swz_contexts contexts;
	uint32_t a, b;

	swz_contexts_begin(&contexts, OUTSIDE, false);
	a = swz_contexts_child(&contexts, SWZ_CONTEXT_ROOT, WORK, 0, false);
	b = swz_contexts_child(&contexts, a, WORK, 0, false);
	contexts.items[a].calls = 5;
	contexts.items[a].self_ns = 90;
	contexts.items[b].calls = 4;
	contexts.items[b].self_ns = 30;
	swz_contexts_average(&contexts, 3);
	/* 1.67 and 1.33 of 3 */
	ck_assert_uint_eq(contexts.items[a].calls, 2);
	ck_assert_uint_eq(contexts.items[b].calls, 1);
	ck_assert_int_eq(contexts.items[a].self_ns, 30);
	ck_assert_int_eq(contexts.items[b].self_ns, 10);
	ck_assert_int_eq(contexts.items[a].inclusive_ns, 40);
	ck_assert_int_eq(contexts.items[SWZ_CONTEXT_ROOT].inclusive_ns, 40);
	swz_contexts_free(&contexts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runs");
	TCase *tcase = tcase_create("runs");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase,
		       limits_are_the_quantiles_of_students_distribution);
	tcase_add_test(tcase, a_smaller_chance_takes_more_noise);
	tcase_add_test(tcase, the_calls_of_a_run_are_those_of_all_functions);
	tcase_add_test(tcase, each_run_is_what_it_has_added);
	tcase_add_test(tcase, reports_become_means);
	tcase_add_test(tcase, a_single_run_stays_what_it_is);
	tcase_add_test(tcase, contexts_become_means);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
