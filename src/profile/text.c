/* A table of functions, for people and for awk: the numbers are plain digits,
 * times in ns, and come before the names, which may hold spaces. */

#include "profile/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/memory.h"
#include "profile/output.h"

struct row {
	const struct swz_catalog_function *function;
	const struct swz_report_function *costs;
	const char *module;
};

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct row *a = left, *b = right;
	const struct swz_report_function *x = a->costs, *y = b->costs;
	const struct swz_table_options *options = context;
	int order = 0;

	switch (options->sort) {
	case SWZ_SORT_DEFAULT:
	case SWZ_SORT_SELF:
		order = descending((uint64_t)x->self_ns, (uint64_t)y->self_ns);
		break;
	case SWZ_SORT_INCLUSIVE:
		order = descending((uint64_t)x->inclusive_ns,
				   (uint64_t)y->inclusive_ns);
		break;
	case SWZ_SORT_CALLS:
		order = descending(x->calls, y->calls);
		break;
	case SWZ_SORT_MIN:
		order = descending((uint64_t)x->min_ns, (uint64_t)y->min_ns);
		break;
	case SWZ_SORT_MAX:
		order = descending((uint64_t)x->max_ns, (uint64_t)y->max_ns);
		break;
	case SWZ_SORT_NAME:
		break;
	}
	if (!order)
		order = strcmp(a->function->name, b->function->name);
	return order ? order : strcmp(a->module, b->module);
}

const char *swz_module_name(const struct swz_section *section,
			    uint32_t function)
{
	return swz_base_name(swz_catalog_module_path(
		section->catalog, &section->catalog->functions[function]));
}

static size_t collect_rows(const struct swz_section *section, struct row *rows)
{
	const struct swz_report *report = section->report;
	size_t count = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		struct row *row = &rows[count];

		if (!report->functions[i].present || i == SWZ_CATALOG_UNKNOWN)
			continue;
		row->costs = &report->functions[i];
		row->function = &section->catalog->functions[i];
		row->module = swz_module_name(section, (uint32_t)i);
		count++;
	}
	return count;
}

void swz_put_heading(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;

	if (section->thread) {
		fprintf(stream, "# thread %" PRId32 " ",
			section->thread->record.tid);
		swz_put_text(stream, section->thread->name);
		fprintf(stream, " of process %" PRId32 ": ",
			section->profile->header.pid);
	} else {
		fprintf(stream, "# process %" PRId32 ": ",
			section->profile->header.pid);
	}
	swz_put_command(stream, section->profile);
	putc('\n', stream);
	if (section->profile_count > 1)
		fprintf(stream, "# %zu profiles merged\n",
			section->profile_count);
	fprintf(stream, "# total %" PRId64 " ns in %zu thread%s",
		report->total_ns, report->thread_count,
		report->thread_count == 1 ? "" : "s");
	if (section->compensated)
		fprintf(stream, ", after %" PRId64 " ns of hooks",
			report->raw_ns > report->total_ns
				? report->raw_ns - report->total_ns
				: 0);
	fputs("; times in ns\n", stream);
}

static bool shows_extremes(const struct swz_table_options *options)
{
	return options->sort == SWZ_SORT_MIN || options->sort == SWZ_SORT_MAX;
}

static void put_row(FILE *stream, const struct row *row, bool sampled,
		    bool extremes)
{
	const struct swz_report_function *costs = row->costs;

	fprintf(stream, "%12" PRIu64 " %15" PRId64 " %15" PRId64, costs->calls,
		costs->self_ns, costs->inclusive_ns);
	if (sampled)
		fprintf(stream, " %13.0f", sqrt(costs->variance_ns));
	if (extremes)
		fprintf(stream, " %15" PRId64 " %15" PRId64, costs->min_ns,
			costs->max_ns);
	fputs("  ", stream);
	swz_put_text(stream, row->function->name);
	fputs("  ", stream);
	swz_put_text(stream, row->module);
	putc('\n', stream);
}

/* As comments: who adds up the columns of the table need not know. */
static void put_unwound(FILE *stream, const struct row *rows, size_t count)
{
	bool any = false;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!rows[i].costs->unwound)
			continue;
		if (!any)
			fputs("# of these calls, ended by an exception:\n",
			      stream);
		any = true;
		fprintf(stream, "# %10" PRIu64 "  ", rows[i].costs->unwound);
		swz_put_text(stream, rows[i].function->name);
		fputs("  ", stream);
		swz_put_text(stream, rows[i].module);
		putc('\n', stream);
	}
}

static bool below_limit(const struct swz_section *section,
			const struct swz_table_options *options,
			const struct row *row)
{
	int64_t ns = options->sort == SWZ_SORT_INCLUSIVE
			     ? row->costs->inclusive_ns
			     : row->costs->self_ns;

	return (double)ns * 100.0 <
	       options->percent_limit * (double)section->report->total_ns;
}

static bool is_wanted(const struct swz_table_options *options,
		      const struct row *row)
{
	return !options->filters.count ||
	       swz_patterns_match(&options->filters, row->function->name);
}

void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	size_t capacity = section->report->function_capacity;
	struct row *rows = swz_allocate(capacity, sizeof(*rows));
	struct swz_table_options order = *options;
	size_t count = collect_rows(section, rows);
	bool extremes = shows_extremes(options);
	size_t shown = 0;
	size_t i;

	if (count > 1)
		qsort_r(rows, count, sizeof(*rows), compare_rows, &order);
	swz_put_heading(stream, section);
	if (section->report->sampled)
		fputs("# sampled: counts are exact, times are estimates; +/- "
		      "is "
		      "the standard error of self\n",
		      stream);
	fprintf(stream, "%12s %15s %15s", "calls", "self", "incl");
	if (section->report->sampled)
		fprintf(stream, " %13s", "+/-");
	if (extremes)
		fprintf(stream, " %15s %15s", "min", "max");
	fputs("  function  module\n", stream);
	for (i = 0; i < count; i++) {
		if (!is_wanted(options, &rows[i]) ||
		    below_limit(section, options, &rows[i]))
			continue;
		if (options->rows && shown == options->rows)
			break;
		put_row(stream, &rows[i], section->report->sampled, extremes);
		rows[shown++] = rows[i];
	}
	put_unwound(stream, rows, shown);
	free(rows);
}
