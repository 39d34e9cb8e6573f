/* libFuzzer target: a profile file, through all that swizzle-dump does with it
 * except looking symbols up in the files of modules. Build with
 *   clang -fsanitize=fuzzer,address,undefined
 * The sums that every report promises are checked. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/file/records.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/exports/exports.h"
#include "profile/formats/formats.h"
#include "profile/formats/page/html_blocks.h"

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

static void check_contexts(const struct swz_contexts *contexts)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < contexts->count; i++) {
		require(!i || contexts->items[i].parent < i);
		require(contexts->items[i].self_ns >= 0);
		sum = sum < INT64_MAX - contexts->items[i].self_ns
			      ? sum + contexts->items[i].self_ns
			      : INT64_MAX;
	}
	require(sum == contexts->items[SWZ_CONTEXT_ROOT].inclusive_ns);
}

/* In all formats that are made of reports. */
static void write_all(const struct swz_section *section)
{
	static const struct swz_table_options tables[] = {
		{.sort = SWZ_SORT_INCLUSIVE, .percent_limit = -1},
		{.bottom_up = true, .rows = 5},
	};
	const struct swz_format *format;
	size_t i, at;

	for (at = 0; (format = swz_format_at(at)); at++)
		for (i = 0; i < 2 && format->section; i++) {
			struct swz_writer writer = {.stream = sink,
						    .options = &tables[i]};

			if (format->begin)
				format->begin(&writer);
			format->section(&writer, section);
			if (format->end)
				format->end(&writer);
		}
}

/* Of sums: what each rank has, thread by thread. */
static void write_ranks(struct swz_section section)
{
	size_t room = 1000, i;

	for (i = 0; i < section.profile->thread_count; i++) {
		section.thread = &section.profile->threads[i];
		(void)swz_html_put_ranks(sink, i, &section, &room);
	}
}

static void dump(struct swz_profile *profile, bool compensate)
{
	static const struct swz_catalog_options options = {
		.quiet = true,
		.symbols = true,
		.lines = true,
		.only_embedded = true};
	struct swz_report report = {0};
	struct swz_contexts contexts;
	struct swz_section section = {.report = &report,
				      .contexts = &contexts,
				      .profile = profile,
				      .profiles = &profile,
				      .profile_count = 1,
				      .part = 1,
				      .compensated = compensate};
	struct swz_catalog catalog;
	struct swz_binding binding;
	size_t i;

	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_contexts_begin(&contexts, SWZ_CATALOG_OUTSIDE, compensate);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i],
			       compensate);
		swz_contexts_add(&contexts, &report, &binding, &tree);
		swz_tree_free(&tree);
	}
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
	swz_contexts_sum(&contexts);
	check_report(&report);
	check_contexts(&contexts);
	section.catalog = &catalog;
	section.binding = &binding;
	write_all(&section);
	write_ranks(section);
	swz_contexts_free(&contexts);
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
}

/* Samples one by one: spans are nested, and times do not go back. */
static void walk_samples(struct swz_profile *profile)
{
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		struct swz_sample_spans *spans = swz_sample_spans_open(profile,
								       thread);
		uint64_t depth = 0, before = 0, ticks;
		uint32_t node;
		bool begins;

		while (spans &&
		       swz_sample_spans_next(spans, &node, &begins, &ticks)) {
			require(begins || depth);
			require(ticks >= before);
			require(swz_thread_has_node(thread, node));
			depth += begins ? 1 : UINT64_MAX;
			before = ticks;
		}
		require(!depth);
		swz_sample_spans_close(spans);
	}
	if (profile->header.flags & SWZ_FILE_SAMPLES)
		swz_samples_keep_range(profile, profile->header.start_ticks + 1,
				       profile->header.start_ticks +
					       1000000000);
}

/* Twice, as it may be in the sum already. */
static void add_to_sum(struct swz_profile *profile)
{
	struct swz_merge merge = {0};
	enum swz_merge_status status = swz_merge_add(&merge, profile);

	if (status == SWZ_MERGE_ADDED) {
		swz_write_merged(sink, &merge);
		status = swz_merge_add(&merge, profile);
		require(status == SWZ_MERGE_KNOWN || status == SWZ_MERGE_ADDED);
	}
	swz_merge_free(&merge);
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
	add_to_sum(profile);
	walk_samples(profile);
	dump(profile, false);
	swz_profile_free(profile);
	return 0;
}
