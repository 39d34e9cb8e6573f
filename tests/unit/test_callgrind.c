/* The callgrind writer, checked by text and by callgrind_annotate itself where
 * that is installed. */

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/formats.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

static struct profile_builder builder;
static uint32_t root;
static const char *inlined_from; /* a file that all calls are put in */
static char *text;               /* what was written */
static size_t text_size;

static void setup(void)
{
	builder_begin(&builder);
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	builder_header(&builder)->cost_inside = 10240;
	builder_header(&builder)->cost_outside = 4096;
	builder_command(&builder);
	builder_module(&builder, 0, "prog", 0x400000, 1, 4);
	builder_module(&builder, 1, "libx.so", 0x7f0000000000, 5, 4);
	root = builder_thread(&builder, 0, 100, "main", 2000, 8);
	inlined_from = NULL;
	text = NULL;
}

static void teardown(void)
{
	free(text);
	builder_free(&builder);
}

static void call(uint32_t node, uint32_t parent, uint32_t context,
		 uint32_t function, uint64_t calls, int64_t ticks,
		 int64_t outer)
{
	builder_call(&builder, root + node, root + parent, root + context,
		     function, 0x401010, calls, ticks, outer);
}

/* As if functions had a source file, and their calls were in code that was
 * inlined from another one. */
static void put_in_files(struct swz_catalog *catalog, struct swz_report *report)
{
	size_t i;

	swz_grow(&catalog->places, &catalog->place_capacity,
		 catalog->place_count, sizeof(*catalog->places));
	catalog->places[catalog->place_count] = (struct swz_catalog_place){
		.file = swz_intern(&catalog->strings, inlined_from),
		.line = 2,
		.inlined = "small",
		.outer_line = 3};
	for (i = 0; i < report->edge_count; i++)
		report->edges[i].place = (uint32_t)catalog->place_count;
	catalog->place_count++;
	for (i = 2; i < catalog->function_count; i++) {
		catalog->functions[i].file = swz_intern(&catalog->strings,
							"/nowhere/x.c");
		catalog->functions[i].line = 1;
	}
}

static int64_t write_profile(bool compensate, unsigned int parts)
{
	const struct swz_catalog_options options = {
		.symbols = true, .lines = true, .quiet = true};
	struct swz_profile *profile = builder_read(&builder);
	struct swz_report report = {0};
	struct swz_section section = {.report = &report,
				      .profile = profile,
				      .profiles = &profile,
				      .profile_count = 1,
				      .compensated = compensate};
	struct swz_catalog catalog;
	struct swz_binding binding;
	int64_t total;
	FILE *stream;
	size_t i;

	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i],
			       compensate);
		swz_report_add(&report, &binding, &tree);
		swz_tree_free(&tree);
	}
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
	if (inlined_from)
		put_in_files(&catalog, &report);
	section.catalog = &catalog;
	stream = open_memstream(&text, &text_size);
	for (section.part = 1; section.part <= parts; section.part++)
		swz_write_callgrind(stream, &section);
	fclose(stream);
	total = report.total_ns;
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
	return total;
}

static void check_in_order(const char *const *lines)
{
	const char *at = text;

	for (; *lines; lines++) {
		const char *found = strstr(at, *lines);

		if (!found)
			ck_abort_msg("no '%s' where it should be in:\n%s",
				     *lines, text);
		at = found + strlen(*lines);
	}
}

static void has(const char *part)
{
	if (!strstr(text, part))
		ck_abort_msg("no '%s' in:\n%s", part, text);
}

/* callgrind_annotate's view: no complaint, the right total, nothing above
 * 100 %. */
static void annotate(int64_t total)
{
	char path[] = "/tmp/swizzle-test-XXXXXX";
	char command[200], line[1000];
	int fd = mkstemp(path);
	int64_t seen = -1;
	FILE *stream;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, text_size), (ssize_t)text_size);
	close(fd);
	snprintf(command, sizeof(command),
		 "callgrind_annotate --inclusive=yes --tree=both --auto=yes "
		 "--threshold=100 %s 2>&1",
		 path);
	/* NOLINTNEXTLINE(cert-env33-c): the file is our own */
	stream = popen(command, "r");
	ck_assert_ptr_nonnull(stream);
	while (fgets(line, sizeof(line), stream)) {
		char *percent = strchr(line, '%');
		int64_t value = 0;
		char *from, *to = line;

		ck_assert_msg(!strstr(line, "WARNING") &&
				      !strstr(line, "uninitialized") &&
				      !strstr(line, "malformed"),
			      "%s", line);
		if (percent) {
			while (percent > line && percent[-1] != '(')
				percent--;
			ck_assert_msg(strtod(percent, NULL) <= 100.0, "%s",
				      line);
		}
		if (!strstr(line, "PROGRAM TOTALS"))
			continue;
		for (from = line; *from && *from != ' '; from++)
			if (*from != ',')
				*to++ = *from;
		*to = '\0';
		value = strtoll(line, NULL, 10);
		seen = value;
	}
	ck_assert_int_eq(pclose(stream), 0);
	unlink(path);
	ck_assert_int_eq(seen, total);
}

static bool have_annotate(void)
{
	/* NOLINTNEXTLINE(cert-env33-c): a fixed command */
	return system("command -v callgrind_annotate >/dev/null 2>&1") == 0;
}

START_TEST(header_is_in_the_order_that_viewers_expect)
{
	static const char *const lines[] = {"# callgrind format\n",
					    "version: 1\n",
					    "creator: swizzle",
					    "pid: 4242\n",
					    "cmd: prog a b\n",
					    "part: 1\n",
					    "desc: ",
					    "positions: line\n",
					    "event: ns : Time (ns)\n",
					    "events: ns\n",
					    "summary: 1000\n",
					    NULL};

	call(1, 0, 1, 1, 1, 700, 700);
	write_profile(false, 1);
	ck_assert_int_eq(strncmp(text, "# callgrind format\n", 19), 0);
	check_in_order(lines);
}
END_TEST

START_TEST(writes_functions_and_calls)
{
	static const char *const lines[] = {
		"ob=(1) ???\nfl=(1) ???\nfn=(1) [outside]\n0 300\n",
		"cob=(2) prog\ncfi=(1)\ncfn=(2) sub_1000\ncalls=1 0\n0 700\n",
		"ob=(2)\nfl=(1)\nfn=(2)\n0 500\n",
		"cob=(3) libx.so\ncfi=(1)\ncfn=(3) sub_1100\n",
		"calls=2 0\n0 200\n",
		"ob=(3)\nfl=(1)\nfn=(3)\n0 200\n",
		"totals: 1000\n",
		NULL};

	call(1, 0, 1, 1, 1, 700, 700);
	call(2, 1, 2, 6, 2, 200, 200);
	write_profile(false, 1);
	check_in_order(lines);
}
END_TEST

START_TEST(every_part_defines_its_names)
{
	static const char *const lines[] = {
		"part: 1\n",    "fn=(1) [outside]\n", "part: 2\n",
		"events: ns\n", "fn=(1) [outside]\n", NULL};

	write_profile(false, 2);
	check_in_order(lines);
}
END_TEST

START_TEST(control_characters_do_not_break_lines)
{
	static const char line[] = "a b";
	char *found = memmem(builder.data, builder.size, line, sizeof(line));

	found[1] = '\n';
	write_profile(false, 1);
	has("cmd: prog a?b\n");
}
END_TEST

START_TEST(says_what_was_not_profiled)
{
	builder_module_record(&builder, 0)->counts[SWZ_REFUSE_TOO_SHORT] = 3;
	builder_module_record(&builder, 1)->counts[SWZ_REFUSE_FILTERED] = 2;
	write_profile(true, 1);
	has("desc: Not profiled: 5 of 13 functions: 3 too short for a jump, "
	    "2 excluded by a filter\n");
}
END_TEST

START_TEST(annotate_reads_recursion)
{
	call(1, 0, 1, 1, 1, 500, 500);
	call(2, 1, 1, 1, 2, 400, 0);
	call(3, 1, 1, 1, 2, 200, 0);
	annotate(write_profile(false, 1));
	free(text);
	annotate(write_profile(true, 1));
}
END_TEST

START_TEST(annotate_reads_mutual_recursion)
{
	call(1, 0, 1, 1, 1, 900, 900);
	call(2, 1, 2, 2, 2, 1600, 850);
	call(3, 2, 1, 1, 1, 800, 0);
	call(4, 1, 4, 3, 2, 100, 100);
	annotate(write_profile(false, 1));
	free(text);
	annotate(write_profile(true, 1));
}
END_TEST

START_TEST(annotate_tells_namesakes_apart)
{
	/* sub_1000 of the one module calls sub_1000 of the other */
	call(1, 0, 1, 1, 1, 900, 900);
	call(2, 1, 2, 5, 1, 800, 800);
	call(3, 2, 3, 6, 1, 700, 700);
	annotate(write_profile(false, 1));
	has("??? (libx.so)\n");
}
END_TEST

START_TEST(annotate_reads_calls_in_inlined_code)
{
	static const char *const lines[] = {"fl=(2)\nfn=(2)\n1 500\n",
					    "fi=(3) ",
					    "\n2 0\n",
					    "cfn=(3) sub_1100\n",
					    "calls=2 1\n2 200\n",
					    NULL};
	char path[] = "/tmp/swizzle-test-XXXXXX";
	int fd = mkstemp(path);

	/* callgrind_annotate looks at source files that are there */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "1\n2\n3\n", 6), 6);
	close(fd);
	inlined_from = path;
	call(1, 0, 1, 1, 1, 700, 700);
	call(2, 1, 2, 6, 2, 200, 200);
	write_profile(false, 1);
	check_in_order(lines);
	if (have_annotate())
		annotate(1000);
	unlink(path);
}
END_TEST

START_TEST(annotate_reads_an_empty_profile)
{
	builder_thread_record(&builder, 0)->last_ticks = 1000;
	ck_assert_int_eq(write_profile(true, 1), 0);
	has("summary: 0\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callgrind");
	TCase *tests = tcase_create("callgrind");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, header_is_in_the_order_that_viewers_expect);
	tcase_add_test(tests, writes_functions_and_calls);
	tcase_add_test(tests, every_part_defines_its_names);
	tcase_add_test(tests, control_characters_do_not_break_lines);
	tcase_add_test(tests, says_what_was_not_profiled);
	tcase_add_test(tests, annotate_reads_an_empty_profile);
	tcase_add_test(tests, annotate_reads_calls_in_inlined_code);
	if (have_annotate()) {
		tcase_add_test(tests, annotate_reads_recursion);
		tcase_add_test(tests, annotate_reads_mutual_recursion);
		tcase_add_test(tests, annotate_tells_namesakes_apart);
	}
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
