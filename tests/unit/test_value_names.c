/* Names of numbers out of C headers, and expressions, as text. */

#include <string.h>

#include "options/config_file.h"
#include "tests/unit/run_suite.h"

static const struct {
	const char *text;
	bool good;
	int64_t value;
} expressions[] = {
	{"42", true, 42},
	{" 0x80004005u ", true, 0x80004005},
	{"-1", true, -1},
	{"~0", true, -1},
	{"010 + 0b11", true, 11},
	{"1'000'000ULL", true, 1000000},
	{"(1 << 4) | 3", true, 19},
	{"1 | 2 ^ 2 & 6", true, 1},
	{"7 - 2 - 1", true, 4},
	{"2 * 3 % 4 << 1 + 1", true, 8},
	{"1 < 2 == 1 && 0 || 1", true, 1},
	{"(uint32_t)7", true, 7},
	{"((status_t)(BASE | 5))", true, 0x105},
	{"(BASE)", true, 0x100},
	{"(BASE) + 1", true, 0x101},
	{"'a'", true, 'a'},
	{"'\\n'", true, 10},
	{"!3", true, 0},
	{"", false, 0},
	{"1 +", false, 0},
	{"(1", false, 0},
	{"1 2", false, 0},
	{"OTHER", false, 0},
	{"1 / 0", false, 0},
	{"-9223372036854775807 - 1", true, INT64_MIN},
	{"(-9223372036854775807 - 1) / -1", false, 0},
	{"1 << 64", true, 0},
	{"\"text\"", false, 0},
	{"1.5", false, 0},
	{"f(3)", false, 0},
};

START_TEST(evaluates_expressions)
{
	struct swz_value_names names = {0};
	const char *text = expressions[_i].text;
	int64_t value;
	bool good;

	ck_assert(swz_value_names_add(&names, "BASE", 4, 0x100));
	good = swz_value_expression(&names, text, strlen(text), &value);
	ck_assert_msg(good == expressions[_i].good, "%s", text);
	if (good)
		ck_assert_int_eq(value, expressions[_i].value);
	swz_value_names_free(&names);
}
END_TEST

START_TEST(bears_deep_parentheses)
{
	static char text[100000];
	int64_t value;

	memset(text, '(', sizeof(text));
	ck_assert(!swz_value_expression(NULL, text, sizeof(text), &value));
}
END_TEST

static const char header[] =
	"/* #define NOT 1 */\n"
	"#ifndef HEADER_H\n"
	"#define HEADER_H\n"
	"#define ONE 1 // one\n"
	"#  define TWO (ONE + \\\n 1)\n"
	"#define CALL(x) (x)\n"
	"#define TEXT \"enum { IN_TEXT = 9 }\"\n"
	"enum colour { RED, GREEN = 5, BLUE, /* LAST */ };\n"
	"typedef enum : unsigned { A = 1 << 0, B = A << 1, AB = (A | B), } "
	"flags;\n"
	"enum { UNKNOWN = sizeof(int), AFTER, KNOWN = 3 };\n"
	"enum colour use(enum colour c);\n"
	"int my_enum;\n"
	"#endif\n";

START_TEST(reads_defines_and_enums_of_a_header)
{
	static const struct {
		const char *name;
		int64_t value;
	} expected[] = {{"ONE", 1},   {"TWO", 2},  {"RED", 0},
			{"GREEN", 5}, {"BLUE", 6}, {"A", 1},
			{"B", 2},     {"AB", 3},   {"KNOWN", 3}};
	struct swz_value_names names = {0};
	size_t i;

	ck_assert(swz_value_names_read(&names, header, sizeof(header) - 1));
	ck_assert_uint_eq(names.count, sizeof(expected) / sizeof(expected[0]));
	for (i = 0; i < names.count; i++) {
		ck_assert_str_eq(names.items[i].name, expected[i].name);
		ck_assert_int_eq(names.items[i].value, expected[i].value);
	}
	swz_value_names_free(&names);
}
END_TEST

/* Of a header that ends anywhere nothing is read past its end. */
START_TEST(bears_a_header_that_ends_anywhere)
{
	struct swz_value_names names = {0};

	ck_assert(swz_value_names_read(&names, header, (size_t)_i));
	ck_assert_uint_le(names.count, 10);
	swz_value_names_free(&names);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("value_names");
	TCase *tcase = tcase_create("names");

	tcase_add_loop_test(tcase, evaluates_expressions, 0,
			    sizeof(expressions) / sizeof(expressions[0]));
	tcase_add_test(tcase, bears_deep_parentheses);
	tcase_add_test(tcase, reads_defines_and_enums_of_a_header);
	tcase_add_loop_test(tcase, bears_a_header_that_ends_anywhere, 0,
			    sizeof(header));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
