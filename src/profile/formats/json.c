/* All that is known as JSON, for programs: an object with an array of parts
 * (one, or one per thread), each with functions, the calls between them, and
 * the contexts. Functions and contexts refer to each other by their index in
 * the part. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/diff.h"
#include "profile/formats/joined_figures.h"
#include "profile/formats/json_value.h"
#include "profile/formats/json_values.h"
#include "profile/formats/losses.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* What is compared: null stands for what is not known. */
static void put_change(FILE *stream, const struct swz_section *section,
		       uint32_t index)
{
	struct swz_diff_function diff = swz_diff_function(section, index);
	const struct swz_costs *old = &diff.costs.old;

	fprintf(stream,
		",\"old\":{\"%s\":%" PRIu64 ",\"self_ns\":%" PRId64
		",\"incl_ns\":%" PRId64 "}",
		swz_counted(section), old->calls, old->self_ns,
		old->inclusive_ns);
	swz_json_put_next_string(stream, "change", swz_diff_kind_name(&diff));
	if (!diff.noise.known) {
		fputs(",\"noise\":null", stream);
		return;
	}
	fprintf(stream,
		",\"noise\":{\"%s\":%" PRIu64 ",\"self_ns\":%" PRIu64
		",\"incl_ns\":%" PRIu64 "},\"self_sd_ns\":%.0f"
		",\"incl_sd_ns\":%.0f,\"old_self_sd_ns\":%.0f"
		",\"old_incl_sd_ns\":%.0f",
		swz_counted(section), diff.noise.calls, diff.noise.self_ns,
		diff.noise.inclusive_ns,
		swz_spread_deviation(&diff.new_runs.self_ns),
		swz_spread_deviation(&diff.new_runs.inclusive_ns),
		swz_spread_deviation(&diff.old_runs.self_ns),
		swz_spread_deviation(&diff.old_runs.inclusive_ns));
}

/* Members that are there only where it is known. */
static void put_waiting(FILE *stream, const struct swz_section *section,
			int64_t self_ns, int64_t inclusive_ns)
{
	if (section->report->knows_waiting)
		fprintf(stream,
			",\"self_waiting_ns\":%" PRId64
			",\"incl_waiting_ns\":%" PRId64,
			self_ns, inclusive_ns);
}

/* What was not counted is not known; what no sample hit took less than it says.
 */
static void put_count(FILE *stream, const struct swz_section *section,
		      uint32_t function, uint64_t count)
{
	fprintf(stream, ",\"%s\":", swz_counted(section));
	if (swz_is_counted(section->report, function))
		fprintf(stream, "%" PRIu64, count);
	else
		fputs("null", stream);
}

static void put_bound(FILE *stream, const struct swz_section *section,
		      uint32_t function, int64_t ns)
{
	int64_t bound_ns = swz_bound_of(section->report, function, ns);

	if (bound_ns)
		fprintf(stream, ",\"bound_ns\":%" PRId64, bound_ns);
}

static void put_function(FILE *stream, const struct swz_section *section,
			 uint32_t index)
{
	const struct swz_catalog_function *function =
		&section->catalog->functions[index];
	struct swz_report_function costs = swz_report_function(section->report,
							       index);

	fputs("\n{\"name\":", stream);
	swz_put_json(stream, function->name);
	swz_json_put_next_string(
		stream, "module",
		swz_catalog_module_path(section->catalog, function));
	swz_json_put_next_string(stream, "file", function->file);
	fprintf(stream, ",\"line\":%d", function->line);
	put_count(stream, section, index, costs.calls);
	fprintf(stream,
		",\"self_ns\":%" PRId64 ",\"incl_ns\":%" PRId64
		",\"min_ns\":%" PRId64 ",\"max_ns\":%" PRId64
		",\"unwound\":%" PRIu64,
		costs.self_ns, costs.inclusive_ns, costs.min_ns, costs.max_ns,
		costs.unwound);
	put_bound(stream, section, index, costs.self_ns);
	if (section->old)
		put_change(stream, section, index);
	put_waiting(stream, section, costs.self_waiting_ns,
		    costs.inclusive_waiting_ns);
	putc('}', stream);
}

/* Writes those that appear; returns the index of each function there. */
static uint32_t *put_functions(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	size_t all = section->catalog->function_count;
	uint32_t *numbers = swz_allocate(all, sizeof(*numbers));
	bool *used = swz_allocate(all, sizeof(*used));
	uint32_t count = 0, i;

	/* in the context of a lost caller, and outside of a range of time,
	 * there may be no time and no call: the report has no such function */
	for (i = 0; i < section->contexts->count; i++)
		used[section->contexts->items[i].function] = true;
	fputs("\"functions\":[", stream);
	for (i = 0; i < all; i++) {
		if (!swz_report_function(report, i).present && !used[i] &&
		    !(section->old &&
		      swz_report_function(section->old->report, i).present))
			continue;
		if (count)
			putc(',', stream);
		put_function(stream, section, i);
		numbers[i] = count++;
	}
	fputs("],\n", stream);
	free(used);
	return numbers;
}

static void put_edges(FILE *stream, const struct swz_section *section,
		      const uint32_t *numbers)
{
	size_t i;

	fputs("\"edges\":[", stream);
	for (i = 0; i < section->report->edge_count; i++) {
		const struct swz_report_edge *edge = &section->report->edges[i];
		const struct swz_catalog_place *place =
			&section->catalog->places[edge->place];

		fprintf(stream,
			"%s\n{\"caller\":%" PRIu32 ",\"callee\":%" PRIu32,
			i ? "," : "", numbers[edge->caller],
			numbers[edge->callee]);
		put_count(stream, section, edge->callee, edge->calls);
		fprintf(stream, ",\"incl_ns\":%" PRId64, edge->inclusive_ns);
		if (section->report->knows_waiting)
			fprintf(stream, ",\"incl_waiting_ns\":%" PRId64,
				edge->waiting_ns);
		swz_json_put_next_string(stream, "file", place->file);
		fprintf(stream, ",\"line\":%d", place->line);
		swz_json_put_next_string(stream, "inlined", place->inlined);
		if (section->old) {
			edge = &section->old->report->edges[i];
			fprintf(stream,
				",\"old_%s\":%" PRIu64
				",\"old_incl_ns\":%" PRId64,
				swz_counted(section), edge->calls,
				edge->inclusive_ns);
		}
		putc('}', stream);
	}
	fputs("],\n", stream);
}

static void put_contexts(FILE *stream, const struct swz_section *section,
			 const uint32_t *numbers)
{
	const struct swz_contexts *contexts = section->contexts;
	size_t i;

	fputs("\"contexts\":[", stream);
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		fprintf(stream, "%s\n{", i ? "," : "");
		if (i)
			fprintf(stream, "\"parent\":%" PRIu32 ",",
				context->parent);
		fprintf(stream, "\"function\":%" PRIu32,
			numbers[context->function]);
		put_count(stream, section, context->function, context->calls);
		fprintf(stream,
			",\"self_ns\":%" PRId64 ",\"incl_ns\":%" PRId64
			",\"folded\":%s",
			context->self_ns, context->inclusive_ns,
			context->folded ? "true" : "false");
		put_waiting(stream, section, context->self_waiting_ns,
			    context->inclusive_waiting_ns);
		if (section->old) {
			context = &section->old->contexts->items[i];
			fprintf(stream,
				",\"old_%s\":%" PRIu64
				",\"old_self_ns\":%" PRId64
				",\"old_incl_ns\":%" PRId64,
				swz_counted(section), context->calls,
				context->self_ns, context->inclusive_ns);
		}
		putc('}', stream);
	}
	putc(']', stream);
}

static void put_process(FILE *stream, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	size_t i;

	fprintf(stream,
		"\"pid\":%" PRId32 ",\"executable\":", profile->header.pid);
	swz_put_json(stream, profile->executable);
	fputs(",\"command\":[", stream);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(',', stream);
		swz_put_json(stream, profile->arguments[i]);
	}
	fprintf(stream, "],\"profiles\":%zu,\n", section->profile_count);
	if (section->thread) {
		fprintf(stream, "\"tid\":%" PRId32,
			section->thread->record.tid);
		swz_json_put_next_string(stream, "thread",
					 section->thread->name);
		fputs(",\n", stream);
	}
	fprintf(stream,
		"\"threads\":%zu,\"total_ns\":%" PRId64 ",\"hooks_ns\":%" PRId64
		",\"sampled\":%s,\"counts\":\"%s\",\"folded_recursion\":"
		"%" PRIu64 ",\"split_functions\":%zu,\"not_shown\":%" PRIu64,
		section->report->thread_count, section->report->total_ns,
		section->compensated && section->report->raw_ns >
						section->report->total_ns
			? section->report->raw_ns - section->report->total_ns
			: 0,
		section->report->sampled ? "true" : "false",
		swz_counted(section), section->report->folded_recursion,
		swz_report_split(section->report), section->report->not_shown);
	if (section->report->knows_switches)
		fprintf(stream, ",\"missing_switches\":%" PRIu64,
			section->report->missing_switches);
	if (section->report->knows_waiting)
		fprintf(stream, ",\"silent_threads\":%" PRIu64,
			section->report->silent_threads);
	swz_put_loss_members(stream, section);
	fputs(",\n", stream);
}

static void put_joined(FILE *stream, const struct swz_joined *joined)
{
	fprintf(stream,
		"\"joined\":{\"samples\":%" PRIu64 ",\"bound_ns\":%" PRId64
		",\"by_stacks\":%zu,\"by_proportion\":%zu,\"without\":%zu},\n",
		joined->samples, joined->bound_ns, joined->by_stacks,
		joined->by_proportion, joined->without);
}

/* How far the totals of the runs lie apart. */
static void put_spread(FILE *stream, const struct swz_section *section)
{
	struct swz_spread total = swz_runs_total(section->runs);

	fprintf(stream, "\"runs\":%zu,\"total_sd_ns\":", total.runs);
	if (total.runs > 1)
		fprintf(stream, "%.0f", swz_spread_deviation(&total));
	else
		fputs("null", stream);
}

/* What it is compared with, and how the whole has changed. */
static void put_comparison(FILE *stream, const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);

	if (section->thread_name) {
		fputs("\"thread\":", stream);
		swz_put_json(stream, section->thread_name);
		fputs(",\n", stream);
	}
	put_spread(stream, section);
	fputs(",\n\"old\":{", stream);
	put_process(stream, section->old);
	put_spread(stream, section->old);
	fputs("},\n\"noise_ns\":", stream);
	if (total.noise.known)
		fprintf(stream, "%" PRIu64, total.noise.self_ns);
	else
		fputs("null", stream);
	swz_json_put_next_string(stream, "change", swz_diff_kind_name(&total));
	fputs(",\n", stream);
}

void swz_begin_json(struct swz_writer *writer)
{
	fputs("{\"creator\":\"swizzle-" SWZ_VERSION "\",\"parts\":[",
	      writer->stream);
}

void swz_write_json(struct swz_writer *writer,
		    const struct swz_section *section)
{
	uint32_t *numbers;

	fputs(writer->sections ? ",\n" : "\n", writer->stream);
	putc('{', writer->stream);
	put_process(writer->stream, section);
	if (section->joined)
		put_joined(writer->stream, section->joined);
	if (section->old)
		put_comparison(writer->stream, section);
	numbers = put_functions(writer->stream, section);
	put_edges(writer->stream, section, numbers);
	put_contexts(writer->stream, section, numbers);
	swz_json_put_values(writer->stream, section);
	putc('}', writer->stream);
	free(numbers);
}

void swz_end_json(struct swz_writer *writer)
{
	fputs("\n]}\n", writer->stream);
}
