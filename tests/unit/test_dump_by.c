/* swizzle-dump --by: rows of modules, processes, threads, files and lines, and
 * columns of threads and processes, which all add up to 2500 ns and 37 calls.
 */

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swizzle/format.h"
#include "tests/unit/dumped.h"
#include "tests/unit/run_suite.h"

static void setup(void)
{
	dump_begin();
	dump_made("p", 4242,
		  "main 1 900\n"
		  "  work 10 600\n"
		  "    so:add 20 200\n"
		  "thread helper 500\n"
		  "work 5 400\n");
	dump_made("q", 4243, "main 1 800\n");
}

#define HEAD "calls,self_ns,incl_ns,self_waiting_ns,incl_waiting_ns,"

START_TEST(rows)
{
	dump_is("-f csv --by function p q",
		HEAD "function,module\n"
		     "2,1100,1700,,,main,/bin/prog\n"
		     "15,800,1000,,,work,/bin/prog\n"
		     "0,400,2500,,,[outside],\n"
		     "20,200,200,,,add,/lib/libso.so\n");
	dump_is("-f csv --by module p q", HEAD "module\n"
					       "17,1900,2100,,,/bin/prog\n"
					       "0,400,2500,,,[outside]\n"
					       "20,200,200,,,/lib/libso.so\n");
	dump_is("-f csv --by file p q", HEAD "file,module\n"
					     "17,1900,2100,,,/src/prog.c,\n"
					     "0,400,2500,,,[outside],\n"
					     "20,200,200,,,/src/so.c,\n");
	dump_is("-f csv --by line p q", HEAD "file,line,module\n"
					     "2,1100,1700,,,/src/prog.c,10,\n"
					     "15,800,1000,,,/src/prog.c,20,\n"
					     "0,400,2500,,,[outside],,\n"
					     "20,200,200,,,/src/so.c,10,\n");
	dump_is("-f csv --by process p q",
		"calls,self_ns,incl_ns,wall_ns,processor_ns,waiting_ns,unknown_"
		"ns,children,level,pid,parent,command\n"
		"36,1500,1500,1000,,,1000,0,0,4242,1,\"prog a b\"\n"
		"1,1000,1000,1000,,,1000,0,0,4243,1,\"prog a b\"\n");
	dump_is("-f csv --by thread p q",
		"calls,self_ns,incl_ns,wall_ns,processor_ns,waiting_ns,unknown_"
		"ns,tid,pid,thread\n"
		"31,1000,1000,1000,,,1000,100,4242,main\n"
		"1,1000,1000,1000,,,1000,100,4243,main\n"
		"5,500,500,500,,,500,101,4242,helper\n");
}
END_TEST

START_TEST(columns)
{
	dump_is("-f csv --by function,thread p q",
		"self_ns,\"100 main\",\"100 main\",\"101 "
		"helper\",function,module\n"
		"1100,300,800,0,main,/bin/prog\n"
		"800,400,0,400,work,/bin/prog\n"
		"400,100,200,100,[outside],\n"
		"200,200,0,0,add,/lib/libso.so\n");
	dump_is("-f csv --by module,process p q", "self_ns,4242,4243,module\n"
						  "1900,1100,800,/bin/prog\n"
						  "400,200,200,[outside]\n"
						  "200,200,0,/lib/libso.so\n");
	dump("-f json --by function,thread p q");
	dump_has(dumped.out, "{\"self_ns\":500,\"tid\":101,\"pid\":4242,"
			     "\"thread\":\"helper\"}],");
	dump_has(dumped.out, "\"function\":\"main\",\"module\":\"/bin/prog\","
			     "\"cells_ns\":[300,800,0]}");
	dump("-f table --by function,thread p q");
	dump_has(dumped.out, "\n101: thread helper of process 4242\n");
	dump_has(dumped.out,
		 "self%    self     100     100     101  function ");
	dump_has(dumped.out, "44.0% 1.10 us  300 ns  800 ns    0 ns  main ");
}
END_TEST

START_TEST(functions_without_self_time_in_the_order_of_their_callees_time)
{
	dump_made("callers", 4250,
		  "main 1 1000\n"
		  "  aaa 1 100\n"
		  "    x 1 100\n"
		  "  zed 1 400\n"
		  "    y 1 400\n");
	dump_has_rows("-f text callers", "1 500 1000 main  prog\n"
					 "1 400 400 y  prog\n"
					 "1 100 100 x  prog\n"
					 "1 0 400 zed  prog\n"
					 "1 0 100 aaa  prog\n"
					 "0 0 1000 [outside]  -\n");
}
END_TEST

START_TEST(text_and_tables)
{
	dump_has_rows("-f text --by file p q", "17 1900 2100 /src/prog.c\n"
					       "0 400 2500 [outside]\n"
					       "20 200 200 /src/so.c\n");
	dump("-f table --by module p q");
	dump_has(dumped.out, "100% is 2.50 us");
	dump_has(dumped.out, "\n76.0% 1.90 us  84.0% 2.10 us     17  prog\n");
	dump("-f table --by process p q");
	dump_has(dumped.out,
		 "\n60.0% 1.50 us  60.0% 1.50 us 1.00 us       -       - "
		 "1.00 us     36  4242  prog a b\n");
	dump("-f table --by line p q");
	dump_has(dumped.out,
		 "\n 8.0%  200 ns   8.0%  200 ns     20  /src/so.c:10 ");
}
END_TEST

START_TEST(some_rows_in_another_order)
{
	dump_is("-f csv --by module -n 1 -s calls p q",
		HEAD "module\n20,200,200,,,/lib/libso.so\n");
	dump("-f json --by module -n 1 -s calls p q");
	dump_has(dumped.out, "\"rows\":[\n{\"self_ns\":200,\"calls\":20,");
	/* 800 ns of 2500 are 32% */
	dump_is("-f csv --by function --percent-limit 32.1 p q",
		HEAD "function,module\n2,1100,1700,,,main,/bin/prog\n");
	dump_is("-f csv --by function -F 'w*' p q",
		HEAD "function,module\n15,800,1000,,,work,/bin/prog\n");
}
END_TEST

START_TEST(a_sum_has_the_same_rows)
{
	dump_says("-q --merge-into sum q p", 0, "");
	dump_is("-f csv --by module sum", HEAD "module\n"
					       "17,1900,2100,,,/bin/prog\n"
					       "0,400,2500,,,[outside]\n"
					       "20,200,200,,,/lib/libso.so\n");
	dump("-q --merge-into sum p");
	dump_has_rows("-f text -F main sum", "2 1100 1700 main  prog\n");
}
END_TEST

#define SUM \
	HEAD "module\n20,2200,2900,,,/bin/prog\n" \
	     "24,700,700,,,/lib/libso.so\n0,600,3500,,,[outside]\n"

START_TEST(sums_of_sums_in_any_order)
{
	dump_made("r", 4244,
		  "main 1 800\n"
		  "  work 2 600\n"
		  "    so:add 4 500\n");
	dump_is("-f csv --by module p q r", SUM);
	dump_says("-q --merge-into a r p", 0, "");
	dump_says("-q --merge-into b q", 0, "");
	dump_says("--merge-into sum b a", 0, "added to sum, which has 3 now");
	dump_is("-f csv --by module sum", SUM);
	dump("-f info sum");
	dump_has(dumped.out, "merged: 3 profiles, 4 threads\n");
	dump("-f table sum");
	dump_has(dumped.out, "3 profiles merged, 4 threads, ");
	dump("-f text sum");
	dump_has(dumped.out, " in 4 threads");
	dump("-f json sum");
	dump_has(dumped.out, "\"threads\":4,");
	dump("-f text --by module sum");
	dump_has(dumped.out, " in 4 threads");
	dump("-f text --tid main sum"); /* of how many is not known */
	dump_has(dumped.out, " in 1 thread");
	/* in a directory of profiles its own file is none */
	ck_assert_int_eq(system("mkdir d; cp p q r d"), 0);
	dump_says("-q --merge-into d/sum d", 0, "");
	dump_says("-q --merge-into d/sum d", 0, "");
	dump_is("-f csv --by module d/sum", SUM);
}
END_TEST

START_TEST(each_profile_is_added_once)
{
	dump_says("--merge-into sum p q", 0,
		  "2 profiles added to sum, which has 2");
	dump_says("--merge-into sum q p", 0,
		  "0 profiles added to sum, which has 2");
	dump_has(dumped.err, "2 were in it already");
	dump_made("r", 4244, "main 1 800\n");
	dump_says("-q --merge-into a p r", 0, "");
	dump_says("--merge-into sum a", 1, "a: sum has some of its profiles");
	dump_has_rows("-f text -F main sum", "2 1100 1700 main  prog\n");
	dump_refuses("--no-compensate -f text sum", 2, "--no-compensate");
}
END_TEST

/* Of work() rank 0 has the longest calls: 9 of 50 ns and one of 100. */
static void make_ranks(void)
{
	dump_made("r0", 4260,
		  "label ranks 3\nlabel rank 0\n"
		  "main 1 922\n"
		  "  work 9 450\n"
		  "  work 1 100\n"
		  "times work 9 50\n"
		  "times work 1 100\n");
	dump_made("r1", 4261,
		  "label rank 1\n"
		  "main 1 900\n"
		  "  work 20 700\n"
		  "times work 20 35\n");
	dump_made("r2", 4262,
		  "label rank 2\n"
		  "main 1 800\n"
		  "  work 30 190\n"
		  "  so:add 6 42\n"
		  "times work 30 6\n");
}

#define RANKS \
	"calls,self_ns,self_min_ns,self_mean_ns,self_max_ns,self_imbalance_" \
	"percent,self_max_rank,incl_ns,incl_min_ns,incl_mean_ns,incl_max_ns," \
	"incl_imbalance_percent,incl_max_rank,"
#define CELLS \
	"self_ns,rank 0,rank 1,rank 2,function,module\n" \
	"1440,550,700,190,work,/bin/prog\n" \
	"1140,372,200,568,main,/bin/prog\n" \
	"378,78,100,200,[outside],\n" \
	"42,0,0,42,add,/lib/libso.so\n"
#define SPREAD \
	RANKS "function,module\n" \
	      "60,1440,190,480,700,45.8,1,1440,190,480,700,45.8,1,work," \
	      "/bin/prog\n" \
	      "3,1140,200,380,568,49.5,2,2622,800,874,922,5.5,0,main," \
	      "/bin/prog\n" \
	      "0,378,78,126,200,58.7,2,3000,1000,1000,1000,0.0,0,[outside]," \
	      "\n" \
	      "6,42,0,14,42,200.0,2,42,0,14,42,200.0,2,add,/lib/libso.so\n"

START_TEST(ranks)
{
	make_ranks();
	dump_is("-f csv --by function,rank r0 r1 r2", CELLS);
	dump_is("-f csv --by module,rank r0 r1 r2",
		"self_ns,rank 0,rank 1,rank 2,module\n"
		"2580,922,900,758,/bin/prog\n"
		"378,78,100,200,[outside]\n"
		"42,0,0,42,/lib/libso.so\n");
	dump_is("-f csv --by line,rank -s calls -n 1 r0 r1 r2",
		"self_ns,rank 0,rank 1,rank 2,file,line,module\n"
		"1440,550,700,190,/src/prog.c,20,\n");
	dump_has_rows("-f text --by rank r0 r1 r2",
		      "60 1440 190 480 700 45.8 1 6 100 0 work  prog\n"
		      "3 1140 200 380 568 49.5 2 - - - main  prog\n"
		      "0 378 78 126 200 58.7 2 - - - [outside]  -\n"
		      "6 42 0 14 42 200.0 2 - - - add  libso.so\n");
	dump("-f table --by rank r0 r1 r2");
	dump_has(dumped.out, "\n48.0%  190 ns  480 ns  700 ns     46%      1"
			     "    6 ns  100 ns      0     60  work ");
	dump_has(dumped.out, "\n12.6%   78 ns  126 ns  200 ns     59%      2"
			     "       -       -             0  [outside] ");
	dump("-f json --by rank r0 r1 r2");
	dump_has(dumped.out, "\"self_max_ns\":700,\"self_imbalance_percent\":"
			     "45.8,\"self_max_rank\":1,");
	dump_has(dumped.out, "\"p90_min_ns\":6,\"p90_max_ns\":50,"
			     "\"p90_max_rank\":0,\"p99_min_ns\":6,"
			     "\"p99_max_ns\":100,\"p99_max_rank\":0,");
	dump_has(dumped.out, "\"cells_ns\":[550,700,190]}");
	dump_is("-f csv --by rank -n 1 r0 r1 r2",
		RANKS "p50_min_ns,p50_max_ns,p50_max_rank,p90_min_ns,p90_max_"
		      "ns,p90_max_rank,p99_min_ns,p99_max_ns,p99_max_rank,p999_"
		      "min_ns,p999_max_ns,p999_max_rank,function,module\n"
		      "60,1440,190,480,700,45.8,1,1440,190,480,700,45.8,1,"
		      "6,50,0,6,50,0,6,100,0,6,100,0,work,/bin/prog\n");
}
END_TEST

START_TEST(sums_have_ranks)
{
	make_ranks();
	dump_says("-q --merge-into a r2", 0, "");
	dump_says("-q --merge-into b r1", 0, "");
	dump_is("-f csv --by function,rank a r0 b", CELLS);
	dump_says("-q --merge-into a b", 0, "");
	dump_says("-q --merge-into sum r0 a", 0, "");
	dump_is("-f csv --by function,rank sum", CELLS);
	dump_is("-f csv --by rank sum", SPREAD);
	dump("-f info sum");
	dump_has(dumped.out, "times by rank: of 3, 3 profiles\n");
	dump("-f raw -n 0 sum");
	dump_has(dumped.out, ": RANKS (14)");
	ck_assert_ptr_null(strstr(dumped.out, "\n  !"));
	dump_refuses("--by rank -N main sum", 1,
		     "times of ranks by function alone");
}
END_TEST

enum damage { WRONG_BYTE, NO_RANKS, OTHER_FUNCTIONS };

/* Damages the chunks of ranks in the sum FROM, or removes them, or gives all
 * contexts a function that is not there. Returns how many places it found. */
static int damage(const char *from, const char *to, enum damage how)
{
	static unsigned char bytes[1 << 17];
	FILE *file = fopen(from, "r");
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	uint32_t gone = UINT32_MAX;
	struct swz_chunk chunk;
	int count = 0;

	fclose(file);
	for (size_t at = 4096; at + sizeof(chunk) <= size; at += chunk.bytes) {
		memcpy(&chunk, bytes + at, sizeof(chunk));
		if (how == NO_RANKS && (chunk.type == SWZ_CHUNK_RANKS ||
					chunk.type == SWZ_CHUNK_RANK_COSTS)) {
			chunk.type = 99;
			memcpy(bytes + at, &chunk, sizeof(chunk));
			count++;
		} else if (how == WRONG_BYTE && !count &&
			   chunk.type == SWZ_CHUNK_RANK_COSTS) {
			bytes[at + sizeof(chunk) + 6] ^= 0xff;
			count++;
		} else if (how == OTHER_FUNCTIONS &&
			   chunk.type == SWZ_CHUNK_NODES) {
			for (size_t node = at + sizeof(chunk);
			     node < at + chunk.bytes;
			     node += sizeof(struct swz_node)) {
				uint32_t function;

				memcpy(&function, bytes + node, 4);
				if (!function || function >= 0xfffffff0)
					continue;
				memcpy(bytes + node, &gone, 4);
				count++;
			}
		}
	}
	file = fopen(to, "w");
	fwrite(bytes, 1, size, file);
	fclose(file);
	return count;
}

#define CANNOT "broken: damaged; its times by rank cannot be read"

START_TEST(damaged_sums_of_ranks)
{
	static const char *const formats[] = {"text", "csv", "json"};
	char words[64], *whole;

	make_ranks();
	dump_says("-q --merge-into sum r0 r1 r2", 0, "");
	ck_assert_int_eq(damage("sum", "broken", WRONG_BYTE), 1);
	dump_refuses("--by rank broken", 1, CANNOT);
	dump_says("--merge-into new broken", 1, CANNOT ": left out");
	dump_says("--merge-into broken r0", 1, "broken: ");
	dump("-q -f csv sum");
	whole = strdup(dumped.out);
	dump("-q -f csv broken");
	ck_assert_str_eq(dumped.out, whole);
	free(whole);
	/* of main, work and add, as each thread has them */
	ck_assert_int_ge(damage("sum", "strange", OTHER_FUNCTIONS), 3);
	for (int i = 0; i < 3; i++) {
		snprintf(words, sizeof(words), "-q -f %s --by rank strange",
			 formats[i]);
		dump_says(words, 0, "");
		ck_assert_int_ne(*dumped.out, '\0');
	}
}
END_TEST

START_TEST(sums_of_one_rank)
{
	char *whole;

	dump_made("r1", 4261, "label rank 1\nmain 1 900\n  work 20 700\n");
	dump_says("-q --merge-into sum r1", 0, "");
	dump("-f csv --by rank sum");
	whole = strdup(dumped.out);
	dump_has(whole, "work");
	ck_assert_int_ge(damage("sum", "bare", NO_RANKS), 1);
	dump_is("-f csv --by rank bare", whole);
	dump_says("-q --merge-into again bare", 0, "");
	dump_is("-f csv --by rank again", whole);
	free(whole);
}
END_TEST

START_TEST(processes_without_a_rank_are_left_out)
{
	make_ranks();
	dump_says("-f csv --by function,rank r0 r1 p r2", 0,
		  "1 process has no rank and is left out");
	ck_assert_str_eq(dumped.out, CELLS);
	dump_says("-q --merge-into sum r0 r1 p r2", 0, "");
	dump_says("-f csv --by rank sum", 0,
		  "1 process has no rank and is left out");
	ck_assert_str_eq(dumped.out, SPREAD);
	dump_refuses("--by rank p q", 1, "no process here has a rank");
}
END_TEST

/* Several processes of a rank are added up. */
START_TEST(processes_of_a_rank)
{
	make_ranks();
	dump_made("again", 4250, "label rank 1\nmain 2 600\n");
	dump_is("-f csv --by function,rank -F main r2 again r1",
		"self_ns,rank 1,rank 2,function,module\n"
		"1368,800,568,main,/bin/prog\n");
}
END_TEST

#define TIMES "work,prog,/src/prog.c,20,,,"

START_TEST(percentiles)
{
	static const char *const kept[] = {"r0", "sum", "sums", "archive"};

	make_ranks();
	dump_says("-q --merge-into sum r0", 0, "");
	dump_says("-q --merge-into sums sum", 0, "");
	dump_says("-q -f archive -o archive r0", 0, "");
	for (int i = 0; i < 4; i++) {
		dump("-f csv %s", kept[i]);
		dump_has(dumped.out,
			 "\n10,550,550,50,100,0," TIMES "50,50,100,100,10\n");
		dump_has(dumped.out, "\n1,372,922,922,922,0,main,prog,"
				     "/src/prog.c,10,,,,,,,\n");
		dump("-f json %s", kept[i]);
		dump_has(dumped.out, "\"p50_ns\":50,\"p90_ns\":50,\"p99_ns\":"
				     "100,\"p999_ns\":100,\"timed_calls\":10,"
				     "\"times\":[[50,9],[100,1]]");
	}
	dump_says("-q --merge-into sums r2 r1", 0, "");
	/* 30 calls of 6 ns, 20 of 35, 9 of 50, 1 of 100 */
	dump("-f csv sums");
	dump_has(dumped.out,
		 "\n60,1440,1440,6,100,0," TIMES "6,50,100,100,60\n");
	dump_says("-q -f sqlite -o .base r0", 0, "");
	dump_answers("SELECT p50_ns, p90_ns, p99_ns, p999_ns, timed_calls "
		     "FROM functions WHERE name = 'work'",
		     "50|50|100|100|10\n");
	dump("-f csv p");
	ck_assert_ptr_null(strstr(dumped.out, "p50_ns"));
}
END_TEST

START_TEST(percentiles_of_threads_and_processes)
{
	dump_made("one", 4250,
		  "thread main 1000\nmain 1 900\n  work 2 30\ntimes work 2 15\n"
		  "thread other 800\nwork 1 70\ntimes work 1 70\n");
	dump("-f csv --by thread one");
	dump_has(dumped.out, ",15,15,15,15,100,4250,main\n");
	dump_has(dumped.out, ",70,70,70,70,101,4250,other\n");
	dump("-f csv --by process one");
	dump_has(dumped.out, ",15,70,70,70,0,0,4250,1,");
	/* several functions: none */
	dump_made("two", 4250,
		  "main 1 900\n  work 2 30\ntimes work 2 15\n"
		  "times main 1 900\n");
	dump("-f csv --by thread two");
	ck_assert_ptr_null(strstr(dumped.out, "p50_ns"));
}
END_TEST

START_TEST(percentiles_are_compared)
{
	dump_made("old", 4250, "work 900 900\ntimes work 900 1\n");
	dump_made("new", 4251, "work 900 9000\ntimes work 900 10\n");
	dump("-f text --diff old -- new");
	dump_rows();
	dump("-f json --diff old -- new");
	dump_has(dumped.out, "\"percentiles\":{\"p50\":{\"ns\":10,\"old_ns\":1,"
			     "\"noise_ns\":1,\"changed\":true}");
}
END_TEST

/* One program at two paths is one; of one name, or at one path, two are not. */
START_TEST(programs_are_told_apart_by_their_build)
{
	dump_made("bin_a", 4250, "path /bin/prog A\nmain 4 800\n");
	dump_made("opt_a", 4251, "path /opt/prog A\nmain 2 700\n");
	dump_made("opt_b", 4252, "path /opt/prog B\nmain 1 600\n");
	dump_made("plain", 4253, "main 3 400\n");
	dump_made("opt", 4254, "path /opt/prog\nmain 5 300\n");
	dump_has_rows("-f text -F main bin_a opt_a",
		      "6 1500 1500 main  prog\n");
	dump_has_rows("-f text -F main opt_a bin_a",
		      "6 1500 1500 main  prog\n");
	dump_has_rows("-f text -F main opt_b", "1 600 600 main  prog\n");
	dump_has_rows("-f text -F main bin_a opt_b",
		      "4 800 800 main  /bin/prog\n"
		      "1 600 600 main  /opt/prog\n");
	dump_has_rows("-f text -F main opt_a opt_b",
		      "2 700 700 main  prog@41000000\n"
		      "1 600 600 main  prog@42000000\n");
	dump_has_rows("-f text -F main plain opt", "3 400 400 main  /bin/prog\n"
						   "5 300 300 main  /opt/"
						   "prog\n");
	dump_has_rows("-f folded -F main bin_a opt_b",
		      "[outside] 600\n"
		      "main 800\n"
		      "main (/opt/prog) 600\n");
	dump_is("-f csv --by module opt_b opt_a bin_a",
		HEAD "module\n"
		     "6,1500,1500,,,/opt/prog@41000000\n"
		     "0,900,3000,,,[outside]\n"
		     "1,600,600,,,/opt/prog@42000000\n");
	dump("-f callgrind -o - bin_a opt_b");
	dump_has(dumped.out, "\ncob=(3) /opt/prog\n");
	dump("-f json bin_a opt_a");
	dump_has(dumped.out, "\"name\":\"main\",");
	ck_assert_ptr_null(strstr(strstr(dumped.out, "\"name\":\"main\",") + 1,
				  "\"name\":\"main\","));
	/* versions of one */
	dump_has_rows("-f text --diff bin_a opt_b",
		      "0 0 0 200 400 +200 +100.00 1000 1000 0 +0.00 [outside]"
		      "  -\n"
		      "4 1 -3 800 600 -200 -25.00 800 600 -200 -25.00 main  "
		      "prog\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump_by");
	TCase *t = tcase_create("dump_by");

	tcase_add_checked_fixture(t, setup, dump_end);
	tcase_add_test(t, rows);
	tcase_add_test(t, columns);
	tcase_add_test(t, text_and_tables);
	tcase_add_test(t, some_rows_in_another_order);
	tcase_add_test(t, a_sum_has_the_same_rows);
	tcase_add_test(t, sums_of_sums_in_any_order);
	tcase_add_test(t, each_profile_is_added_once);
	tcase_add_test(t, ranks);
	tcase_add_test(t, sums_have_ranks);
	tcase_add_test(t, damaged_sums_of_ranks);
	tcase_add_test(t, sums_of_one_rank);
	tcase_add_test(t, processes_without_a_rank_are_left_out);
	tcase_add_test(t, processes_of_a_rank);
	tcase_add_test(t, percentiles);
	tcase_add_test(t, percentiles_of_threads_and_processes);
	tcase_add_test(t, percentiles_are_compared);
	tcase_add_test(
		t,
		functions_without_self_time_in_the_order_of_their_callees_time);
	tcase_add_test(t, programs_are_told_apart_by_their_build);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
