/* Which functions are in a table of a comparison, and their order. */

#include "profile/formats/diff_rows.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
	const struct swz_diff_row *a = left, *b = right;
	const struct swz_table_options *options = argument;
	bool x = a->diff.kind == SWZ_DIFF_NOISE;
	bool y = b->diff.kind == SWZ_DIFF_NOISE;
	int order = 0;

	/* what is chance does not stand above what is not */
	if (x != y && options->sort != SWZ_SORT_NAME)
		return x - y;
	switch (options->sort) {
	case SWZ_SORT_INCLUSIVE:
		order = descending(swz_diff_inclusive(&a->diff.costs),
				   swz_diff_inclusive(&b->diff.costs));
		break;
	case SWZ_SORT_CALLS:
		order = descending(swz_diff_calls(&a->diff.costs),
				   swz_diff_calls(&b->diff.costs));
		break;
	case SWZ_SORT_NAME:
		break;
	default:
		order = descending(swz_diff_self(&a->diff.costs),
				   swz_diff_self(&b->diff.costs));
	}
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->module, b->module);
}

static bool is_wanted(const struct swz_section *section,
		      const struct swz_table_options *options,
		      const struct swz_diff_row *row)
{
	uint64_t part = options->sort == SWZ_SORT_INCLUSIVE
				? swz_diff_inclusive(&row->diff.costs)
				: swz_diff_self(&row->diff.costs);

	if (options->filters.count &&
	    !swz_patterns_match(&options->filters, section->catalog,
				row->function, NULL))
		return false;
	return !((double)part * 100.0 <
		 options->percent_limit * (double)swz_diff_total(section));
}

struct swz_diff_row *swz_diff_rows_select(
	const struct swz_section *section,
	const struct swz_table_options *options, size_t *count)
{
	const struct swz_report *new = section->report;
	const struct swz_report *old = section->old->report;
	struct swz_diff_row *rows = swz_allocate(new->function_capacity,
						 sizeof(*rows));
	struct swz_table_options order = *options;
	size_t i;

	*count = 0;
	for (i = 0; i < new->function_capacity; i++) {
		const struct swz_report_function *x = &new->functions[i];
		const struct swz_report_function *y = &old->functions[i];
		struct swz_diff_row *row = &rows[*count];

		if ((!x->present && !y->present) || i == SWZ_CATALOG_UNKNOWN)
			continue;
		*row = (struct swz_diff_row){
			.diff = swz_diff_function(section, (uint32_t)i),
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
