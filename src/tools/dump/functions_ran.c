/* Which functions ran: tables and files of that, and the answers to --ran and
 * --tests-of. */

#include <stdlib.h>
#include <string.h>

#include "profile/formats/tables/coverage.h"
#include "tools/dump/destination.h"
#include "tools/dump/option_table.h"
#include "tools/dump/reports.h"
#include "tools/dump/result.h"
#include "util/memory.h"
#include "util/output.h"

static bool can_say(const struct swz_dump_input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++) {
		const char *problem = swz_coverage_problem(input->profiles[i]);

		if (!problem)
			continue;
		swz_dump_complain("%s: %s", input->profiles[i]->name, problem);
		return false;
	}
	return true;
}

/* --- files --------------------------------------------------------------- */

static bool any_ordered(const struct swz_coverage *coverage)
{
	size_t i;

	for (i = 0; i < coverage->count; i++)
		if (coverage->items[i].ordered)
			return true;
	return false;
}

static int write_coverage(const struct swz_dump_input *input,
			  const struct swz_coverage *coverage,
			  const struct swz_dump_options *options)
{
	struct swz_output output;
	char *path;
	int status;

	if (options->format->of_symbols && !any_ordered(coverage)) {
		swz_dump_complain("%s: when functions were called first is "
				  "known with swizzle-run -m cover only",
				  input->profiles[0]->name);
		return EXIT_INPUT;
	}
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		options->format->functions(output.stream, coverage);
		status = swz_dump_end_output(&output, path, options);
	}
	free(path);
	return status;
}

/* --- questions ----------------------------------------------------------- */

static int answer_ran(struct swz_coverage *coverage,
		      const struct swz_dump_options *options)
{
	struct swz_coverage_counts counts;

	coverage->filters = &options->ran;
	counts = swz_coverage_ask(options->quiet ? NULL : stdout, coverage);
	if (fflush(stdout) != 0)
		return EXIT_INPUT;
	if (counts.ran)
		return EXIT_OK;
	if (counts.never && !counts.unknown)
		return EXIT_INPUT;
	if (!counts.unknown)
		swz_dump_complain("no function matches '%s'",
				  options->ran.items[0]);
	return EXIT_USAGE;
}

static int compare_tests(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Processes of one test have a profile each. */
static void put_tests(const char **tests, size_t count)
{
	size_t i;

	if (count > 1)
		qsort(tests, count, sizeof(*tests), compare_tests);
	for (i = 0; i < count; i++) {
		if (i && strcmp(tests[i], tests[i - 1]) == 0)
			continue;
		swz_put_text(stdout, tests[i]);
		putchar('\n');
	}
}

static int answer_tests_of(struct swz_dump_input *input,
			   struct swz_coverage *coverage,
			   const struct swz_dump_options *options)
{
	const char **tests = swz_allocate(input->count, sizeof(*tests));
	size_t count = 0, without = 0, i;
	struct swz_coverage_counts all;

	for (i = 0; i < input->count; i++) {
		const char *test = swz_profile_label(input->profiles[i],
						     "test");

		if (!test)
			without++;
		else if (swz_coverage_reaches(&input->bindings[i],
					      &options->tests_of))
			tests[count++] = test;
	}
	put_tests(tests, count);
	free(tests);
	if (without)
		swz_dump_complain("%zu profile%s no label: swizzle-run --label "
				  "test=NAME",
				  without, without == 1 ? " has" : "s have");
	coverage->filters = &options->tests_of;
	all = swz_coverage_ask(NULL, coverage);
	if (!all.ran && !all.never) {
		swz_dump_complain(all.unknown
					  ? "'%s' has no hook, so it is not "
					    "known which tests reach it"
					  : "no function matches '%s'",
				  options->tests_of.items[0]);
		return EXIT_USAGE;
	}
	return fflush(stdout) == 0 ? EXIT_OK : EXIT_INPUT;
}

int swz_dump_coverage(struct swz_dump_input *input, struct swz_catalog *catalog,
		      const struct swz_dump_options *options)
{
	struct swz_coverage coverage = {.filters = &options->table.filters,
					.rows = options->table.rows};
	int status;

	if (!can_say(input))
		return EXIT_INPUT;
	swz_coverage_find(&coverage, input->bindings, input->count);
	swz_dump_resolve(catalog);
	if (options->ran.count)
		status = answer_ran(&coverage, options);
	else if (options->tests_of.count)
		status = answer_tests_of(input, &coverage, options);
	else
		status = write_coverage(input, &coverage, options);
	swz_coverage_free(&coverage);
	return status;
}
