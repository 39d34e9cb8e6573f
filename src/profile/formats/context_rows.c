#include "profile/formats/context_rows.h"

#include <inttypes.h>
#include <string.h>

#include "profile/formats/joined_figures.h"
#include "profile/support/output.h"

#define MAX_INDENT 100u /* levels; a longer path says how long it is */

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

int swz_context_compare_functions(const struct swz_section *section, uint32_t a,
				  uint32_t b)
{
	const struct swz_catalog_function *functions =
		section->catalog->functions;
	int order = strcmp(functions[a].name, functions[b].name);

	if (!order)
		order = strcmp(swz_module_name(section, a),
			       swz_module_name(section, b));
	return order ? order : a < b ? -1 : a > b;
}

int swz_context_compare_costs(const struct swz_context_table *table,
			      const struct swz_costs_diff *a,
			      const struct swz_costs_diff *b)
{
	int by_calls = descending(swz_diff_calls(a), swz_diff_calls(b));
	int by_self = descending(swz_diff_self(a), swz_diff_self(b));
	int by_inclusive = descending(swz_diff_inclusive(a),
				      swz_diff_inclusive(b));

	if (table->sort == SWZ_SORT_NAME)
		return 0;
	if (table->sort == SWZ_SORT_CALLS)
		return by_calls;
	if (table->sort == SWZ_SORT_SELF)
		return by_self ? by_self : by_inclusive;
	return by_inclusive ? by_inclusive : by_self;
}

static struct swz_costs costs_of_one(const struct swz_context *context)
{
	return (struct swz_costs){context->calls, context->self_ns,
				  context->inclusive_ns};
}

struct swz_costs_diff swz_context_costs(const struct swz_context_table *table,
					uint32_t index)
{
	struct swz_costs_diff costs = {
		.new = costs_of_one(&table->contexts->items[index])};

	if (table->old)
		costs.old = costs_of_one(&table->old->items[index]);
	return costs;
}

static void put_titles(const struct swz_context_table *table)
{
	struct swz_cells *cells = table->cells;

	if (table->old) {
		swz_put_change_titles(cells);
	} else {
		swz_put_share_title(cells, table->of_self ? "self%" : "incl%");
		swz_put_time_title(cells, table->of_self ? "self" : "incl");
		swz_put_time_title(cells, table->of_self ? "incl" : "self");
		swz_put_count_title(cells, cells->counted);
	}
	swz_put_name_titles(cells, "function", "module");
}

void swz_context_put_columns(const struct swz_context_table *table)
{
	if (table->cells) {
		put_titles(table);
		return;
	}
	if (table->old) {
		swz_diff_put_columns(table->stream, &table->widths,
				     swz_counted(table->section), false, false);
		return;
	}
	fprintf(table->stream, "%12s %15s %15s %7s  function  module\n",
		swz_counted(table->section), "self", "incl",
		table->of_self ? "self%" : "incl%");
}

uint64_t swz_context_weight(const struct swz_context_table *table,
			    const struct swz_costs_diff *costs)
{
	return table->of_self ? swz_diff_self(costs)
			      : swz_diff_inclusive(costs);
}

static void put_costs(const struct swz_context_table *table,
		      const struct swz_costs_diff *costs, uint32_t function)
{
	const struct swz_report *report = table->section->report;
	double share = table->total ? 100.0 *
					      (double)swz_context_weight(
						      table, costs) /
					      (double)table->total
				    : 0;

	if (table->old) {
		swz_diff_put_costs(table->stream, &table->widths, costs);
		return;
	}
	swz_put_plain_count(table->stream, 12, costs->new.calls,
			    swz_is_counted(report, function));
	putc(' ', table->stream);
	swz_put_plain_time(table->stream, 15, costs->new.self_ns,
			   swz_bound_of(report, function, costs->new.self_ns));
	putc(' ', table->stream);
	swz_put_plain_time(
		table->stream, 15, costs->new.inclusive_ns,
		swz_bound_of(report, function, costs->new.inclusive_ns));
	fprintf(table->stream, " %7.2f", share);
}

static void put_cells(const struct swz_context_table *table,
		      const struct swz_costs_diff *costs, uint32_t function)
{
	const struct swz_report *report = table->section->report;
	struct swz_cells *cells = table->cells;
	int64_t first, second;
	int64_t self = costs->new.self_ns, inclusive = costs->new.inclusive_ns;

	if (table->old) {
		swz_put_changes(cells, costs);
		return;
	}
	first = table->of_self ? self : inclusive;
	second = table->of_self ? inclusive : self;
	swz_put_share_below(cells, first,
			    swz_bound_of(report, function, first));
	swz_put_time_below(cells, SWZ_COLOUR_NONE, first,
			   swz_bound_of(report, function, first));
	swz_put_time_below(cells, SWZ_COLOUR_NONE, second,
			   swz_bound_of(report, function, second));
	swz_put_count_or_none(cells, costs->new.calls,
			      swz_is_counted(report, function));
}

void swz_context_put_row(const struct swz_context_table *table,
			 const struct swz_costs_diff *costs, uint32_t depth,
			 uint32_t function, bool folded)
{
	if (table->cells) {
		put_cells(table, costs, function);
		swz_put_names(table->cells, depth,
			      table->section->catalog->functions[function].name,
			      swz_module_name(table->section, function),
			      folded       ? "  (folded)"
			      : table->old ? swz_diff_remark(costs)
					   : "");
		return;
	}
	put_costs(table, costs, function);
	fprintf(table->stream, "  %*s",
		(int)(2 * (depth < MAX_INDENT ? depth : MAX_INDENT)), "");
	if (depth > MAX_INDENT)
		fprintf(table->stream, "(%" PRIu32 ") ", depth);
	swz_put_text(table->stream,
		     table->section->catalog->functions[function].name);
	fputs("  ", table->stream);
	swz_put_text(table->stream, swz_module_name(table->section, function));
	if (folded)
		fputs("  (folded)", table->stream);
	if (table->old)
		fputs(swz_diff_remark(costs), table->stream);
	putc('\n', table->stream);
}
