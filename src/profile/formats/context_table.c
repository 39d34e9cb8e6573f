/* Trees for people and for awk: each line is a row of a table, as in text.c,
 * and the names are indented.
 *
 * In a comparison each context has two sets of costs, and how much there is of
 * it is how much they differ. */

#include "profile/formats/context_rows.h"
#include "profile/support/arith.h"

/* The columns are as wide as the report's figures need: what is there of a
 * function in several contexts is not more. */
static void compare(struct swz_context_table *table)
{
	const struct swz_section *section = table->section;
	const struct swz_report *reports[] = {section->report,
					      section->old->report};
	size_t i, side;

	table->old = section->old->contexts;
	table->total = swz_diff_total(section);
	for (side = 0; side < 2; side++)
		for (i = 0; i < reports[side]->function_capacity; i++) {
			struct swz_costs costs = {
				reports[side]->functions[i].calls,
				reports[side]->functions[i].self_ns,
				reports[side]->total_ns};

			swz_diff_widen(&table->widths, &costs);
		}
}

static uint64_t most_calls(const struct swz_section *section)
{
	uint64_t most = section->old ? most_calls(section->old) : 0;
	size_t i;

	for (i = 0; i < section->report->function_capacity; i++)
		if (section->report->functions[i].calls > most)
			most = section->report->functions[i].calls;
	return most;
}

void swz_write_tree(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	struct swz_cells cells;
	struct swz_context_table table = {
		.stream = stream,
		.section = section,
		.options = options,
		.contexts = section->contexts,
		.sort = options->sort,
		.total = section->report->total_ns,
	};

	if (section->old)
		compare(&table);
	if (options->percent_limit > 0)
		table.least = (uint64_t)swz_least_share(options->percent_limit,
							table.total);
	if (options->style) {
		swz_cells_begin(&cells, stream, options->style, table.total,
				most_calls(section), swz_counted(section));
		swz_cells_have_bound(&cells, section->report->bound_ns);
		table.cells = &cells;
		swz_put_summary(stream, options->style, section);
	} else if (section->old)
		swz_diff_put_heading(stream, section);
	else
		swz_put_heading(stream, section);
	if (options->filters.count)
		swz_context_put_relatives(&table);
	else if (options->bottom_up)
		swz_context_put_bottom_up(&table);
	else
		swz_context_put_top_down(&table);
}
