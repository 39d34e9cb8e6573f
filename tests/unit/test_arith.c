/* Arithmetic of costs: nothing overflows, and a share is not less than was
 * asked for. */

#include <check.h>
#include <stdint.h>

#include "util/memory.h"
#include "tests/unit/run_suite.h"

START_TEST(sums_saturate)
{
	ck_assert_int_eq(swz_add(INT64_MAX, 1), INT64_MAX);
	ck_assert_int_eq(swz_add(INT64_MIN, -1), INT64_MIN);
	ck_assert_int_eq(swz_sub(INT64_MIN, 1), INT64_MIN);
	ck_assert_int_eq(swz_sub(0, INT64_MIN), INT64_MAX);
	ck_assert_uint_eq(swz_add_count(UINT64_MAX, 1), UINT64_MAX);
	ck_assert_int_eq(swz_scale(INT64_MAX, 3, 2), INT64_MAX);
	ck_assert_int_eq(swz_scale(-5, 3, 2), 0);
	ck_assert_int_eq(swz_scale(5, 3, 0), 0);
	ck_assert_int_eq(swz_call_cost(UINT64_MAX, 1024), INT64_MAX);
}
END_TEST

/* --percent-limit 0.265 of this total left in a context of 5206 ns. */
START_TEST(a_share_is_not_less_than_its_percentage)
{
	ck_assert_int_eq(swz_least_share(0.265, 1964746), 5207);
	ck_assert_int_eq(swz_least_share(100, 1964746), 1964746);
	ck_assert_int_eq(swz_least_share(0.1, 1000), 1);
	ck_assert_int_eq(swz_least_share(0.3, 1000), 3);
	ck_assert_int_eq(swz_least_share(0, 1000), 0);
	ck_assert_int_eq(swz_least_share(1, 1), 1);
	ck_assert_int_eq(swz_least_share(50, -7), 0);
	ck_assert_int_eq(swz_least_share(100, INT64_MAX), INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arith");
	TCase *t = tcase_create("arith");

	tcase_add_test(t, sums_saturate);
	tcase_add_test(t, a_share_is_not_less_than_its_percentage);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
