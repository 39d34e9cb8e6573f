/* Counts of call edges (-m count), from the file's tables to what formats
 * show. */

#include <math.h>
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/report.h"
#include "profile/formats/exports/exports.h"
#include "profile/formats/formats.h"
#include "profile/formats/tables/table.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"
#include "util/memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define UNUSED UINT32_MAX

/* Functions 1 to 4 are at 0x401000, 0x401100..., function 5 in libx.so at
 * 0x7f0000001000. */
static const struct builder_edge first_table[] = {
	{0x401010, 2, 1000},    /* main calls twice */
	{0x450000, 1, 1},       /* from outside of all functions */
	{0, UNUSED, 0},         /* a slot that is free */
	{0x401110, 3, 3},       /* and what it calls, once more */
	{0x401110, 2, 7},       /* the function calls itself */
	{0, 4, 2},              /* the place is not known */
	{0x7f0000001010, 3, 4}, /* from another module */
};
static const struct builder_edge second_table[] = {
	{0x401010, 2, 24}, /* the same edge in a larger table */
	{0x401020, 2, 5},  /* from another place */
	{0, UNUSED, 0},
};

static struct profile_builder builder;
static struct swz_profile *profile;
static struct swz_catalog catalog;
static struct swz_binding binding;
static struct swz_report report;
static struct swz_contexts contexts;
static char *text; /* what was written */
static size_t text_size;

static void setup(void)
{
	builder_begin(&builder);
	builder_command(&builder);
	builder_module(&builder, 0, "prog", 0x400000, 1, 4);
	builder_module(&builder, 1, "libx.so", 0x7f0000000000, 5, 4);
	builder_thread(&builder, 0, 100, "main", 5000, 1);
	builder_counts(&builder, 0, first_table, COUNT(first_table));
	builder_counts(&builder, 0, second_table, COUNT(second_table));
	profile = NULL;
	text = NULL;
}

/* All but what sorts and sums. */
static void add_up(void)
{
	static const struct swz_catalog_options options = {.symbols = true,
							   .quiet = true};
	size_t i;

	profile = builder_read(&builder);
	report = (struct swz_report){0};
	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_contexts_begin(&contexts, SWZ_CATALOG_OUTSIDE, false);
	contexts.finds_jumps = true;
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i], true);
		swz_contexts_add(&contexts, &report, &binding, &tree);
		swz_tree_free(&tree);
	}
	swz_catalog_resolve(&catalog);
}

static void read_profile(void)
{
	add_up();
	swz_report_sort(&report);
	swz_contexts_sum(&contexts);
}

static void forget_profile(void)
{
	if (!profile)
		return;
	swz_report_free(&report);
	swz_contexts_free(&contexts);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
	profile = NULL;
}

static void teardown(void)
{
	forget_profile();
	free(text);
	builder_free(&builder);
}

static uint32_t function(uint32_t id)
{
	uint32_t at = swz_profile_function_by_id(profile, id);

	return swz_binding_function(&binding, at, id);
}

static uint64_t calls_of(uint32_t id)
{
	return swz_report_function(&report, function(id)).calls;
}

/* CALLER: of the catalog. */
static uint64_t calls_from(uint32_t caller, uint32_t id)
{
	uint64_t calls = 0;
	size_t i;

	for (i = 0; i < report.edge_count; i++)
		if (report.edges[i].caller == caller &&
		    report.edges[i].callee == function(id))
			calls += report.edges[i].calls;
	return calls;
}

static void write_as(const char *format,
		     const struct swz_table_options *options)
{
	const struct swz_format *of = swz_format_find(format);
	struct swz_section section = {.catalog = &catalog,
				      .report = &report,
				      .contexts = &contexts,
				      .profile = profile,
				      .binding = &binding,
				      .profiles = &profile,
				      .profile_count = 1,
				      .part = 1,
				      .compensated = true};
	struct swz_joined joined = {.samples = 4};
	struct swz_writer writer = {.options = options};

	if (report.joined)
		section.joined = &joined;
	ck_assert(!(of->needs & SWZ_NEEDS_TIMES));
	free(text);
	writer.stream = open_memstream(&text, &text_size);
	if (of->begin)
		of->begin(&writer);
	of->section(&writer, &section);
	if (of->end)
		of->end(&writer);
	fclose(writer.stream);
}

static void has(const char *part)
{
	if (!strstr(text, part))
		ck_abort_msg("no '%s' in:\n%s", part, text);
}

START_TEST(tables_of_a_thread_are_added_up)
{
	read_profile();
	ck_assert_uint_eq(calls_of(1), 1);
	ck_assert_uint_eq(calls_of(2), 1000 + 24 + 5 + 7);
	ck_assert_uint_eq(calls_of(3), 3 + 4);
	ck_assert_uint_eq(calls_of(4), 2);
	ck_assert(report.without_times);
	ck_assert_int_eq(report.total_ns, 0);
	ck_assert(!swz_profile_damaged(profile));
	ck_assert_uint_eq(profile->folded_calls, 0);
}
END_TEST

START_TEST(callers_are_those_that_hold_the_place)
{
	read_profile();
	ck_assert_uint_eq(calls_from(SWZ_CATALOG_OUTSIDE, 1), 1);
	ck_assert_uint_eq(calls_from(function(1), 2), 1029);
	ck_assert_uint_eq(calls_from(function(2), 2), 7);
	ck_assert_uint_eq(calls_from(function(2), 3), 3);
	ck_assert_uint_eq(calls_from(function(5), 3), 4);
	ck_assert_uint_eq(calls_from(SWZ_CATALOG_UNKNOWN, 4), 2);
}
END_TEST

/* The places of calls are sorted, and the function found last is tried first:
 * one that begins within another must be found nevertheless. */
START_TEST(function_within_another_is_found)
{
	builder_function_record(&builder, 0, 0)->size = 0x400;
	read_profile();
	ck_assert_uint_eq(calls_from(function(1), 2), 1029);
	ck_assert_uint_eq(calls_from(function(2), 3), 3);
}
END_TEST

START_TEST(sums_saturate)
{
	static const struct builder_edge edges[] = {{0x401010, 2, UINT64_MAX},
						    {0x401010, 2, UINT64_MAX},
						    {0x401020, 2, UINT64_MAX}};

	builder_counts(&builder, 0, edges, COUNT(edges));
	read_profile();
	ck_assert_uint_eq(calls_of(2), UINT64_MAX);
	write_as("text", &(struct swz_table_options){0});
	has("18446744073709551615               -               -  sub_1100");
}
END_TEST

START_TEST(functions_that_do_not_exist_are_left_out)
{
	static const struct builder_edge edges[] = {{0x401010, 77, 5},
						    {0x401010, 2, 1}};

	builder_counts(&builder, 0, edges, COUNT(edges));
	builder_counts(&builder, 9, edges, COUNT(edges)); /* no such thread */
	read_profile();
	ck_assert_uint_eq(calls_of(2), 1037);
	ck_assert_uint_eq(profile->damage.stray_nodes, 3);
}
END_TEST

START_TEST(table_longer_than_its_chunk_is_left_out)
{
	size_t offset = builder_counts(&builder, 0, first_table,
				       COUNT(first_table));

	((struct swz_chunk *)(void *)(builder.data + offset))->count = 1 << 30;
	read_profile();
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	ck_assert_uint_eq(calls_of(2), 1036);
}
END_TEST

START_TEST(text_has_no_times)
{
	read_profile();
	write_as("text", &(struct swz_table_options){0});
	ck_assert_str_eq(
		text,
		"# process 4242: prog a b\n"
		"# 1046 calls in 1 thread, exact; no times (-m count)\n"
		"       calls            self            incl  function  "
		"module\n"
		"        1036               -               -  sub_1100  prog\n"
		"           7               -               -  sub_1200  prog\n"
		"           2               -               -  sub_1300  prog\n"
		"           1               -               -  sub_1000  prog\n"
		"           0               -               -  sub_1000  "
		"libx.so\n");
}
END_TEST

START_TEST(tree_has_one_level_of_callees)
{
	read_profile();
	write_as("tree", &(struct swz_table_options){0});
	has("# whole contexts are not known: calls by function and caller\n");
	has("           0               -               -       -  [outside]  "
	    "-\n"
	    "        1036               -               -       -    sub_1100  "
	    "prog\n"
	    "           7               -               -       -      sub_1100"
	    "  prog\n"
	    "           3               -               -       -      sub_1200"
	    "  prog\n"
	    "           7               -               -       -    sub_1200  "
	    "prog\n");
}
END_TEST

START_TEST(tree_has_one_level_of_callers)
{
	read_profile();
	write_as("tree", &(struct swz_table_options){.bottom_up = true});
	has("           7               -               -       -  sub_1200  "
	    "prog\n"
	    "           4               -               -       -    sub_1000  "
	    "libx.so\n"
	    "           3               -               -       -    sub_1100  "
	    "prog\n"
	    "           2               -               -       -  sub_1300  "
	    "prog\n"
	    "           2               -               -       -    [unknown "
	    "caller]  -\n"
	    "           1               -               -       -  sub_1000  "
	    "prog\n");
}
END_TEST

START_TEST(csv_fields_of_times_are_empty)
{
	read_profile();
	write_as("csv", &(struct swz_table_options){0});
	has("\n1036,,,,,,sub_1100,prog,,,,\n");
}
END_TEST

START_TEST(json_has_null_for_times)
{
	read_profile();
	write_as("json", &(struct swz_table_options){0});
	has("\"total_ns\":null,\"hooks_ns\":null");
	has("\"name\":\"sub_1100\",\"module\":\"prog\",\"file\":null,\"line\":0"
	    ",\"calls\":1036,\"self_ns\":null,\"incl_ns\":null,\"min_ns\":null,"
	    "\"max_ns\":null,\"unwound\":null}");
	has("\"calls\":1029,\"incl_ns\":null");
}
END_TEST

/* Calls to a function add up to what it has itself. */
START_TEST(callgrind_has_calls_for_the_event)
{
	read_profile();
	write_as("callgrind", &(struct swz_table_options){0});
	has("event: Calls : Calls\nevents: Calls\nsummary: 1046\n");
	has("fn=(2)\n0 1\ncfi=(1)\ncfn=(5)\ncalls=1029 0\n0 1029\n");
	has("fn=(5) sub_1100\n0 1036\ncfi=(1)\ncfn=(5)\ncalls=7 0\n0 7\n");
	has("totals: 1046\n");
}
END_TEST

START_TEST(dot_shows_what_is_called_often)
{
	read_profile();
	write_as("dot", &(struct swz_table_options){.percent_limit = -1});
	has("label=\"sub_1100\\nprog\\n1036 calls\"");
	ck_assert(!strstr(text, "sub_1300"));
	ck_assert(!strstr(text, "%"));
}
END_TEST

START_TEST(table_says_what_there_is)
{
	read_profile();
	write_as("table", &(struct swz_table_options){0});
	has("1,046 calls, exact; no times (-m count)\n");
	has("    -       -      -       -  1,036  sub_1100  prog\n");
	has("These have 100% of the calls.\n");
	ck_assert(!strstr(text, "100% is"));
}
END_TEST

START_TEST(times_of_the_thread_are_no_times_of_functions)
{
	struct swz_groups groups = {.rows = SWZ_BY_THREAD};
	struct swz_section section = {.catalog = &catalog,
				      .report = &report,
				      .contexts = &contexts,
				      .profile = profile,
				      .profiles = &profile,
				      .profile_count = 1};
	struct swz_by_section by = {&section, &groups};
	FILE *stream;

	read_profile();
	section.profile = profile;
	swz_groups_add(&groups, profile, profile, &profile->threads[0],
		       &report);
	swz_groups_end(&groups);
	stream = open_memstream(&text, &text_size);
	swz_write_csv_by(stream, &by, &(struct swz_table_options){0});
	fclose(stream);
	swz_groups_free(&groups);
	has("\n1046,,,2000,,,2000,100,4242,main\n");
}
END_TEST

/* Of a sum all that is known of counts is known. */
START_TEST(sum_of_profiles_has_the_counts)
{
	struct swz_merge merge = {0};
	char *bytes = NULL;
	size_t size;
	FILE *stream;

	read_profile();
	ck_assert_int_eq(swz_merge_add(&merge, profile), SWZ_MERGE_ADDED);
	stream = open_memstream(&bytes, &size);
	swz_write_merged(stream, &merge);
	fclose(stream);
	swz_merge_free(&merge);
	forget_profile();
	builder_free(&builder);
	builder.data = (uint8_t *)bytes;
	builder.size = size;
	read_profile();
	ck_assert_uint_eq(profile->header.flags & SWZ_FILE_COUNTS,
			  SWZ_FILE_COUNTS);
	write_as("text", &(struct swz_table_options){0});
	has("# 1046 calls in 1 thread, exact; no times (-m count)\n");
	has("        1036               -               -  sub_1100  prog\n");
	write_as("tree", &(struct swz_table_options){.bottom_up = true});
	has("           7               -               -       -  sub_1200  "
	    "prog\n"
	    "           4               -               -       -    sub_1000  "
	    "libx.so\n"
	    "           3               -               -       -    sub_1100  "
	    "prog\n");
}
END_TEST

/* The test's own code: tail_caller() ends in a jump to tail_callee(). */
extern const char __executable_start[];
int tail_callee(int n);
int tail_caller(int n);
int plain_caller(int n);

__attribute__((noinline)) int tail_callee(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

__attribute__((noinline)) int tail_caller(int n)
{
	__asm__ volatile("" : "+r"(n));
	return tail_callee(n + 1);
}

__attribute__((noinline)) int plain_caller(int n)
{
	__asm__ volatile("" : "+r"(n));
	return tail_caller(n) + 1;
}

/* Where the first call of it in plain_caller() returns to. */
static uint64_t place_of_call(void)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)&plain_caller;
	const uint8_t *end = at + 200;
	int32_t distance;

	for (; at < end; at++) {
		memcpy(&distance, at + 1, sizeof(distance));
		if (*at == 0xe8 &&
		    at + 5 + distance ==
			    (const uint8_t *)(uintptr_t)&tail_caller)
			return (uintptr_t)at + 5;
	}
	ck_abort_msg("no direct call");
	return 0;
}

static uint64_t jumps_to(uint32_t id)
{
	uint64_t jumps = 0;
	size_t i;

	for (i = 0; i < report.edge_count; i++)
		if (report.edges[i].callee == function(id))
			jumps += report.edges[i].jumps;
	return jumps;
}

START_TEST(tail_calls_are_told)
{
	const uint64_t bias = (uintptr_t)__executable_start;
	const uint64_t starts[] = {(uintptr_t)&plain_caller,
				   (uintptr_t)&tail_caller,
				   (uintptr_t)&tail_callee};
	const struct builder_edge edges[] = {{place_of_call(), 9, 3},
					     {place_of_call(), 10, 4},
					     {place_of_call(), 11, 5}};
	uint32_t i;

	ck_assert_int_eq(plain_caller(1), 3);
	builder_module(&builder, 2, "/proc/self/exe", bias, 9, 3);
	builder_module_record(&builder, 2)->end = bias + (1 << 28);
	for (i = 0; i < 3; i++) {
		builder_function_record(&builder, 2, i)->address =
			(uint32_t)(starts[i] - bias);
		builder_function_record(&builder, 2, i)->size = 0;
	}
	builder_counts(&builder, 0, edges, COUNT(edges));
	read_profile();
	ck_assert_uint_eq(calls_from(function(9), 10), 4);
	ck_assert_uint_eq(jumps_to(10), 0);
	ck_assert_uint_eq(calls_from(function(9), 11), 5);
	ck_assert_uint_eq(jumps_to(11), 5);
	ck_assert_uint_eq(jumps_to(2), 0); /* of prog there is no file */
	write_as("tree", &(struct swz_table_options){.bottom_up = true});
	has("  (via jump)\n");
	write_as("json", &(struct swz_table_options){0});
	has("\"calls\":5,\"incl_ns\":null,\"via_jump\":5");
}
END_TEST

/* Of a run that was sampled: function 1 calls 2, which calls 3; function 1 is
 * called by code that is not counted. */
static struct swz_profile *read_samples(struct swz_binding *of,
					struct swz_contexts *sampled)
{
	struct profile_builder samples;
	struct swz_report times = {.without_edges = true};
	struct swz_profile *read;
	struct swz_tree tree;
	uint32_t top;

	builder_begin(&samples);
	builder_header(&samples)->flags |= SWZ_FILE_SAMPLES;
	builder_command(&samples);
	builder_module(&samples, 0, "prog", 0x400000, 1, 4);
	top = builder_thread(&samples, 0, 200, "main", 5000, 5);
	builder_call(&samples, top + 1, top, top + 1, 1, 0x450000, 0, 2000, 0);
	builder_call(&samples, top + 2, top + 1, top + 2, 2, 0x401010, 3, 2000,
		     0);
	builder_call(&samples, top + 3, top + 2, top + 3, 3, 0x401110, 1, 500,
		     0);
	read = builder_read(&samples);
	builder_free(&samples);
	swz_catalog_bind(of, &catalog, read);
	swz_contexts_begin(sampled, SWZ_CATALOG_OUTSIDE, true);
	swz_tree_build(&tree, read, &read->threads[0], true);
	swz_contexts_add(sampled, &times, of, &tree);
	swz_tree_free(&tree);
	swz_report_free(&times);
	return read;
}

static uint32_t sample(struct swz_contexts *of, uint32_t parent,
		       uint32_t function_index, int64_t ns)
{
	uint32_t at = swz_contexts_child(of, parent, function_index,
					 SWZ_PLACE_UNKNOWN, false);

	of->items[at].self_ns = ns;
	of->items[at].calls = 1;
	return at;
}

/* A call takes 1 ns; counting it 0.5 more. Of function 2, whose calls are that
 * short, half of the samples in what counts are its own; of a long call none.
 */
START_TEST(counting_takes_no_time_of_short_calls)
{
	struct swz_call_costs costs = {.plain = 1024, .counted = 512};
	struct swz_counting *counting;
	struct swz_contexts sampled;
	struct swz_joined joined;
	uint32_t at;

	add_up();
	swz_contexts_begin(&sampled, SWZ_CATALOG_OUTSIDE, true);
	at = sample(&sampled, SWZ_CONTEXT_ROOT, function(1), 1000);
	sample(&sampled, at, SWZ_CATALOG_COUNTING, 100);
	at = sample(&sampled, at, function(2), 1036 / 2);
	sample(&sampled, at, SWZ_CATALOG_COUNTING, 1036);
	counting = swz_counting_find(&report, &sampled, costs);
	joined = swz_join_times(&report, &contexts, &sampled, 1000, counting);
	swz_counting_free(counting);
	ck_assert_uint_eq(calls_of(2), 1036);
	ck_assert_int_eq(swz_report_function(&report, function(2)).self_ns,
			 1036);
	ck_assert_int_eq(swz_report_function(&report, function(1)).self_ns,
			 1000);
	ck_assert_int_eq(joined.left_out_ns, 100 + 1036 / 2);
	ck_assert_int_eq(joined.unsure_ns, 1036 / 2);
	ck_assert_int_eq(report.total_ns, 2036);
	swz_contexts_free(&sampled);
}
END_TEST

/* All takes twice as long on a processor that is shared: a call of 3 ns whose
 * samples are all in what counts is not one that counting alone has made so
 * long. It keeps all but 0.5 ns, and that is unsure by as much as there is
 * beside these. Of 12 ns counting has all: nothing else makes an empty function
 * that slow. */
START_TEST(counting_has_not_all_of_a_slow_processor)
{
	struct swz_call_costs costs = {.plain = 1024, .counted = 512};

	for (int slow = 0; slow < 2; slow++) {
		struct swz_counting *counting;
		struct swz_contexts sampled;
		uint32_t at;
		int64_t ns = 1036 * (slow ? 3 : 12);

		add_up();
		swz_contexts_begin(&sampled, SWZ_CATALOG_OUTSIDE, true);
		at = sample(&sampled, SWZ_CONTEXT_ROOT, function(2), 0);
		sample(&sampled, at, SWZ_CATALOG_COUNTING, ns);
		counting = swz_counting_find(&report, &sampled, costs);
		swz_join_times(&report, &contexts, &sampled, 1, counting);
		swz_counting_free(counting);
		ck_assert_int_eq(
			swz_report_function(&report, function(2)).self_ns,
			slow ? ns - 1036 / 2 : 0);
		ck_assert(!slow ||
			  sqrt(report.functions[function(2)].variance_ns) >=
				  1036 * 2.5);
		swz_contexts_free(&sampled);
		teardown();
		setup();
	}
}
END_TEST

/* A processor may retire the caller's instructions with the counting: what is
 * unsure of a call is as unsure of its caller, here of function 1, which has no
 * part in calls of 3. */
START_TEST(what_a_short_call_has_may_be_its_callers)
{
	struct swz_call_costs costs = {.plain = 1024, .counted = 512};
	struct swz_counting *counting;
	struct swz_contexts sampled;
	uint32_t first, at;

	add_up();
	swz_contexts_begin(&sampled, SWZ_CATALOG_OUTSIDE, true);
	first = sample(&sampled, SWZ_CONTEXT_ROOT, function(1), 0);
	at = sample(&sampled, first, function(2), 0);
	sample(&sampled, at, SWZ_CATALOG_COUNTING, 1036 * 3);
	at = sample(&sampled, SWZ_CONTEXT_ROOT, function(3), 100);
	counting = swz_counting_find(&report, &sampled, costs);
	swz_join_times(&report, &contexts, &sampled, 1, counting);
	swz_counting_free(counting);
	ck_assert(sqrt(report.functions[function(1)].variance_ns) >=
		  1036 * 2.5);
	ck_assert(sqrt(report.functions[function(3)].variance_ns) < 1036);
	swz_contexts_free(&sampled);
}
END_TEST

START_TEST(samples_give_the_times)
{
	struct swz_contexts sampled;
	struct swz_binding of;
	struct swz_profile *samples;
	struct swz_counting *counting;
	struct swz_joined joined;
	size_t i;

	add_up();
	samples = read_samples(&of, &sampled);
	counting = swz_counting_find(&report, &sampled,
				     (struct swz_call_costs){0, 0});
	joined = swz_join_times(&report, &contexts, &sampled, 1000, counting);
	swz_counting_free(counting);
	ck_assert(!report.without_times);
	ck_assert_uint_eq(joined.samples, 4);
	ck_assert_int_eq(report.total_ns, 1000);
	ck_assert_uint_eq(calls_of(2), 1036);
	ck_assert_int_eq(swz_report_function(&report, function(2)).self_ns,
			 750);
	ck_assert_int_eq(swz_report_function(&report, function(2)).inclusive_ns,
			 1000);
	ck_assert_int_eq(swz_report_function(&report, function(1)).inclusive_ns,
			 1000);
	ck_assert_int_eq(swz_report_function(&report, function(4)).self_ns, 0);
	ck_assert_uint_eq(calls_of(4), 2);
	for (i = 0; i < report.edge_count; i++)
		if (report.edges[i].caller == function(2) &&
		    report.edges[i].callee == function(3)) {
			ck_assert_uint_eq(report.edges[i].calls, 3);
			ck_assert_int_eq(report.edges[i].inclusive_ns, 250);
		}
	swz_contexts_forget_places(&contexts);
	write_as("tree", &(struct swz_table_options){0});
	has("           -            <250            1000  100.00    sub_1000  "
	    "prog\n"
	    "           -             750            1000  100.00      sub_1100"
	    "  prog\n"
	    "           -             250             250   25.00        "
	    "sub_1200  prog\n");
	write_as("tree", &(struct swz_table_options){.bottom_up = true});
	has("           7             250             250   25.00  sub_1200  "
	    "prog\n"
	    "           3             250             250   25.00    sub_1100  "
	    "prog\n"
	    "           -             250             250   25.00      sub_1000"
	    "  prog\n");
	swz_contexts_free(&sampled);
	swz_binding_free(&of);
	swz_profile_free(samples);
}
END_TEST

START_TEST(counts_since_a_snapshot)
{
	static const struct builder_edge more[] = {{0x401010, 2, 100},
						   {0x401030, 4, 9}};
	struct swz_profile *earlier;
	struct swz_error error;
	uint64_t calls = 0;
	size_t i;

	builder_header(&builder)->snapshot_ticks = 3000;
	earlier = builder_read(&builder);
	builder_header(&builder)->snapshot_ticks = 0;
	builder_counts(&builder, 0, more, COUNT(more));
	profile = builder_read(&builder);
	ck_assert_int_eq(swz_interval_take(profile, earlier, &error), SWZ_OK);
	swz_profile_free(earlier);
	for (i = 0; i < profile->made_node_count; i++)
		calls += profile->made_nodes[i].calls;
	ck_assert_uint_eq(calls, 109);
	swz_profile_free(profile);
	profile = NULL;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("count_slots");
	TCase *tests = tcase_create("count_slots");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, tables_of_a_thread_are_added_up);
	tcase_add_test(tests, callers_are_those_that_hold_the_place);
	tcase_add_test(tests, function_within_another_is_found);
	tcase_add_test(tests, sums_saturate);
	tcase_add_test(tests, functions_that_do_not_exist_are_left_out);
	tcase_add_test(tests, table_longer_than_its_chunk_is_left_out);
	tcase_add_test(tests, text_has_no_times);
	tcase_add_test(tests, tree_has_one_level_of_callees);
	tcase_add_test(tests, tree_has_one_level_of_callers);
	tcase_add_test(tests, csv_fields_of_times_are_empty);
	tcase_add_test(tests, json_has_null_for_times);
	tcase_add_test(tests, callgrind_has_calls_for_the_event);
	tcase_add_test(tests, dot_shows_what_is_called_often);
	tcase_add_test(tests, table_says_what_there_is);
	tcase_add_test(tests, times_of_the_thread_are_no_times_of_functions);
	tcase_add_test(tests, sum_of_profiles_has_the_counts);
	tcase_add_test(tests, tail_calls_are_told);
	tcase_add_test(tests, samples_give_the_times);
	tcase_add_test(tests, counting_takes_no_time_of_short_calls);
	tcase_add_test(tests, counting_has_not_all_of_a_slow_processor);
	tcase_add_test(tests, what_a_short_call_has_may_be_its_callers);
	tcase_add_test(tests, counts_since_a_snapshot);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
