/* The tree of a thread's stacks: nodes that are found again, the times of
 * samples, and what is left when it is cut. */

#include <check.h>
#include <stdlib.h>

#include "swizzle/format.h"
#include "tests/unit/run_suite.h"
#include "watch/image.h"

#define SAMPLES 150000u
#define FUNCTIONS 400u
#define HOT 1u    /* has each second sample */
#define FIRST 10u /* of the others */

static const struct swz_sampled_hit hit = {.weight = 1};

/* The function of sample I, and the place below which it is. */
static uint32_t function_of(uint32_t i)
{
	return i % 2 ? HOT : FIRST + i / 2 % FUNCTIONS;
}

static uint32_t node_of(struct swz_image_thread *thread, uint32_t i)
{
	uint32_t node = swz_stack_child(thread, 0, 0, 0);

	if (i % 2)
		return swz_stack_child(thread, node, HOT, 7);
	/* ever another path to it */
	node = swz_stack_child(thread, node, 2, i);
	node = swz_stack_child(thread, node, 3, i + 1);
	node = swz_stack_child(thread, node, function_of(i), i + 2);
	return swz_stack_hit(thread, node, i);
}

static void add_samples(struct swz_image *image,
			struct swz_image_thread *thread, uint32_t from,
			uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct swz_sampled_hit at = hit;
		uint32_t node = node_of(thread, i);

		at.time_ns = 1000000ull * (i + 1);
		at.processor = i % 3;
		at.waiting = i % 10 == 4;
		swz_sample_times_add(image, thread, node, &at);
		thread->nodes[node].samples += !at.waiting;
		thread->nodes[node].waits += at.waiting;
		thread->samples += !at.waiting;
		thread->waits += at.waiting;
		thread->weight++;
		thread->nodes[node].weight++;
		swz_stack_fold(image, thread);
	}
}

static struct swz_image_thread *begin(struct swz_image *image)
{
	*image = (struct swz_image){0};
	return swz_image_add_thread(image, 1, 0);
}

static void end(struct swz_image *image)
{
	struct swz_image_thread *thread = image->threads[0];

	swz_sample_times_forget(thread);
	free(thread->nodes);
	free(thread->children);
	free(thread);
	free(image->threads);
}

START_TEST(a_node_is_found_again)
{
	struct swz_image image;
	struct swz_image_thread *thread = begin(&image);
	size_t count;

	add_samples(&image, thread, 0, 5000);
	count = thread->node_count;
	ck_assert_uint_eq(count, 3 + 4 * 2500);
	for (uint32_t i = 0; i < 5000; i++)
		ck_assert_uint_lt(node_of(thread, i), count);
	ck_assert_uint_eq(thread->node_count, count);
	/* another place, and a hit there: each is another one */
	ck_assert_uint_eq(swz_stack_child(thread, 1, HOT, 8), count);
	ck_assert_uint_eq(swz_stack_hit(thread, 2, 7), count + 1);
	end(&image);
}
END_TEST

START_TEST(a_large_tree_is_cut_and_keeps_what_functions_have)
{
	struct swz_image image;
	struct swz_image_thread *thread = begin(&image);
	uint64_t own[FIRST + FUNCTIONS] = {0}, samples = 0, waits = 0;

	add_samples(&image, thread, 0, SAMPLES);
	/* (4 nodes for each second sample without it) */
	ck_assert_uint_lt(thread->node_count, 140000);
	ck_assert_uint_gt(image.cut_stacks, 10000);
	ck_assert_uint_lt(image.cut_stacks, SAMPLES / 2 + 1);
	for (size_t i = 0; i < thread->node_count; i++) {
		const struct swz_stack_node *node = &thread->nodes[i];

		ck_assert(!i || node->parent < i);
		samples += node->samples;
		waits += node->waits;
		if (node->samples + node->waits)
			own[node->function] += node->samples + node->waits;
		ck_assert_uint_eq(node->weight, node->samples + node->waits);
	}
	ck_assert_uint_eq(samples, thread->samples);
	ck_assert_uint_eq(waits, thread->waits);
	ck_assert_uint_eq(own[HOT], SAMPLES / 2);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		ck_assert_uint_ge(own[FIRST + i], SAMPLES / 2 / FUNCTIONS);
	/* the hot path is as it was */
	ck_assert_uint_eq(thread->nodes[node_of(thread, 1)].samples,
			  SAMPLES / 2);
	end(&image);
}
END_TEST

static void check_times(struct swz_image_thread *thread, bool waiting)
{
	struct swz_sample_packing state = {0};
	struct swz_packed_sample sample;
	struct swz_sample_times times;
	const uint8_t *at;
	uint32_t i = 0;
	size_t count = 0;

	swz_sample_times_pack(&times, thread, waiting, 1000000);
	at = times.stream;
	state.expected = times.expected;
	while (swz_sample_unpack(&at, times.stream + times.bytes, &state,
				 &sample)) {
		while ((i % 10 == 4) != waiting)
			i++;
		ck_assert_uint_lt(sample.node, thread->node_count);
		ck_assert_uint_eq(thread->nodes[sample.node].function,
				  function_of(i));
		ck_assert_uint_eq(sample.processor, i % 3);
		ck_assert_uint_le(sample.time * times.unit_ns,
				  1000000ull * (i + 1));
		ck_assert_uint_ge((sample.time + 1) * times.unit_ns + 256,
				  1000000ull * (i + 1));
		i++;
		count++;
	}
	ck_assert_uint_eq(count, times.count);
	ck_assert_uint_eq(count, waiting ? thread->waits : thread->samples);
	free(times.stream);
}

START_TEST(samples_keep_their_times_and_functions)
{
	struct swz_image image;
	struct swz_image_thread *thread = begin(&image);

	add_samples(&image, thread, 0, SAMPLES);
	ck_assert_uint_gt(image.cut_stacks, 0);
	check_times(thread, false);
	check_times(thread, true);
	ck_assert_uint_lt(thread->times[0]->size + thread->times[1]->size,
			  8 * SAMPLES);
	end(&image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_fold");
	TCase *tcase = tcase_create("stack_fold");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_node_is_found_again);
	tcase_add_test(tcase,
		       a_large_tree_is_cut_and_keeps_what_functions_have);
	tcase_add_test(tcase, samples_keep_their_times_and_functions);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
