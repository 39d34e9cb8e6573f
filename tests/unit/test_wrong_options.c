/* All options of all tools, as --help names them, given wrongly: each tool says
 * the same, names the option as it was written, and ends with status 2. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static const char *const tools[] = {"swizzle-run", "swizzle-dump",
				    "swizzle-top", "swizzle-ctl"};
enum { TOOLS = sizeof(tools) / sizeof(*tools), MOST_OPTIONS = 128 };

enum takes { NO_VALUE, A_VALUE, MAYBE_ONE };

static struct option {
	char name[32];
	enum takes takes;
} options[MOST_OPTIONS];
static int option_count;

/* dump() runs TOOL from now on. */
static void use(const char *tool)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", getenv("DUMP"));
	strcpy(strrchr(path, '/') + 1, tool);
	setenv("DUMP", path, 1);
}

static bool is_one_of(char letter, const char *letters)
{
	return letter && strchr(letters, letter);
}

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define LARGE "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* "  -x, --name VALUE", "  --name=VALUE", "  --name[=VALUE]", "  --name" */
static void add_option(const char *line)
{
	struct option *option = &options[option_count];
	const char *at = line + strspn(line, " "), *end;

	if (at > line && at[0] == '-' && is_one_of(at[1], SMALL LARGE) &&
	    strncmp(at + 2, ", ", 2) == 0)
		at += 4;
	if (at == line || strncmp(at, "--", 2) != 0)
		return;
	end = at + strspn(at, SMALL "-");
	ck_assert_int_lt(option_count, MOST_OPTIONS);
	ck_assert_int_lt(end - at, 32);
	snprintf(option->name, sizeof(option->name), "%.*s", (int)(end - at),
		 at);
	for (int i = 0; i < option_count; i++)
		if (strcmp(options[i].name, option->name) == 0)
			return;
	if (is_one_of(*end, " =") && is_one_of(end[1], LARGE))
		option->takes = A_VALUE;
	else if ((is_one_of(*end, " =") && is_one_of(end[1], SMALL)) ||
		 strncmp(end, "[=", 2) == 0)
		option->takes = MAYBE_ONE;
	else if (strcmp(at, "--help") == 0 || strcmp(at, "--version") == 0)
		option->takes = MAYBE_ONE;
	else
		option->takes = NO_VALUE;
	option_count++;
}

static void read_options(const char *tool)
{
	int flags = 0, values = 0;
	char *line;

	use(tool);
	dump("--help=all");
	ck_assert_int_eq(dumped.status, 0);
	option_count = 0;
	for (line = strtok(dumped.out, "\n"); line; line = strtok(NULL, "\n"))
		add_option(line);
	for (int i = 0; i < option_count; i++) {
		flags += options[i].takes == NO_VALUE;
		values += options[i].takes == A_VALUE;
	}
	ck_assert_msg(flags >= 2 && values >= 4, "%s: %d flags, %d with values",
		      tool, flags, values);
}

/* What is said of wrong usage: one line, and how to get help. */
static void is_wrong(const char *tool, const char *words, const char *says)
{
	char all[512];

	snprintf(all, sizeof(all), "swizzle: %s\nTry '%s --help'.\n", says,
		 tool);
	dump("%s", words);
	ck_assert_msg(dumped.status == 2 && strcmp(dumped.err, all) == 0 &&
			      !*dumped.out,
		      "%s %s: status %d: %s", tool, words, dumped.status,
		      dumped.err);
}

/* --color stands for --color=always. */
static bool needs_value(const struct option *option)
{
	return option->takes == A_VALUE && strcmp(option->name, "--color") != 0;
}

static void is_wrong_without(const char *tool, const struct option *option,
			     const char *written)
{
	char words[64], says[96];

	if (needs_value(option)) {
		snprintf(says, sizeof(says), "option %s needs a value",
			 option->name);
		is_wrong(tool, written, says);
	} else if (option->takes == NO_VALUE) {
		snprintf(words, sizeof(words), "%s=x", written);
		snprintf(says, sizeof(says), "option %s takes no value",
			 option->name);
		is_wrong(tool, words, says);
	}
}

START_TEST(no_value_an_empty_one_and_one_too_many)
{
	const char *tool = tools[_i];
	char words[64], says[64];

	read_options(tool);
	for (int i = 0; i < option_count; i++) {
		is_wrong_without(tool, &options[i], options[i].name);
		if (options[i].takes != A_VALUE)
			continue;
		snprintf(words, sizeof(words), "%.31s=", options[i].name);
		snprintf(says, sizeof(says),
			 "swizzle: option %.31s: ", options[i].name);
		dump("%s", words);
		ck_assert_msg(dumped.status == 2 &&
				      strncmp(dumped.err, says, strlen(says)) ==
					      0 &&
				      strstr(dumped.err, " --help'.\n"),
			      "%s %s: status %d: %s", tool, words,
			      dumped.status, dumped.err);
	}
}
END_TEST

START_TEST(misspelt)
{
	const char *tool = tools[_i];
	char words[64], says[96];

	read_options(tool);
	for (int i = 0; i < option_count; i++) {
		const char *name = options[i].name;

		if (name[2] == name[3] || strlen(name) < 6)
			continue;
		snprintf(words, sizeof(words), "--%c%c%s", name[3], name[2],
			 name + 4);
		snprintf(says, sizeof(says),
			 "unknown option %s; did you mean %s?", words, name);
		is_wrong(tool, words, says);
	}
	is_wrong(tool, "-k", "unknown option -k");
}
END_TEST

/* As short as no other option begins. */
static void shorten(const char *name, char *to)
{
	size_t size = strlen(name);

	for (bool alone = true; alone && size > 3; size -= alone)
		for (int i = 0; i < option_count; i++)
			if (strcmp(options[i].name, name) != 0 &&
			    strncmp(options[i].name, name, size - 1) == 0)
				alone = false;
	snprintf(to, size + 1, "%s", name);
}

START_TEST(abbreviated)
{
	char word[32];

	read_options(tools[_i]);
	if (_i == 1) /* it stands in a sentence */
		strcpy(options[option_count++].name, "--no-embed");
	for (int i = 0; i < option_count; i++) {
		shorten(options[i].name, word);
		is_wrong_without(tools[_i], &options[i], word);
	}
}
END_TEST

START_TEST(given_twice)
{
	static const char *const twice[] = {"diff", "times", "symfs"};
	char words[64], says[96];

	for (int i = 0; i < 3; i++) {
		snprintf(words, sizeof(words), "--%s . --%s /", twice[i],
			 twice[i]);
		snprintf(says, sizeof(says),
			 "option --%s is given twice: '/' is a second --%s",
			 twice[i], twice[i]);
		is_wrong("swizzle-dump", words, says);
	}
	use("swizzle-ctl");
	is_wrong("swizzle-ctl", "st",
		 "command 'st' could be several: status, start, stop");
}
END_TEST

START_TEST(numbers_of_any_length)
{
	static const char *const numbers[] = {"18446744073709551617",
					      "999999999999",
					      "99999999999999999999999999"};
	static const char *const of_top[] = {
		"--percent-limit", "--backtrace-percent",
		"--rounds",        "--rate",
		"--pid",           "--delay"};
	static const char *const of_run[] = {
		"--rate",         "--depth",       "--recursion",
		"--string-bytes", "--stack-bytes", "--pid",
		"--min-size",     "--max-memory",  "--max-size"};
	char words[96], says[96];

	for (int n = 0; n < 3 * 16; n++) {
		const char *number = numbers[n / 16], *option = "--tree";
		int i = n % 16;

		if (i < 6) {
			use("swizzle-top");
			option = of_top[i];
		} else if (i < 15) {
			use("swizzle-run");
			option = of_run[i - 6];
		} else {
			use("swizzle-ctl");
		}
		snprintf(words, sizeof(words), "%s%s=%s%s",
			 i < 6    ? "-b "
			 : i < 15 ? ""
				  : "list ",
			 option, number, i < 15 ? " true" : "");
		snprintf(says, sizeof(says), "option %s: '%s' is not", option,
			 number);
		dump_refuses(words, 2, says);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wrong_options");
	TCase *t = tcase_create("wrong_options");

	tcase_add_checked_fixture(t, dump_begin, dump_end);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, no_value_an_empty_one_and_one_too_many, 0,
			    TOOLS);
	tcase_add_loop_test(t, misspelt, 0, TOOLS);
	tcase_add_loop_test(t, abbreviated, 0, TOOLS);
	tcase_add_test(t, given_twice);
	tcase_add_test(t, numbers_of_any_length);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
