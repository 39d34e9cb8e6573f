/* Which functions ran: tables and files of that, and the answers to --ran,
 * --tests-of and --affected. */

#include <stdlib.h>
#include <string.h>

#include "profile/formats/tables/table.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/reports.h"
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

/* Those with a function that matches PATTERNS, or, if that is NULL, with one
 * whose code has changed. */
static void answer_tests(struct swz_dump_input *input,
			 const struct swz_patterns *patterns,
			 const struct swz_rebuilt *rebuilt)
{
	const char **tests = swz_allocate(input->count, sizeof(*tests));
	size_t count = 0, without = 0, i;

	for (i = 0; i < input->count; i++) {
		const char *test = swz_profile_label(input->profiles[i],
						     "test");

		if (!test)
			without++;
		else if (patterns ? swz_coverage_reaches(&input->bindings[i],
							 patterns)
				  : swz_coverage_is_affected(
					    &input->bindings[i], rebuilt))
			tests[count++] = test;
	}
	put_tests(tests, count);
	free(tests);
	if (without)
		swz_dump_complain("%zu profile%s no label: swizzle-run --label "
				  "test=NAME",
				  without, without == 1 ? " has" : "s have");
}

static int answer_tests_of(struct swz_dump_input *input,
			   struct swz_coverage *coverage,
			   const struct swz_dump_options *options)
{
	struct swz_coverage_counts all;

	answer_tests(input, &options->tests_of, NULL);
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

/* --- two builds ---------------------------------------------------------- */

#define MOST_NAMED 8 /* functions in a message */

static void put_names(const struct swz_dump_options *options, const char *what,
		      const char **names, size_t count)
{
	FILE *stream;
	char *text;
	size_t size, i;

	if (!count || options->quiet)
		return;
	stream = swz_text_stream(&text, &size);
	for (i = 0; i < count && i < MOST_NAMED; i++)
		fprintf(stream, "%s%s", i ? ", " : "", names[i]);
	if (count > MOST_NAMED)
		fprintf(stream, " and %zu more", count - MOST_NAMED);
	swz_text_stream_end(stream);
	swz_dump_complain("%s %zu function%s: %s", what, count,
			  count == 1 ? "" : "s", text);
	free(text);
}

/* Notes for each function whether a hook of a profile sees its calls. */
static bool *find_hooked(const struct swz_dump_input *input,
			 const struct swz_rebuilt *rebuilt)
{
	bool *hooked = swz_allocate(rebuilt->count + 1, sizeof(*hooked));
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		for (j = 0; j < profile->function_count; j++) {
			const struct swz_profile_function *f =
				&profile->functions[j];
			const struct swz_old_function *old = NULL;

			if (f->status == SWZ_PATCHED &&
			    f->module != SWZ_INDEX_NONE &&
			    swz_build_is(&rebuilt->old,
					 &profile->modules[f->module]))
				old = swz_rebuilt_find(rebuilt, f->address);
			if (old)
				hooked[old - rebuilt->functions] = true;
		}
	}
	return hooked;
}

static bool any_of_build(const struct swz_dump_input *input,
			 const struct swz_build *build)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->module_count; j++)
			if (swz_build_is(build,
					 &input->profiles[i]->modules[j]))
				return true;
	return false;
}

static int answer_affected(struct swz_dump_input *input,
			   const struct swz_rebuilt *rebuilt,
			   const struct swz_dump_options *options)
{
	const char **names = swz_allocate(rebuilt->count + 1, sizeof(*names));
	bool *hooked = find_hooked(input, rebuilt);
	size_t unknown = 0, i, j;
	int status = EXIT_OK;

	for (j = SWZ_CODE_CHANGED; j <= SWZ_CODE_GONE; j++) {
		size_t count = 0;

		for (i = 0; i < rebuilt->count; i++)
			if (rebuilt->functions[i].change == j)
				names[count++] = rebuilt->functions[i].name;
		put_names(options,
			  j == SWZ_CODE_CHANGED ? "other code in" : "without",
			  names, count);
	}
	for (i = 0; i < rebuilt->count; i++)
		if (rebuilt->functions[i].change != SWZ_CODE_SAME && !hooked[i])
			names[unknown++] = rebuilt->functions[i].name;
	answer_tests(input, NULL, rebuilt);
	if (unknown) {
		put_names(options, "no hook, so tests are not known, in", names,
			  unknown);
		status = EXIT_USAGE;
	}
	free(names);
	free(hooked);
	return fflush(stdout) == 0 ? status : EXIT_INPUT;
}

static bool compare_builds(struct swz_rebuilt *rebuilt,
			   const struct swz_dump_input *input,
			   const struct swz_dump_options *options)
{
	const char *failed;
	enum swz_status status = swz_rebuilt_compare(
		rebuilt, options->old_build, options->new_build,
		&options->files, &failed);

	if (status != SWZ_OK) {
		swz_dump_complain(status == SWZ_E_NOTFOUND
					  ? "%s cannot be read"
					  : "%s is no program or library of "
					    "x86-64",
				  failed);
		return false;
	}
	if (any_of_build(input, &rebuilt->old))
		return true;
	swz_dump_complain("no profile is of %s", options->old_build);
	swz_rebuilt_free(rebuilt);
	return false;
}

int swz_dump_coverage(struct swz_dump_input *input, struct swz_catalog *catalog,
		      const struct swz_dump_options *options)
{
	struct swz_coverage coverage = {.filters = &options->table.filters,
					.rows = options->table.rows};
	struct swz_rebuilt rebuilt = {0};
	int status;

	if (!can_say(input))
		return EXIT_INPUT;
	if (options->old_build && !compare_builds(&rebuilt, input, options))
		return EXIT_USAGE;
	if (options->affected) {
		status = answer_affected(input, &rebuilt, options);
		swz_rebuilt_free(&rebuilt);
		return status;
	}
	if (options->old_build)
		coverage.rebuilt = &rebuilt;
	swz_coverage_find(&coverage, input->bindings, input->count);
	swz_dump_resolve(catalog);
	if (options->ran.count)
		status = answer_ran(&coverage, options);
	else if (options->tests_of.count)
		status = answer_tests_of(input, &coverage, options);
	else
		status = write_coverage(input, &coverage, options);
	swz_coverage_free(&coverage);
	swz_rebuilt_free(&rebuilt);
	return status;
}
