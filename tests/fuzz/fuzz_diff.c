/* libFuzzer target: two profile files, compared as swizzle-dump --diff does it
 * but without symbols. The first four bytes say where the second one begins.
 * Build with
 *   clang -fsanitize=fuzzer,address,undefined
 * Both sides have to have the same shape, and their sums as before. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/diff.h"
#include "profile/formats/formats.h"

enum { NEW, OLD, SIDES };

#define RUNS 2

struct side {
	struct swz_profile *profile;
	struct swz_binding binding;
	struct swz_report report;
	struct swz_contexts contexts;
	struct swz_runs runs;
	struct swz_section section;
	int64_t total_ns;
	uint64_t edge_calls;
	int64_t context_ns;
};

static FILE *sink; /* output is formatted, but goes nowhere */

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t edge_calls(const struct swz_report *report)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < report->edge_count; i++)
		sum += report->edges[i].calls; /* modulo 2^64 */
	return sum;
}

static void add_run(struct side *side, bool compensate)
{
	size_t i;

	for (i = 0; i < side->profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, side->profile, &side->profile->threads[i],
			       compensate);
		swz_contexts_add(&side->contexts, &side->report, &side->binding,
				 &tree);
		swz_tree_free(&tree);
	}
	swz_runs_note(&side->runs, &side->report);
}

/* As two runs. */
static void add_up(struct side *side, bool compensate)
{
	swz_contexts_begin(&side->contexts, SWZ_CATALOG_OUTSIDE, false);
	side->report.unit_ns = RUNS;
	add_run(side, compensate);
	add_run(side, compensate);
	swz_report_sort(&side->report);
	swz_contexts_sum(&side->contexts);
	swz_report_average(&side->report, RUNS);
	swz_contexts_average(&side->contexts, RUNS);
	side->edge_calls = edge_calls(&side->report);
	side->context_ns = side->contexts.items[SWZ_CONTEXT_ROOT].inclusive_ns;
}

static void check(struct side *sides)
{
	const struct side *new = &sides[NEW], *old = &sides[OLD];
	size_t i;

	require(new->report.function_capacity == old->report.function_capacity);
	require(new->report.edge_count == old->report.edge_count);
	for (i = 0; i < new->report.edge_count; i++) {
		const struct swz_report_edge *a = &new->report.edges[i];
		const struct swz_report_edge *b = &old->report.edges[i];

		require(a->caller == b->caller && a->callee == b->callee);
		require(!i || a[-1].caller <= a->caller);
	}
	require(new->contexts.count == old->contexts.count);
	for (i = 0; i < new->contexts.count; i++) {
		const struct swz_context *a = &new->contexts.items[i];
		const struct swz_context *b = &old->contexts.items[i];

		require(a->function == b->function && a->parent == b->parent);
		require(!i || a->parent < i);
	}
	for (i = 0; i < SIDES; i++) {
		require(edge_calls(&sides[i].report) == sides[i].edge_calls);
		require(sides[i].contexts.items[SWZ_CONTEXT_ROOT]
				.inclusive_ns == sides[i].context_ns);
	}
}

static void write_all(const struct swz_section *section)
{
	static const struct swz_table_options tables[] = {
		{.sort = SWZ_SORT_INCLUSIVE, .percent_limit = -1},
		{.bottom_up = true, .rows = 5},
		{.percent_limit = 1, .rows = 3},
	};
	const struct swz_format *format;
	size_t i, at;

	for (at = 0; (format = swz_format_at(at)); at++)
		for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
			struct swz_writer writer = {.stream = sink,
						    .options = &tables[i]};

			if (!(format->takes & SWZ_TAKES_DIFF))
				continue;
			if (format->begin)
				format->begin(&writer);
			format->section(&writer, section);
			if (format->end)
				format->end(&writer);
		}
}

static void compare(struct side *sides, bool compensate)
{
	static const struct swz_catalog_options options = {.quiet = true,
							   .lines = true};
	struct swz_catalog catalog;
	struct swz_binding bindings[SIDES];
	size_t i;

	swz_catalog_begin(&catalog, &options);
	for (i = 0; i < SIDES; i++) {
		swz_catalog_bind(&sides[i].binding, &catalog, sides[i].profile);
		bindings[i] = sides[i].binding;
	}
	swz_catalog_match(&catalog, bindings, 1, SIDES);
	for (i = 0; i < SIDES; i++)
		add_up(&sides[i], compensate);
	swz_catalog_resolve(&catalog);
	swz_diff_align_reports(&catalog, &sides[NEW].report,
			       &sides[OLD].report);
	swz_diff_align_contexts(&sides[NEW].contexts, &sides[OLD].contexts);
	check(sides);
	for (i = 0; i < SIDES; i++)
		sides[i].section = (struct swz_section){
			.catalog = &catalog,
			.report = &sides[i].report,
			.contexts = &sides[i].contexts,
			.runs = &sides[i].runs,
			.profile = sides[i].profile,
			.profiles = &sides[i].profile,
			.profile_count = 1,
			.part = 1,
		};
	sides[NEW].section.old = &sides[OLD].section;
	write_all(&sides[NEW].section);
	for (i = 0; i < SIDES; i++) {
		swz_contexts_free(&sides[i].contexts);
		swz_report_free(&sides[i].report);
		swz_runs_free(&sides[i].runs);
		swz_binding_free(&sides[i].binding);
	}
	swz_catalog_free(&catalog);
}

/* The corpus is to outlive versions of the format. */
static bool parse(const uint8_t *data, size_t size, struct side *side)
{
	const uint32_t version = SWZ_FILE_VERSION;
	enum swz_status status;
	struct swz_error error;
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size >= sizeof(struct swz_file_header))
		memcpy(copy + offsetof(struct swz_file_header, version),
		       &version, sizeof(version));
	status = swz_profile_parse("fuzz", copy, size, &side->profile, &error);
	free(copy);
	return status == SWZ_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct side sides[SIDES] = {0};
	uint32_t at;

	if (!sink)
		sink = fopen("/dev/null", "w");
	if (size < sizeof(at))
		return 0;
	memcpy(&at, data, sizeof(at));
	data += sizeof(at);
	size -= sizeof(at);
	if (at > size)
		return 0;
	if (parse(data, at, &sides[OLD])) {
		if (parse(data + at, size - at, &sides[NEW])) {
			compare(sides, at & 64);
			swz_profile_free(sides[NEW].profile);
		}
		swz_profile_free(sides[OLD].profile);
	}
	return 0;
}
