/* What swizzle-dump makes of the events of a trace: its calls, a part of the
 * time, filters, fewer calls, the database. (What reads whole files of chrome,
 * perfetto and speedscope: tests/e2e/test_trace_formats.sh.) */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

#define MAIN \
	"main 100-900\n" \
	"  round 200-500\n" \
	"    add 250-300\n" \
	"    add 320-350!\n" \
	"  round 600-700\n" \
	"    add 610-690~\n"
#define WORKER \
	"work 150-750\n" \
	"  round 300-400\n"

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "thread main 1000\n" MAIN "mark first 400\n"
		  "thread worker 800\n" WORKER "mark second 500\n");
	dump_made("counted", 4243, "main 1 900\n");
}

START_TEST(calls_are_those_of_the_tree)
{
	static const char rows[] = "1 500 600 work  prog\n"
				   "0 400 1800 [outside]  -\n"
				   "1 400 800 main  prog\n"
				   "3 340 500 round  prog\n"
				   "3 160 160 add  prog\n";

	dump_has_calls("p", MAIN WORKER);
	dump_has_rows("-f text p", rows);
	dump_has_rows("-f text --from 0 p", rows);
	dump("-f calls p");
	dump_has(dumped.out, "     50 ns      add\n");
	dump_has(dumped.out, "     30 ns      add ! exception ");
	dump_has(dumped.out, "            300 ns    } round\n");
	dump_has(dumped.out, "     80 ns      add [longjmp]\n");
	dump("-f speedscope -o - p");
	dump_has(dumped.out, "main\",\"unit\":\"nanoseconds\","
			     "\"startValue\":0,\"endValue\":1000,");
	dump_has(dumped.out, "{\"type\":\"O\",\"at\":250,\"frame\":2},\n"
			     "{\"type\":\"C\",\"at\":300,\"frame\":2},\n");
}
END_TEST

START_TEST(filters)
{
	dump_has_calls("-N round p", "main 100-900\nwork 150-750\n");
	dump_has_calls("-H round -H work p", "main 100-900\n"
					     "  add 250-300\n"
					     "  add 320-350!\n"
					     "  add 610-690~\n");
	dump_has_calls("-F round -H 'a*' p", "round 200-500\n"
					     "round 600-700\n"
					     "round 300-400\n");
	dump_has_calls("-F work -N round p", "work 150-750\n");
	dump_has_calls("-F 'no such' p", "");
	dump_has_calls("--tid 101 p", WORKER);
	dump_has_calls("--tid 'm*' --tid 101 p", MAIN WORKER);
	/* add() alone is left out, but not below what leads to it */
	dump_has_calls("-C round --tid main p", "main 100-900\n"
						"  round 200-500\n"
						"  round 600-700\n");
	dump("-f calls -C work p");
	ck_assert_ptr_null(strstr(dumped.out, "round"));
}
END_TEST

START_TEST(a_part_of_the_time)
{
	static const char *const same[] = {"--from 350ns --to 0.00000065 p",
					   "--from 0.35us --to 650ns p"};

	for (int i = 0; i < 2; i++)
		dump_has_calls(same[i], "main 350-650still running\n"
					"  round 350-500\n"
					"    add 350-350!\n"
					"  round 600-650still running\n"
					"    add 610-650still running\n"
					"work 350-650still running\n"
					"  round 350-400\n");
	dump_has_calls("--from 350ns --to 650ns -H round -N add p",
		       "main 350-650still running\n"
		       "work 350-650still running\n");
	/* calls are counted where they begin, times are in both parts */
	dump_has_rows("-f text --to 450ns p", "2 270 350 round  prog\n"
					      "0 250 900 [outside]  -\n"
					      "1 200 300 work  prog\n"
					      "1 100 350 main  prog\n"
					      "2 80 80 add  prog\n");
	dump_has_rows("-f text --from 450ns p", "0 300 450 main  prog\n"
						"0 300 300 work  prog\n"
						"0 150 900 [outside]  -\n"
						"1 80 80 add  prog\n"
						"1 70 150 round  prog\n");
	dump_has_rows("-f text --from 20% --to 20% p", "0 0 0 [outside]  -\n");
	dump_has_rows("-f folded --from 710ns --to 720ns p", "main 10\n"
							     "work 10\n");
}
END_TEST

START_TEST(marks_are_cut_as_calls_are)
{
	dump("-f text p");
	dump_has(dumped.out, "  first\n");
	dump_has(dumped.out, "  second\n");
	dump("-f text --tid worker p");
	ck_assert_ptr_null(strstr(dumped.out, "first"));
	dump_has(dumped.out, "  second\n");
	dump("-f text --to 450ns p");
	dump_has(dumped.out, "  first\n");
	ck_assert_ptr_null(strstr(dumped.out, "  second\n"));
	dump("-f chrome --from 450ns -o - p");
	ck_assert_ptr_null(strstr(dumped.out, "first"));
	dump_has(dumped.out, "\"name\":\"second\"");
}
END_TEST

static const struct {
	const char *words;
	int left_out; /* of 8 */
	const char *calls;
} limits[] = {
	{"-t 60ns", 2,
	 "main 100-900\n"
	 "  round 200-500\n"
	 "  round 600-700\n"
	 "    add 610-690~\n" WORKER},
	{"--min-time 60", 2,
	 "main 100-900\n"
	 "  round 200-500\n"
	 "  round 600-700\n"
	 "    add 610-690~\n" WORKER},
	{"--max-depth 1", 6, "main 100-900\nwork 150-750\n"},
	{"-D 2 -t 150ns", 5,
	 "main 100-900\n"
	 "  round 200-500\n"
	 "work 150-750\n"},
	/* the first, fourth and seventh, and what is around them */
	{"--sample-events 3", 4,
	 "main 100-900\n"
	 "  round 200-500\n"
	 "    add 320-350!\n"
	 "work 150-750\n"},
	/* of main, round, round, work and round */
	{"-D 2 --sample-events 2", 4,
	 "main 100-900\n"
	 "  round 600-700\n"
	 "work 150-750\n"
	 "  round 300-400\n"},
};

START_TEST(fewer_calls)
{
	char words[128], says[128];

	snprintf(words, sizeof(words), "%s p", limits[_i].words);
	dump_has_calls(words, limits[_i].calls);
	snprintf(words, sizeof(words), "-f chrome %s -o - p", limits[_i].words);
	snprintf(says, sizeof(says),
		 "%d of 8 calls were left out (--min-time, --max-depth, "
		 "--sample-events)\n",
		 limits[_i].left_out);
	dump_says(words, 0, says);
	snprintf(says, sizeof(says), "],\"callsLeftOut\":%d}",
		 limits[_i].left_out);
	dump_has(dumped.out, says);
}
END_TEST

START_TEST(the_first_calls)
{
	dump("-q -f calls -n 2 p");
	ck_assert_ptr_null(strstr(dumped.out, "add"));
	dump_has(dumped.out, "            800 ns  } main\n");
	dump_has(dumped.out, "# the first 2 calls; -n 0 shows all\n");
	dump("-q -f calls -t 1us p");
	ck_assert_ptr_null(strstr(dumped.out, " ns "));
	dump_refuses("--calls-of ound p", 1,
		     "--calls-of 'ound' matches no function that was recorded; "
		     "did you mean 'round'?");
	dump("--calls-of nosuch --calls-of add p");
	dump_has(dumped.out, "# 3 calls, 1 exceptional\n"
			     "# sum 160 ns, mean 53 ns, ");
}
END_TEST

START_TEST(refused)
{
	static const struct {
		const char *words;
		int status;
		const char *says;
	} wrong[] = {
		{"-f text --from 60% --to 50% p", 2, "later than"},
		{"-f text --from 0 counted", 2, "not a trace"},
		{"-f chrome -o - counted", 1, "not a trace"},
		{"-f perfetto -o - counted", 1, "not a trace"},
		{"-f speedscope -t 1us -o x counted", 1, "not a trace"},
		{"-f calls --from 1xs p", 2, "not a time in seconds or perc"},
		{"-f calls --from ms p", 2, "not a time in seconds or percent"},
		{"-f chrome -t 10x -o x p", 2, "not a time (10us, 2ms)"},
		{"-f chrome -t -1 -o x p", 2, "not a time (10us, 2ms)"},
		{"-f chrome -t '' -o x p", 2, "not a time (10us, 2ms)"},
		{"-f chrome -t us -o x p", 2, "not a time (10us, 2ms)"},
		{"-f chrome -t 1e30s -o x p", 2, "not a time (10us, 2ms)"},
		{"-f text -t 1us p", 2,
		 "the format text has no use for -t, --min-time and "
		 "--sample-events"},
		{"-f html --max-depth 3 -o x p", 2,
		 "the format html has no use for -D, --depth and --max-depth"},
		{"-f archive -o x p counted", 2, ""},
		{"-f sqlite -o - p", 2, "Name a file with -o"},
		{"-f sqlite -o /dev/null p", 2, "cannot write sqlite to /dev"},
		{"-f sqlite -o missing/base p", 1, "missing/base: No such f"},
		{"-q -f archive -o a.gz p", 2, "not compressed by the name"},
		{"-q -f sqlite -o a.db.zst p", 2, "not compressed by the name"},
		{"-q -f pprof -o a.zst p", 2, "not compressed by the name"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		dump("%s", wrong[i].words);
		ck_assert_msg(dumped.status == wrong[i].status &&
				      strstr(dumped.err, wrong[i].says) &&
				      !*dumped.out,
			      "%s: %d, %s", wrong[i].words, dumped.status,
			      dumped.err);
	}
	dump_says("-f calls --at 1000 p", 0,
		  "--at: the run ends before, at 0.000001 s\n");
	dump_says("-f calls --from 1000 p", 0,
		  "--from: the run ends before, at 0.000001 s\n");
}
END_TEST

#define FUNCTIONS "SELECT name, calls, self_ns, incl_ns, unwound FROM functions"
#define EVENTS \
	"SELECT name, start_ns, duration_ns, depth, ended, began FROM " \
	"named_events ORDER BY id"

START_TEST(the_database)
{
	dump_says("-q -f sqlite -o .base p", 0, "");
	dump_answers(FUNCTIONS " ORDER BY name", "[outside]|0|400|1800|0\n"
						 "add|3|160|160|1\n"
						 "main|1|400|800|0\n"
						 "round|3|340|500|0\n"
						 "work|1|500|600|0\n");
	dump_answers(EVENTS, "main|100|800|0||\n"
			     "round|200|300|1||\n"
			     "add|250|50|2||\n"
			     "add|320|30|2|exception|\n"
			     "round|600|100|1||\n"
			     "add|610|80|2|longjmp|\n"
			     "work|150|600|0||\n"
			     "round|300|100|1||\n");
	dump_answers("SELECT p.name, count(*) FROM named_events e JOIN "
		     "named_events p ON p.id = e.parent GROUP BY 1",
		     "main|2\nround|3\nwork|1\n");
	dump_answers("SELECT text, at_ns FROM marks ORDER BY 2",
		     "first|400\nsecond|500\n");
	dump_answers("SELECT value FROM about WHERE key = 'events'",
		     "all calls\n");
	dump_answers("SELECT count(*) FROM call_values", "0\n");
	dump_says("-q -f sqlite -o .base --from 650ns p", 0, "");
	dump_answers(EVENTS, "main|650|250|0||earlier\n"
			     "round|650|50|1||earlier\n"
			     "add|650|40|2|longjmp|earlier\n"
			     "work|650|100|0||earlier\n");
	dump_says("-q -f sqlite -o .base -F add -F work -N round p", 0, "");
	dump_answers(EVENTS, "work|150|600|0||\n");
	dump_says("-q -f sqlite -o .base counted", 0, "");
	dump_answers("SELECT count(*) FROM events", "0\n");
	dump_answers("SELECT value FROM about WHERE key = 'events'",
		     "none: not recorded (swizzle-run -m trace records "
		     "them)\n");
}
END_TEST

START_TEST(several_processes)
{
	dump_made("q", 4292, "thread main 300\nmain 10-250\n");
	dump_says("-q -f sqlite -o .base p q", 0, "");
	dump_answers("SELECT p.pid, e.start_ns FROM named_events e JOIN "
		     "threads t ON t.id = e.thread JOIN processes p ON p.id = "
		     "t.process WHERE e.name = 'main' ORDER BY 1",
		     "4242|100\n4292|10\n");
	dump("-f speedscope -o - p q");
	dump_has(dumped.out, "prog 4242, main");
	dump_has(dumped.out, "prog 4292, main");
	dump_has_calls("-D 1 -F main p q", "main 100-900\nmain 10-250\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_traces");
	TCase *t = tcase_create("dump_traces");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_test(t, calls_are_those_of_the_tree);
	tcase_add_test(t, filters);
	tcase_add_test(t, a_part_of_the_time);
	tcase_add_test(t, marks_are_cut_as_calls_are);
	tcase_add_loop_test(t, fewer_calls, 0,
			    sizeof(limits) / sizeof(*limits));
	tcase_add_test(t, the_first_calls);
	tcase_add_test(t, refused);
	tcase_add_test(t, the_database);
	tcase_add_test(t, several_processes);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
