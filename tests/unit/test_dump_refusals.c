/* What swizzle-dump refuses of profiles of some kind: of calls (p), of a trace
 * (t), of counts without times, of samples. Those two are of the fuzzers'
 * corpus. (Options that are wrong for all: tests/unit/test_dump_options.c.) */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static char top[4096];

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242, "main 1 900\n  work 10 600\n");
	dump_made("t", 4243, "main 0-900\n  work 100-700\n");
	setenv("CORPUS", top, 1);
	ck_assert_int_eq(system("cd \"$CORPUS/tests/fuzz/corpus/fuzz_reader\" "
				"&& cp counts samples \"$OLDPWD\""),
			 0);
}

static const struct {
	const char *words;
	int status;
	const char *says;
} refusals[] = {
	{"--at x t", 2, "not a time"},
	{"-f text --calls-of x t", 2, "no use for --calls-of"},
	{"-f asm --syntax arm work p", 2, "syntax"},
	{"-f table --syntax intel p", 2, "--syntax"},
	{"-f text --offsets p", 2, "--offsets"},
	{"--offsets --diff p p", 2, "--offsets"},
	{"--blame --at 0 t", 2, "--blame has no use for --at"},
	{"--blame --calls-of main t", 2, "--blame has no use for --calls-of"},
	{"-f text --blame t", 2, "no use for --blame"},
	{"--blame p", 1, "trace"},
	{"-f calls-html --at 0 t", 2, "has no use for --at"},
	{"-f calls-html --file-per-invocation t", 2,
	 "--file-per-invocation needs -F"},
	{"-F work -f html --file-per-invocation t", 2,
	 "has no use for --file-per-invocation"},
	{"-F work --blame --file-per-invocation t", 2,
	 "has no use for --blame"},
	{"-F work --file-per-invocation -o - t", 2, "names no folder"},
	{"-F work --file-per-invocation -o p t", 1, "cannot write p"},
	{"--causes t", 1, "no flows were recorded"},
	{"--by cause t", 1, "no flows were recorded"},
	{"--causes -f csv t", 2, "--causes"},
	{"--causes --diff t t", 2, "--diff"},
	{"--causes --by thread,parts t", 2, "--by thread,parts"},
	{"--by cause,thread t", 2, "columns"},
	{"-f text --embed p", 2, "the format text has no use for --embed"},
	{"--embed -o file p", 2, "has no use for -o"},
	{"-f text --debug-dir nonesuch p", 2,
	 "option --debug-dir: 'nonesuch': No such file"},
	{"-f text --debug-dir p p", 2,
	 "option --debug-dir: 'p': Not a directory"},
	{"-f text --symfs nonesuch p", 2,
	 "option --symfs: 'nonesuch': No such file"},
	{"-f text --symfs p p", 2, "option --symfs: 'p': Not a directory"},
	{"-f graph --by thread,parts p", 2, "has no use for --by thread,parts"},
	{"-f graph --diff p p", 2, "has no use for --diff"},
	{"-f html -o page --by thread,parts --diff p p", 2,
	 "adds all threads up"},
	{"--ran main -f text p", 2, "--ran"},
	{"--call 2 t", 2, "--call"},
	{"--why work -f csv t", 2, "--why"},
	{"--why nothing t", 1, "--why 'nothing' matches no function"},
	{"--why work --call 100000 t", 1,
	 "--why 'work': --call 100000, but there are only"},
	{"-f firefox p", 1, "p: "},
	{"--push ftp://host/ p", 2, "--push"},
	{"--push host p", 2, "--push"},
	{"--push http:///x p", 2, "--push"},
	{"--push http://me:secret@localhost/ p", 2, "SWIZZLE_PUSH_TOKEN"},
	{"--push http://host/ -f html p", 2, "--push"},
	{"--push http://host/ -o file p", 2, "--push"},
	{"--times p p", 1,
	 "--times p: this profile has no samples (swizzle-run -m sample)"},
	{"--times samples samples", 1,
	 "samples: this profile has samples, and no calls that --times could "
	 "add"},
	{"--times samples p", 1, "samples and p are of different programs"},
	{"--times missing p", 1, "missing: "},
	{"-f text --times samples --by thread,parts p", 2,
	 "--times has no use for "},
	{"-f text --times samples --by thread,files p", 2,
	 "--times has no use for "},
	{"-f text --times samples --tid 1 p", 2, "--times has no use for "},
	{"-f text --times samples --from 1 p", 2, "--times has no use for "},
	{"-f text --times samples --by thread p", 2, "--times has no use for "},
	{"-f text --times samples --by module,process p", 2,
	 "--times has no use for "},
	{"-f text --times samples -s max p", 2, "--times has no use for "},
	{"-f text --times samples --diff p p", 2, "--times has no use for "},
	{"--times samples -f chrome p", 2, "chrome has no use for --times"},
	{"--times samples -f info p", 2, "info has no use for --times"},
	{"--times samples -f raw p", 2, "raw has no use for --times"},
	{"--times samples -f archive p", 2, "archive has no use for --times"},
	{"-f text p samples", 2, "they cannot be shown together"},
	{"-f text --diff p samples", 2, "they cannot be shown together"},
	{"-f text p counts", 2, "cannot be shown together"},
	{"-f text -s self counts", 2, "calls without times (-m count)"},
	{"-f text -s incl counts", 2, "calls without times (-m count)"},
	{"-f text -s max counts", 2, "calls without times (-m count)"},
	{"-f text --no-compensate counts", 2, "calls without times (-m count)"},
	{"-f text --percent-limit 1 counts", 2,
	 "calls without times (-m count)"},
};

START_TEST(refused)
{
	dump_refuses(refusals[_i].words, refusals[_i].status,
		     refusals[_i].says);
}
END_TEST

static const struct {
	const char *format;
	bool counts;
} formats[] = {
	{"callgrind", true},   {"table", true},   {"text", true},
	{"tree", true},        {"csv", true},     {"json", true},
	{"sqlite", true},      {"pprof", true},   {"dot", true},
	{"graph", true},       {"info", true},    {"raw", true},
	{"archive", true},     {"folded", false}, {"html", false},
	{"speedscope", false},
};

START_TEST(counts_are_shown_or_what_is_needed_is_said)
{
	char words[64], says[64];

	snprintf(words, sizeof(words), "-q -f %s -o made counts",
		 formats[_i].format);
	dump("%s", words);
	if (formats[_i].counts) {
		ck_assert_int_eq(dumped.status, 0);
		ck_assert_int_eq(access("made", F_OK), 0);
		return;
	}
	ck_assert_int_eq(dumped.status, 1);
	snprintf(says, sizeof(says),
		 "calls without times (-m count); the format %s",
		 formats[_i].format);
	dump_has(dumped.err, says);
	dump_has(dumped.err, "swizzle-run -m both");
	ck_assert_ptr_eq(strchr(dumped.err, '\n') + 1,
			 strchr(dumped.err, '\0'));
}
END_TEST

START_TEST(samples_have_no_hooks_and_no_calls)
{
	static const char *const keys[] = {"thread", "process"};
	static const char *const ways[] = {"text", "csv", "json"};

	for (int i = 0; i < 6; i++) {
		dump("-q --by %s -f %s -o - samples", keys[i % 2], ways[i / 2]);
		ck_assert_int_eq(dumped.status, 0);
		ck_assert_ptr_null(strstr(dumped.out, "hooks"));
	}
	dump("-f info samples");
	ck_assert_ptr_null(strstr(dumped.out, "hooks"));
	dump("-f text --diff samples samples");
	dump_has(dumped.out, "# times in ns, of processor time");
	dump_has(dumped.out, "samples.old samples.new samples.diff");
	dump("-f csv --diff samples samples");
	ck_assert_int_eq(strncmp(dumped.out,
				 "samples_old,samples_new,samples_noise,"
				 "self_old_ns,",
				 50),
			 0);
	dump("-f json --diff samples samples");
	dump_has(dumped.out, "\"old\":{\"samples\":");
	dump_has(dumped.out, "\"old_samples\":");
	ck_assert_ptr_null(strstr(dumped.out, "\"old_calls\":"));
}
END_TEST

START_TEST(nothing_is_added_to_a_damaged_profile)
{
	ck_assert_int_eq(
		system("head -c $(($(stat -c %s p) - 256)) p >torn; cp torn "
		       "kept"),
		0);
	dump_refuses("-q --embed torn", 1,
		     "torn: damaged, so no names were added");
	ck_assert_int_eq(system("cmp torn kept"), 0);
	dump_says("-f archive -o archive torn", 0, "torn: ");
	dump_has(dumped.err, "the archive gets no names");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_refusals");
	TCase *t = tcase_create("dump_refusals");

	if (!getcwd(top, sizeof(top)))
		return 1;
	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_loop_test(t, refused, 0,
			    sizeof(refusals) / sizeof(*refusals));
	tcase_add_loop_test(t, counts_are_shown_or_what_is_needed_is_said, 0,
			    sizeof(formats) / sizeof(*formats));
	tcase_add_test(t, samples_have_no_hooks_and_no_calls);
	tcase_add_test(t, nothing_is_added_to_a_damaged_profile);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
