/* The table of functions of two profiles. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/cells.h"
#include "profile/formats/diff.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

struct row {
	struct swz_costs_diff costs;
	double variance_ns; /* of the difference of the self times */
	const char *name;
	const char *module;
	uint32_t function;
};

static struct swz_costs costs_of(const struct swz_report_function *function)
{
	return (struct swz_costs){function->calls, function->self_ns,
				  function->inclusive_ns};
}

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
	const struct row *a = left, *b = right;
	const struct swz_table_options *options = argument;
	int order = 0;

	switch (options->sort) {
	case SWZ_SORT_INCLUSIVE:
		order = descending(swz_diff_inclusive(&a->costs),
				   swz_diff_inclusive(&b->costs));
		break;
	case SWZ_SORT_CALLS:
		order = descending(swz_diff_calls(&a->costs),
				   swz_diff_calls(&b->costs));
		break;
	case SWZ_SORT_NAME:
		break;
	default:
		order = descending(swz_diff_self(&a->costs),
				   swz_diff_self(&b->costs));
	}
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->module, b->module);
}

static bool is_wanted(const struct swz_section *section,
		      const struct swz_table_options *options,
		      const struct row *row)
{
	uint64_t part = options->sort == SWZ_SORT_INCLUSIVE
				? swz_diff_inclusive(&row->costs)
				: swz_diff_self(&row->costs);

	if (options->filters.count &&
	    !swz_patterns_match(&options->filters, section->catalog,
				row->function, NULL))
		return false;
	return !((double)part * 100.0 <
		 options->percent_limit * (double)swz_diff_total(section));
}

static struct row *select_rows(const struct swz_section *section,
			       const struct swz_table_options *options,
			       size_t *count)
{
	const struct swz_report *new = section->report;
	const struct swz_report *old = section->old->report;
	struct row *rows = swz_allocate(new->function_capacity, sizeof(*rows));
	struct swz_table_options order = *options;
	size_t i;

	*count = 0;
	for (i = 0; i < new->function_capacity; i++) {
		const struct swz_report_function *x = &new->functions[i];
		const struct swz_report_function *y = &old->functions[i];
		struct row *row = &rows[*count];

		if ((!x->present && !y->present) || i == SWZ_CATALOG_UNKNOWN)
			continue;
		*row = (struct row){
			.costs = {.new = costs_of(x), .old = costs_of(y)},
			.variance_ns = x->variance_ns + y->variance_ns,
			.function = (uint32_t)i,
			.name = section->catalog->functions[i].name,
			.module = swz_module_name(section, (uint32_t)i)};
		*count += is_wanted(section, options, row);
	}
	if (*count > 1)
		qsort_r(rows, *count, sizeof(*rows), compare_rows, &order);
	if (options->rows && options->rows < *count)
		*count = options->rows;
	return rows;
}

static void put_row(FILE *stream, const struct swz_diff_widths *widths,
		    const struct row *row, bool sampled)
{
	swz_diff_put_costs(stream, widths, &row->costs);
	if (sampled)
		fprintf(stream, " %13.0f", sqrt(row->variance_ns));
	fputs("  ", stream);
	swz_put_text(stream, row->name);
	fputs("  ", stream);
	swz_put_text(stream, row->module);
	fputs(swz_diff_remark(&row->costs), stream);
	putc('\n', stream);
}

static void put_table(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options, bool sampled)
{
	struct swz_table_options every = *options;
	unsigned int name = 0, module = 0;
	struct swz_cells cells;
	uint64_t most = 0;
	size_t all, count, i;
	struct row *rows;

	every.rows = 0;
	rows = select_rows(section, &every, &all);
	count = options->rows && options->rows < all ? options->rows : all;
	for (i = 0; i < count; i++) {
		const struct swz_costs_diff *costs = &rows[i].costs;

		most = costs->new.calls > most ? costs->new.calls : most;
		most = costs->old.calls > most ? costs->old.calls : most;
		swz_cells_widen(&name, options->style, rows[i].name, "");
		swz_cells_widen(&module, options->style, rows[i].module,
				swz_diff_remark(costs));
	}
	swz_put_summary(stream, options->style, section);
	swz_cells_begin(&cells, stream, options->style, swz_diff_total(section),
			most);
	swz_put_change_titles(&cells);
	if (sampled)
		swz_put_time_title(&cells, "+/-");
	swz_cells_fit(&cells, name, module);
	swz_put_name_titles(&cells);
	for (i = 0; i < count; i++) {
		swz_put_changes(&cells, &rows[i].costs);
		if (sampled)
			swz_put_time(&cells, SWZ_COLOUR_DIM,
				     (int64_t)sqrt(rows[i].variance_ns));
		swz_put_names(&cells, 0, rows[i].name, rows[i].module,
			      swz_diff_remark(&rows[i].costs));
	}
	swz_put_shown(stream, count, all);
	fputs(".\n", stream);
	free(rows);
}

void swz_write_text_diff(FILE *stream, const struct swz_section *section,
			 const struct swz_table_options *options)
{
	bool sampled = section->report->sampled ||
		       section->old->report->sampled;
	struct swz_diff_widths widths = {0};
	size_t count, i;
	struct row *rows;

	if (options->style) {
		put_table(stream, section, options, sampled);
		return;
	}
	rows = select_rows(section, options, &count);

	for (i = 0; i < count; i++) {
		swz_diff_widen(&widths, &rows[i].costs.new);
		swz_diff_widen(&widths, &rows[i].costs.old);
	}
	swz_diff_put_heading(stream, section);
	if (sampled)
		fputs("# sampled: counts are exact, times are estimates; +/- "
		      "is the standard error of self.diff\n",
		      stream);
	swz_diff_put_columns(stream, &widths, sampled);
	for (i = 0; i < count; i++)
		put_row(stream, &widths, &rows[i], sampled);
	free(rows);
}
