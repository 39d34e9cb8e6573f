/* Times off the processor: what a reader makes of the records of a file, and
 * how they are handed out between events. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/records.h"
#include "tests/unit/run_suite.h"

static struct swz_profile profile;
static struct swz_profile_thread threads[2];
static struct swz_profile_switch records[16];

static void setup(void)
{
	memset(threads, 0, sizeof(threads));
	threads[0].index = 3;
	threads[1].index = 5;
	for (size_t i = 0; i < 2; i++) {
		threads[i].record.start_ticks = 100;
		threads[i].last_ticks = 1000;
		threads[i].record.switches_from = 50;
	}
	profile = (struct swz_profile){
		.threads = threads, .thread_count = 2, .switches = records};
}

static void add(uint32_t owner, uint64_t off, uint64_t on, bool preempted)
{
	records[profile.switch_count++] = (struct swz_profile_switch){
		owner, preempted, off, on};
}

static void check(size_t thread, size_t at, uint64_t off, uint64_t on)
{
	ck_assert_uint_lt(at, threads[thread].switch_count);
	ck_assert_uint_eq(threads[thread].switches[at].off_ticks, off);
	ck_assert_uint_eq(threads[thread].switches[at].on_ticks, on);
}

START_TEST(each_thread_has_its_own_in_order)
{
	add(5, 700, 800, true);
	add(3, 400, 500, false);
	add(4, 200, 300, false); /* of no thread */
	add(3, 150, 160, false);
	add(5, 600, 650, false);
	swz_switches_index(&profile);
	ck_assert_uint_eq(threads[0].switch_count, 2);
	check(0, 0, 150, 160);
	check(0, 1, 400, 500);
	ck_assert_uint_eq(threads[1].switch_count, 2);
	check(1, 0, 600, 650);
	check(1, 1, 700, 800);
	ck_assert(!threads[1].switches[0].preempted);
	ck_assert(threads[1].switches[1].preempted);
}
END_TEST

START_TEST(they_lie_in_its_life)
{
	add(3, 10, 20, false); /* before it */
	add(3, 30, 130, false);
	add(3, 990, 2000, false);
	add(3, 3000, 4000, false);
	swz_switches_index(&profile);
	ck_assert_uint_eq(threads[0].switch_count, 2);
	check(0, 0, 100, 130);
	check(0, 1, 990, 1000);
}
END_TEST

START_TEST(what_has_no_end_lasts_until_the_next)
{
	add(3, 200, 0, false);
	add(3, 300, 310, false);
	add(3, 900, 0, true);
	swz_switches_index(&profile);
	ck_assert_uint_eq(threads[0].switch_count, 3);
	check(0, 0, 200, 300);
	check(0, 1, 300, 310);
	check(0, 2, 900, 1000);
}
END_TEST

START_TEST(forged_ones_do_not_overlap)
{
	add(3, 200, 600, false);
	add(3, 300, 400, false);
	add(3, 500, 700, false);
	add(3, 800, 750, false);
	swz_switches_index(&profile);
	ck_assert_uint_eq(threads[0].switch_count, 2);
	check(0, 0, 200, 600);
	check(0, 1, 600, 700);
}
END_TEST

START_TEST(a_thread_without_switches_has_none)
{
	threads[0].record.switches_from = 0;
	add(3, 200, 300, false);
	swz_switches_index(&profile);
	ck_assert_uint_eq(threads[0].switch_count, 0);
}
END_TEST

START_TEST(they_are_summed)
{
	uint64_t preempted;

	add(3, 200, 300, false);
	add(3, 400, 407, true);
	swz_switches_index(&profile);
	ck_assert_uint_eq(swz_switches_sum(&threads[0], &preempted), 107);
	ck_assert_uint_eq(preempted, 7);
}
END_TEST

START_TEST(a_thread_tells_what_was_looked_at)
{
	struct swz_profile_thread *t = &threads[0];

	t->record.switches_until = 50; /* never looked at */
	ck_assert_uint_eq(swz_switches_unseen(t, 100, 1000), 900);
	ck_assert(!swz_switches_tell(t, 100, 1000));
	t->record.switches_until = 500;
	ck_assert_uint_eq(swz_switches_unseen(t, 100, 1000), 500);
	ck_assert(!swz_switches_tell(t, 100, 1000));
	ck_assert(swz_switches_tell(t, 100, 500));
	ck_assert(swz_switches_tell(t, 100, 504)); /* 1 % and less */
	ck_assert(!swz_switches_tell(t, 100, 510));
	ck_assert(!swz_switches_tell(t, 600, 700));
	ck_assert_uint_eq(swz_switches_unseen(t, 600, 700), 100);
	t->record.switches_until = 1000;
	ck_assert_uint_eq(swz_switches_unseen(t, 100, 1000), 0);
	ck_assert(swz_switches_tell(t, 100, 1000));
	t->record.switches_from = 0; /* the kernel gave none */
	ck_assert(!swz_switches_tell(t, 100, 1000));
}
END_TEST

static void expect(struct swz_switch_reader *reader, uint64_t from, uint64_t to,
		   uint64_t off_from, uint64_t off_to)
{
	struct swz_off_time off;

	ck_assert(swz_switches_next(reader, from, to, &off));
	ck_assert_uint_eq(off.from, off_from);
	ck_assert_uint_eq(off.to, off_to);
}

START_TEST(parts_of_them_are_handed_out_once)
{
	struct swz_switch_reader reader;
	struct swz_off_time off;

	add(3, 200, 300, false);
	add(3, 400, 500, false);
	swz_switches_index(&profile);
	swz_switches_open(&reader, &threads[0]);
	ck_assert(!swz_switches_next(&reader, 100, 200, &off));
	expect(&reader, 200, 250, 200, 250);
	ck_assert(!swz_switches_next(&reader, 200, 250, &off));
	expect(&reader, 250, 450, 250, 300);
	expect(&reader, 250, 450, 400, 450);
	ck_assert(!swz_switches_next(&reader, 250, 450, &off));
	expect(&reader, 450, 1000, 450, 500);
	ck_assert(!swz_switches_next(&reader, 450, 1000, &off));
}
END_TEST

START_TEST(a_range_may_begin_amid_one)
{
	struct swz_switch_reader reader;

	add(3, 200, 300, false);
	add(3, 400, 500, false);
	swz_switches_index(&profile);
	swz_switches_open(&reader, &threads[0]);
	expect(&reader, 450, 460, 450, 460);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switches");
	TCase *tcase = tcase_create("switches");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, each_thread_has_its_own_in_order);
	tcase_add_test(tcase, they_lie_in_its_life);
	tcase_add_test(tcase, what_has_no_end_lasts_until_the_next);
	tcase_add_test(tcase, forged_ones_do_not_overlap);
	tcase_add_test(tcase, a_thread_without_switches_has_none);
	tcase_add_test(tcase, they_are_summed);
	tcase_add_test(tcase, a_thread_tells_what_was_looked_at);
	tcase_add_test(tcase, parts_of_them_are_handed_out_once);
	tcase_add_test(tcase, a_range_may_begin_amid_one);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
