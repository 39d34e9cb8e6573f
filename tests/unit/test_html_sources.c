/* Which lines of which files a page gets: those of the functions with most time
 * first, as long as there is room. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/formats/page/html_blocks.h"
#include "tests/unit/page_bytes.h"
#include "tests/unit/run_suite.h"

#define WIDE 399

/* A file of COUNT lines that begin with their numbers, WIDTH letters each. */
static char *write_source(size_t count, int width)
{
	char *path = strdup("/tmp/swizzle-sources.XXXXXX");
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	ck_assert_ptr_nonnull(file);
	for (size_t i = 1; i <= count; i++)
		fprintf(file, "%-*zu\n", width, i);
	ck_assert_int_eq(fclose(file), 0);
	return path;
}

static struct swz_catalog catalog;
static struct swz_report report;

static void begin(void)
{
	memset(&catalog, 0, sizeof(catalog));
	memset(&report, 0, sizeof(report));
	catalog.functions = calloc(1000, sizeof(*catalog.functions));
	report.functions = calloc(1000, sizeof(*report.functions));
	catalog.places = calloc(10, sizeof(*catalog.places));
	report.edges = calloc(10, sizeof(*report.edges));
}

static void add_function(const char *file, int line, int64_t self_ns)
{
	size_t index = catalog.function_count++;

	catalog.functions[index] = (struct swz_catalog_function){
		.module = UINT32_MAX, .file = file, .line = line};
	report.functions[index].present = true;
	report.functions[index].self_ns = self_ns;
	report.function_capacity = catalog.function_count;
}

static void add_call(uint32_t caller, struct swz_catalog_place place)
{
	uint32_t index = (uint32_t)catalog.place_count++;

	catalog.places[index] = place;
	report.edges[report.edge_count++] = (struct swz_report_edge){
		.caller = caller, .place = index, .calls = 1};
}

/* The block's bytes; AT them. */
static uint8_t *block, *at;

static uint64_t number(void)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		value |= (uint64_t)(*at & 127) << shift;
		if (*at++ < 128)
			return value;
	}
}

static const char *text(void)
{
	const char *found = (const char *)at;

	at += strlen(found) + 1;
	return found;
}

static void put(bool wanted)
{
	struct swz_html_sources *sources = swz_html_sources_begin();
	struct swz_section section = {.catalog = &catalog, .report = &report};
	char *page;
	size_t size, bytes;
	FILE *stream = open_memstream(&page, &size);

	swz_html_sources_add(sources, &section);
	swz_html_sources_add(sources, &section);
	swz_html_sources_end(sources, stream, &catalog, wanted);
	fclose(stream);
	at = block = page_bytes(page, size, "sources", &bytes);
	free(page);
	free(catalog.functions);
	free(catalog.places);
	free(report.functions);
	free(report.edges);
}

static void expect_file(const char *path, uint64_t state, uint64_t lines,
			uint64_t parts)
{
	ck_assert_str_eq(text(), path);
	ck_assert_uint_eq(number(), state);
	ck_assert_uint_eq(number(), 0); /* changed */
	ck_assert_uint_eq(number(), lines);
	ck_assert_uint_eq(number(), parts);
}

static void expect_part(uint64_t first, uint64_t count)
{
	ck_assert_uint_eq(number(), first);
	ck_assert_uint_eq(number(), count);
	for (uint64_t i = 0; i < count; i++)
		ck_assert_uint_eq(strtoull(text(), NULL, 10), first + i);
}

START_TEST(most_time_comes_first_until_there_is_no_room)
{
	char *hot = write_source(9000, WIDE), *large = write_source(9000, WIDE);
	char *small = write_source(50, 20);

	begin();
	/* 1 MiB has room for 2621 lines of these: for one file */
	for (int i = 0; i < 40; i++)
		add_function(large, 100 + i * 60, 1);
	for (int i = 0; i < 40; i++)
		add_function(hot, 100 + i * 60, 2);
	add_function(small, 7, 1);
	add_function("/nowhere/x.c", 7, 0);
	add_function("relative.c", 7, 0);
	put(true);
	ck_assert_uint_eq(number(), 5);
	expect_file(hot, 1, 9000, 40);
	for (unsigned i = 0; i < 40; i++)
		expect_part(90 + i * 60, 51);
	expect_file(large, 4, 9000, 0);
	expect_file(small, 0, 50, 1);
	expect_part(1, 50);
	expect_file("/nowhere/x.c", 2, 0, 0);
	expect_file("relative.c", 2, 0, 0);
	unlink(hot);
	unlink(large);
	unlink(small);
	free(hot);
	free(large);
	free(small);
	free(block);
}
END_TEST

START_TEST(a_function_goes_on_to_its_calls)
{
	char *path = write_source(9000, WIDE);

	begin();
	add_function(path, 1000, 5);
	add_function(path, 5000, 5);
	add_call(0, (struct swz_catalog_place){.file = path, .line = 1200});
	/* inlined from elsewhere: where that is */
	add_call(1, (struct swz_catalog_place){.file = "/x.h",
					       .line = 3,
					       .inlined = "x",
					       .outer_line = 5100});
	/* a line of another file is none of this one */
	add_call(1, (struct swz_catalog_place){.file = "/y.h", .line = 8000});
	put(true);
	ck_assert_uint_eq(number(), 1);
	expect_file(path, 1, 9000, 2);
	expect_part(990, 251);
	expect_part(4990, 151);
	unlink(path);
	free(path);
	free(block);
}
END_TEST

START_TEST(nothing_is_read_where_it_is_not_wanted)
{
	char *path = write_source(50, 20);

	begin();
	add_function(path, 10, 5);
	put(false);
	ck_assert_uint_eq(number(), 1);
	expect_file(path, 5, 0, 0);
	unlink(path);
	free(path);
	free(block);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("html_sources");
	TCase *t = tcase_create("html_sources");

	tcase_add_test(t, most_time_comes_first_until_there_is_no_room);
	tcase_add_test(t, a_function_goes_on_to_its_calls);
	tcase_add_test(t, nothing_is_read_where_it_is_not_wanted);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
