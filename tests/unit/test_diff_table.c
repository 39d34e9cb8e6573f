/* The tables of a comparison: their rows stand beneath the columns' names. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/diff.h"
#include "tests/unit/run_suite.h"

static char *text;
static size_t size;

static FILE *begin(void)
{
	return open_memstream(&text, &size);
}

/* A number of so many digits. */
static int64_t digits(int count)
{
	int64_t number = 1;

	while (--count)
		number *= 10;
	return number;
}

START_TEST(rows_are_as_wide_as_their_columns)
{
	for (int calls = 1; calls <= 14; calls++)
		for (int ns = 1; ns <= 14; ns++) {
			struct swz_costs new = {
				.calls = (uint64_t)digits(calls),
				.self_ns = digits(ns),
				.inclusive_ns = digits(ns)};
			struct swz_costs_diff costs = {.new = new};
			struct swz_diff_widths widths = {0};
			FILE *stream = begin();
			size_t columns, row;

			swz_diff_widen(&widths, &new);
			swz_diff_widen(&widths, &costs.old);
			swz_diff_put_columns(stream, &widths, "calls", false,
					     true);
			fflush(stream);
			columns = (size_t)(strstr(text, "  function") - text);
			row = size;
			swz_diff_put_costs(stream, &widths, &costs);
			swz_diff_put_noise(stream, &widths,
					   &(struct swz_diff_noise){0});
			fclose(stream);
			if (size - row != columns)
				ck_abort_msg("%d, %d digits: columns end at "
					     "%zu, the row at %zu",
					     calls, ns, columns, size - row);
			free(text);
		}
}
END_TEST

START_TEST(differences_have_a_sign)
{
	struct swz_costs_diff costs = {.new = {.calls = 3, .self_ns = 50},
				       .old = {.calls = 5, .self_ns = 40}};
	struct swz_diff_widths widths = {.calls = 1, .ns = 2};
	FILE *stream = begin();

	swz_diff_put_costs(stream, &widths, &costs);
	fclose(stream);
	ck_assert_str_eq(text, "         5          3         -2"
			       "         40         50        +10"
			       "    +25.00"
			       "          0          0          0"
			       "     +0.00");
	free(text);
}
END_TEST

START_TEST(a_time_below_a_bound_is_no_zero)
{
	struct swz_costs_diff costs = {
		.new = {.calls = 5, .inclusive_ns = 70, .bound_ns = 30},
		.old = {.calls = 5, .bound_ns = 20}};
	struct swz_diff_widths widths = {.calls = 1, .ns = 2, .bounds = true};
	FILE *stream = begin();

	swz_diff_put_costs(stream, &widths, &costs);
	fclose(stream);
	ck_assert_str_eq(text, "         5          5          0"
			       "        <20        <30        <30"
			       "         -"
			       "        <20         70        +70"
			       "         -");
	free(text);
}
END_TEST

START_TEST(a_difference_beyond_the_bound_is_shown)
{
	struct swz_costs_diff costs = {.new = {.bound_ns = 30},
				       .old = {.self_ns = 29}};

	ck_assert_int_eq(swz_diff_self_bound(&costs), 30);
	costs.old.self_ns = 30;
	ck_assert_int_eq(swz_diff_self_bound(&costs), 0);
	costs.new.self_ns = 30;
	ck_assert_int_eq(swz_diff_self_bound(&costs), 0);
	ck_assert_int_eq(swz_diff_inclusive_bound(&costs), 30);
}
END_TEST

START_TEST(what_is_in_one_only_is_remarked)
{
	struct swz_costs_diff costs = {.new = {.calls = 1}};

	ck_assert_str_eq(swz_diff_remark(&costs), "  (new)");
	costs.old = costs.new;
	ck_assert_str_eq(swz_diff_remark(&costs), "");
	costs.new.calls = 0;
	ck_assert_str_eq(swz_diff_remark(&costs), "  (gone)");
	costs.new.inclusive_ns = 1;
	ck_assert_str_eq(swz_diff_remark(&costs), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff_table");
	TCase *t = tcase_create("diff_table");

	tcase_add_test(t, rows_are_as_wide_as_their_columns);
	tcase_add_test(t, differences_have_a_sign);
	tcase_add_test(t, a_time_below_a_bound_is_no_zero);
	tcase_add_test(t, a_difference_beyond_the_bound_is_shown);
	tcase_add_test(t, what_is_in_one_only_is_remarked);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
