/* swizzle-dump --diff, and what decides whether a build may pass: --fail-above,
 * --fail-calls-above and --budget. */

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "swizzle/format.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
	dump_begin();
	dump_made("old", 4242,
		  "main 1 910\n"
		  "  work 20 600\n"
		  "    leaf 400 300\n"
		  "  removed 30 110\n"
		  "thread early 200\n"
		  "leaf 10 100\n");
	dump_made("new", 4243,
		  "main 1 960\n"
		  "  work 20 700\n"
		  "    leaf 450 300\n"
		  "  so:added 40 60\n"
		  "thread late 200\n"
		  "leaf 10 100\n");
}

/* calls, self and inclusive times: old, new, their difference, and its share */
#define REMOVED "30 0 -30 110 0 -110 -100.00 110 0 -110 -100.00 "
#define WORK "20 20 0 300 400 +100 +33.33 600 700 +100 +16.67 "
#define OUTSIDE "0 0 0 190 140 -50 -26.32 1200 1200 0 +0.00 "
#define ADDED "0 40 +40 0 60 +60 - 0 60 +60 - "
#define LEAF "410 460 +50 400 400 0 +0.00 400 400 0 +0.00 "
#define LEAF_OF_WORK "400 450 +50 300 300 0 +0.00 300 300 0 +0.00 "
#define LEAF_OF_THREAD "10 10 0 100 100 0 +0.00 100 100 0 +0.00 "
#define MAIN "1 1 0 200 200 0 +0.00 910 960 +50 +5.49 "

START_TEST(rows_by_the_size_of_their_difference)
{
	dump_has_rows("-f text --diff old new", REMOVED
		      "removed  prog  (gone)\n" WORK "work  prog\n" ADDED
		      "added  libso.so  (new)\n" OUTSIDE "[outside]  -\n" LEAF
		      "leaf  prog\n" MAIN "main  prog\n");
	dump_has_rows("--diff old new -s incl -n 3",
		      REMOVED "removed  prog  (gone)\n" WORK
			      "work  prog\n" ADDED "added  libso.so  (new)\n");
	dump_has_rows("--diff old new -s calls -n 2",
		      LEAF "leaf  prog\n" ADDED "added  libso.so  (new)\n");
	dump_has_rows("--diff old new -s name -n 2", OUTSIDE
		      "[outside]  -\n" ADDED "added  libso.so  (new)\n");
	/* 60 ns of 1200 are 5% */
	dump_has_rows("--diff old new --percent-limit 5.01",
		      REMOVED "removed  prog  (gone)\n" WORK "work  prog\n");
	dump_has_rows("--diff old new -F '?e*'",
		      REMOVED "removed  prog  (gone)\n" LEAF "leaf  prog\n");
	dump("--diff old new -n 3 -f text");
	dump_has(dumped.out, "# old: process 4242: prog a b\n"
			     "# old: total 1200 ns in 2 threads\n"
			     "# new: process 4243: prog a b\n");
}
END_TEST

START_TEST(a_profile_and_itself)
{
	dump_has_rows("--diff old old -F work -F main",
		      "1 1 0 200 200 0 +0.00 910 910 0 +0.00 main  prog\n"
		      "20 20 0 300 300 0 +0.00 600 600 0 +0.00 work  prog\n");
}
END_TEST

START_TEST(options_may_stand_behind_the_sides)
{
	dump_has_rows("--diff old -- -n 1 new --form=text",
		      REMOVED "removed  prog  (gone)\n");
	dump_refuses("--diff old -- new --fial-above 3", 2, "--fail-above?");
	dump_says("-f csv --diff old -- -- -n", 1, "-n: No such file");
}
END_TEST

START_TEST(trees)
{
	dump_has_rows("-f tree --diff old new", OUTSIDE
		      "[outside]  -\n" MAIN "  main  prog\n" REMOVED
		      "    removed  prog  (gone)\n" WORK
		      "    work  prog\n" LEAF_OF_WORK "      leaf  prog\n" ADDED
		      "    added  libso.so  (new)\n" LEAF_OF_THREAD
		      "  leaf  prog\n");
	dump_has_rows("-f tree -n 2 --diff old new",
		      OUTSIDE "[outside]  -\n" MAIN "  main  prog\n");
	/* main is there for what is beneath it */
	dump_has_rows("-f tree --percent-limit 6 --diff old new", OUTSIDE
		      "[outside]  -\n" MAIN "  main  prog\n" REMOVED
		      "    removed  prog  (gone)\n" WORK "    work  prog\n");
	dump_has_rows("-f tree --bottom-up -F removed --diff old new",
		      REMOVED "removed  prog  (gone)\n" REMOVED
			      "  main  prog  (gone)\n" REMOVED
			      "    [outside]  -  (gone)\n" REMOVED
			      "removed  prog  (gone)\n");
	dump_has_rows("-f tree -F work --diff old new",
		      WORK "work  prog\n" WORK "  main  prog\n" WORK
			   "    [outside]  -\n" WORK "work  prog\n" LEAF_OF_WORK
			   "  leaf  prog\n");
}
END_TEST

START_TEST(other_formats)
{
	dump_has_rows("-f folded --diff old new", "[outside] 190 140\n"
						  "main 200 200\n"
						  "main;work 300 400\n"
						  "main;work;leaf 300 300\n"
						  "main;added 0 60\n"
						  "leaf 100 100\n"
						  "main;removed 110 0\n");
	dump_is("-f csv -n 2 --diff old new",
		"calls_old,calls_new,calls_noise,self_old_ns,self_new_ns,"
		"self_old_sd_ns,self_new_sd_ns,self_noise_ns,incl_old_ns,"
		"incl_new_ns,incl_old_sd_ns,incl_new_sd_ns,incl_noise_ns,"
		"change,function,module,file,line\n"
		"30,0,,110,0,,,,110,0,,,,gone,removed,prog,/src/prog.c,40\n"
		"20,20,,300,400,,,,600,700,,,,,work,prog,/src/prog.c,20\n");
	/* more, less, old, new, behind the line */
	dump("-f callgrind -o - --diff old new");
	dump_has(dumped.out, "summary: 160 160 1200 1200\n");
	dump_has(dumped.out, ") removed\n"
			     "calls=30 40\n"
			     "11 0 110 110 0\n");
	dump_has(dumped.out, ") work\n"
			     "calls=20 20\n"
			     "11 100 0 600 700\n");
	dump("-q -f callgrind --diff old new");
	ck_assert_int_eq(system("ls callgrind.out.diff.[0-9]* >/dev/null"), 0);
	dump("-f dot --percent-limit 0 --diff old new");
	dump_has(dumped.out, "self +100 ns (+33.33%)");
	dump_has(dumped.out, "-110 ns (-100.00%)\\n30 to 0");
	dump_has(dumped.out, "noise is unknown");
}
END_TEST

START_TEST(threads_by_their_names)
{
	dump_has_rows("-f folded -s calls --by thread,parts --diff old new",
		      "main;main 1 1\n"
		      "main;main;work 20 20\n"
		      "main;main;work;leaf 400 450\n"
		      "main;main;added 0 40\n"
		      "main;main;removed 30 0\n"
		      "late;leaf 0 10\n"
		      "early;leaf 10 0\n");
	dump("-q -f callgrind -o cg --by thread,files --diff old new");
	ck_assert_int_eq(system("test $(ls cg-0* | wc -l) = 3"), 0);
}
END_TEST

/* Runs of which the second took as long as said, and the others 200 ns less
 * and more: main() calls heavy(), which takes all of that. */
static void make_runs(const char *names, int pid, int ns)
{
	char name[] = "x0", calls[96];

	for (int run = 0; run < 3; run++) {
		int took = ns + (run - 1) * 200;

		snprintf(name, sizeof(name), "%s%d", names, run);
		snprintf(calls, sizeof(calls),
			 "thread main %d\nmain 1 %d\n  heavy 1 %d\n", took,
			 took, took);
		dump_made(name, pid + run, calls);
	}
}

/* The noise of means of three (752 ns) is 4.604 (99%, 4 degrees of freedom)
 * times the root of 2/3 times the deviation, which is 200 ns. */
START_TEST(noise_of_several_runs)
{
	make_runs("a", 5000, 10000);
	make_runs("b", 5100, 11000);
	dump("--diff a* -- b*");
	dump_has(dumped.out, "\n# total: +1000 ns (+10.00%), noise 75");
	dump_has(dumped.out, " ns: slower\n# functions: 1 slower");
	dump("--diff a* -- a*");
	dump_has(dumped.out, "\n# total: +0 ns (+0.00%), noise 75");
	dump_has(dumped.out, "  heavy  prog  (noise)\n");
	dump("-f dot --percent-limit 0 --diff a* -- a*");
	dump_has(dumped.out, "no change beyond the noise");
	/* a directory is one run */
	ck_assert_int_eq(system("mkdir d; cp a0 a1 d"), 0);
	dump("--diff d a2");
	dump_has(dumped.out, "# old: 2 profiles merged\n");
	dump_has(dumped.out, "the noise is unknown");
}
END_TEST

START_TEST(fails_above_a_limit)
{
	make_runs("a", 5000, 10000);
	make_runs("b", 5100, 20000);
	dump_says("--fail-above 90% --diff a* -- b*", 1,
		  "slower by more than 90%: total +100.0% (+10000 ns, noise ");
	dump_has(dumped.err, "; heavy (prog): self +100.0%");
	ck_assert_ptr_eq(strchr(dumped.err, '\n') + 1, strchr(dumped.err, 0));
	dump_has(dumped.out, "  heavy  prog\n");
	dump_says("-f folded --fail-above 90 --diff a* -- b*", 1, "slower");
	dump_has(dumped.out, "main;heavy 10000 20000\n");
	dump_says("--fail-above 110% --diff a* -- b*", 0, "");
	dump_says("--fail-above 0 --diff b* -- a*", 0, "");
	/* what is filtered out is not judged, nor is the total then */
	dump_says("--fail-above 90% -F heavy --diff a* -- b*", 1,
		  "slower by more than 90%: heavy (prog): self +100.0%");
	dump_says("--fail-above 90% -F main --diff a* -- b*", 0, "");
	/* of a single run the noise is not known */
	dump_says("--fail-above 90% --diff a1 b1", 1, "noise unknown");
	dump_says("--fail-above 90% --by thread,parts --diff a* -- b*", 1,
		  "in threads called");
	dump_says("--fail-above 90% --diff a0 a1 -- a2 nothing", 1,
		  "nothing: No such file");
}
END_TEST

START_TEST(what_the_noise_hides_is_undecided)
{
	make_runs("a", 5000, 10000);
	dump_says("--fail-above 1% --diff a0 a1 a1 -- a2 a2 a1", 3,
		  "noise is larger than 1%: total +2.0% (+200 ns, noise ");
	dump_has(dumped.err, "; heavy (prog): self ");
	dump_says("--fail-above 200% --diff a0 a1 a1 -- a2 a2 a1", 0, "");
}
END_TEST

static void make_counts(void)
{
	dump_made("few", 1, "main 1 900\n  work 100 800\n    leaf 2000 700\n");
	dump_made("more", 2, "main 1 900\n  work 112 800\n    leaf 2240 700\n");
	dump_made("most", 3, "main 1 900\n  work 150 800\n    leaf 3000 700\n");
}

START_TEST(fails_above_a_limit_of_calls)
{
	make_counts();
	dump_says("--fail-calls-above 10% --diff few more", 1,
		  "total +12.0% (+252 calls, noise unknown");
	dump_has(dumped.err, "; leaf (prog): +12.0% (+240 calls");
	dump_has(dumped.err, "; and other functions\n");
	dump_says("--fail-calls-above 12% --diff few more", 0, "");
	dump_says("--fail-calls-above 0 --diff few few", 0, "");
	dump_says("--fail-calls-above 5% -F work --diff few -- more", 1,
		  "than 5%: work (prog): +12.0% (+12 calls");
	/* which differ from run to run */
	dump_says(
		"--fail-calls-above 10% --diff few most more -- more few most",
		3, "noise is larger than 10%: total ");
	dump_refuses("--fail-calls-above 3% few", 2, "for comparisons");
}
END_TEST

START_TEST(annotations)
{
	make_counts();
	dump("-q --annotate --fail-calls-above 10%% --diff few more");
	ck_assert_int_eq(dumped.status, 1);
	dump_has(dumped.err,
		 "::error title=swizzle::total: +12.0%25 (+252 calls");
	dump_has(dumped.err,
		 "\n::error file=/src/prog.c,line=30,title=swizzle::leaf "
		 "(prog): "
		 "+12.0%25 ");
	dump_has(dumped.err,
		 "\n::error file=/src/prog.c,line=20,title=swizzle::work "
		 "(prog): ");
	setenv("GITHUB_WORKSPACE", "/src", 1);
	dump("-q --annotate --fail-calls-above 10%% --diff few more");
	dump_has(dumped.err, "::error file=prog.c,line=30,");
	dump("-q --annotate --fail-calls-above 10%% --diff few most more -- "
	     "more few most");
	dump_has(dumped.err, "::warning title=swizzle::total: ");
	dump_refuses("--annotate few", 2,
		     "--fail-above, --fail-calls-above or --budget");
}
END_TEST

static void budget(const char *lines)
{
	FILE *file = fopen("budget", "w");

	fputs(lines, file);
	fclose(file);
}

START_TEST(budgets)
{
	make_counts();
	budget("# what this program may do\n"
	       "leaf    calls 2000\n"
	       "[lw]*k  calls 100\n"
	       "total   calls 2101\n\n"
	       "main    incl 100s\n"
	       "main    self 20%\n"
	       "gone    calls 0\n");
	dump_says("--budget budget few", 0, "");
	dump("--budget budget more");
	ck_assert_int_eq(dumped.status, 1);
	ck_assert_str_eq(dumped.err, "swizzle: over budget: leaf (prog): calls "
				     "2240, more than 2000 (budget:2)\n"
				     "swizzle: over budget: work (prog): calls "
				     "112, more than 100 (budget:3)\n"
				     "swizzle: over budget: total: calls 2353, "
				     "more than 2101 (budget:4)\n");
	dump("--annotate --budget budget more");
	dump_has(dumped.err,
		 "::error file=/src/prog.c,line=20,title=swizzle::work "
		 "(prog): calls 112, more than 100 (budget:3)\n");
	dump_says("--budget budget --diff few more", 1,
		  "work (prog): calls 112,");
	dump_refuses("--budget nosuch few", 1, "nosuch: No such file");
	dump_refuses("--budget budget -f info few", 2, "no use for --budget");
}
END_TEST

START_TEST(lines_of_budgets)
{
	static const struct {
		const char *lines, *says;
		int status;
	} cases[] = {
		{"gone calls 5", "budget:1: nothing was recorded of 'gone'", 3},
		{"main incl 899ns", "main (prog): incl 900 ns", 1},
		{"main incl 900ns", "", 0},
		{"main incl 89%", "main (prog): incl ", 1},
		{"total self 0.999us", "total: self ", 1},
		{"#\nmain incl 10",
		 "budget:2: no time with a unit, and no percentage '10'", 2},
		{"main calls 10ms", "budget:1: no number of calls '10ms'", 2},
		{"the main 10", "unknown metric (calls, self, incl) 'main'", 2},
		{"calls 10", "budget:1: there is no function", 2},
		{"# none", "there is no limit in it", 2},
	};

	make_counts();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		budget(cases[i].lines);
		dump_says("--budget budget few", cases[i].status,
			  cases[i].says);
	}
}
END_TEST

static void flag(const char *name, uint32_t flag)
{
	FILE *file = fopen(name, "r+");
	uint32_t flags;
	long at = (long)offsetof(struct swz_file_header, flags);

	fseek(file, at, SEEK_SET);
	ck_assert_uint_eq(fread(&flags, sizeof(flags), 1, file), 1);
	flags |= flag;
	fseek(file, at, SEEK_SET);
	fwrite(&flags, sizeof(flags), 1, file);
	fclose(file);
}

START_TEST(sides_that_were_recorded_with_other_options)
{
	flag("new", SWZ_FILE_FILTERED);
	dump_says("--diff old new", 0,
		  "the new side was recorded with filters");
	dump_says("--diff new old", 0,
		  "the old side was recorded with filters");
	dump_says("--diff new new", 0, "");
	dump_says("-q --diff old new", 0, "");
	dump_says("--from 10% --diff old new", 2, "not a trace");
}
END_TEST

START_TEST(what_cannot_be_compared)
{
	static const struct {
		const char *words, *says;
		int status;
	} cases[] = {
		{"-f speedscope --diff old new",
		 "speedscope has no use for --diff", 2},
		{"-f info --diff old new", "info has no use for --diff", 2},
		{"-f raw --diff old new", "raw has no use for --diff", 2},
		{"-f perfetto --diff old new", "perfetto has no use for --diff",
		 2},
		{"-f chrome --diff old new", "chrome has no use for --diff", 2},
		{"-f archive --diff old new", "archive has no use for --diff",
		 2},
		{"--diff old", "two sides", 2},
		{"--diff old --", "two sides", 2},
		{"--diff old new --", "two sides", 2},
		{"--diff -f text old new", "OLD and NEW", 2},
		{"--diff old new old", "needs a --", 2},
		{"new old --diff old", "needs a --", 2},
		{"-f text --fail-above 10% old", "for comparisons", 2},
		{"--fail-above much --diff old new", "not a percentage", 2},
		{"--tid 1 --diff old new", "no use for --tid", 2},
		{"-s min --diff old new", "sorted by min", 2},
		{"--diff old --diff old", "given twice", 2},
		{"-f folded -n 3 --diff old new", "no use for -n", 2},
		{"--diff missing new", "missing: No such file", 1},
		{"--diff old missing", "missing: No such file", 1},
		{"--diff budget new", "budget: ", 1},
		{"--diff old budget", "budget: ", 1},
	};

	budget("Dear reader, this is no profile.\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		dump_refuses(cases[i].words, cases[i].status, cases[i].says);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_diff");
	TCase *t = tcase_create("dump_diff");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_test(t, rows_by_the_size_of_their_difference);
	tcase_add_test(t, a_profile_and_itself);
	tcase_add_test(t, options_may_stand_behind_the_sides);
	tcase_add_test(t, trees);
	tcase_add_test(t, other_formats);
	tcase_add_test(t, threads_by_their_names);
	tcase_add_test(t, noise_of_several_runs);
	tcase_add_test(t, fails_above_a_limit);
	tcase_add_test(t, what_the_noise_hides_is_undecided);
	tcase_add_test(t, fails_above_a_limit_of_calls);
	tcase_add_test(t, annotations);
	tcase_add_test(t, budgets);
	tcase_add_test(t, lines_of_budgets);
	tcase_add_test(t, sides_that_were_recorded_with_other_options);
	tcase_add_test(t, what_cannot_be_compared);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
