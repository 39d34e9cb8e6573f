/* What may be chance, by numbers worked out by hand; the factors are those of
 * printed tables of Student's distribution (two-sided, 99%). */

#include <check.h>
#include <math.h>

#include "profile/costs/runs.h"
#include "tests/unit/run_suite.h"

#define NEAR 1e-4

static struct swz_spread spread_of_three(double a, double b, double c)
{
	const double values[] = {a, b, c};

	return swz_spread_of(values, 3);
}

START_TEST(has_the_mean_and_the_variance_by_one_less)
{
	static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct swz_spread spread = swz_spread_of(values, 8);

	ck_assert_uint_eq(spread.runs, 8);
	ck_assert_double_eq_tol(spread.mean, 5, 1e-12);
	/* squares of -3 -1 -1 -1 0 0 2 4 */
	ck_assert_double_eq_tol(spread.variance, 32.0 / 7, 1e-12);
	ck_assert_double_eq_tol(swz_spread_deviation(&spread), sqrt(32.0 / 7),
				1e-12);
	ck_assert(!spread.exact);
}
END_TEST

START_TEST(equal_runs_are_exact)
{
	/* (a third of it, three times, is another number) */
	struct swz_spread spread = spread_of_three(0.1, 0.1, 0.1);
	static const double single = 7;

	ck_assert(spread.exact);
	ck_assert_double_eq(spread.mean, 0.1);
	ck_assert_double_eq(spread.variance, 0);
	spread = swz_spread_of(&single, 1);
	ck_assert(spread.exact);
	ck_assert_double_eq(spread.mean, 7);
	ck_assert_double_eq(spread.variance, 0);
	spread = swz_spread_of(NULL, 0);
	ck_assert_double_eq(spread.mean, 0);
}
END_TEST

START_TEST(has_the_factors_of_the_table)
{
	static const struct {
		double degrees, factor;
	} table[] = {
		{1, 63.657},       {2, 9.925},    {4, 4.604},    {8, 3.355},
		{10, 3.169},       {20, 2.845},   {29, 2.756},   {30, 2.750},
		{INFINITY, 2.576}, {NAN, 63.657}, {0.5, 63.657},
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		ck_assert_double_eq_tol(swz_student_factor(table[i].degrees),
					table[i].factor, 1e-9);
}
END_TEST

START_TEST(between_the_factors_there_is_a_little_more_than_the_quantile)
{
	/* the quantile by the incomplete beta function */
	static const struct {
		double degrees, quantile, most;
	} table[] = {
		{1.1, 44.538, 1.04},   {1.5, 17.8203, 1.04},
		{1.9, 10.851, 1.04},   {2.5, 7.1637, 1.01},
		{8.25, 3.32605, 1.01}, {35, 2.72381, 1.01},
		{60, 2.66028, 1.01},   {120, 2.61742, 1.01},
		{1000, 2.58075, 1.01},
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double factor = swz_student_factor(table[i].degrees);

		ck_assert_double_ge(factor, table[i].quantile - 1e-3);
		ck_assert_double_le(factor, table[i].quantile * table[i].most);
	}
}
END_TEST

START_TEST(noise_is_that_of_welch)
{
	/* variances 1 and 4; of the means 1/3 and 4/3, together 5/3 */
	struct swz_spread a = spread_of_three(1, 2, 3);
	struct swz_spread b = spread_of_three(10, 12, 14);

	/* degrees (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 50/17 = 2.9412,
	 * factor 5.9582, error 1.2910 */
	ck_assert_double_eq_tol(swz_spread_noise(&a, &b), 7.6921, 0.02);
	ck_assert_double_ge(swz_spread_noise(&a, &b), 7.6921);
	ck_assert_double_eq_tol(swz_spread_noise(&b, &a),
				swz_spread_noise(&a, &b), 1e-12);
}
END_TEST

START_TEST(equal_variances_have_the_degrees_of_both)
{
	/* 3 + 3 runs of variance 9: 4 degrees, 4.604 * sqrt(3 + 3) */
	struct swz_spread a = spread_of_three(0, 3, 6);
	struct swz_spread b = spread_of_three(103, 100, 106);

	ck_assert_double_eq_tol(swz_spread_noise(&a, &b), 11.2775, NEAR);
}
END_TEST

START_TEST(one_exact_side_leaves_the_others_degrees)
{
	struct swz_spread exact = spread_of_three(5, 5, 5);
	struct swz_spread other = spread_of_three(10, 12, 14);

	/* 2 degrees: 9.925 * sqrt(4/3) */
	ck_assert_double_eq_tol(swz_spread_noise(&exact, &other), 11.4604,
				NEAR);
	ck_assert_double_eq(swz_spread_noise(&exact, &exact), 0);
}
END_TEST

START_TEST(large_figures_are_no_trouble)
{
	struct swz_spread a = spread_of_three(0, 9e18, 9e18);
	struct swz_spread b = spread_of_three(9e18, 0, 0);
	double noise = swz_spread_noise(&a, &b);

	/* variances 2.7e37: 4.604 * sqrt(1.8e37) */
	ck_assert_double_eq_tol(noise / 1e19, 1.95331, NEAR);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spread");
	TCase *tcase = tcase_create("spread");

	tcase_add_test(tcase, has_the_mean_and_the_variance_by_one_less);
	tcase_add_test(tcase, equal_runs_are_exact);
	tcase_add_test(tcase, has_the_factors_of_the_table);
	tcase_add_test(
		tcase,
		between_the_factors_there_is_a_little_more_than_the_quantile);
	tcase_add_test(tcase, noise_is_that_of_welch);
	tcase_add_test(tcase, equal_variances_have_the_degrees_of_both);
	tcase_add_test(tcase, one_exact_side_leaves_the_others_degrees);
	tcase_add_test(tcase, large_figures_are_no_trouble);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
