/* Which functions are in a table, and their order. */

#include "profile/formats/rows.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct swz_row *a = left, *b = right;
	const struct swz_report_function *x = a->costs, *y = b->costs;
	const struct swz_table_options *options = context;
	int order = 0;

	switch (options->sort) {
	case SWZ_SORT_DEFAULT:
	case SWZ_SORT_START: /* of no functions */
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
	return swz_catalog_module_name(section->catalog,
				       &section->catalog->functions[function]);
}

static size_t collect_rows(const struct swz_section *section,
			   struct swz_row *rows)
{
	const struct swz_report *report = section->report;
	size_t count = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		struct swz_row *row = &rows[count];

		if (!report->functions[i].present || i == SWZ_CATALOG_UNKNOWN ||
		    ((report->samples || report->joined) &&
		     i == SWZ_CATALOG_OUTSIDE && !report->functions[i].self_ns))
			continue;
		row->costs = &report->functions[i];
		row->function = &section->catalog->functions[i];
		row->module = swz_module_name(section, (uint32_t)i);
		count++;
	}
	return count;
}

static bool below_limit(const struct swz_section *section,
			const struct swz_table_options *options,
			const struct swz_row *row)
{
	int64_t ns = options->sort == SWZ_SORT_INCLUSIVE
			     ? row->costs->inclusive_ns
			     : row->costs->self_ns;

	return (double)ns * 100.0 <
	       options->percent_limit * (double)section->report->total_ns;
}

static bool is_wanted(const struct swz_section *section,
		      const struct swz_table_options *options,
		      const struct swz_row *row)
{
	return !options->filters.count ||
	       swz_patterns_match(
		       &options->filters, section->catalog,
		       (uint32_t)(row->function - section->catalog->functions),
		       NULL);
}

struct swz_row *swz_rows_select(const struct swz_section *section,
				const struct swz_table_options *options,
				size_t *count)
{
	size_t capacity = section->report->function_capacity;
	struct swz_row *rows = swz_allocate(capacity, sizeof(*rows));
	struct swz_table_options order = *options;
	size_t all = collect_rows(section, rows);
	size_t i;

	if (all > 1)
		qsort_r(rows, all, sizeof(*rows), compare_rows, &order);
	*count = 0;
	for (i = 0; i < all; i++) {
		if (!is_wanted(section, options, &rows[i]) ||
		    below_limit(section, options, &rows[i]))
			continue;
		if (options->rows && *count == options->rows)
			break;
		rows[(*count)++] = rows[i];
	}
	return rows;
}
