/* Names of functions in what swizzle-dump prints: none controls a terminal, a
 * line, the direction of a text or a spreadsheet, and overloads have the same
 * names everywhere. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

#define ODD \
	"esc\033[31m\anl\x1f" \
	"c1\xc2\x9b" \
	"rlo\xe2\x80\xae" \
	"bad\xff" \
	"end"

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "main 0-900\n"
		  "  =cmd(1) 100-700\n"
		  "    " ODD " 200-300\n");
}

static const char *const ways[] = {
	"-f callgrind",    "-f table",
	"-f text",         "-f tree",
	"-f folded",       "-f csv",
	"-f calls",        "-f json",
	"-f chrome",       "-f speedscope",
	"-f html",         "-f calls-html",
	"-f graph",        "-f info",
	"-f raw",          "--by file",
	"--by thread",     "--at 30%",
	"-f brief",        "-f dot --percent-limit 0",
	"--diff p --",     "--by line",
	"--calls-of main",
};

START_TEST(no_name_controls_what_it_is_in)
{
	const char *at;

	dump("-q -o - %s p", ways[_i]);
	ck_assert_int_eq(dumped.status, 0);
	ck_assert_int_ne(*dumped.out, '\0');
	for (at = dumped.out; *at; at++)
		ck_assert_msg(*at == '\t' || *at == '\n' ||
				      (unsigned char)*at >= ' ',
			      "%s: %.20s", ways[_i], at);
	ck_assert_ptr_null(strchr(dumped.out, 0x7f));
	ck_assert_ptr_null(strchr(dumped.out, 0xff));
	ck_assert_ptr_null(strstr(dumped.out, "\xc2\x9b"));
	ck_assert_ptr_null(strstr(dumped.out, "\xe2\x80\xae"));
}
END_TEST

START_TEST(what_they_are_instead)
{
	dump_has_rows("-f text p",
		      "1 500 600 =cmd(1)  prog\n"
		      "1 300 900 main  prog\n"
		      "0 100 1000 [outside]  -\n"
		      "1 100 100 esc?[31m?nl?c1?rlo?bad?end  prog\n");
	dump("-f json p");
	dump_has(dumped.out, "\"esc\\u001b[31m\\u0007nl\\u000ac1\\u009brlo"
			     "\\u202ebad\\ufffdend\"");
	dump("-f csv p");
	dump_has(dumped.out, ",'=cmd(1),prog,");
	dump("-f chrome -o - p");
	dump_has(dumped.out, "cmd(1)");
}
END_TEST

/* add(int), add(long) and add(double), and one that is alone. */
START_TEST(overloads_have_the_same_names_everywhere)
{
	static const char *const formats[] = {"callgrind", "csv", "text",
					      "json", "tree"};
	static const char *const names[] = {"Sum::add(int)", "Sum::add(long)",
					    "Sum::add(double)", "Sum::alone"};
	char words[96];

	dump_made("o", 4243,
		  "main 1 900\n"
		  "  _ZN3Sum3addEi 1 100\n"
		  "  _ZN3Sum5aloneEi 1 50\n"
		  "thread one 600\n"
		  "_ZN3Sum3addEl 1 200\n"
		  "thread two 600\n"
		  "_ZN3Sum3addEd 1 300\n");
	dump_has_rows("-f text -F 'Sum::*' o",
		      "1 300 300 Sum::add(double)  prog\n"
		      "1 200 200 Sum::add(long)  prog\n"
		      "1 100 100 Sum::add(int)  prog\n"
		      "1 50 50 Sum::alone  prog\n");
	for (int i = 0; i < 10; i++) {
		snprintf(words, sizeof(words),
			 "-q -f %s --by thread,parts -o - %s o", formats[i / 2],
			 i % 2 ? "--diff o" : "");
		dump_says(words, 0, "");
		for (int name = 0; name < 4; name++)
			dump_has(dumped.out, names[name]);
		ck_assert_ptr_null(strstr(dumped.out, "Sum::alone("));
		ck_assert_ptr_null(strstr(dumped.out, "Sum::add\n"));
	}
	/* each thread's file has what it called */
	dump_says("-q -f csv --by thread,files -o each o", 0, "");
	ck_assert_int_eq(system("grep -q 'Sum::add(int),' each-*1 && "
				"grep -q 'Sum::add(long),' each-*2 && "
				"grep -q 'Sum::add(double),' each-*3"),
			 0);
	dump_says("-q -f sqlite -o .base o", 0, "");
	dump_answers("SELECT name FROM functions WHERE name > 'Sum' AND name < "
		     "'Sun' ORDER "
		     "BY name",
		     "Sum::add(double)\nSum::add(int)\nSum::add(long)\n"
		     "Sum::alone\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_names");
	TCase *t = tcase_create("dump_names");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_loop_test(t, no_name_controls_what_it_is_in, 0,
			    sizeof(ways) / sizeof(*ways));
	tcase_add_test(t, what_they_are_instead);
	tcase_add_test(t, overloads_have_the_same_names_everywhere);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
