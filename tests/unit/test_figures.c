/* Figures for people: rounding, units, separators, signs; and what is shown of
 * a text, in which colour and in how many columns. */

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "profile/formats/common/cells.h"
#include "tests/unit/run_suite.h"

START_TEST(counts_have_separators)
{
	static const struct {
		uint64_t count;
		const char *expected;
	} cases[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{12345, "12,345"},
		{123456, "123,456"},
		{1234567, "1,234,567"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};
	char text[SWZ_FIGURE_BYTES];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(swz_figure_count(text, cases[i].count),
				 cases[i].expected);
}
END_TEST

START_TEST(times_have_three_digits_and_a_unit)
{
	static const struct {
		int64_t ns;
		const char *expected;
	} cases[] = {
		{0, "0 ns"},
		{7, "7 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1004, "1.00 us"},
		{1005, "1.01 us"},
		{9994, "9.99 us"},
		{9995, "10.0 us"},
		{12345, "12.3 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{999950, "1.00 ms"},
		{1234567, "1.23 ms"},
		{45678901, "45.7 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{1050000000, "1.05 s"},
		{61000000000, "61.0 s"},
		{999000000000, "999 s"},
		{999500000000, "1,000 s"},
		{12345600000000, "12,346 s"},
		{INT64_MAX, "9,223,372,037 s"},
		{-1234567, "-1.23 ms"},
		{INT64_MIN, "-9,223,372,037 s"},
	};
	char text[SWZ_FIGURE_BYTES];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(swz_figure_time(text, cases[i].ns, false),
				 cases[i].expected);
	ck_assert_str_eq(swz_figure_time(text, 1234, true), "1.23 \xc2\xb5s");
	ck_assert_str_eq(swz_figure_time(text, 1234567, true), "1.23 ms");
	ck_assert_str_eq(swz_figure_time(text, 999, true), "999 ns");
}
END_TEST

/* What is shown is the nearest figure with three digits. */
START_TEST(times_are_rounded_to_the_nearest)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	int64_t ns;

	for (ns = 1000; ns < INT64_C(500000000000); ns = ns * 21 / 20 + 1) {
		char text[SWZ_FIGURE_BYTES], unit[8];
		double value;
		size_t i;

		swz_figure_time(text, ns, false);
		ck_assert_int_eq(sscanf(text, "%lf %7s", &value, unit), 2);
		ck_assert(value >= 1 && value < 1000);
		for (i = 0; strcmp(unit, units[i].unit) != 0; i++)
			;
		ck_assert_double_le_tol(value * units[i].ns / (double)ns,
					1.00501, 1e-9);
		ck_assert_double_ge_tol(value * units[i].ns / (double)ns,
					0.99499, 1e-9);
	}
}
END_TEST

START_TEST(shares_have_one_digit_after_the_point)
{
	char text[SWZ_FIGURE_BYTES];

	ck_assert_str_eq(swz_figure_share(text, 0, 1000), "0.0%");
	ck_assert_str_eq(swz_figure_share(text, 1, 10000), "<0.1%");
	ck_assert_str_eq(swz_figure_share(text, 1, 1000), "0.1%");
	ck_assert_str_eq(swz_figure_share(text, 123, 1000), "12.3%");
	ck_assert_str_eq(swz_figure_share(text, 9994, 10000), "99.9%");
	ck_assert_str_eq(swz_figure_share(text, 9996, 10000), "100%");
	ck_assert_str_eq(swz_figure_share(text, 1000, 1000), "100%");
	ck_assert_str_eq(swz_figure_share(text, 0, 0), "-");
}
END_TEST

START_TEST(changes_have_a_sign)
{
	char text[SWZ_FIGURE_BYTES];

	ck_assert_str_eq(swz_figure_count_change(text, 5, 5), "0");
	ck_assert_str_eq(swz_figure_count_change(text, 5, 1239), "+1,234");
	ck_assert_str_eq(swz_figure_count_change(text, 1239, 5), "-1,234");
	ck_assert_str_eq(swz_figure_time_change(text, 5, 5, false), "0");
	ck_assert_str_eq(swz_figure_time_change(text, 0, 1500, false),
			 "+1.50 us");
	ck_assert_str_eq(swz_figure_time_change(text, 1500, 0, false),
			 "-1.50 us");
	ck_assert_str_eq(swz_figure_percent_change(text, 0, 0), "0%");
	ck_assert_str_eq(swz_figure_percent_change(text, 0, 5), "-");
	ck_assert_str_eq(swz_figure_percent_change(text, 200, 301), "+50.5%");
	ck_assert_str_eq(swz_figure_percent_change(text, 200, 0), "-100.0%");
	ck_assert_str_eq(swz_figure_percent_change(text, 1, 1001), "+100,000%");
	ck_assert_str_eq(swz_figure_percent_change(text, 1, INT64_MAX),
			 "+1,000,000,000,000,000%");
}
END_TEST

START_TEST(unprintable_bytes_become_question_marks)
{
	static const struct {
		const char *text;
		bool utf8;
		const char *expected;
	} cases[] = {
		{"plain <text>", true, "plain <text>"},
		{"a\033[31m\n\x7f", true, "a?[31m??"},
		{"\xc3\xa9t\xc3\xa9", true, "\xc3\xa9t\xc3\xa9"},
		{"\xc3\xa9t\xc3\xa9", false, "?t?"},
		{"\xc2\x9b!", true, "?!"}, /* CSI */
		{"\xff\xc3", true, "??"},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = swz_printable(cases[i].text, cases[i].utf8);

		ck_assert_str_eq(text, cases[i].expected);
		free(text);
	}
}
END_TEST

START_TEST(width_is_in_columns)
{
	ck_assert_uint_eq(swz_text_width(""), 0);
	ck_assert_uint_eq(swz_text_width("abc"), 3);
	ck_assert_uint_eq(swz_text_width("\xc3\xa9t\xc3\xa9"), 3);
	ck_assert_uint_eq(swz_text_width("\xe2\x80\xa6"), 1);
	ck_assert_uint_eq(swz_text_width("\xe6\xbc\xa2"), 2); /* Han */
	ck_assert_uint_eq(swz_text_width("e\xcc\x81"), 1);    /* combining */
}
END_TEST

static void check_cell(const struct swz_style *style, enum swz_colour colour,
		       const char *text, int width, const char *expected)
{
	char buffer[100] = "";
	FILE *stream = fmemopen(buffer, sizeof(buffer), "w");

	swz_put_cell(stream, style, colour, text, width);
	fclose(stream);
	ck_assert_str_eq(buffer, expected);
}

START_TEST(cells_line_up)
{
	struct swz_style plain = {0}, coloured = {.colour = true};

	check_cell(&plain, SWZ_COLOUR_HOT, "ab", 5, "   ab");
	check_cell(&plain, SWZ_COLOUR_HOT, "ab", -5, "ab   ");
	check_cell(&plain, SWZ_COLOUR_HOT, "\xc2\xb5s", 4, "  \xc2\xb5s");
	check_cell(&plain, SWZ_COLOUR_HOT, "abcdef", 5, "abcdef");
	check_cell(&coloured, SWZ_COLOUR_NONE, "ab", 5, "   ab");
	/* what fills a cell has no colour */
	check_cell(&coloured, SWZ_COLOUR_BOLD, "ab", 5, "   \033[1mab\033[m");
	check_cell(&coloured, SWZ_COLOUR_BOLD, "ab", -5, "\033[1mab\033[m   ");
}
END_TEST

static void assert_command(const char *expected, const char *command,
			   unsigned int width)
{
	char *cut = swz_cut_command(command, width, true);

	ck_assert_str_eq(cut, expected);
	free(cut);
}

START_TEST(commands_keep_the_program)
{
	const char cc1[] = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet a/b.c";

	assert_command(cc1, cc1, sizeof(cc1) - 1);
	assert_command("\xe2\x80\xa6/cc1 -quiet a/b.c", cc1, 30);
	assert_command("\xe2\x80\xa6/cc1 -qu\xe2\x80\xa6", cc1, 10);
	assert_command("a -o /usr/lib\xe2\x80\xa6", "a -o /usr/lib/b", 14);
	assert_command("[kworker/0\xe2\x80\xa6", "[kworker/0:1H]", 11);
	assert_command("\xe2\x80\xa6/bin/ \xe2\x80\xa6", "/usr/bin/ x y", 8);
}
END_TEST

static void assert_middle(const char *expected, const char *text,
			  unsigned int width, bool utf8)
{
	char *cut = swz_cut_middle(text, width, utf8);

	ck_assert_str_eq(cut, expected);
	free(cut);
}

START_TEST(long_names_keep_both_ends)
{
	/* two columns each */
	const char wide[] = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe5\xad\x97";

	assert_middle("abcdefgh", "abcdefgh", 8, true);
	assert_middle("abcd\xe2\x80\xa6hij", "abcdefghij", 8, true);
	assert_middle("abc...ij", "abcdefghij", 8, false);
	assert_middle("", "abcdefghij", 4, true);
	assert_middle(wide, wide, 8, true);
	assert_middle("\xe6\x97\xa5\xe2\x80\xa6\xe5\xad\x97", wide, 7, true);
	assert_middle("\xe6\x97\xa5\xe2\x80\xa6\xe5\xad\x97", wide, 5, true);
}
END_TEST

START_TEST(few_missed_samples_do_not_matter)
{
	ck_assert(!swz_missed_matter(0, 0));
	ck_assert(!swz_missed_matter(33, 5));
	ck_assert(swz_missed_matter(33, 6));
	ck_assert(!swz_missed_matter(100000, 2000));
	ck_assert(swz_missed_matter(100000, 2100));
	ck_assert(!swz_missed_matter(1000, 31));
	ck_assert(swz_missed_matter(1000, 32));
	ck_assert(swz_missed_matter(0, 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("figures");
	TCase *tcase = tcase_create("figures");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_test(tcase, long_names_keep_both_ends);
	tcase_add_test(tcase, counts_have_separators);
	tcase_add_test(tcase, times_have_three_digits_and_a_unit);
	tcase_add_test(tcase, times_are_rounded_to_the_nearest);
	tcase_add_test(tcase, shares_have_one_digit_after_the_point);
	tcase_add_test(tcase, changes_have_a_sign);
	tcase_add_test(tcase, unprintable_bytes_become_question_marks);
	tcase_add_test(tcase, width_is_in_columns);
	tcase_add_test(tcase, cells_line_up);
	tcase_add_test(tcase, commands_keep_the_program);
	tcase_add_test(tcase, few_missed_samples_do_not_matter);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
