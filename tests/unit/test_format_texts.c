/* What formats write, byte for byte: a profile that is made up in memory, and
 * the text that is expected of it beside it. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/formats.h"
#include "profile/formats/tables/table.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"
#include "util/memory.h"

static struct profile_builder builder;
static struct swz_profile *profile;
static struct swz_catalog catalog;
static struct swz_binding binding;
static struct swz_report report;
static struct swz_contexts contexts;
static struct swz_groups groups;
static struct swz_section section;
static uint32_t root;
static char *text;
static size_t text_size;

static void call(uint32_t node, uint32_t parent, uint32_t function,
		 uint64_t site, uint64_t calls, int64_t ticks)
{
	builder_call(&builder, root + node, root + parent, root + node,
		     function, site, calls, ticks, ticks);
}

/* sub_1000 calls sub_1100 twice from each of two contexts, and once sub_1000 of
 * the library; 100 ns of 1000 are outside of all. */
static void setup(void)
{
	static const struct swz_catalog_options options = {.symbols = true,
							   .quiet = true};
	struct swz_tree tree;

	builder_begin(&builder);
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	builder_command(&builder);
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 4);
	builder_module(&builder, 1, "/lib/libx,1.so", 0x7f0000000000, 5, 4);
	root = builder_thread(&builder, 0, 100, "main", 2000, 8);
	call(1, 0, 1, 0x401010, 1, 900);
	call(2, 1, 2, 0x401020, 2, 300);
	call(3, 1, 5, 0x401030, 1, 200);
	call(4, 3, 2, 0x7f0000001010, 2, 50);
	profile = builder_read(&builder);
	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_contexts_begin(&contexts, SWZ_CATALOG_OUTSIDE, false);
	groups = (struct swz_groups){0};
	report = (struct swz_report){0};
	swz_groups_add_process(&groups, profile);
	swz_tree_build(&tree, profile, &profile->threads[0], false);
	swz_contexts_add(&contexts, &report, &binding, &tree);
	swz_groups_add(&groups, profile, profile, &profile->threads[0],
		       &report);
	swz_tree_free(&tree);
	swz_groups_end(&groups);
	swz_contexts_sum(&contexts);
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
	section = (struct swz_section){.catalog = &catalog,
				       .report = &report,
				       .contexts = &contexts,
				       .profile = profile,
				       .binding = &binding,
				       .profiles = &profile,
				       .profile_count = 1,
				       .part = 1};
	text = NULL;
}

static void teardown(void)
{
	free(text);
	swz_groups_free(&groups);
	swz_contexts_free(&contexts);
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
	builder_free(&builder);
}

static void write_as(const char *format, struct swz_table_options options)
{
	const struct swz_format *of = swz_format_find(format);
	struct swz_writer writer = {.options = &options};

	free(text);
	writer.stream = open_memstream(&text, &text_size);
	if (of->begin)
		of->begin(&writer);
	of->section(&writer, &section);
	if (of->end)
		of->end(&writer);
	fclose(writer.stream);
}

static void write_by(const char *format, enum swz_group_key key)
{
	const struct swz_table_options options = {0};
	const struct swz_by_section by = {.section = &section,
					  .groups = &groups};
	FILE *stream;

	free(text);
	groups.rows = key;
	stream = open_memstream(&text, &text_size);
	swz_format_find(format)->by(stream, &by, &options);
	fclose(stream);
}

/* Members of every JSON object about a report. */
#define NO_LOSSES \
	"\"lost_calls\":0,\"folded_calls\":0,\"lost_events\":0," \
	"\"lost_values\":0,\"lost_marks\":0,\"lost_samples\":0," \
	"\"missed_samples\":0,\"cut_stacks\":0,\"damaged_profiles\":0," \
	"\"incomplete_profiles\":0,\"running_processes\":0," \
	"\"dropped_contexts\":0"

static void is(const char *expected)
{
	ck_assert_str_eq(text, expected);
}

START_TEST(text_of_functions)
{
	write_as("text", (struct swz_table_options){0});
	is("# process 4242: prog a b\n"
	   "# total 1000 ns in 1 thread; times in ns\n"
	   "       calls            self            incl  function  "
	   "module\n"
	   "           1             400             900  sub_1000  "
	   "prog\n"
	   "           4             350             350  sub_1100  "
	   "prog\n"
	   "           1             150             200  sub_1000  "
	   "libx,1.so\n"
	   "           0             100            1000  [outside] "
	   " -\n");
}
END_TEST

START_TEST(csv_of_functions)
{
	write_as("csv", (struct swz_table_options){0});
	is("calls,self_ns,incl_ns,min_ns,max_ns,unwound,function,mod"
	   "ule,file,line,self_waiting_ns,incl_waiting_ns\n"
	   "1,400,900,900,900,0,sub_1000,prog,,,,\n"
	   "4,350,350,25,150,0,sub_1100,prog,,,,\n"
	   "1,150,200,200,200,0,sub_1000,\"libx,1.so\",,,,\n"
	   "0,100,1000,,,0,[outside],-,,,,\n");
}
END_TEST

START_TEST(csv_tells_the_thread)
{
	section.thread = &profile->threads[0];
	write_as("csv", (struct swz_table_options){.rows = 1});
	is("calls,self_ns,incl_ns,min_ns,max_ns,unwound,function,mod"
	   "ule,file,line,tid,thread,self_waiting_ns,incl_waiting_ns"
	   "\n"
	   "1,400,900,900,900,0,sub_1000,prog,,,100,main,,\n");
}
END_TEST

START_TEST(text_with_the_shortest_and_longest_calls)
{
	write_as("text",
		 (struct swz_table_options){.rows = 1, .sort = SWZ_SORT_MAX});
	is("# process 4242: prog a b\n"
	   "# total 1000 ns in 1 thread; times in ns\n"
	   "       calls            self            incl            "
	   " min             max  function  module\n"
	   "           1             400             900            "
	   " 900             900  sub_1000  prog\n");
}
END_TEST

START_TEST(counts_know_no_times)
{
	report.without_times = true;
	write_as("csv", (struct swz_table_options){.rows = 1});
	is("calls,self_ns,incl_ns,min_ns,max_ns,unwound,function,mod"
	   "ule,file,line,self_waiting_ns,incl_waiting_ns\n"
	   "4,,,,,,sub_1100,prog,,,,\n");
	write_as("text", (struct swz_table_options){.rows = 1});
	is("# process 4242: prog a b\n"
	   "# 6 calls in 1 thread, exact; no times (-m count)\n"
	   "       calls            self            incl  function  "
	   "module\n"
	   "           4               -               -  sub_1100  "
	   "prog\n");
}
END_TEST

START_TEST(tree_from_the_root)
{
	write_as("tree", (struct swz_table_options){0});
	is("# process 4242: prog a b\n"
	   "# total 1000 ns in 1 thread; times in ns\n"
	   "       calls            self            incl   incl%  fu"
	   "nction  module\n"
	   "           0             100            1000  100.00  [o"
	   "utside]  -\n"
	   "           1             400             900   90.00    "
	   "sub_1000  prog\n"
	   "           2             300             300   30.00    "
	   "  sub_1100  prog\n"
	   "           1             150             200   20.00    "
	   "  sub_1000  libx,1.so\n"
	   "           2              50              50    5.00    "
	   "    sub_1100  prog\n");
}
END_TEST

START_TEST(folded_stacks)
{
	write_as("folded", (struct swz_table_options){0});
	is("[outside] 100\n"
	   "sub_1000 400\n"
	   "sub_1000;sub_1100 300\n"
	   "sub_1000;sub_1000 (libx,1.so) 150\n"
	   "sub_1000;sub_1000 (libx,1.so);sub_1100 50\n");
}
END_TEST

START_TEST(speedscope_samples)
{
	write_as("speedscope", (struct swz_table_options){0});
	is("{\"$schema\":\"https://www.speedscope.app/file-format-schem"
	   "a.json\",\n"
	   "\"exporter\":\""
	   "swizzle-" SWZ_VERSION "\",\n"
	   "\"profiles\":[\n"
	   "{\"type\":\"sampled\",\"name\":\"prog, 1 thread\",\"unit\":\"nanose"
	   "conds\",\"startValue\":0,\n"
	   "\"samples\":[\n"
	   "[0],\n"
	   "[1],\n"
	   "[1,2],\n"
	   "[1,3],\n"
	   "[1,3,2]],\n"
	   "\"weights\":[100,400,300,150,50],\n"
	   "\"endValue\":1000}],\n"
	   "\"shared\":{\"frames\":[\n"
	   "{\"name\":\"[outside]\"},\n"
	   "{\"name\":\"sub_1000\",\"file\":\"/bin/prog\"},\n"
	   "{\"name\":\"sub_1100\",\"file\":\"/bin/prog\"},\n"
	   "{\"name\":\"sub_1000\",\"file\":\"/lib/libx,1.so\"}]}}\n");
}
END_TEST

START_TEST(json_of_a_part)
{
	write_as("json", (struct swz_table_options){0});
	is("{\"creator\":\""
	   "swizzle-" SWZ_VERSION "\",\"parts\":[\n"
	   "{\"pid\":4242,\"executable\":\"/bin/prog\",\"command\":[\"prog\",\""
	   "a b\"],\"profiles\":1,\n"
	   "\"threads\":1,\"total_ns\":1000,\"hooks_ns\":0,\"sampled\":false"
	   ",\"counts\":\"calls\",\"folded_recursion\":0,\"split_functions\""
	   ":0,\"not_shown\":0," NO_LOSSES ",\n"
	   "\"functions\":[\n"
	   "{\"name\":\"[outside]\",\"module\":null,\"file\":null,\"line\":0,\""
	   "calls\":0,\"self_ns\":100,\"incl_ns\":1000,\"min_ns\":null,"
	   "\"max_ns\":null,\"unwound\":0},\n"
	   "{\"name\":\"sub_1000\",\"module\":\"/bin/prog\",\"file\":null,\"lin"
	   "e\":0,\"calls\":1,\"self_ns\":400,\"incl_ns\":900,\"min_ns\":900,"
	   "\"max_ns\":900,\"unwound\":0},\n"
	   "{\"name\":\"sub_1100\",\"module\":\"/bin/prog\",\"file\":null,\"lin"
	   "e\":0,\"calls\":4,\"self_ns\":350,\"incl_ns\":350,\"min_ns\":25,\""
	   "max_ns\":150,\"unwound\":0},\n"
	   "{\"name\":\"sub_1000\",\"module\":\"/lib/libx,1.so\",\"file\":null"
	   ",\"line\":0,\"calls\":1,\"self_ns\":150,\"incl_ns\":200,\"min_ns\""
	   ":200,\"max_ns\":200,\"unwound\":0}],\n"
	   "\"edges\":[\n"
	   "{\"caller\":0,\"callee\":1,\"calls\":1,\"incl_ns\":900,\"file\":nu"
	   "ll,\"line\":0,\"inlined\":null},\n"
	   "{\"caller\":1,\"callee\":2,\"calls\":2,\"incl_ns\":300,\"file\":nu"
	   "ll,\"line\":0,\"inlined\":null},\n"
	   "{\"caller\":1,\"callee\":3,\"calls\":1,\"incl_ns\":200,\"file\":nu"
	   "ll,\"line\":0,\"inlined\":null},\n"
	   "{\"caller\":3,\"callee\":2,\"calls\":2,\"incl_ns\":50,\"file\":nul"
	   "l,\"line\":0,\"inlined\":null}],\n"
	   "\"contexts\":[\n"
	   "{\"function\":0,\"calls\":0,\"self_ns\":100,\"incl_ns\":1000,\"fo"
	   "lded\":false},\n"
	   "{\"parent\":0,\"function\":1,\"calls\":1,\"self_ns\":400,\"incl_n"
	   "s\":900,\"folded\":false},\n"
	   "{\"parent\":1,\"function\":2,\"calls\":2,\"self_ns\":300,\"incl_n"
	   "s\":300,\"folded\":false},\n"
	   "{\"parent\":1,\"function\":3,\"calls\":1,\"self_ns\":150,\"incl_n"
	   "s\":200,\"folded\":false},\n"
	   "{\"parent\":3,\"function\":2,\"calls\":2,\"self_ns\":50,\"incl_ns"
	   "\":50,\"folded\":false}]}\n"
	   "]}\n");
}
END_TEST

START_TEST(by_module)
{
	write_by("text", SWZ_BY_MODULE);
	is("# process 4242: prog a b\n"
	   "# total 1000 ns in 1 thread; times in ns\n"
	   "       calls            self            incl  module\n"
	   "           5             750             900  prog\n"
	   "           1             150             200  libx,1.so\n"
	   "           0             100            1000  [outside]\n");
	write_by("csv", SWZ_BY_MODULE);
	is("calls,self_ns,incl_ns,self_waiting_ns,incl_waiting_ns,mo"
	   "dule\n"
	   "5,750,900,,,/bin/prog\n"
	   "1,150,200,,,\"/lib/libx,1.so\"\n"
	   "0,100,1000,,,[outside]\n");
	write_by("json", SWZ_BY_MODULE);
	is("{\"creator\":\""
	   "swizzle-" SWZ_VERSION
	   "\",\"by\":\"module\",\"profiles\":1,\"threads\":1,\"total_ns\":1000"
	   "," NO_LOSSES ",\"rows\":[\n"
	   "{\"self_ns\":750,\"calls\":5,\"incl_ns\":900,\"self_waiting_ns\""
	   ":null,\"incl_waiting_ns\":null,\"module\":\"/bin/prog\"},\n"
	   "{\"self_ns\":150,\"calls\":1,\"incl_ns\":200,\"self_waiting_ns\""
	   ":null,\"incl_waiting_ns\":null,\"module\":\"/lib/libx,1.so\"},"
	   "\n"
	   "{\"self_ns\":100,\"calls\":0,\"incl_ns\":1000,\"self_waiting_ns"
	   "\":null,\"incl_waiting_ns\":null,\"module\":\"[outside]\"}\n"
	   "]}\n");
}
END_TEST

START_TEST(by_thread)
{
	write_by("text", SWZ_BY_THREAD);
	is("# process 4242: prog a b\n"
	   "# total 1000 ns in 1 thread; times in ns\n"
	   "# wall, processor, waiting: with the cost of the hooks; "
	   "?: not known which of the two, after the last reading\n"
	   "       calls            self            wall       proce"
	   "ssor         waiting        tid        pid  thread\n"
	   "           6            1000            1000            "
	   "   -               -        100       4242  main\n");
	write_by("csv", SWZ_BY_THREAD);
	is("calls,self_ns,incl_ns,wall_ns,processor_ns,waiting_ns,un"
	   "known_ns,tid,pid,thread\n"
	   "6,1000,1000,1000,,,1000,100,4242,main\n");
	write_by("json", SWZ_BY_THREAD);
	is("{\"creator\":\""
	   "swizzle-" SWZ_VERSION
	   "\",\"by\":\"thread\",\"profiles\":1,\"threads\":1,\"total_ns\":1000"
	   "," NO_LOSSES ",\"rows\":[\n"
	   "{\"self_ns\":1000,\"calls\":6,\"incl_ns\":1000,\"wall_ns\":1000,"
	   "\"processor_ns\":null,\"waiting_ns\":null,\"unknown_ns\":1000,"
	   "\"tid\":100,\"pid\":4242,\"thread\":\"main\"}\n"
	   "]}\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("format_texts");
	TCase *t = tcase_create("format_texts");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, text_of_functions);
	tcase_add_test(t, csv_of_functions);
	tcase_add_test(t, csv_tells_the_thread);
	tcase_add_test(t, text_with_the_shortest_and_longest_calls);
	tcase_add_test(t, counts_know_no_times);
	tcase_add_test(t, tree_from_the_root);
	tcase_add_test(t, folded_stacks);
	tcase_add_test(t, speedscope_samples);
	tcase_add_test(t, json_of_a_part);
	tcase_add_test(t, by_module);
	tcase_add_test(t, by_thread);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
