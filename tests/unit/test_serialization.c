/* Texts as JSON and CSV have them, and messages of protocol buffers. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/output.h"
#include "profile/formats/common/encoders.h"
#include "tests/unit/run_suite.h"

static void check_text(void (*put)(FILE *, const char *), const char *text,
		       const char *expected)
{
	char *found = NULL;
	size_t size;
	FILE *stream = open_memstream(&found, &size);

	ck_assert_ptr_nonnull(stream);
	put(stream, text);
	ck_assert_int_eq(fclose(stream), 0);
	ck_assert_str_eq(found, expected);
	free(found);
}

START_TEST(json_strings_are_escaped)
{
	check_text(swz_put_json, "", "\"\"");
	check_text(swz_put_json, "plain [u8; 4]", "\"plain [u8; 4]\"");
	check_text(swz_put_json, "a\"b\\c", "\"a\\\"b\\\\c\"");
	check_text(swz_put_json, "\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
	check_text(swz_put_json, "a<b></script>", "\"a<b>\\u003c/script>\"");
	check_text(swz_put_json, "<!--", "\"\\u003c!--\"");
}
END_TEST

START_TEST(what_is_no_utf8_is_replaced)
{
	static const char *const valid[] = {
		"\xc2\x80",        "\xdf\xbf",     "\xe0\xa0\x80",
		"\xed\x9f\xbf",    "\xef\xbf\xbf", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf"};
	/* alone, too long a form, a surrogate, too large, cut off */
	static const char *const invalid[] = {"\x80",
					      "\xbf",
					      "\xc0\x80",
					      "\xc1\xbf",
					      "\xe0\x9f\xbf",
					      "\xed\xa0\x80",
					      "\xf0\x8f\xbf\xbf",
					      "\xf4\x90\x80\x80",
					      "\xf5\x80\x80\x80",
					      "\xff",
					      "\xc3",
					      "\xe2\x82",
					      "\xf0\x9f\x98",
					      "\xe2\x28\xa1"};
	size_t i;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
		ck_assert_uint_eq(swz_utf8_length(valid[i]), strlen(valid[i]));
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_uint_eq(swz_utf8_length(invalid[i]), 0);
	check_text(swz_put_json, "caf\xc3\xa9 \xe9!",
		   "\"caf\xc3\xa9 \\ufffd!\"");
}
END_TEST

/* Of each kind one; and neighbours of these, which are letters and signs. */
#define HIDDEN \
	"\x01\x1b\x7f\xc2\x80\xc2\x9b\xc2\x9f\xd8\x9c\xe2\x80\x8e" \
	"\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae" \
	"\xe2\x81\xa6\xe2\x81\xa9\xef\xbf\xbe\xef\xbf\xbf\xff\xc2"
#define HIDDEN_COUNT 19
#define SHOWN \
	" ~\xc2\xa0\xd8\x9b\xd8\x9d\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa7" \
	"\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xef\xbf\xbd\xf0\x9f\x98\x80"

START_TEST(what_controls_terminals_or_directions_is_not_shown)
{
	static const char marks[HIDDEN_COUNT + 1] = "???????????????????";
	char text[] = "a\x1b" HIDDEN SHOWN "\n", printable[] = "\t\n\x1b";
	const char *at = HIDDEN;
	size_t count = 0;
	bool shown;

	for (; *at; count++) {
		at += swz_character(at, SIZE_MAX, &shown);
		ck_assert(!shown);
	}
	ck_assert_uint_eq(count, HIDDEN_COUNT);
	for (at = SHOWN; *at; at += swz_character(at, SIZE_MAX, &shown))
		if (swz_character(at, SIZE_MAX, &shown), !shown)
			ck_abort_msg("not shown: %s", at);
	check_text(swz_put_text, SHOWN, SHOWN);
	check_text(swz_put_text, HIDDEN, marks);
	check_text(swz_put_csv, HIDDEN, marks);
	swz_make_printable(text, "");
	ck_assert_str_eq(text, "a????????????????????" SHOWN "?");
	swz_make_printable(printable, "\n\t");
	ck_assert_str_eq(printable, "\t\n?");
	/* what is cut off by the size is no character */
	ck_assert_uint_eq(swz_character("\xc3\xa9", 1, &shown), 1);
	ck_assert(!shown);
	check_text(swz_put_json, "\xc2\x9b\xe2\x80\xae\xef\xbf\xbf",
		   "\"\\u009b\\u202e\\uffff\"");
}
END_TEST

START_TEST(csv_fields_are_no_formulas)
{
	check_text(swz_put_csv, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
	check_text(swz_put_csv, "+1", "'+1");
	check_text(swz_put_csv, "-[Object init]", "'-[Object init]");
	check_text(swz_put_csv, "@SUM(1,2)", "\"'@SUM(1,2)\"");
	check_text(swz_put_csv, "-", "-");
	check_text(swz_put_csv, "operator=", "operator=");
}
END_TEST

START_TEST(csv_fields_are_quoted_where_needed)
{
	check_text(swz_put_csv, "", "");
	check_text(swz_put_csv, "f(int)", "f(int)");
	check_text(swz_put_csv, "f(int, int)", "\"f(int, int)\"");
	check_text(swz_put_csv, "say \"hi\"", "\"say \"\"hi\"\"\"");
	check_text(swz_put_csv, "two\nlines", "two?lines");
	check_text(swz_put_csv, "two\n\"lines\"", "\"two?\"\"lines\"\"\"");
}
END_TEST

static void check_bytes(struct swz_message *message, const void *expected,
			size_t size)
{
	ck_assert_uint_eq(message->size, size);
	ck_assert_mem_eq(message->bytes, expected, size);
	swz_message_free(message);
}

START_TEST(messages_are_encoded_as_the_specification_says)
{
	struct swz_message outer = {0}, inner = {0};

	/* the examples of the encoding's documentation */
	swz_message_add(&outer, 1, 150);
	check_bytes(&outer, "\x08\x96\x01", 3);
	swz_message_bytes(&outer, 2, "testing", 7);
	check_bytes(&outer, "\x12\x07testing", 9);
	swz_message_text(&outer, 2, "t\xc3\xa9st\n\xe9\xc3");
	check_bytes(&outer, "\x12\x08t\xc3\xa9st\n??", 10);
	swz_message_text(&outer, 2, "");
	check_bytes(&outer, "\x12\x00", 2);
	swz_message_add(&inner, 1, 150);
	swz_message_nest(&outer, 3, &inner);
	check_bytes(&outer, "\x1a\x03\x08\x96\x01", 5);
	swz_message_item(&inner, 3);
	swz_message_item(&inner, 270);
	swz_message_item(&inner, 86942);
	swz_message_nest(&outer, 6, &inner);
	check_bytes(&outer, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
	/* minus 2, as an int64 */
	swz_message_add(&outer, 1, (uint64_t)-2);
	check_bytes(&outer, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	swz_message_add(&outer, 1, 0);
	ck_assert_uint_eq(outer.size, 0);
	swz_message_put(&outer, 16, 0);
	check_bytes(&outer, "\x80\x01\x00", 3);
	swz_message_free(&inner);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serialization");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, json_strings_are_escaped);
	tcase_add_test(tests, what_is_no_utf8_is_replaced);
	tcase_add_test(tests,
		       what_controls_terminals_or_directions_is_not_shown);
	tcase_add_test(tests, csv_fields_are_no_formulas);
	tcase_add_test(tests, csv_fields_are_quoted_where_needed);
	tcase_add_test(tests, messages_are_encoded_as_the_specification_says);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
