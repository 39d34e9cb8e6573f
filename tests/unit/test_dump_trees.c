/* swizzle-dump -f text and tree: order, limits, filters, threads and files. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "main 1 900\n"
		  "  shop::round 10 600\n"
		  "    price 20 100\n"
		  "    so:add 10 300\n"
		  "      price 20 200\n"
		  "  odd 5 250\n"
		  "    even 5 150\n"
		  "      odd 5 100\n"
		  "thread worker-1 500\n"
		  "shop::round 2 400\n"
		  "  price 4 150\n"
		  "thread worker;2 400\n"
		  "odd 1 50\n");
}

START_TEST(trees_are_sorted_by_time_and_recursion_is_as_it_was)
{
	dump_has_rows("-f tree p", "0 550 1900 100.00 [outside]  -\n"
				   "1 50 900 47.37   main  prog\n"
				   "10 200 600 31.58     shop::round  prog\n"
				   "10 100 300 15.79       add  libso.so\n"
				   "20 200 200 10.53         price  prog\n"
				   "20 100 100 5.26       price  prog\n"
				   "5 100 250 13.16     odd  prog\n"
				   "5 50 150 7.89       even  prog\n"
				   "5 100 100 5.26         odd  prog\n"
				   "2 250 400 21.05   shop::round  prog\n"
				   "4 150 150 7.89     price  prog\n"
				   "1 50 50 2.63   odd  prog\n");
}
END_TEST

START_TEST(trees_are_sorted_as_one_wants)
{
	dump_has_rows("-f tree -s name --tid main p",
		      "0 100 1000 100.00 [outside]  -\n"
		      "1 50 900 90.00   main  prog\n"
		      "5 100 250 25.00     odd  prog\n"
		      "5 50 150 15.00       even  prog\n"
		      "5 100 100 10.00         odd  prog\n"
		      "10 200 600 60.00     shop::round  prog\n"
		      "10 100 300 30.00       add  libso.so\n"
		      "20 200 200 20.00         price  prog\n"
		      "20 100 100 10.00       price  prog\n");
	dump_has_rows("-f tree -s calls -H even -H odd --tid main p",
		      "0 100 1000 100.00 [outside]  -\n"
		      "1 300 900 90.00   main  prog\n"
		      "10 200 600 60.00     shop::round  prog\n"
		      "20 100 100 10.00       price  prog\n"
		      "10 100 300 30.00       add  libso.so\n"
		      "20 200 200 20.00         price  prog\n");
}
END_TEST

START_TEST(trees_have_the_contexts_with_most_time)
{
	dump_has_rows("-f tree -n 3 p",
		      "0 550 1900 100.00 [outside]  -\n"
		      "1 50 900 47.37   main  prog\n"
		      "10 200 600 31.58     shop::round  prog\n");
	dump_has_rows("-f tree --percent-limit 21.05 p",
		      "0 550 1900 100.00 [outside]  -\n"
		      "1 50 900 47.37   main  prog\n"
		      "10 200 600 31.58     shop::round  prog\n"
		      "2 250 400 21.05   shop::round  prog\n");
}
END_TEST

/* Below each function its callers: self times in the first column of times. The
 * 100 ns of the inner call of odd() are within those of the outer one. */
START_TEST(bottom_up)
{
	dump_has_rows("--bottom-up -H price -H add -H main --tid main p",
		      "10 600 600 60.00 shop::round  prog\n"
		      "10 600 600 60.00   [outside]  -\n"
		      "10 200 250 20.00 odd  prog\n"
		      "5 100 250 10.00   [outside]  -\n"
		      "5 100 0 10.00   even  prog\n"
		      "5 100 0 10.00     odd  prog\n"
		      "5 100 0 10.00       [outside]  -\n"
		      "0 150 1000 15.00 [outside]  -\n"
		      "5 50 150 5.00 even  prog\n"
		      "5 50 150 5.00   odd  prog\n"
		      "5 50 150 5.00     [outside]  -\n");
	dump_has_rows("-f tree --bottom-up -n 2 --tid worker-1 p",
		      "2 250 400 50.00 shop::round  prog\n"
		      "2 250 400 50.00   [outside]  -\n"
		      "4 150 150 30.00 price  prog\n"
		      "4 150 150 30.00   shop::round  prog\n"
		      "4 150 150 30.00     [outside]  -\n");
}
END_TEST

START_TEST(callers_and_callees)
{
	dump("-f tree -F 'ad?' p");
	ck_assert_str_eq(dumped.err, "");
	ck_assert_ptr_nonnull(strstr(dumped.out, "# callers of add"));
	ck_assert_ptr_nonnull(strstr(dumped.out, "# callees of add"));
	dump_rows();
	ck_assert_str_eq(dumped.out, "10 100 300 15.79 add  libso.so\n"
				     "10 100 300 15.79   shop::round  prog\n"
				     "10 100 300 15.79     main  prog\n"
				     "10 100 300 15.79       [outside]  -\n"
				     "10 100 300 15.79 add  libso.so\n"
				     "20 200 200 10.53   price  prog\n");
}
END_TEST

START_TEST(hidden_functions_give_their_time_to_callers)
{
	dump_has_rows("-f tree -H shop::round -H add --tid main p",
		      "0 100 1000 100.00 [outside]  -\n"
		      "1 350 900 90.00   main  prog\n"
		      "40 300 300 30.00     price  prog\n"
		      "5 100 250 25.00     odd  prog\n"
		      "5 50 150 15.00       even  prog\n"
		      "5 100 100 10.00         odd  prog\n");
	dump_has_rows("-f text -N shop::round -N odd p",
		      "0 1000 1900 [outside]  -\n"
		      "1 900 900 main  prog\n");
	dump_has_rows("-f folded -F shop::round p",
		      "[outside] 900\n"
		      "shop::round 450\n"
		      "shop::round;price 250\n"
		      "shop::round;add 100\n"
		      "shop::round;add;price 200\n");
}
END_TEST

START_TEST(patterns_that_exclude)
{
	dump_has_rows("-f text -F '!main' -F '!*d*' p",
		      "44 450 450 price  prog\n"
		      "5 50 150 even  prog\n");
}
END_TEST

START_TEST(unknown_functions)
{
	dump_says("-f text -F 'no such*' p", 0,
		  "'no such*' matches no function");
	for (int i = 0; i < 9; i++) {
		char words[64];

		snprintf(words, sizeof(words),
			 "-f %s -o - -%c nonesuch -%c main p",
			 i % 3 == 0   ? "json"
			 : i % 3 == 1 ? "folded"
				      : "callgrind",
			 "FNH"[i / 3], "FNH"[i / 3]);
		dump_says(words, 0,
			  "'nonesuch' matches no function that was recorded\n");
	}
	dump_says("-f tree -F round p", 0, "did you mean 'shop::round'?\n");
	dump_says("-f text -F '!nonesuch' p", 0, "'!nonesuch' matches no");
	dump_says("--diff p -F round p", 0, "did you mean 'shop::round'?\n");
	dump_says("-q -f text -F round p", 0, "");
}
END_TEST

START_TEST(threads)
{
	dump_has_rows("-f text --tid worker-1 p",
		      "2 250 400 shop::round  prog\n"
		      "4 150 150 price  prog\n"
		      "0 100 500 [outside]  -\n");
	dump_has_rows("-f text --tid 101 --tid 'work*;?' -s name p",
		      "0 450 900 [outside]  -\n"
		      "1 50 50 odd  prog\n"
		      "4 150 150 price  prog\n"
		      "2 250 400 shop::round  prog\n");
	dump_says("--tid main --tid 9 -f text p", 1,
		  "there are: 100 'main', 101 'worker-1', 102 'worker;2'\n");
	dump_has_rows("-f folded -s calls --by thread,parts p",
		      "main/100;main 1\n"
		      "main/100;main;shop::round 10\n"
		      "main/100;main;shop::round;price 20\n"
		      "main/100;main;shop::round;add 10\n"
		      "main/100;main;shop::round;add;price 20\n"
		      "main/100;main;odd 5\n"
		      "main/100;main;odd;even 5\n"
		      "main/100;main;odd;even;odd 5\n"
		      "worker-1/101;shop::round 2\n"
		      "worker-1/101;shop::round;price 4\n"
		      "worker:2/102;odd 1\n");
	dump("-q -f callgrind --by thread,files p");
	ck_assert_int_eq(
		system("test $(ls callgrind.out.*-0[123] | wc -l) = 3"), 0);
	dump("-q -f html --by thread,files p");
	ck_assert_int_eq(system("test $(ls swizzle.*-0[123].html | wc -l) = 3"),
			 0);
}
END_TEST

/* goal() and the paths to it; 35 calls are those of the others. */
#define PATHS \
	"main 1 920\n" \
	"  alpha 3 410\n" \
	"    left 6 290\n" \
	"      goal 6 200\n" \
	"        xx_under 12 50\n" \
	"      xx_other 6 60\n" \
	"    xx_right 3 40\n" \
	"      xx_other 3 30\n" \
	"  xx_beta 4 100\n" \
	"    xx_other 4 50\n" \
	"  delta 1 200\n" \
	"    delta 1 150\n" \
	"      goal 1 90\n" \
	"        xx_under 2 40\n" \
	"      xx_other 1 10\n"

START_TEST(paths_to_a_function)
{
	static const char *const formats[] = {
		"text", "brief", "csv",   "json",       "folded",
		"tree", "dot",   "table", "speedscope", "callgrind"};
	char words[128];

	dump_made("paths", 4242, PATHS);
	dump_has_rows("-f text -C goal paths", "1 310 920 main  prog\n"
					       "7 290 290 goal  prog\n"
					       "3 120 410 alpha  prog\n"
					       "2 110 200 delta  prog\n"
					       "6 90 290 left  prog\n"
					       "0 80 1000 [outside]  -\n");
	dump_has_rows("-f folded -C goal -N alpha paths",
		      "[outside] 80\n"
		      "main 720\n"
		      "main;delta 50\n"
		      "main;delta;delta 60\n"
		      "main;delta;delta;goal 90\n");
	dump("-f text -s name -C xx_under -C '*bet*' paths");
	dump_has(dumped.out, " 14              90              90  xx_under ");
	dump_has(dumped.out, " 4             100             100  xx_beta ");
	ck_assert_ptr_null(strstr(dumped.out, "xx_other"));
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(words, sizeof(words), "-f %s -o - -C goal paths",
			 formats[i]);
		dump_says(words, 0, "");
		dump_has(dumped.out, "goal");
		ck_assert_ptr_null(strstr(dumped.out, "xx_"));
	}
	dump_says("-f text -C nosuch paths", 0, "'nosuch' matches no function");
	dump_refuses("-f text -C '' paths", 2, "-C: the pattern is empty");
	dump_refuses("-f raw -C goal paths", 2, "-F, -N, -H, -C and --script");
}
END_TEST

START_TEST(calls_that_are_not_shown_are_counted)
{
	dump_made("paths", 4242, PATHS);
	dump("-f text -C goal paths");
	dump_has(dumped.out, "# not shown: 35 calls, whose time is their "
			     "callers'\n");
	dump("-f json -C goal paths");
	dump_has(dumped.out, "\"not_shown\":35,");
	dump("-f callgrind -C goal -o - paths");
	dump_has(dumped.out, "desc: Not shown: 35 calls,");
	dump("-f table -C goal paths");
	dump_has(dumped.out, "Note: 35 calls are not shown");
	dump_says("-q -f sqlite -C goal -o .base paths", 0, "");
	dump_answers("SELECT value FROM about WHERE key = 'not_shown'", "35\n");
	dump("-f text paths");
	ck_assert_ptr_null(strstr(dumped.out, "not shown"));
}
END_TEST

START_TEST(lost_calls_are_those_of_all_profiles)
{
	static const struct {
		const char *words, *part;
	} told[] = {{"-f text", "# lost calls: 8\n"},
		    {"-f tree", "# lost calls: 8\n"},
		    {"-f table", "\nNote: 8 calls were not recorded.\n"},
		    {"-f callgrind -o -", "\ndesc: lost calls: 8\n"},
		    {"-f json", "\"lost_calls\":8,"},
		    {"-f json --by module", "\"lost_calls\":8,"}};

	dump_made("a", 4243, "lost 3\nmain 1 600\n");
	dump_made("b", 4244, "lost 5\nmain 1 600\n");
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		dump("-q %s a b", told[i].words);
		dump_has(dumped.out, told[i].part);
	}
	dump_says("-q -f sqlite -o .base a b", 0, "");
	dump_answers("SELECT value FROM about WHERE key = 'lost_calls'", "8\n");
	dump_says("-q --merge-into sum b a", 0, "");
	dump("-f text sum");
	dump_has(dumped.out, "# lost calls: 8\n");
	dump_made("a", 4243, "lost 4322\nmain 1 600\n");
	dump("-q -f table a p");
	dump_has(dumped.out, "\nNote: 4,322 calls were not recorded.\n");
	dump_has(dumped.out, "\n2 processes, 4 threads, ");
	dump_made("a", 4243, "lost 1\nmain 1 600\n");
	dump("-q -f table a");
	dump_has(dumped.out, "\nNote: 1 call was not recorded.\n");
	dump("-f table p");
	ck_assert_ptr_null(strstr(dumped.out, "Note:"));
}
END_TEST

/* 26 functions, of which one has a name that a shell must not split. */
START_TEST(the_table)
{
	char calls[1024] = "f(int) 1 50\n", name[32];

	for (int letter = 'a'; letter <= 'y'; letter++) {
		snprintf(name, sizeof(name), "%c %d %d\n", letter, 'z' - letter,
			 'z' - letter);
		strcat(calls, name);
	}
	dump_made("many", 4243, calls);
	dump("-f table many");
	dump_has(dumped.out, "\nprocess 4243, 1 thread, ");
	dump_has(dumped.out, "\nself%    self  incl%    incl  calls  function");
	dump_has(dumped.out,
		 "\n62.5%  625 ns   100% 1.00 us      0  [outside]");
	dump_has(dumped.out,
		 "\n25 of 27 functions; -n 0 shows all. These have ");
	dump_has(dumped.out, "\n 5.0%   50 ns   5.0%   50 ns      1  f(int)  ");
	ck_assert_ptr_null(strstr(dumped.out, "  y  "));
	dump("-f table -n 0 many");
	dump_has(dumped.out, "\n 0.1%    1 ns   0.1%    1 ns      1  y  ");
	dump("-f table -F 'f*' many");
	dump_has(dumped.out, "\nWho calls it, what it calls: swizzle-dump -f "
			     "tree -F 'f(int)' many\n"
			     "All of it in a browser:      swizzle-dump -f "
			     "html many\n");
	dump_has_rows("-f tree -F 'f(int)' many",
		      "1 50 50 5.00 f(int)  prog\n"
		      "1 50 50 5.00   [outside]  -"
		      "\n"
		      "1 50 50 5.00 f(int)  prog\n");
	dump("-f table -s max -n 1 many");
	dump_has(dumped.out, "    min     max  calls  function");
	dump("-f table --by thread,parts p");
	dump_has(dumped.out, "\nprocess 4242, thread 101 worker-1, ");
	ck_assert_ptr_null(strstr(dumped.out, "Who calls it"));
	dump_made("one", 4243, "main 1 900\n");
	dump("-f table one");
	dump_has(dumped.out, " wall-clock time, 1 call\n");
	dump("-f tree one");
	dump_has(dumped.out, "# process 4243");
	dump("-f tree --color=always one");
	dump_has(dumped.out, "wall-clock time");
	dump_has(dumped.out, "\033[");
	dump_refuses("--color=pink -f table one", 2, "pink");
	setenv("LC_ALL", "C.UTF-8", 1);
	dump("-f table one");
	dump_has(dumped.out, "\n100% is 1.00 \u00b5s\n");
}
END_TEST

START_TEST(several_processes_are_added_up)
{
	dump_made("q", 4243,
		  "main 1 600\n"
		  "  price 3 10\n");
	dump_has_rows("-f text -F main -F price p q",
		      "2 640 1500 main  prog\n"
		      "47 460 460 price  prog\n");
	dump_says("-f text -F main q q", 0, "q: given twice");
	dump_rows();
	ck_assert_str_eq(dumped.out, "1 590 600 main  prog\n");
}
END_TEST

START_TEST(a_profile_is_not_replaced_by_what_is_made_of_it)
{
	ck_assert_int_eq(symlink("p", "link"), 0);
	dump_made("q", 4243, "main 1 600\n");
	dump_says("-f text -o link q p", 2, "-o would replace this profile");
	dump_says("-f raw -o p q p", 2, "p: -o would replace this profile");
	dump_says("-f text --diff p -o p q", 2,
		  "p: -o would replace this profile");
	dump_says("-q -f archive -o q q", 0, "");
	dump_has_rows("-f folded q", "[outside] 400\nmain 600\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_trees");
	TCase *t = tcase_create("dump_trees");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_test(t, trees_are_sorted_by_time_and_recursion_is_as_it_was);
	tcase_add_test(t, trees_are_sorted_as_one_wants);
	tcase_add_test(t, trees_have_the_contexts_with_most_time);
	tcase_add_test(t, bottom_up);
	tcase_add_test(t, callers_and_callees);
	tcase_add_test(t, hidden_functions_give_their_time_to_callers);
	tcase_add_test(t, patterns_that_exclude);
	tcase_add_test(t, unknown_functions);
	tcase_add_test(t, threads);
	tcase_add_test(t, paths_to_a_function);
	tcase_add_test(t, calls_that_are_not_shown_are_counted);
	tcase_add_test(t, lost_calls_are_those_of_all_profiles);
	tcase_add_test(t, the_table);
	tcase_add_test(t, several_processes_are_added_up);
	tcase_add_test(t, a_profile_is_not_replaced_by_what_is_made_of_it);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
