/* Which calls are timed, and what for: weights, gaps, what long calls do to
 * them, and which frames get to know of a time. */

#include <check.h>
#include <string.h>

#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum {
	TIMED_AT_ONCE = SWZ_SCORE_OF_LEVEL + 1, /* calls of each weight */
	UNTIMED = SWZ_START_UNTIMED | SWZ_START_UNSEEN
};

#define STEP ((uint64_t)SWZ_START_STEP)

#define NOON (1000000 * STEP)

static struct runtime_thread thread;
static struct swz_node *node;
static void (*exit_hook)(void);

/* What swz_sampling_begin() refers to. */
void swz_hook_exit_sampled(void);

void swz_hook_exit_sampled(void)
{
}

void swz_hook_exit_following_sampled(void);

void swz_hook_exit_following_sampled(void)
{
}

void swz_arena_set_exit(void (*hook)(void), void (*following)(void))
{
	exit_hook = hook;
	ck_assert(following == swz_hook_exit_following_sampled);
}

static void set_up(void)
{
	runtime_begin(&thread);
	swz_sampling_begin();
	node = runtime_node(1, thread.cold.root, 0x400010);
}

static uint64_t decide(void)
{
	return swz_sampling_decide(&thread.hot, node);
}

/* The calls that pass untimed before the next one, whose bits are *bits. */
static unsigned gap(uint64_t *bits)
{
	unsigned passed = 0;

	while ((*bits = decide()) == UNTIMED)
		passed++;
	return passed;
}

START_TEST(says_so_in_the_file)
{
	ck_assert(swz_sampling);
	ck_assert_uint_eq(swz_file->flags, SWZ_FILE_SAMPLED);
	ck_assert(exit_hook == swz_hook_exit_sampled);
}
END_TEST

/* 17 calls of each weight, 1, 4, 16; from then on 64. */
START_TEST(weight_of_short_calls_grows_to_64)
{
	uint64_t bits;

	for (unsigned level = 0; level < 5; level++) {
		unsigned expected = level < 3 ? level : 3;

		for (unsigned i = 0; i < TIMED_AT_ONCE; i++) {
			gap(&bits);
			ck_assert_uint_eq(bits, expected | SWZ_START_UNSEEN);
			ck_assert_uint_eq(swz_start_weight(bits),
					  1u << 2 * expected);
		}
	}
	ck_assert_uint_eq(SWZ_MOST_WEIGHT, 64);
}
END_TEST

/* At weight 1 none is let pass; otherwise from none to twice the mean. */
START_TEST(gaps_are_as_wide_as_the_weight_says)
{
	uint64_t level = (unsigned)_i, mean = (1u << 2 * level) - 1;
	unsigned least = UINT32_MAX, most = 0;
	uint64_t sum = 0, bits;

	for (unsigned i = 0; i < 20000; i++) {
		unsigned passed;

		node->open = (uint32_t)level << SWZ_LEVEL_SHIFT;
		node->score = 0;
		passed = gap(&bits);
		sum += passed;
		least = passed < least ? passed : least;
		most = passed > most ? passed : most;
	}
	ck_assert_uint_eq(least, 0);
	ck_assert_uint_eq(most / 2, mean);
	ck_assert_uint_eq(most % 2, 0);
	ck_assert_uint_ge(sum, 20000 * mean / 100 * 98);
	ck_assert_uint_le(sum, 20000 * mean / 100 * 102 + 20000 * mean % 100);
}
END_TEST

START_TEST(level_is_in_bits_of_its_own)
{
	node->open = 7u << SWZ_NODE_OPEN_SHIFT | SWZ_NODE_FOLDED;
	for (unsigned i = 0; i < TIMED_AT_ONCE; i++)
		decide();
	ck_assert_uint_eq(node->open, 7u << SWZ_NODE_OPEN_SHIFT |
					      SWZ_NODE_FOLDED |
					      1u << SWZ_LEVEL_SHIFT);
}
END_TEST

START_TEST(hook_that_took_the_last_one_is_told_to_time)
{
	node->skip = UINT8_MAX;
	ck_assert_uint_eq(decide(), SWZ_START_UNSEEN);
	node->skip = 2;
	ck_assert_uint_eq(decide(), UNTIMED);
	ck_assert_uint_eq(node->skip, 1);
	ck_assert_uint_eq(decide(), UNTIMED);
	ck_assert_uint_eq(node->skip, 0);
	ck_assert_uint_eq(decide(), SWZ_START_UNSEEN);
}
END_TEST

/* ------------------------------------------------------------ what is seen */

START_TEST(an_untimed_start_becomes_the_time_of_what_it_has_called)
{
	uint64_t start = (NOON - 10 * STEP) | UNTIMED;

	ck_assert(swz_sampling_see(&start, NOON | SWZ_START_LEVEL));
	ck_assert_uint_eq(start, NOON | SWZ_START_UNTIMED);
	ck_assert(!swz_sampling_see(&start, NOON + STEP));
	ck_assert_uint_eq(start, NOON | SWZ_START_UNTIMED);
}
END_TEST

START_TEST(a_start_is_never_put_back)
{
	uint64_t start = (NOON + STEP) | UNTIMED;

	ck_assert(swz_sampling_see(&start, NOON));
	ck_assert_uint_eq(start, (NOON + STEP) | SWZ_START_UNTIMED);
}
END_TEST

START_TEST(a_timed_start_keeps_its_time_and_weight)
{
	uint64_t start = NOON | 2 | SWZ_START_UNSEEN;

	ck_assert(swz_sampling_see(&start, NOON + STEP));
	ck_assert_uint_eq(start, NOON | 2);
}
END_TEST

START_TEST(a_suspended_start_is_left_alone)
{
	uint64_t start = SWZ_SUSPENDED | UNTIMED;

	ck_assert(!swz_sampling_see(&start, NOON));
	ck_assert_uint_eq(start, SWZ_SUSPENDED | UNTIMED);
}
END_TEST

/* Each frame's start is later than that of the one above. */
START_TEST(callers_get_times_in_their_order)
{
	static struct swz_thunk frames[4], record;
	static uint64_t slots[4];

	memset(frames, 0, sizeof(frames));
	memset(&record, 0, sizeof(record));
	for (unsigned i = 0; i < 4; i++)
		runtime_enter(&thread, &frames[i], node, UNTIMED | 32 * STEP,
			      &slots[i]);
	frames[0].start_ticks = (NOON - 100 * STEP) | SWZ_START_UNSEEN;
	record.start_ticks = UNTIMED | 32 * STEP;
	swz_frame_push_record(&frames[2], &record);
	swz_sampling_see_callers(&frames[3], NOON);
	ck_assert_uint_eq(frames[3].start_ticks,
			  (NOON - STEP) | SWZ_START_UNTIMED);
	ck_assert_uint_eq(record.start_ticks,
			  (NOON - 2 * STEP) | SWZ_START_UNTIMED);
	ck_assert_uint_eq(frames[2].start_ticks,
			  (NOON - 2 * STEP) | SWZ_START_UNTIMED);
	ck_assert_uint_eq(frames[1].start_ticks,
			  (NOON - 3 * STEP) | SWZ_START_UNTIMED);
	ck_assert_uint_eq(frames[0].start_ticks, NOON - 100 * STEP);
}
END_TEST

/* Those above one that was told, is timed or is closed know already, or tell
 * for themselves. */
START_TEST(callers_are_asked_up_to_the_first_that_knows)
{
	static struct swz_thunk frames[2];
	static uint64_t slots[2];
	static const uint64_t knowing[] = {NOON | SWZ_START_UNTIMED,
					   NOON | SWZ_START_UNSEEN, UNTIMED};

	memset(frames, 0, sizeof(frames));
	for (unsigned i = 0; i < 2; i++)
		runtime_enter(&thread, &frames[i], node, UNTIMED | 32 * STEP,
			      &slots[i]);
	frames[1].start_ticks = knowing[_i];
	if (_i == 2)
		frames[1].pending = SWZ_CLOSED;
	swz_sampling_see_callers(&frames[1], NOON);
	ck_assert_uint_eq(frames[0].start_ticks, UNTIMED | 32 * STEP);
}
END_TEST

/* ------------------------------------------------------- stray, long calls */

START_TEST(one_long_call_of_a_thousand_is_a_stray)
{
	uint64_t ticks = SWZ_LONG_TICKS;

	node->timed = 1024;
	ck_assert(!swz_sampling_is_stray(node, 1, ticks));
	ck_assert(!swz_sampling_is_stray(node, 4, ticks - 1));
	ck_assert_uint_eq(node->long_ones, 0);
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
	ck_assert_uint_eq(node->long_ones, 1);
	ck_assert(!swz_sampling_is_stray(node, 4, ticks)); /* 1 in 512 */
	node->long_ones = 1;
	node->timed = 1025;
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
	node->long_ones = UINT16_MAX;
	node->timed = UINT32_MAX;
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
	ck_assert_uint_eq(node->long_ones, UINT16_MAX);
}
END_TEST

/* An eighth of the estimate at most comes from one call. */
START_TEST(a_long_call_is_no_stray_where_it_hardly_counts)
{
	uint64_t ticks = SWZ_LONG_TICKS;

	node->timed = 1u << 20;
	node->ticks = (int64_t)(32 * ticks);
	ck_assert(!swz_sampling_is_stray(node, 4, ticks));
	ck_assert(swz_sampling_is_stray(node, 4, ticks + 1));
	node->open = 1u << SWZ_NODE_OPEN_SHIFT;
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
	node->open = 0;
	node->ticks = 0;
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
	node->ticks = -1;
	ck_assert(swz_sampling_is_stray(node, 4, ticks));
}
END_TEST

START_TEST(squares_of_what_was_not_timed_are_summed)
{
	swz_sampling_ended(node, 1, 4000);
	ck_assert_uint_eq(node->squares, 0);
	swz_sampling_ended(node, 4, 4000);
	ck_assert_uint_eq(node->squares, 12000000);
	swz_sampling_ended(node, 64, 8);
	ck_assert_uint_eq(node->squares, 12000000 + 16128);
	node->squares = UINT64_MAX - 11;
	swz_sampling_ended(node, 4, 4);
	ck_assert_uint_eq(node->squares, UINT64_MAX);
	node->squares = 0;
	swz_sampling_ended(node, 4, UINT64_C(1) << 32);
	ck_assert_uint_eq(node->squares, UINT64_MAX);
	node->squares = 0;
	swz_sampling_ended(node, 64, UINT32_MAX);
	ck_assert_uint_eq(node->squares, UINT64_MAX);
}
END_TEST

/* From 0 points to -64 nine long calls, of 8 points each, and one more. */
START_TEST(long_calls_make_the_weight_smaller)
{
	node->open = 2u << SWZ_LEVEL_SHIFT;
	node->skip = 9;
	swz_sampling_ended(node, 16, SWZ_LONG_TICKS - 1);
	ck_assert_int_eq(node->score, 0);
	for (int64_t i = 1; i <= 8; i++) {
		swz_sampling_ended(node, 16, SWZ_LONG_TICKS);
		ck_assert_int_eq(node->score, -8 * i);
	}
	ck_assert_uint_eq(node->open, 2u << SWZ_LEVEL_SHIFT);
	ck_assert_uint_eq(node->skip, 9);
	swz_sampling_ended(node, 16, SWZ_LONG_TICKS);
	ck_assert_uint_eq(node->open, 1u << SWZ_LEVEL_SHIFT);
	ck_assert_int_eq(node->score, 0);
	ck_assert_uint_eq(node->skip, 0);
	node->open = 0;
	node->score = -64;
	node->skip = 9;
	swz_sampling_ended(node, 1, SWZ_LONG_TICKS);
	ck_assert_uint_eq(node->open, 0);
	ck_assert_uint_eq(node->skip, 9);
}
END_TEST

/* All calls of a deep recursion are long. Where it is folded they do not count.
 */
START_TEST(those_of_a_folded_recursion_do_not)
{
	ck_assert(swz_sampling_is_long(node, 16, SWZ_ALONE_TICKS));
	ck_assert(!swz_sampling_stays(node));
	node->context = node->parent;
	node->open = 2u << SWZ_LEVEL_SHIFT;
	for (unsigned i = 0; i < 20; i++)
		swz_sampling_ended(node, 16, UINT64_C(2) * SWZ_ALONE_TICKS);
	ck_assert_uint_eq(node->open, 2u << SWZ_LEVEL_SHIFT);
	ck_assert_int_eq(node->score, 0);
	ck_assert(!swz_sampling_is_long(node, 16, SWZ_ALONE_TICKS));
}
END_TEST

/* Where one through several contexts is, they count for themselves early. */
START_TEST(those_of_a_folded_cycle_count_alone_sooner)
{
	ck_assert(!swz_sampling_is_long(node, 16, SWZ_LONG_TICKS));
	node->open = SWZ_NODE_CYCLE | 2u << SWZ_LEVEL_SHIFT;
	ck_assert(swz_sampling_is_long(node, 16, SWZ_LONG_TICKS));
	ck_assert(!swz_sampling_is_long(node, 16, SWZ_LONG_TICKS - 1));
	ck_assert(!swz_sampling_is_long(node, SWZ_START_STEP | SWZ_START_UNSEEN,
					SWZ_LONG_TICKS));
	for (unsigned i = 0; i < 9; i++)
		swz_sampling_ended(node, 16, SWZ_LONG_TICKS);
	ck_assert_uint_eq(node->open, SWZ_NODE_CYCLE | 1u << SWZ_LEVEL_SHIFT);
}
END_TEST

START_TEST(calibration_has_so_many_timed_or_none)
{
	uint64_t bits;

	node->open = 3u << SWZ_LEVEL_SHIFT;
	node->skip = 77;
	swz_sampling_set(node, SWZ_MOST_TIMED);
	for (unsigned i = 0; i <= SWZ_MOST_TIMED; i++) {
		ck_assert_uint_eq(gap(&bits), 0);
		ck_assert_uint_eq(bits, SWZ_START_UNSEEN);
	}
	ck_assert_uint_eq(node->open, 1u << SWZ_LEVEL_SHIFT);
	swz_sampling_set(node, 0);
	ck_assert_uint_eq(gap(&bits), UINT8_MAX - 1);
	ck_assert_uint_eq(bits, SWZ_START_UNSEEN);
}
END_TEST

/* What weights are for: the sum of those that are timed is the number of calls.
 */
START_TEST(timed_calls_stand_for_all)
{
	uint64_t sum = 0;
	const uint64_t calls = 1000000;

	for (uint64_t i = 0; i < calls; i++) {
		uint64_t bits = decide();

		if (!(bits & SWZ_START_UNTIMED))
			sum += swz_start_weight(bits);
	}
	ck_assert_uint_ge(sum, calls / 100 * 99);
	ck_assert_uint_le(sum, calls / 100 * 101);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampling");
	TCase *t = tcase_create("sampling");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, says_so_in_the_file);
	tcase_add_test(t, weight_of_short_calls_grows_to_64);
	tcase_add_loop_test(t, gaps_are_as_wide_as_the_weight_says, 0, 4);
	tcase_add_test(t, level_is_in_bits_of_its_own);
	tcase_add_test(t, hook_that_took_the_last_one_is_told_to_time);
	tcase_add_test(t,
		       an_untimed_start_becomes_the_time_of_what_it_has_called);
	tcase_add_test(t, a_start_is_never_put_back);
	tcase_add_test(t, a_timed_start_keeps_its_time_and_weight);
	tcase_add_test(t, a_suspended_start_is_left_alone);
	tcase_add_test(t, callers_get_times_in_their_order);
	tcase_add_loop_test(t, callers_are_asked_up_to_the_first_that_knows, 0,
			    3);
	tcase_add_test(t, one_long_call_of_a_thousand_is_a_stray);
	tcase_add_test(t, a_long_call_is_no_stray_where_it_hardly_counts);
	tcase_add_test(t, squares_of_what_was_not_timed_are_summed);
	tcase_add_test(t, long_calls_make_the_weight_smaller);
	tcase_add_test(t, those_of_a_folded_recursion_do_not);
	tcase_add_test(t, those_of_a_folded_cycle_count_alone_sooner);
	tcase_add_test(t, calibration_has_so_many_timed_or_none);
	tcase_add_test(t, timed_calls_stand_for_all);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
