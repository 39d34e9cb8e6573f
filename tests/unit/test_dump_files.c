/* The files that swizzle-dump is given: each process counts once, --process
 * chooses some, archives are what they were made of, and output is
 * compressed by its name. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

#define CALLS "main 1 900\n  work 100 600\n"

static void setup(void)
{
	dump_begin();
	dump_made("a", 4242, CALLS);
	dump_made("b", 4243, CALLS);
	dump_made("c", 4244, CALLS);
	ck_assert_int_eq(system("mkdir in; mv a b c in"), 0);
}

/* Calls of work(), which each profile has 100 of, and what is said. */
static void counts(const char *files, int calls, const char *says)
{
	char rows[64];

	dump("-f text -F work %s", files);
	ck_assert_str_eq(dumped.err, says);
	ck_assert_int_eq(dumped.status, 0);
	dump_rows();
	snprintf(rows, sizeof(rows), "%d %d %d work  prog\n", calls, 6 * calls,
		 6 * calls);
	ck_assert_str_eq(dumped.out, rows);
}

START_TEST(files_that_are_given_twice)
{
	counts("in/a", 100, "");
	counts("in", 300, "");
	counts("in/a in/a", 100, "swizzle: in/a: given twice, counted once\n");
	counts("in in/b", 300, "swizzle: in/b: given twice, counted once\n");
	counts("-q in/a in/a", 100, "");
	dump("-f info in/a in/a");
	ck_assert_str_eq(dumped.err, "");
	dump_has(strstr(dumped.out, "\ncontexts: ") + 1, "\ncontexts: ");
}
END_TEST

START_TEST(copies_archives_and_parts)
{
	ck_assert_int_eq(system("cp in/a copy; head -c $(($(stat -c %s in/a) "
				"- 100)) in/a >part"),
			 0);
	dump_says("-q -f archive -o copy.swz in/a", 0, "");
	counts("in/a copy", 100,
	       "swizzle: copy: left out, as in/a has the same process\n");
	counts("in/a copy.swz", 100,
	       "swizzle: copy.swz: left out, as in/a has the same process\n");
	counts("in/a ./in/a", 100,
	       "swizzle: ./in/a: left out, as in/a has the same process\n");
	dump_says("-f text -F work part in/a", 0,
		  "swizzle: part: left out, as in/a has the same process\n");
	dump_rows();
	ck_assert_str_eq(dumped.out, "100 600 600 work  prog\n");
}
END_TEST

START_TEST(sums_beside_what_they_are_of)
{
	dump_says("-q --merge-into sum in/a in/b", 0, "");
	dump_says("-q --merge-into other in/b in/c", 0, "");
	counts("sum in/a", 200,
	       "swizzle: in/a: left out, as sum has the same process\n");
	counts("-q in/a sum", 200, "");
	counts("-q in sum", 300, "");
	counts("sum sum", 200, "swizzle: sum: given twice, counted once\n");
	counts("sum other", 400,
	       "swizzle: sum and other have processes in common, which count "
	       "twice. Name the profiles that they are sums of\n");
}
END_TEST

START_TEST(more_files_than_may_be_open)
{
	const struct rlimit few = {32, 4096};
	char name[16];

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "many.%d", i);
		dump_made(name, 5000 + i, CALLS);
		snprintf(name, sizeof(name), "traces.%d", i);
		dump_made(name, 5000 + i, "main 0-900\n  work 100-700\n");
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	counts("many.*", 4000, "");
	dump_has_rows("-f text -F work traces.*",
		      "40 24000 24000 work  prog\n");
}
END_TEST

/* What a sum may not have; that remains as it was. */
START_TEST(what_cannot_be_added)
{
	ck_assert_int_eq(system("echo nothing >text"), 0);
	dump_says("--merge-into new text in/a", 1, "text: ");
	dump_has(dumped.err, "1 profile added to new");
	dump_refuses("--merge-into text in/a", 1, "text: ");
	ck_assert_int_eq(system("test nothing = $(cat text)"), 0);
	dump_refuses("--merge-into in/a in/b", 1,
		     "in/a: a profile that --merge-into has not made");
	counts("in/a", 100, "");
	dump_made("trace", 4245, "main 0-900\n  work 100-700\n");
	dump_says("--merge-into new trace", 0,
		  "1 trace: the events are not in the sum");
	dump_has_rows("-f text -F work new", "101 1200 1200 work  prog\n");
	dump_refuses("--merge-into new", 2, "no profiles are given");
	dump_refuses("--merge-into new -f csv in/a", 2, "--merge-into");
}
END_TEST

START_TEST(other_formats_read_sums)
{
	static const char *const formats[] = {"tree",       "html", "pprof",
					      "speedscope", "dot",  "json"};
	char words[64];

	dump_says("-q --merge-into sum in", 0, "");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(words, sizeof(words), "-f %s -o - sum", formats[i]);
		dump_says(words, 0, "");
		ck_assert_msg(*dumped.out || i == 2, "%s", formats[i]);
	}
	dump_has(dumped.out, "\"name\":\"work\"");
}
END_TEST

/* --- --process -------------------------------------------------------------
 */

static void make_programs(void)
{
	dump_made("one", 501, "path /one/app A\nmain 1 900\n");
	dump_made("two", 502, "path /two/app B\nmain 2 800\n");
	dump_made("three", 503, "path /two/tool C\nmain 4 700\n");
	ck_assert_int_eq(system("mkdir all; mv one two three all"), 0);
}

START_TEST(processes_are_chosen)
{
	static const struct {
		const char *words;
		int calls;
	} choices[] = {
		{"--process tool", 4},
		{"--process 'a*'", 3},
		{"--process app", 3},
		{"--process /one/app", 1},
		{"--process '/two/*'", 6},
		{"--process 502", 2},
		{"--process 501 --process tool", 5},
	};
	const char *at;

	make_programs();
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		int calls = 0;

		dump("-f csv --by process %s all", choices[i].words);
		ck_assert_str_eq(dumped.err, "");
		for (at = dumped.out; (at = strchr(at, '\n'));)
			calls += atoi(++at);
		ck_assert_msg(calls == choices[i].calls, "%s: %d calls",
			      choices[i].words, calls);
	}
	dump_refuses("--process nothing all", 1, "--process 'nothing'");
	dump_has(dumped.err, "tool");
	dump_refuses("--process tool -f raw all", 2, "--process");
	dump("-f info --process app all");
	dump_has(dumped.out, "executable: /one/app\n");
	dump_has(dumped.out, "executable: /two/app\n");
	ck_assert_ptr_null(strstr(dumped.out, "executable: /two/tool\n"));
}
END_TEST

START_TEST(chosen_processes_are_merged)
{
	make_programs();
	dump_says("-q --process tool --merge-into sum all", 0, "");
	dump_has_rows("-f text sum", "4 700 700 main  tool\n"
				     "0 300 1000 [outside]  -\n");
	dump("-f info sum");
	dump_has(dumped.out, "\nmerged: 1 profile, ");
}
END_TEST

START_TEST(programs_of_one_name)
{
	make_programs();
	dump_has_rows("--by module all", "1 900 900 /one/app\n"
					 "2 800 800 /two/app\n"
					 "4 700 700 tool\n"
					 "0 600 3000 [outside]\n");
	dump("-f table -n 0 all");
	dump_has(dumped.out, "  main       /one/app\n");
	/* the same build at two paths is one program */
	dump_made("same", 504, "path /two/app A\nmain 1 900\n");
	dump_has_rows("--by module all/one same", "2 1800 1800 app\n"
						  "0 200 2000 [outside]\n");
}
END_TEST

/* --- archives, and what is compressed --------------------------------------
 */

static void make_trace(void)
{
	dump_made("t", 4250,
		  "thread main 1000\n"
		  "main 100-900\n"
		  "  round 200-500\n"
		  "    add 250-300\n"
		  "    add 320-350!\n"
		  "thread worker 800\n"
		  "work 150-750\n");
}

START_TEST(an_archive_is_the_profile_again)
{
	static const char *const formats[] = {
		"callgrind", "text --from 0", "chrome", "perfetto",
		"json",      "info",          "raw"};
	char words[64], *whole;

	make_trace();
	dump_says("-f archive --no-embed -o packed t", 0, "");
	ck_assert_int_eq(system("test $(($(stat -c %s packed) * 3)) -lt $(stat "
				"-c %s t)"),
			 0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(words, sizeof(words), "-f %s -o - t", formats[i]);
		dump_says(words, 0, "");
		whole = strdup(dumped.out);
		snprintf(words, sizeof(words), "-f %s -o - packed", formats[i]);
		dump_says(words, 0, "");
		/* (the first line of the latter is the file's) */
		ck_assert_msg(strcmp(i < 5 ? whole : strchr(whole, '\n'),
				     i < 5 ? dumped.out
					   : strchr(dumped.out, '\n')) == 0,
			      "%s", words);
		free(whole);
	}
	setenv("TMPDIR", "/nowhere", 1);
	dump_refuses("-f text packed", 1, "in TMPDIR");
}
END_TEST

START_TEST(damaged_archives)
{
	static unsigned char bytes[1 << 16];
	static const size_t firsts[] = {0, 4, 9, 25, 40, 200};
	uint32_t state = 1;
	FILE *file;
	size_t size;

	make_trace();
	dump_says("-f archive -o packed t", 0, "");
	file = fopen("packed", "r");
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	ck_assert_uint_gt(size, 300);
	for (size_t i = 0; i <= sizeof(firsts) / sizeof(*firsts); i++) {
		file = fopen("bad", "w");
		fwrite(bytes, 1, i < 6 ? firsts[i] : size - 20, file);
		fclose(file);
		dump_refuses("-f text bad", 1,
			     i < 6 ? "bad: " : "damaged archive");
	}
	for (int round = 0; round < 20; round++) {
		size_t at;

		state = state * 1664525 + 1013904223;
		at = (state >> 8) % (size - 3);
		file = fopen("bad", "w");
		fwrite(bytes, 1, at, file);
		fputs("U\xaaU", file);
		fwrite(bytes + at + 3, 1, size - at - 3, file);
		fclose(file);
		dump("-q -f text bad");
		ck_assert_msg(
			dumped.status == 0 ||
				(dumped.status == 1 &&
				 strncmp(dumped.err, "swizzle: ", 9) == 0),
			"damage at %zu: %d, %s", at, dumped.status, dumped.err);
	}
}
END_TEST

START_TEST(compressed_by_the_name)
{
	static const char *const formats[] = {"chrome", "html"};

	make_trace();
	for (int i = 0; i < 2; i++) {
		dump("-q -f %s -o plain t", formats[i]);
		dump("-q -f %s -o packed.gz t", formats[i]);
		ck_assert_str_eq(dumped.err, "");
		dump("-q -f %s -o packed.zst t", formats[i]);
		ck_assert_str_eq(dumped.err, "");
		ck_assert_int_eq(system("gzip -dc packed.gz | cmp - plain"), 0);
		ck_assert_int_eq(system("! type zstd >/dev/null 2>&1 || zstd "
					"-q -dc packed.zst | cmp - plain"),
				 0);
	}
	/* pprof is compressed, and not twice */
	dump_says("-q -f pprof -o once.pb.gz t", 0, "");
	ck_assert_int_eq(system("gzip -dc once.pb.gz >once; ! gzip -t once "
				"2>/dev/null"),
			 0);
}
END_TEST

/* As many calls as chrome has (dump_calls()) are in the others. */
START_TEST(fewer_calls_in_all_formats)
{
	make_trace();
	dump_has_calls("-t 60ns -D 2 t", "main 100-900\n"
					 "  round 200-500\n"
					 "work 150-750\n");
	dump_says("-f speedscope -t 60ns -D 2 -o - t", 0,
		  "2 of 5 calls were left out (--min-time, ");
	for (int i = 0; i < 3; i++) {
		static const char *const begins[] = {"100", "200", "150"};
		char part[64];

		snprintf(part, sizeof(part), "\"type\":\"O\",\"at\":%s,",
			 begins[i]);
		dump_has(dumped.out, part);
	}
	ck_assert_ptr_null(strstr(dumped.out, "\"at\":250,"));
	dump_says("-f perfetto -t 60ns -D 2 -o - t", 0,
		  "2 of 5 calls were left out (--min-time, ");
}
END_TEST

/* Two events for each of eight million and one calls, of 80 bytes. */
START_TEST(much_is_said_before_it_is_written)
{
	dump_made("much", 4252, "main 100-900\n  work 8000000 500\n");
	dump("-f chrome --max-depth 1 -o made much");
	ck_assert_str_eq(
		dumped.err,
		"swizzle: the trace has about 16 million events, up to 1.3 GB "
		"as chrome. --from, --to, --tid, --min-time, --max-depth and "
		"--sample-events make it less; -o FILE.zst compresses it\n");
	dump_says("-f perfetto --max-depth 1 -o made much", 0, "");
	dump_says("-q -f chrome --max-depth 1 -o made much", 0, "");
}
END_TEST

/* (What is beyond the limit is a signal, too.) */
START_TEST(files_may_not_be_so_long)
{
	struct rlimit limit, kilobyte;

	make_trace();
	ck_assert_int_eq(system("mkdir limited; echo old >limited/out"), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	kilobyte = limit;
	kilobyte.rlim_cur = 1024;
	setrlimit(RLIMIT_FSIZE, &kilobyte);
	dump("-q -f json -o limited/out t");
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(dumped.status, 1);
	dump_has(dumped.err, "File too large\n");
	ck_assert_int_eq(system("test old = $(cat limited/*)"), 0);
}
END_TEST

/* The calls that begin in a part are those that did not begin earlier. */
START_TEST(databases_of_parts_add_up)
{
	static const char *const begun[] = {"main\nwork\nround\n", "add\nadd\n",
					    "", ""};
	char words[96];

	make_trace();
	for (int part = 0; part < 4; part++) {
		snprintf(words, sizeof(words),
			 "-q -f sqlite --from %d%% --to %d%% -o .base t",
			 part * 25, part * 25 + 25);
		dump_says(words, 0, "");
		dump_answers("SELECT name FROM named_events WHERE began IS "
			     "NULL ORDER BY start_ns",
			     begun[part]);
	}
}
END_TEST

/* Contexts are there, without calls, and without time but that of main(). */
START_TEST(a_range_in_which_nothing_begins)
{
	dump_made("still", 4251,
		  "thread main 1000\n"
		  "main 100-900\n"
		  "  f 150-200\n"
		  "  f 700-800\n");
	dump_has_rows("-f text --from 300ns --to 500ns still",
		      "0 200 200 main  prog\n"
		      "0 0 200 [outside]  -\n");
	dump_has_rows("-f tree --from 300ns --to 500ns still",
		      "0 0 200 100.00 [outside]  -\n"
		      "0 200 200 100.00   main  prog\n"
		      "0 0 0 0.00     f  prog\n");
	dump_has_rows("-f folded --from 300ns --to 500ns still", "main 200\n");
	dump("-f json --from 300ns --to 500ns still");
	ck_assert_str_eq(dumped.err, "");
	dump_has(dumped.out, "\"name\":\"main\",");
	dump_has(dumped.out, "\"name\":\"f\",");
	dump_says("-f html --from 300ns --to 500ns -o page still", 0, "");
	dump_says("-f pprof --from 300ns --to 500ns -o pprof still", 0, "");
	dump_says("-f speedscope --from 300ns --to 500ns -o - still", 0, "");
	dump_says("-q -f sqlite --from 300ns --to 500ns -o .base still", 0, "");
	dump_answers("SELECT name, began FROM named_events", "main|earlier\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_files");
	TCase *t = tcase_create("dump_files");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_test(t, files_that_are_given_twice);
	tcase_add_test(t, copies_archives_and_parts);
	tcase_add_test(t, sums_beside_what_they_are_of);
	tcase_add_test(t, more_files_than_may_be_open);
	tcase_add_test(t, what_cannot_be_added);
	tcase_add_test(t, other_formats_read_sums);
	tcase_add_test(t, processes_are_chosen);
	tcase_add_test(t, chosen_processes_are_merged);
	tcase_add_test(t, programs_of_one_name);
	tcase_add_test(t, an_archive_is_the_profile_again);
	tcase_add_test(t, damaged_archives);
	tcase_add_test(t, compressed_by_the_name);
	tcase_add_test(t, fewer_calls_in_all_formats);
	tcase_add_test(t, much_is_said_before_it_is_written);
	tcase_add_test(t, files_may_not_be_so_long);
	tcase_add_test(t, databases_of_parts_add_up);
	tcase_add_test(t, a_range_in_which_nothing_begins);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
