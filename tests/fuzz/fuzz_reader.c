/* libFuzzer target: a profile file, through all that swizzle-dump does with it
 * except looking symbols up. Build with
 *   clang -fsanitize=fuzzer,address,undefined
 * The sums that every report promises are checked. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/formats.h"

static FILE *sink; /* output is formatted, but goes nowhere */

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_report(const struct swz_report *report)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *function =
			&report->functions[i];

		require(function->self_ns >= 0);
		require(function->inclusive_ns <= report->total_ns);
		if (__builtin_add_overflow(sum, function->self_ns, &sum))
			return;
	}
	require(sum == report->total_ns);
	for (i = 0; i < report->edge_count; i++)
		require(report->edges[i].inclusive_ns >= 0);
}

static void dump(struct swz_profile *profile, bool compensate)
{
	static const struct swz_catalog_options options = {.quiet = true,
							   .lines = true};
	static const struct swz_table_options table = {
		.sort = SWZ_SORT_INCLUSIVE};
	struct swz_report report = {0};
	struct swz_section section = {.report = &report,
				      .profile = profile,
				      .profile_count = 1,
				      .part = 1,
				      .compensated = compensate};
	struct swz_catalog catalog;
	struct swz_binding binding;
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
	check_report(&report);
	section.catalog = &catalog;
	swz_write_text(sink, &section, &table);
	swz_write_callgrind(sink, &section);
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (!sink)
		sink = fopen("/dev/null", "w");
	if (swz_profile_parse("fuzz", data, size, &profile, &error) != SWZ_OK)
		return 0;
	dump(profile, size & 1);
	swz_write_info(sink, profile);
	swz_profile_free(profile);
	return 0;
}
