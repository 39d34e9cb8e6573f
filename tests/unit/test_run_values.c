/* swizzle-run's options as the program's environment has them, and what is
 * refused. Another library stands in for libswizzle.so. (What reaches the
 * program otherwise: tests/e2e/test_run_options.sh.) */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
	dump_begin();
	unsetenv("SWIZZLE_MODE");
	/* dump() runs the copy of swizzle-run from now on */
	ck_assert_int_eq(
		system("mkdir bin lib && cp \"${DUMP%dump}run\" bin && "
		       "cp \"$(sed -n 's,.* \\(/.*/libm[.-].*\\),\\1,p' "
		       "/proc/$PPID/maps | head -n 1)\" "
		       "lib/libswizzle.so"),
		0);
	setenv("DUMP", "bin/swizzle-run", 1);
}

static const struct {
	const char *words, *name, *value;
} values[] = {
	{"-F 'a*' '-Fb c' --filter='!d'", "FILTER", "a*\nb c\n!d"},
	{"-N 'a*' '-Nb c' --notrace='!d'", "NOTRACE", "a*\nb c\n!d"},
	{"-H 'a*' '-Hb c' --hide='!d'", "HIDE", "a*\nb c\n!d"},
	{"-M 'a*' '-Mb c' --module='!d'", "MODULE", "a*\nb c\n!d"},
	{"-L 'a*' '-Lb c' --location='!d'", "LOCATION", "a*\nb c\n!d"},
	{"-m profile", "MODE", "profile"},
	{"--mode trace", "MODE", "trace"},
	{"--mode=trace", "MODE", "trace"},
	{"-D12", "DEPTH", "12"},
	{"--depth=12", "DEPTH", "12"},
	{"--timing sampled", "TIMING", "sampled"},
	{"--timing=exact", "TIMING", "exact"},
	{"--no-follow", "FOLLOW", "0"},
	{"--no-cache", "CACHE", "0"},
	{"--cache", "CACHE", "1"},
	{"--list", "LIST", "1"},
	{"--summary", "SUMMARY", "1"},
	{"--no-summary", "SUMMARY", "0"},
	{"-v", "VERBOSE", "1"},
	{"-q", "QUIET", "1"},
	{"-vq", "QUIET", "1"},
	{"-vq", "VERBOSE", "1"},
	{"-qvq", "VERBOSE", "1"},
	{"--fi a", "FILTER", "a"},
	{"--verb", "VERBOSE", "1"},
	{"--max-memory 1048576", "MAX_MEMORY", "1048576"},
	{"--max-memory 1024K", "MAX_MEMORY", "1048576"},
	{"--max-memory 1024k", "MAX_MEMORY", "1048576"},
	{"--max-memory 16M", "MAX_MEMORY", "16777216"},
	{"--max-memory 2G", "MAX_MEMORY", "2147483648"},
	{"--max-memory 010m", "MAX_MEMORY", "10485760"},
	{"--max-memory 64g", "MAX_MEMORY", "68719476736"},
	{"-Z 0", "MIN_SIZE", "0"},
	{"-Z 16", "MIN_SIZE", "16"},
	{"-Z 2k", "MIN_SIZE", "2048"},
	{"-Z 4294967295", "MIN_SIZE", "4294967295"},
	{"--min-size=7", "MIN_SIZE", "7"},
	{"-H 'a[b]'", "HIDE", "a[b]"},
	{"-H '[!a-z]*'", "HIDE", "[!a-z]*"},
	{"-H '[^]]'", "HIDE", "[^]]"},
	{"-H '[]]'", "HIDE", "[]]"},
	{"-H 'a]'", "HIDE", "a]"},
	{"-H '[a]x[b]'", "HIDE", "[a]x[b]"},
	{"-H '![a]'", "HIDE", "![a]"},
};

START_TEST(values_reach_the_program)
{
	char words[256], value[64];

	snprintf(words, sizeof(words),
		 "%s /bin/sh -c 'printf %%s \"${SWIZZLE_%s++}$SWIZZLE_%s\"'",
		 values[_i].words, values[_i].name, values[_i].name);
	snprintf(value, sizeof(value), "+%s", values[_i].value);
	dump("%s", words);
	ck_assert_msg(strcmp(dumped.out, value) == 0, "%s: %s%s", words,
		      dumped.out, dumped.err);
}
END_TEST

static const struct {
	const char *words, *says;
} refusals[] = {
	{"--location='['", "option --location"},
	{"--location='a[b'", "option --location"},
	{"--location='[]'", "option --location"},
	{"--location='[!]'", "option --location"},
	{"--location='[^]'", "option --location"},
	{"--location='[a]x[b'", "option --location"},
	{"--location='!['", "option --location"},
	{"--location='!'", "option --location"},
	{"--mdoe=trace", "unknown option --mdoe; did you mean --mode?"},
	{"--zzzzz", "unknown option --zzzzz\n"},
	{"--no",
	 "option --no could be several: --no-wall, --notrace, --no-follow, "
	 "--no-cache, --no-summary"},
	{"-m trce", "unknown mode 'trce'; did you mean 'trace'? There are: "
		    "profile, trace"},
	{"--timing often",
	 "unknown kind of timing 'often'. There are: exact, sampled"},
	{"--imports=dlsmy", "unknown value of --imports 'dlsmy'; did you mean "
			    "'dlsym'? There are: dlsym"},
	{"--qui=3", "option --quiet takes no value"},
	{"-qkv", "unknown option -k"},
	{"--nonsense", "Try 'swizzle-run --help'."},
	{"--mode= ", "--mode"},
	{"-o ''", "file name"},
	{"-F ''", "pattern"},
};

START_TEST(refused)
{
	char words[128];

	snprintf(words, sizeof(words), "%s /bin/true", refusals[_i].words);
	dump_refuses(words, 2, refusals[_i].says);
}
END_TEST

/* Without a program. */
static const char *const wrong[] = {
	"-x",
	"--nope",
	"--out=x",
	"-D0",
	"-D-1",
	"-Dx",
	"-D1048577",
	"-D 12345678901",
	"-m",
	"-qm",
	"--mode",
	"--mode=x",
	"-mtrace",
	"-o",
	"-F",
	"--follow=1",
	"--list=x",
	"--max-memory=0",
	"--max-memory=x",
	"--max-memory=1T",
	"--max-memory=-1",
	"--max-memory=65G",
	"--max-memory=1023K",
	"--max-memory=K",
	"--timing=x",
	"--timing=",
	"--max-memory=",
	"--max-memory=99999999999999999999",
	"-Z",
	"-Zx",
	"-Z-1",
	"-Z1.5",
	"-Z1T",
	"-Z4G",
	"--min-size=",
	"-L",
	"-vx",
	"-v-",
	"",
	"--",
};

START_TEST(wrong_usage)
{
	dump_refuses(wrong[_i], 2, "swizzle");
}
END_TEST

START_TEST(help)
{
	static const char *const options[] = {
		"-o",         "--output",     "-m",
		"--mode",     "-F",           "--filter",
		"-N",         "--notrace",    "-H",
		"--hide",     "-M",           "--module",
		"-L",         "--location",   "-Z",
		"--min-size", "-D",           "--depth",
		"--timing",   "--max-memory", "--follow",
		"--summary",  "--no-summary", "--no-follow",
		"--no-cache", "--cache",      "--list",
		"-v",         "-q",           "-V",
		"-h"};

	dump_says("--help=all", 0, "");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		dump_has(dumped.out, options[i]);
	dump_says("-h", 0, "");
	dump_has(dumped.out, "Usage: swizzle-run");
	dump_says("-qV", 0, "");
	ck_assert_int_eq(strncmp(dumped.out, "swizzle-run ", 12), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run_values");
	TCase *t = tcase_create("run_values");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_loop_test(t, values_reach_the_program, 0,
			    sizeof(values) / sizeof(*values));
	tcase_add_loop_test(t, refused, 0,
			    sizeof(refusals) / sizeof(*refusals));
	tcase_add_loop_test(t, wrong_usage, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_test(t, help);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
