/* What samples of a thread stand for: all together are its processor time. */

#include <string.h>

#include "tests/unit/run_suite.h"
#include "watch/tasks.h"

#define MS UINT64_C(1000000)
#define F 0u /* functions of the image */
#define G 1u

static struct swz_stack_node nodes[] = {
	{.function = SWZ_FUNCTION_ROOT},
	{.parent = 0, .function = F},
	{.parent = 1, .function = G},
	{.parent = 1, .function = SWZ_FUNCTION_KERNEL},
};
static struct swz_image_thread thread;
static struct swz_sample_run run;
static struct swz_thread_time result;

/* So many samples of each, of which each weighs a period. */
static void sampled(uint64_t f, uint64_t g, uint64_t kernel)
{
	const uint64_t samples[] = {0, f, g, kernel};

	thread = (struct swz_image_thread){.nodes = nodes, .node_count = 4};
	for (size_t i = 0; i < 4; i++) {
		nodes[i].samples = (uint32_t)samples[i];
		nodes[i].weight = samples[i] * MS;
		nodes[i].waits = 0;
		thread.samples += samples[i];
		thread.weight += samples[i] * MS;
	}
	thread.kernel_samples = kernel;
	run = (struct swz_sample_run){.period_ns = MS,
				      .flags = SWZ_SAMPLES_OF_KERNEL};
}

static void derive(uint64_t processor_ns, uint64_t wall_ns)
{
	thread.processor_ns = processor_ns;
	thread.processor_known = true;
	thread.start_ns = 5;
	swz_thread_time(&result, &run, &thread, 5 + wall_ns);
}

/* Of the node below the root; 0 if there is none. */
static uint64_t row(uint32_t function)
{
	for (size_t i = 1; i < result.count; i++)
		if (result.nodes[i].function == function &&
		    !result.nodes[i].parent)
			return result.total_ns[i];
	return 0;
}

START_TEST(samples_share_the_processor_time)
{
	sampled(10, 20, 3);
	derive(66 * MS + 1, 100 * MS);
	ck_assert_uint_eq(result.total_ns[0], 66 * MS + 1);
	ck_assert_uint_eq(result.total_ns[1], 66 * MS + 1);
	ck_assert_uint_ge(result.total_ns[2], 40 * MS);
	ck_assert_uint_le(result.total_ns[2], 40 * MS + 1);
	ck_assert_uint_eq(row(SWZ_FUNCTION_UNSAMPLED), 0);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(weights_count_and_not_samples)
{
	sampled(10, 10, 0);
	nodes[2].weight = 30 * MS;
	thread.weight = 40 * MS;
	derive(40 * MS, 40 * MS);
	ck_assert_uint_eq(result.total_ns[2], 30 * MS);
	ck_assert_uint_eq(result.total_ns[1], 40 * MS);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(without_samples_of_the_kernel_it_has_the_rest)
{
	sampled(10, 20, 0);
	run.flags = 0;
	derive(50 * MS, 60 * MS);
	/* the last period had half passed */
	ck_assert_uint_eq(row(SWZ_FUNCTION_KERNEL), 20 * MS - MS / 2);
	ck_assert_uint_eq(result.total_ns[1], 30 * MS + MS / 2);
	ck_assert_uint_eq(result.total_ns[0], 50 * MS);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(less_than_a_period_is_not_the_kernels)
{
	sampled(1, 1, 0);
	run.flags = 0;
	derive(2 * MS + MS / 2, 3 * MS);
	ck_assert_uint_eq(row(SWZ_FUNCTION_KERNEL), 0);
	ck_assert_uint_eq(result.total_ns[1], 2 * MS + MS / 2);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(lost_samples_are_not_the_kernels)
{
	sampled(10, 10, 0);
	thread.lost = 20;
	run.flags = 0;
	derive(40 * MS, 40 * MS);
	ck_assert_uint_eq(row(SWZ_FUNCTION_KERNEL), 0);
	ck_assert_uint_eq(result.total_ns[1], 40 * MS);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(what_no_sample_hit_is_not_sampled)
{
	sampled(0, 0, 0);
	derive(700, 1000);
	ck_assert_uint_eq(row(SWZ_FUNCTION_UNSAMPLED), 700);
	swz_thread_time_free(&result);
	/* (for so long it would have been hit) */
	run.flags = 0;
	derive(20 * MS, 20 * MS);
	ck_assert_uint_eq(row(SWZ_FUNCTION_UNSAMPLED), 0);
	ck_assert_uint_eq(row(SWZ_FUNCTION_KERNEL), 20 * MS);
	ck_assert_uint_eq(result.total_ns[0], 20 * MS);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(waiting_is_what_did_not_run)
{
	sampled(10, 0, 0);
	run.flags |= SWZ_SAMPLES_OF_WAITING;
	nodes[2].waits = 3;
	thread.waits = 3;
	derive(10 * MS, 40 * MS);
	ck_assert_uint_eq(result.total_ns[0], 40 * MS);
	ck_assert_uint_eq(result.waiting_ns[0], 30 * MS);
	ck_assert_uint_eq(result.total_ns[2], 30 * MS);
	ck_assert_uint_eq(result.waiting_ns[2], 30 * MS);
	swz_thread_time_free(&result);
}
END_TEST

START_TEST(a_row_that_is_there_has_what_is_added)
{
	sampled(10, 0, 0);
	nodes[3].parent = 0;
	nodes[3].samples = 10;
	nodes[3].weight = 10 * MS;
	thread.samples = 20;
	thread.weight = 20 * MS;
	run.flags = 0;
	derive(40 * MS, 40 * MS);
	ck_assert_uint_eq(result.count, 4);
	ck_assert_uint_eq(result.total_ns[0], 40 * MS);
	nodes[3].parent = 1;
	swz_thread_time_free(&result);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_time");
	TCase *tcase = tcase_create("thread_time");

	tcase_add_test(tcase, samples_share_the_processor_time);
	tcase_add_test(tcase, weights_count_and_not_samples);
	tcase_add_test(tcase, without_samples_of_the_kernel_it_has_the_rest);
	tcase_add_test(tcase, less_than_a_period_is_not_the_kernels);
	tcase_add_test(tcase, lost_samples_are_not_the_kernels);
	tcase_add_test(tcase, what_no_sample_hit_is_not_sampled);
	tcase_add_test(tcase, waiting_is_what_did_not_run);
	tcase_add_test(tcase, a_row_that_is_there_has_what_is_added);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
