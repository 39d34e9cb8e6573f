/* Options of swizzle-dump: what is refused, and what means the same. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "main 1 900\n"
		  "  shop::round 10 600\n"
		  "    main 20 100\n"
		  "    shop::add 10 300\n");
}

static const struct {
	const char *words, *says;
} refusals[] = {
	{"--by thread,file", "--by: 'thread,file': "},
	{"--by modul", "function, module, process, thread, file, line"},
	{"--by ''", "--by"},
	{"--by pocess", "did you mean 'process'?"},
	{"--by line,thred", "did you mean 'thread'?"},
	{"--by thread,function", "--by"},
	{"--by function,module", "--by"},
	{"--by process,thread", "--by"},
	{"--by rank,function", "--by"},
	{"--by function,line", "--by"},
	{"--by rank,rank", "--by"},
	{"-f tree --by module", "tree"},
	{"-f json -n 1", "json has no use for -n"},
	{"-f callgrind -n 3", "callgrind has no use for -n"},
	{"-f folded -n 3", "folded has no use for -n"},
	{"-f folded --percent-limit 3",
	 "folded has no use for --percent-limit"},
	{"-f text --bottom-up", "text has no use for --bottom-up"},
	{"-s name -f info", "info has no use for -s"},
	{"-f info -N x", "info has no use for -F"},
	{"-f perfetto --by thread,files", "perfetto has no use for --by"},
	{"-f chrome --by thread,files", "chrome has no use for --by"},
	{"-f perfetto --no-compensate", "perfetto has no use for --no-c"},
	{"-f chrome --no-compensate", "chrome has no use for --no-c"},
	{"-f info --to 1", "info has no use for --from or --to"},
	{"-f tree -s min",
	 "sort key; it has: self, incl, cpu, waiting, calls, name"},
	{"-f folded -s name", "no use for this sort key"},
	{"-f speedscope -s incl", "no use for this sort key"},
	{"-f folded -H ''", "-H: the pattern is empty"},
	{"-F '!'", "-F: the pattern is empty"},
	{"-f nonsense", "unknown format"},
	{"-f callgrnd", "did you mean 'callgrind'?"},
	{"-f text -s slef", "did you mean 'self'?"},
	{"--demangle nope", "'nope'. There are: no, simple, full"},
	{"--color=nevr", "did you mean 'never'?"},
	{"--fliter x", "did you mean --filter?"},
	{"--no", "--no-compensate, --notrace"},
	{"--quiet=3", "--quiet takes no value"},
	{"--qui=3", "--quiet takes no value"},
	{"--sortt=calls", "did you mean --sort?"},
	{"-k", "unknown option -k"},
	{"-qkV", "unknown option -k"},
	{"--no-pager -kq", "unknown option -k"},
	{"p --sort", "--sort needs a value"},
	{"p --sor", "--sort needs a value"},
	{"p -s", "-s needs a value"},
	{"p -qs", "-s needs a value"},
	{"--nonsense", "Try 'swizzle-dump --help'."},
	{"--tid ''", "--tid"},
};

START_TEST(refused)
{
	char words[128];

	snprintf(words, sizeof(words), "%s p", refusals[_i].words);
	if (strncmp(refusals[_i].words, "p ", 2) == 0)
		words[strlen(words) - 2] = '\0';
	dump_refuses(words, 2, refusals[_i].says);
}
END_TEST

START_TEST(formats_of_whole_files_have_no_use_for_these)
{
	static const char *const options[] = {
		"--tid 1", "--by thread,parts", "--by thread,files",
		"--no-compensate", "--demangle=no"};
	static const char *const formats[] = {"archive", "info", "raw"};
	char words[128], says[128];

	for (int format = 0; format < 3; format++)
		for (int i = 0; i < 5; i++) {
			snprintf(words, sizeof(words), "-f %s %s p",
				 formats[format], options[i]);
			snprintf(says, sizeof(says), "%s has no use for %.*s",
				 formats[format],
				 (int)strcspn(options[i], " ="), options[i]);
			dump_refuses(words, 2, says);
		}
}
END_TEST

START_TEST(wrong_numbers)
{
	static const char *const percent[] = {"%",   "-1",  " 1", "0x10",
					      "nan", "1%%", "1x", ""};
	static const char *const moments[] = {
		"%", "-1", " 1", "0x10", "inf", "1%%", "1x", "101%", "/1", ""};
	static const char *const counts[] = {"+5", " 5", "0x5", "5.", ""};
	char words[128];

	for (int i = 0; i < 8; i++) {
		snprintf(words, sizeof(words), "-f text --percent-limit '%s' p",
			 percent[i]);
		dump_refuses(words, 2, "not a percentage");
	}
	for (int i = 0; i < 10; i++) {
		snprintf(words, sizeof(words), "-f text --from '%s' p",
			 moments[i]);
		dump_refuses(words, 2, "not a time in seconds or percent");
	}
	for (int i = 0; i < 5; i++) {
		snprintf(words, sizeof(words), "-n '%s' p", counts[i]);
		dump_refuses(words, 2, "not a number of rows");
	}
}
END_TEST

START_TEST(one_thing_said_in_two_ways)
{
	static const char *const same[][2] = {
		{"--json p", "-f json p"},
		{"-n 2 p", "-f text -n 2 p"},
		{"-s calls --percent-limit 0 p", "-f text -s calls p"},
		{"--bottom-up p", "-f tree --bottom-up p"},
		{"--form text --filt main p", "-f text -F main p"},
		{"-f tree --by thread p", "-f tree --by thread,parts p"},
		{"-f text -F '*d*' -F '!m?in' p", "-f text -F '*d*' p"},
		{"-f text -N '*' -N '!main' p", "-f text -N '!main' p"},
		{"-f text -H '*' -H '!main' p", "-f text -H '!main' p"},
	};
	char *first;

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		dump("%s", same[i][0]);
		ck_assert_str_eq(dumped.err, "");
		ck_assert_ptr_nonnull(strchr(dumped.out, 'm'));
		first = strdup(dumped.out);
		dump("%s", same[i][1]);
		ck_assert_msg(strcmp(first, dumped.out) == 0, "%s: %s",
			      same[i][0], first);
		free(first);
	}
	dump_has_rows("-f text -H '!main' p", "21 900 900 main  prog\n"
					      "0 100 1000 [outside]  -\n");
	dump_says("-f tree --thread-parts p", 0, "--by thread,parts now");
	dump_says("-f csv --separate-threads -o old p", 0, "--by thread,files");
}
END_TEST

START_TEST(the_list_of_formats)
{
	static const char *const formats[] = {
		"callgrind", "brief",    "text",       "tree",
		"folded",    "dot",      "pprof",      "otlp",
		"csv",       "json",     "samples",    "chrome",
		"firefox",   "perfetto", "speedscope", "info"};
	char line[32];

	dump_says("-f help", 0, "");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(line, sizeof(line), "%s%-10s ", i ? "\n" : "",
			 formats[i]);
		dump_has(dumped.out, line);
	}
}
END_TEST

static void write_file(const char *name, const char *text, size_t size)
{
	FILE *file = fopen(name, "w");

	ck_assert_uint_eq(fwrite(text, 1, size, file), size);
	fclose(file);
}

#define CONFIG(text, says) \
	{ \
		text, sizeof(text) - 1, says \
	}

static const struct {
	const char *text;
	size_t size;
	const char *says;
} configs[] = {
	CONFIG("[func@x]\nlist_agrs = yes\n",
	       "wrong:2: unknown key 'list_agrs'; did you mean 'list_args'?"),
	CONFIG("# a\n\n[fnc@x]\n",
	       "wrong:3: unknown kind of section 'fnc'; did you mean 'func'?"),
	CONFIG("show = no\n",
	       "wrong:1: 'show' stands before the first section"),
	CONFIG("[func@x]\nshow = maybe\n",
	       "wrong:2: show: unknown value 'maybe'"),
	CONFIG("[func@x]\nonly_show_if = arg,n,=,1\n",
	       "wrong:2: only_show_if: unknown operator '='"),
	CONFIG("[func@x]\nonly_show_if = retval\n",
	       "wrong:2: only_show_if: an operator and a value are missing"),
	CONFIG("[func@x]\nonly_show_if = backtrace,0,f\n",
	       "'0' is not a number of levels from 1 to 1000"),
	CONFIG("[func@x]\nonly_show_if = arg,n,==,1x\n", "'1x' is no value"),
	CONFIG("[func@x]\ncolour = pink\n", "unknown colour 'pink'"),
	CONFIG("[func@x\n", "a section ends with ]"),
	CONFIG("[func@x]\ndepth\n", "neither [KIND@PATTERN] nor KEY = VALUE"),
	CONFIG("[printer@x]\nlength = n\n",
	       "needs one of text, size and pointer"),
	CONFIG("[func@x]\nprefix =\n", "prefix: a value is missing"),
	CONFIG("[func@x]\n\0", "this is no text"),
	CONFIG("[type@x]\nnames = none.h\n",
	       "wrong:2: names: none.h: No such file"),
	CONFIG("[type@x]\nnames = errors.h, Q*\n",
	       "wrong:2: names: nothing in errors.h is a name of a number that "
	       "matches"),
	CONFIG("[type@x]\nnames = A:B\n",
	       "wrong:2: names: 'A:B' is not NAME:NUMBER"),
	CONFIG("[type@x]\nbase = hexa\n",
	       "wrong:2: base: unknown base 'hexa'; did you mean 'hex'?"),
	CONFIG("[type@x]\ntext = a\n", "wrong:2: unknown key 'text'"),
	CONFIG("[func@x]\nlist_args = a b\n",
	       "wrong:2: list_args: 'a b' is no argument"),
};

START_TEST(wrong_configurations)
{
	write_file("errors.h", "#define E_IO 5\n", 15);
	write_file("wrong", configs[_i].text, configs[_i].size);
	dump_refuses("--config wrong p", 2, configs[_i].says);
}
END_TEST

START_TEST(the_usual_configurations)
{
	static const char outer[] = "[func@inner]\nshow = no\n";
	static const char here[] = "[func@result]\nshow = no\n";

	dump_made("t", 4243,
		  "main 0-900\n  notify 100-300\n    inner 120-200\n"
		  "  result 400-500\n");
	ck_assert_int_eq(system("mkdir swizzle"), 0); /* XDG_CONFIG_HOME's */
	write_file("swizzle/config", outer, sizeof(outer) - 1);
	write_file(".swizzle", here, sizeof(here) - 1);
	dump_has_calls("t", "main 0-900\n  notify 100-300\n");
	dump_has_calls("--config /dev/null t",
		       "main 0-900\n  notify 100-300\n    inner 120-200\n"
		       "  result 400-500\n");
	dump_refuses("--config nothing t", 2, "nothing: No such file");
}
END_TEST

START_TEST(misspelt_variables)
{
	setenv("SWIZZLE_PAGER", "cat", 1);
	setenv("SWIZZLE_FITLER", "x", 1); /* swizzle-run's, which says it */
	dump_says("-f text p", 0, "");
	setenv("SWIZZLE_PGAER", "cat", 1);
	dump_says("-f text p", 0, "did you mean SWIZZLE_PAGER?");
	dump_says("-q -f text p", 0, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_options");
	TCase *t = tcase_create("dump_options");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_loop_test(t, refused, 0,
			    sizeof(refusals) / sizeof(*refusals));
	tcase_add_test(t, formats_of_whole_files_have_no_use_for_these);
	tcase_add_test(t, wrong_numbers);
	tcase_add_test(t, one_thing_said_in_two_ways);
	tcase_add_test(t, the_list_of_formats);
	tcase_add_loop_test(t, wrong_configurations, 0,
			    sizeof(configs) / sizeof(*configs));
	tcase_add_test(t, the_usual_configurations);
	tcase_add_test(t, misspelt_variables);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
