#include <check.h>

#include "base/time_bucket.h"
#include "profile/costs/call_tree.h"
#include "tests/unit/run_suite.h"

/* --- buckets ------------------------------------------------------------- */

START_TEST(gives_short_times_a_bucket_each)
{
	for (uint64_t time = 0; time < 2 * SWZ_BLOCK_BUCKETS; time++) {
		uint32_t bucket = swz_time_bucket(time);

		ck_assert_uint_eq(bucket, time);
		ck_assert_uint_eq(swz_bucket_start(bucket), time);
		ck_assert_uint_eq(swz_bucket_width(bucket), 1);
	}
}
END_TEST

/* On both sides of the border, and in the midst of the octave. */
START_TEST(goes_on_without_a_gap_at_each_octave)
{
	for (unsigned bit = SWZ_BUCKET_BITS; bit < 64; bit++) {
		uint64_t border = UINT64_C(1) << bit;
		uint32_t bucket = swz_time_bucket(border);

		ck_assert_uint_eq(bucket % SWZ_BLOCK_BUCKETS, 0);
		ck_assert_uint_eq(swz_bucket_start(bucket), border);
		ck_assert_uint_eq(swz_time_bucket(border - 1), bucket - 1);
		ck_assert_uint_eq(swz_bucket_start(bucket - 1) +
					  swz_bucket_width(bucket - 1),
				  border);
		ck_assert_uint_eq(swz_time_bucket(border + border / 2),
				  bucket + SWZ_BLOCK_BUCKETS / 2);
	}
}
END_TEST

START_TEST(has_a_bucket_for_the_longest_time)
{
	ck_assert_uint_eq(swz_time_bucket(UINT64_MAX), SWZ_TIME_BUCKETS - 1);
}
END_TEST

START_TEST(is_no_wider_than_a_64th_of_its_times)
{
	for (uint32_t bucket = SWZ_BLOCK_BUCKETS; bucket < SWZ_TIME_BUCKETS;
	     bucket++) {
		uint64_t start = swz_bucket_start(bucket);

		ck_assert_uint_le(swz_bucket_width(bucket),
				  start / SWZ_BLOCK_BUCKETS);
		ck_assert_uint_eq(swz_time_bucket(start), bucket);
		ck_assert_uint_eq(
			swz_time_bucket(start + (swz_bucket_width(bucket) - 1)),
			bucket);
	}
}
END_TEST

/* So a sum of sums has the buckets of its parts. */
START_TEST(finds_the_middle_of_a_bucket_in_it_when_rounded)
{
	for (uint32_t bucket = 0; bucket < 56 * SWZ_BLOCK_BUCKETS; bucket++) {
		struct swz_call_times times = {0};

		swz_call_times_add(&times,
				   (int64_t)(swz_bucket_start(bucket) +
					     swz_bucket_width(bucket) / 2),
				   1);
		ck_assert_uint_eq(swz_time_bucket((uint64_t)times.items->ns),
				  bucket);
		swz_call_times_free(&times);
	}
}
END_TEST

/* --- percentiles --------------------------------------------------------- */

static int64_t percentile(const struct swz_call_times *times,
			  enum swz_percentile which)
{
	return swz_percentile_ns(times, which, 0, 0);
}

START_TEST(takes_the_nearest_rank)
{
	struct swz_call_times times = {0};

	for (int64_t ns = 1000; ns >= 1; ns--)
		swz_call_times_add(&times, ns, 1);
	ck_assert_int_eq(percentile(&times, SWZ_P50), 500);
	ck_assert_int_eq(percentile(&times, SWZ_P90), 900);
	ck_assert_int_eq(percentile(&times, SWZ_P99), 990);
	ck_assert_int_eq(percentile(&times, SWZ_P999), 999);
	swz_call_times_free(&times);
}
END_TEST

START_TEST(is_the_only_call)
{
	struct swz_call_times times = {0};

	swz_call_times_add(&times, 77, 1);
	for (int i = 0; i < SWZ_PERCENTILES_SHOWN; i++)
		ck_assert_int_eq(percentile(&times, (enum swz_percentile)i),
				 77);
	swz_call_times_free(&times);
}
END_TEST

START_TEST(is_not_known_without_calls)
{
	struct swz_call_times times = {0};

	swz_call_times_add(&times, 5, 0);
	ck_assert_int_eq(percentile(&times, SWZ_P50), -1);
	ck_assert_int_eq(swz_percentile_noise(&times, SWZ_P50), 0);
}
END_TEST

START_TEST(lies_between_the_shortest_and_the_longest)
{
	struct swz_call_times times = {0};

	swz_call_times_add(&times, 2048, 9);
	ck_assert_int_eq(swz_percentile_ns(&times, SWZ_P50, 2051, 2052), 2051);
	ck_assert_int_eq(swz_percentile_ns(&times, SWZ_P50, 2000, 2047), 2047);
	swz_call_times_free(&times);
}
END_TEST

START_TEST(adds_up_what_two_have)
{
	struct swz_call_times a = {0}, b = {0};

	swz_call_times_add(&a, 10, 90);
	swz_call_times_add(&b, 10, 5);
	swz_call_times_add(&b, 20, 5);
	swz_call_times_add(&b, 3, UINT64_MAX);
	swz_call_times_merge(&a, &b);
	ck_assert_uint_eq(a.count, 3);
	ck_assert_int_eq(a.items[0].ns, 3);
	ck_assert_uint_eq(a.items[1].calls, 95);
	ck_assert_uint_eq(a.calls, UINT64_MAX); /* saturated */
	swz_call_times_free(&a);
	swz_call_times_free(&b);
}
END_TEST

/* Ranks 40 and 60 of 100 are 1.96 times sqrt(100 / 4) from the middle. */
START_TEST(has_the_noise_of_the_binomial_distribution)
{
	struct swz_call_times times = {0};

	for (int64_t ns = 1; ns <= 100; ns++)
		swz_call_times_add(&times, ns, 1);
	ck_assert_int_eq(swz_percentile_noise(&times, SWZ_P50), 10);
	swz_call_times_free(&times);
}
END_TEST

START_TEST(is_sure_with_calls_enough)
{
	struct swz_call_times times = {0};

	ck_assert(!swz_percentile_is_sure(&times, SWZ_P50));
	swz_call_times_add(&times, 5, 380);
	ck_assert(swz_percentile_is_sure(&times, SWZ_P50));
	ck_assert(swz_percentile_is_sure(&times, SWZ_P90));
	ck_assert(!swz_percentile_is_sure(&times, SWZ_P99));
	swz_call_times_add(&times, 6, 20);
	ck_assert(swz_percentile_is_sure(&times, SWZ_P99));
	ck_assert(!swz_percentile_is_sure(&times, SWZ_P999));
	swz_call_times_free(&times);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_times");
	TCase *tests = tcase_create("call_times");

	tcase_add_test(tests, gives_short_times_a_bucket_each);
	tcase_add_test(tests, goes_on_without_a_gap_at_each_octave);
	tcase_add_test(tests, has_a_bucket_for_the_longest_time);
	tcase_add_test(tests, is_no_wider_than_a_64th_of_its_times);
	tcase_add_test(tests, finds_the_middle_of_a_bucket_in_it_when_rounded);
	tcase_add_test(tests, takes_the_nearest_rank);
	tcase_add_test(tests, is_the_only_call);
	tcase_add_test(tests, is_not_known_without_calls);
	tcase_add_test(tests, lies_between_the_shortest_and_the_longest);
	tcase_add_test(tests, adds_up_what_two_have);
	tcase_add_test(tests, has_the_noise_of_the_binomial_distribution);
	tcase_add_test(tests, is_sure_with_calls_enough);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
