/* swz_flow_stream: which sender's bytes a receiver took, by the order of calls
 * alone. A case lists calls as "begin-end:bytes"; arrows are "sender>receiver".
 */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flows/flows.h"
#include "tests/unit/run_suite.h"

#define MOST 8u

struct list {
	struct swz_flow_call calls[MOST];
	struct swz_flow_call *of[MOST];
	size_t count;
};

static void read_list(struct list *list, const char *text)
{
	unsigned long begin, end;
	long bytes;
	int used;

	memset(list, 0, sizeof(*list));
	while (sscanf(text, " %lu-%lu:%ld%n", &begin, &end, &bytes, &used) ==
	       3) {
		struct swz_flow_call *call = &list->calls[list->count];

		*call = (struct swz_flow_call){.begin = begin,
					       .end = end,
					       .result = bytes,
					       .ended = true};
		call->thread = (uint32_t)list->count;
		list->of[list->count++] = call;
		text += used;
	}
}

static int compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* The arrows in order, and what was counted: order, outside. */
static void check(const char *sent, const char *received, uint64_t initial,
		  bool messages, bool only_waiters, const char *wanted)
{
	struct swz_flows flows = {0};
	struct list in, out;
	char arrows[64][8], got[256] = "";
	size_t i;

	read_list(&in, sent);
	read_list(&out, received);
	swz_flow_stream(&flows, in.of, in.count, out.of, out.count, initial,
			messages, only_waiters);
	for (i = 0; i < flows.count; i++)
		snprintf(arrows[i], sizeof(arrows[i]), "%u>%u ",
			 flows.of[i].from.thread % 10,
			 flows.of[i].to.thread % 10);
	qsort(arrows, flows.count, sizeof(arrows[0]), compare);
	for (i = 0; i < flows.count; i++)
		strcat(got, arrows[i]);
	snprintf(got + strlen(got), 32, "%u %u",
		 (unsigned)flows.doubts[SWZ_FLOW_ORDER],
		 (unsigned)flows.doubts[SWZ_FLOW_OUTSIDE]);
	ck_assert_str_eq(got, wanted);
	free(flows.of);
}

START_TEST(bytes_come_out_in_their_order)
{
	check("1-2:5 3-4:5", "5-6:5 7-8:5", 0, false, false, "0>0 1>1 0 0");
	check("1-2:5 3-4:5", "5-6:10", 0, false, false, "0>0 1>0 0 0");
	check("1-2:10", "3-4:4 5-6:6", 0, false, false, "0>0 0>1 0 0");
	check("1-2:5 3-4:5", "5-6:3 7-8:7", 0, false, false, "0>0 0>1 1>1 0 0");
}
END_TEST

START_TEST(a_receiver_may_have_waited)
{
	check("5-6:5", "1-7:5", 0, false, false, "0>0 0 0");
	check("5-6:5", "1-6:5", 0, false, true, "0>0 0 0");
	/* it was there already: nobody waited */
	check("1-2:5", "5-6:5", 0, false, true, "0 0");
}
END_TEST

START_TEST(senders_that_overlap_are_skipped)
{
	check("1-4:5 2-3:5 6-7:5", "8-9:10 10-11:5", 0, false, false,
	      "2>1 1 0");
}
END_TEST

START_TEST(the_first_of_two_that_wait_is_told_by_what_was_there)
{
	/* one unit at 5, the first receiver has gone before the second unit */
	check("5-6:1 10-11:1", "1-7:1 2-12:1", 0, false, false, "0>0 1>1 0 0");
	check("5-6:1 10-11:1", "1-12:1 2-7:1", 0, false, false, "0>1 1>0 0 0");
	/* both were there: it may be either */
	check("3-4:1 5-6:1", "1-7:1 2-8:1", 0, false, false, "2 0");
	/* behind them all is known again */
	check("3-4:1 5-6:1 10-11:1", "1-7:1 2-8:1 12-13:1", 0, false, false,
	      "2>2 2 0");
}
END_TEST

START_TEST(more_than_was_sent_means_that_nothing_is_certain)
{
	check("1-2:5", "3-4:5 5-6:5", 0, false, false, "0 2");
	/* sent after it was received */
	check("1-2:5 9-10:5", "3-4:5 5-6:5", 0, false, false, "0 2");
}
END_TEST

START_TEST(messages_count_each_for_one)
{
	check("1-2:100 3-4:7", "5-6:10 7-8:7", 0, true, false, "0>0 1>1 0 0");
	/* longer than what was sent */
	check("1-2:5", "3-4:9", 0, true, false, "0 1");
}
END_TEST

START_TEST(what_was_there_at_first_has_no_sender)
{
	check("5-6:0", "1-2:0 3-9:0", 1, true, true, "0>1 0 0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flow_stream");
	TCase *tests = tcase_create("stream");

	tcase_add_test(tests, bytes_come_out_in_their_order);
	tcase_add_test(tests, a_receiver_may_have_waited);
	tcase_add_test(tests, senders_that_overlap_are_skipped);
	tcase_add_test(tests,
		       the_first_of_two_that_wait_is_told_by_what_was_there);
	tcase_add_test(tests, more_than_was_sent_means_that_nothing_is_certain);
	tcase_add_test(tests, messages_count_each_for_one);
	tcase_add_test(tests, what_was_there_at_first_has_no_sender);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
