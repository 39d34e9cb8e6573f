/* The table of functions for people. What is in it may change; the formats for
 * programs (csv, text) do not. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/cells.h"
#include "profile/formats/common/columns.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/tables/table.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

static void write_text_diff(FILE *stream, const struct swz_section *section,
			    const struct swz_table_options *options);

/* --- rows ---------------------------------------------------------------- */

/* A function of a comparison. */
struct diff_row {
	struct swz_diff_function diff;
	double variance_ns; /* of the difference of the self times */
	const char *name;
	const char *module;
	uint32_t function;
};

/* The functions in a table, and their order. */

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
	case SWZ_SORT_CPU:
		order = descending((uint64_t)x->self_ns, (uint64_t)y->self_ns);
		if (!order && !x->self_ns) /* what was called comes first */
			order = descending(x->calls, y->calls);
		if (!order)
			order = descending((uint64_t)x->inclusive_ns,
					   (uint64_t)y->inclusive_ns);
		break;
	case SWZ_SORT_WAITING:
		order = descending((uint64_t)x->self_waiting_ns,
				   (uint64_t)y->self_waiting_ns);
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

static size_t collect_rows(const struct swz_section *section,
			   struct swz_row *rows)
{
	const struct swz_report *report = section->report;
	size_t count = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		struct swz_row *row = &rows[count];

		if (!report->functions[i].present || i == SWZ_CATALOG_UNKNOWN ||
		    ((report->samples || report->joined ||
		      report->without_times) &&
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
	const struct swz_report *report = section->report;
	bool waiting = options->sort == SWZ_SORT_WAITING;
	int64_t ns = options->sort == SWZ_SORT_INCLUSIVE
			     ? row->costs->inclusive_ns
		     : waiting ? row->costs->self_waiting_ns
			       : row->costs->self_ns;

	return (double)ns * 100.0 <
	       options->percent_limit * (double)(waiting ? report->waiting_ns
							 : report->total_ns);
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

struct swz_row *swz_table_rows(const struct swz_section *section,
			       const struct swz_table_options *options,
			       size_t *count)
{
	size_t capacity = section->report->function_capacity;
	struct swz_row *rows = swz_allocate(capacity, sizeof(*rows));
	struct swz_table_options order = *options;
	size_t all = collect_rows(section, rows);
	size_t i;

	if (section->report->without_times && order.sort == SWZ_SORT_DEFAULT)
		order.sort = SWZ_SORT_CALLS;
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

/* --- rows of a comparison ------------------------------------------------ */

/* The functions in a table of a comparison, and their order. */

static int compare_changes(const void *left, const void *right, void *argument)
{
	const struct diff_row *a = left, *b = right;
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

static bool is_wanted_change(const struct swz_section *section,
			     const struct swz_table_options *options,
			     const struct diff_row *row)
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

static double square(int64_t ns)
{
	return (double)ns * (double)ns;
}

static struct diff_row *select_diff_rows(
	const struct swz_section *section,
	const struct swz_table_options *options, size_t *count)
{
	const struct swz_report *new = section->report;
	const struct swz_report *old = section->old->report;
	struct diff_row *rows = swz_allocate(new->function_capacity,
					     sizeof(*rows));
	struct swz_table_options order = *options;
	size_t i;

	*count = 0;
	for (i = 0; i < new->function_capacity; i++) {
		const struct swz_report_function *x = &new->functions[i];
		const struct swz_report_function *y = &old->functions[i];
		struct diff_row *row = &rows[*count];

		if ((!x->present && !y->present) || i == SWZ_CATALOG_UNKNOWN ||
		    (new->without_times &&i == SWZ_CATALOG_OUTSIDE))
			continue;
		*row = (struct diff_row){
			.diff = swz_diff_function(section, (uint32_t)i),
			.variance_ns = x->variance_ns + y->variance_ns,
			.function = (uint32_t)i,
			.name = section->catalog->functions[i].name,
			.module = swz_module_name(section, (uint32_t)i)};
		row->variance_ns += square(
			swz_self_bound(&row->diff.costs.new));
		row->variance_ns += square(
			swz_self_bound(&row->diff.costs.old));
		*count += is_wanted_change(section, options, row);
	}
	if (new->without_times && order.sort == SWZ_SORT_DEFAULT)
		order.sort = SWZ_SORT_CALLS;
	if (*count > 1)
		qsort_r(rows, *count, sizeof(*rows), compare_changes, &order);
	if (options->rows && options->rows < *count)
		*count = options->rows;
	return rows;
}

/* --- the table of functions ---------------------------------------------- */

/* The table of functions for people. What is in it may change; the formats for
 * programs (csv, text) do not. */

enum { MOST_MARKS = 20 };

/* Columns of a terminal that has room for percentiles. In a narrower one they
 * are shown if the longest or shortest calls are asked for. */
enum { WIDE_ENOUGH = 120 };

struct table {
	struct swz_cells cells;
	bool estimated;
	bool waiting;
	bool extremes;
	bool percentiles;
	const char *counted;
	const struct swz_report *report;
};

static void put_titles(struct table *table)
{
	struct swz_cells *cells = &table->cells;

	swz_put_share_title(cells, "self%");
	swz_put_time_title(cells, "self");
	if (table->estimated)
		swz_put_time_title(cells, "+/-");
	if (table->waiting)
		swz_put_time_title(cells, "waiting");
	swz_put_share_title(cells, "incl%");
	swz_put_time_title(cells, "incl");
	if (table->waiting)
		swz_put_time_title(cells, "waiting");
	if (table->percentiles)
		for (unsigned p = 0; p < SWZ_PERCENTILES_SHOWN; p++)
			swz_put_time_title(
				cells,
				swz_percentile_title((enum swz_percentile)p));
	if (table->extremes)
		swz_put_time_title(cells, "min");
	if (table->extremes || table->percentiles)
		swz_put_time_title(cells, "max");
	swz_put_count_title(cells, table->counted);
}

/* Three digits would say more than is known. Of a time of 0 the bound says all.
 */
static void put_error(struct swz_cells *cells,
		      const struct swz_report_function *costs)
{
	int64_t error_ns = llround(sqrt(costs->variance_ns)), unit = 1;

	while (error_ns / unit >= 100)
		unit *= 10;
	if (costs->self_ns)
		swz_put_time(cells, SWZ_COLOUR_DIM,
			     (error_ns + unit / 2) / unit * unit);
	else
		swz_put_time_below(cells, SWZ_COLOUR_DIM, 0, SWZ_TIME_UNKNOWN);
}

static void put_time_or_none(struct swz_cells *cells, int64_t ns, bool known)
{
	if (known)
		swz_put_time(cells, SWZ_COLOUR_NONE, ns);
	else
		swz_put_time_below(cells, SWZ_COLOUR_DIM, 0, SWZ_TIME_UNKNOWN);
}

static void put_percentiles(struct swz_cells *cells,
			    const struct swz_report_function *costs)
{
	for (unsigned p = 0; p < SWZ_PERCENTILES_SHOWN; p++) {
		int64_t ns = swz_percentile_ns(&costs->times,
					       (enum swz_percentile)p,
					       costs->min_ns, costs->max_ns);

		put_time_or_none(cells, ns, ns >= 0);
	}
}

static void put_row(struct table *table, const struct swz_row *row)
{
	const struct swz_report_function *costs = row->costs;
	struct swz_cells *cells = &table->cells;
	uint32_t function = (uint32_t)(costs - table->report->functions);
	int64_t self_bound = swz_bound_of(table->report, function,
					  costs->self_ns);
	int64_t inclusive_bound = swz_bound_of(table->report, function,
					       costs->inclusive_ns);

	swz_put_share_below(cells, costs->self_ns, self_bound);
	if (swz_is_rough(table->report, costs))
		swz_put_rough_time(cells, costs->self_ns);
	else
		swz_put_time_below(cells, SWZ_COLOUR_NONE, costs->self_ns,
				   self_bound);
	if (table->estimated)
		put_error(cells, costs);
	if (table->waiting)
		swz_put_time(cells, SWZ_COLOUR_DIM, costs->self_waiting_ns);
	swz_put_share_below(cells, costs->inclusive_ns, inclusive_bound);
	swz_put_time_below(cells, SWZ_COLOUR_NONE, costs->inclusive_ns,
			   inclusive_bound);
	if (table->waiting)
		swz_put_time(cells, SWZ_COLOUR_DIM,
			     costs->inclusive_waiting_ns);
	if (table->percentiles)
		put_percentiles(cells, costs);
	if (table->extremes)
		put_time_or_none(cells, costs->min_ns, costs->min_ns > 0);
	if (table->extremes || table->percentiles)
		put_time_or_none(cells, costs->max_ns, costs->max_ns > 0);
	swz_put_count_or_none(cells, costs->calls, !costs->uncounted);
	swz_put_names(cells, 0, row->function->name, row->module, "");
}

static void fit(struct table *table, const struct swz_row *rows, size_t count)
{
	const struct swz_style *style = table->cells.style;
	unsigned int name = 0, module = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		swz_cells_widen(&name, style, rows[i].function->name, "");
		swz_cells_widen(&module, style, rows[i].module, "");
	}
	swz_cells_fit(&table->cells, name, module);
}

static void put_rows(struct table *table, const struct swz_row *rows,
		     size_t count)
{
	int64_t longest = table->report->total_ns;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (rows[i].costs->calls > most)
			most = rows[i].costs->calls;
	swz_cells_begin(&table->cells, table->cells.stream, table->cells.style,
			longest > table->report->waiting_ns
				? longest
				: table->report->waiting_ns,
			most, table->counted);
	table->cells.total = table->report->total_ns;
	for (i = 0; i < count; i++)
		if (swz_is_rough(table->report, rows[i].costs)) {
			table->cells.time++; /* for the sign */
			break;
		}
	swz_cells_have_bound(&table->cells, table->report->bound_ns);
	put_titles(table);
	fit(table, rows, count);
	swz_put_name_titles(&table->cells, "function", "module");
	for (i = 0; i < count; i++)
		put_row(table, &rows[i]);
}

/* How many functions there are, and which part of the time is shown. */
static void put_rest(FILE *stream, const struct swz_section *section,
		     const struct swz_row *rows, size_t count, size_t all)
{
	char figure[SWZ_FIGURE_BYTES];
	uint64_t calls = 0;
	int64_t self = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		self = swz_add(self, rows[i].costs->self_ns);
		calls = swz_add_count(calls, rows[i].costs->calls);
	}
	swz_put_shown(stream, count, all, "function", "functions");
	if (section->report->first_calls) {
		fputs(".\n", stream);
		return;
	}
	if (section->report->without_times) {
		fprintf(stream, ". These have %s of the calls.\n",
			swz_figure_share(
				figure, swz_signed(calls),
				swz_signed(swz_calls_of(section->report))));
		return;
	}
	if (!section->report->total_ns) {
		fputs(".\n", stream); /* a share of nothing */
		return;
	}
	fprintf(stream, ". These have %s of the time.\n",
		swz_figure_share(figure, self, section->report->total_ns));
}

static void put_unwound(FILE *stream, const struct swz_style *style,
			const struct swz_row *rows, size_t count)
{
	char figure[SWZ_FIGURE_BYTES];
	bool any = false;
	size_t i;

	for (i = 0; i < count; i++) {
		char *name;

		if (!rows[i].costs->unwound)
			continue;
		name = swz_printable(rows[i].function->name, style->utf8);
		fprintf(stream, "%s%s of %s",
			any ? ", " : "Calls that an exception ended: ",
			swz_figure_count(figure, rows[i].costs->unwound), name);
		free(name);
		any = true;
	}
	if (any)
		fputs(".\n", stream);
}

/* The longest name that is proposed: the command has to stay one line. */
enum { LONGEST_EXAMPLE = SWZ_EXAMPLE_BYTES - 3 };

/* As an argument of -F in a shell: NAME, in quotes where it needs them. False:
 * it is too long, or it means something else as a pattern or in quotes. */
static bool quote_name(char *quoted, size_t size, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_:.@%+,/";
	const char *quote = name[strspn(name, plain)] ? "'" : "";

	if (strlen(name) > LONGEST_EXAMPLE || !name[0] || name[0] == '!' ||
	    name[0] == '-' || strpbrk(name, "*?[\\'"))
		return false;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
			return false;
	snprintf(quoted, size, "%s%s%s", quote, name, quote);
	return true;
}

const char *swz_table_example(char quoted[SWZ_EXAMPLE_BYTES],
			      const struct swz_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (quote_name(quoted, SWZ_EXAMPLE_BYTES,
			       rows[i].function->name))
			return quoted;
	return "NAME";
}

static void put_hint(FILE *stream, const struct swz_section *section,
		     const struct swz_table_options *options,
		     const struct swz_row *rows, size_t count)
{
	char quoted[SWZ_EXAMPLE_BYTES];

	if (!options->inputs || section->thread)
		return;
	fprintf(stream,
		"Who calls it, what it calls: swizzle-dump -f tree -F %s%s\n",
		swz_table_example(quoted, rows, count), options->inputs);
	fprintf(stream, "All of it in a browser:      swizzle-dump -f %s%s\n",
		section->report->without_times ? "graph" : "html",
		options->inputs);
}

static void write_table(FILE *stream, const struct swz_section *section,
			const struct swz_table_options *options)
{
	const struct swz_style *style = options->style;
	struct swz_table_options all = *options;
	struct table table = {
		.cells = {.stream = stream, .style = style},
		.estimated = swz_report_is_estimated(section->report),
		.waiting = section->report->knows_waiting,
		.counted = swz_counted_title(section),
		.report = section->report,
		.extremes = options->sort == SWZ_SORT_MIN ||
			    options->sort == SWZ_SORT_MAX,
	};
	size_t count, shown;

	table.percentiles = section->report->has_times &&
			    (table.extremes || !style->width ||
			     style->width >= WIDE_ENOUGH);
	struct swz_row *rows;

	all.rows = 0;
	rows = swz_table_rows(section, &all, &count);
	shown = options->rows && options->rows < count ? options->rows : count;
	swz_put_summary(stream, style, section);
	put_rows(&table, rows, shown);
	put_rest(stream, section, rows, shown, count);
	if (table.waiting)
		fprintf(stream, "Waiting: beside self and incl, time in %s.\n",
			section->report->knows_switches
				? "which the thread did not run"
				: "calls that wait");
	if (section->report->has_times && !table.percentiles)
		fputs("Percentiles: shown with -s max, or in a wider "
		      "terminal.\n",
		      stream);
	put_unwound(stream, style, rows, shown);
	swz_put_marks(stream, section, "", MOST_MARKS);
	put_hint(stream, section, options, rows, shown);
	free(rows);
}

void swz_write_table(FILE *stream, const struct swz_section *section,
		     const struct swz_table_options *options)
{
	static const struct swz_style plain;
	struct swz_table_options styled = *options;

	if (!styled.style)
		styled.style = &plain;
	if (section->old)
		write_text_diff(stream, section, &styled);
	else
		write_table(stream, section, &styled);
}

/* --- a comparison -------------------------------------------------------- */

/* The table of functions of two profiles. */

/* To be freed. */
static char *remark_of(const struct diff_row *row)
{
	return swz_print("%s%s", swz_diff_remark(&row->diff.costs),
			 row->diff.kind == SWZ_DIFF_NOISE ? "  (noise)" : "");
}

static void put_changed_row(FILE *stream, const struct swz_diff_widths *widths,
			    const struct diff_row *row, bool sampled,
			    bool noise)
{
	char *remark = remark_of(row);

	swz_diff_put_costs(stream, widths, &row->diff.costs);
	if (sampled)
		fprintf(stream, " %13.0f", sqrt(row->variance_ns));
	if (noise)
		swz_diff_put_noise(stream, widths, &row->diff.noise);
	fputs("  ", stream);
	swz_put_text(stream, row->name);
	fputs("  ", stream);
	swz_put_text(stream, row->module);
	fputs(remark, stream);
	free(remark);
	putc('\n', stream);
}

/* Percentiles have rows of their own below the functions: of each function of
 * the table that has times on both sides. */

/* At the right of so many columns, and a space. */
static void put_aligned(FILE *stream, const char *text, size_t width)
{
	size_t taken = swz_text_width(text);

	fprintf(stream, "%*s%s", (int)(width > taken ? width - taken : 0), "",
		text);
	putc(' ', stream);
}

static void put_changed_percentile(FILE *stream, const struct swz_style *style,
				   const struct swz_percentile_diff *diff,
				   enum swz_percentile which, const char *name)
{
	char old[SWZ_FIGURE_BYTES], new[SWZ_FIGURE_BYTES];
	char change[SWZ_FIGURE_BYTES], noise[SWZ_FIGURE_BYTES];
	bool utf8 = style && style->utf8;

	if (!style) {
		fprintf(stream,
			"# %5s %15" PRId64 " %15" PRId64 " %+15" PRId64
			" %15" PRId64 "  ",
			swz_percentile_title(which), diff->old_ns, diff->new_ns,
			diff->new_ns - diff->old_ns, diff->noise_ns);
	} else {
		swz_figure_time_change(change, diff->old_ns, diff->new_ns,
				       utf8);
		fprintf(stream, "%5s ", swz_percentile_title(which));
		put_aligned(stream, swz_figure_time(old, diff->old_ns, utf8),
			    9);
		put_aligned(stream, swz_figure_time(new, diff->new_ns, utf8),
			    9);
		put_aligned(stream, change, 10);
		put_aligned(stream,
			    swz_figure_time(noise, diff->noise_ns, utf8), 9);
		fputs(" ", stream);
	}
	swz_put_text(stream, name);
	fputs(diff->changed ? "\n" : "  (noise)\n", stream);
}

static void put_changed_percentiles(FILE *stream, const struct swz_style *style,
				    const struct swz_section *section,
				    const struct diff_row *rows, size_t count)
{
	bool any = false;
	size_t i;
	int p;

	for (i = 0; i < count; i++)
		for (p = 0; p < SWZ_PERCENTILES_SHOWN; p++) {
			enum swz_percentile which = (enum swz_percentile)p;
			struct swz_percentile_diff diff = swz_diff_percentile(
				section, rows[i].function, which);

			if (!diff.known)
				continue;
			if (!any && style)
				fprintf(stream, "\n%5s %9s %9s %10s %9s  %s\n",
					"", "old", "new", "change", "noise",
					"times of the calls of");
			else if (!any)
				fprintf(stream,
					"# percentiles of the times of calls, "
					"ns; the noise by their number\n"
					"# %5s %15s %15s %15s %15s  %s\n",
					"", "old", "new", "diff", "noise",
					"function");
			any = true;
			put_changed_percentile(stream, style, &diff, which,
					       rows[i].name);
		}
}

static void put_table(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options, bool sampled)
{
	struct swz_table_options every = *options;
	unsigned int name = 0, module = 0;
	struct swz_cells cells;
	uint64_t most = 0;
	size_t all, count, i;
	struct diff_row *rows;
	char *remark;

	every.rows = 0;
	rows = select_diff_rows(section, &every, &all);
	count = options->rows && options->rows < all ? options->rows : all;
	for (i = 0; i < count; i++) {
		const struct swz_costs_diff *costs = &rows[i].diff.costs;

		most = costs->new.calls > most ? costs->new.calls : most;
		most = costs->old.calls > most ? costs->old.calls : most;
		swz_cells_widen(&name, options->style, rows[i].name, "");
		remark = remark_of(&rows[i]);
		swz_cells_widen(&module, options->style, rows[i].module,
				remark);
		free(remark);
	}
	swz_put_summary(stream, options->style, section);
	swz_cells_begin(&cells, stream, options->style, swz_diff_total(section),
			most, swz_counted_title(section));
	cells.without_times = section->report->without_times;
	for (i = 0; i < count; i++) {
		swz_cells_have_bound(&cells, rows[i].diff.costs.new.bound_ns);
		swz_cells_have_bound(&cells, rows[i].diff.costs.old.bound_ns);
	}
	swz_put_change_titles(&cells);
	if (sampled)
		swz_put_time_title(&cells, "+/-");
	swz_cells_fit(&cells, name, module);
	swz_put_name_titles(&cells, "function", "module");
	for (i = 0; i < count; i++) {
		cells.faint = rows[i].diff.kind == SWZ_DIFF_NOISE;
		remark = remark_of(&rows[i]);
		swz_put_changes(&cells, &rows[i].diff.costs);
		if (sampled)
			swz_put_time(&cells, SWZ_COLOUR_DIM,
				     (int64_t)sqrt(rows[i].variance_ns));
		swz_put_names(&cells, 0, rows[i].name, rows[i].module, remark);
		free(remark);
	}
	swz_put_shown(stream, count, all, "function", "functions");
	fputs(".\n", stream);
	put_changed_percentiles(stream, options->style, section, rows, count);
	free(rows);
}

/* The table of a comparison. */
static void write_text_diff(FILE *stream, const struct swz_section *section,
			    const struct swz_table_options *options)
{
	bool noise = swz_diff_of_total(section).noise.known;
	/* what the runs differ by holds what the samples are uncertain by */
	bool sampled = !noise &&
		       (swz_report_is_estimated(section->report) ||
			swz_report_is_estimated(section->old->report));
	struct swz_diff_widths widths = {
		.without_times = section->report->without_times,
		.bounds = section->report->joined ||
			  section->old->report->joined};
	size_t count, i;
	struct diff_row *rows;

	if (options->style) {
		put_table(stream, section, options, sampled);
		return;
	}
	rows = select_diff_rows(section, options, &count);

	for (i = 0; i < count; i++) {
		swz_diff_widen(&widths, &rows[i].diff.costs.new);
		swz_diff_widen(&widths, &rows[i].diff.costs.old);
	}
	swz_diff_put_heading(stream, section);
	if (sampled)
		fputs("# sampled: counts are exact, times are estimates; +/- "
		      "is the standard error of self.diff\n",
		      stream);
	swz_diff_put_columns(stream, &widths, swz_counted_title(section),
			     sampled, noise);
	for (i = 0; i < count; i++)
		put_changed_row(stream, &widths, &rows[i], sampled, noise);
	put_changed_percentiles(stream, NULL, section, rows, count);
	free(rows);
}

/* --- text: the table for people and awk ----------------------------------- */

/* A table of functions, for people and for awk: the numbers are plain digits,
 * times in ns, and come before the names, which may hold spaces. */

/* --- text ---------------------------------------------------------------- */

static void add(struct swz_columns *columns, enum swz_function_column column)
{
	swz_columns_add(columns, swz_function_column(column));
}

static struct swz_columns text_columns(const struct swz_function_table *table,
				       const struct swz_table_options *options)
{
	const struct swz_report *report = table->section->report;
	struct swz_columns columns = {
		.counted = swz_counted_title(table->section), .table = table};

	add(&columns, SWZ_COLUMN_CALLS);
	add(&columns, SWZ_COLUMN_SELF);
	add(&columns, SWZ_COLUMN_INCLUSIVE);
	if (swz_shows_waiting(report, options)) {
		add(&columns, SWZ_COLUMN_SELF_WAITING);
		add(&columns, SWZ_COLUMN_INCLUSIVE_WAITING);
	}
	if (report->sampled)
		add(&columns, SWZ_COLUMN_ERROR);
	if (report->has_times)
		for (unsigned p = 0; p < SWZ_PERCENTILES_SHOWN; p++)
			add(&columns, SWZ_COLUMN_P50 + p);
	if (report->has_times || options->sort == SWZ_SORT_MIN ||
	    options->sort == SWZ_SORT_MAX) {
		add(&columns, SWZ_COLUMN_MIN);
		add(&columns, SWZ_COLUMN_MAX);
	}
	add(&columns, SWZ_COLUMN_FUNCTION);
	add(&columns, SWZ_COLUMN_MODULE);
	return columns;
}

/* As comments: who adds up the columns of the table need not know. */
static void put_unwound_lines(FILE *stream, const struct swz_row *rows,
			      size_t count)
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

void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	struct swz_function_table table = {.section = section, .plain = true};
	struct swz_columns columns = text_columns(&table, options);
	struct swz_row *rows;
	size_t count, i;

	if (section->old) {
		write_text_diff(stream, section, options);
		return;
	}
	rows = swz_table_rows(section, options, &count);
	swz_put_heading(stream, section);
	if (section->report->sampled)
		fputs("# sampled: counts are exact, times are estimates; +/- "
		      "is "
		      "the standard error of self\n",
		      stream);
	swz_put_waiting_note(stream, section->report,
			     swz_shows_waiting(section->report, options));
	swz_columns_put_titles(stream, &columns);
	putc('\n', stream);
	for (i = 0; i < count; i++) {
		swz_columns_put_text(stream, &columns, &rows[i]);
		putc('\n', stream);
	}
	put_unwound_lines(stream, rows, count);
	swz_put_marks(stream, section, "# ", 0);
	free(rows);
}

/* --- csv ----------------------------------------------------------------- */

/* The table of functions as comma-separated values (RFC 4180, but lines end as
 * lines do here), for spreadsheets and scripts. */

static void put_names(FILE *stream, const struct swz_catalog_function *function,
		      const char *module)
{
	swz_put_csv(stream, function->name);
	putc(',', stream);
	swz_put_csv(stream, module);
	putc(',', stream);
	if (function->file) {
		swz_put_csv(stream, function->file);
		fprintf(stream, ",%d", function->line);
	} else {
		putc(',', stream);
	}
}

/* (The columns are those of the first thread, which may have no times.) */
static bool has_times(const struct swz_section *section)
{
	bool any = section->report->has_times;
	size_t i;

	for (i = 0; i < section->profile_count && !any; i++)
		any = section->profiles[i]->times_count != 0;
	return any;
}

static struct swz_columns csv_columns(const struct swz_function_table *table)
{
	static const enum swz_function_column always[] = {
		SWZ_COLUMN_CALLS,    SWZ_COLUMN_SELF,   SWZ_COLUMN_INCLUSIVE,
		SWZ_COLUMN_MIN,      SWZ_COLUMN_MAX,    SWZ_COLUMN_UNWOUND,
		SWZ_COLUMN_FUNCTION, SWZ_COLUMN_MODULE, SWZ_COLUMN_FILE,
		SWZ_COLUMN_LINE};
	struct swz_columns columns = {.counted = swz_counted(table->section),
				      .table = table};
	size_t i;

	for (i = 0; i < sizeof(always) / sizeof(*always); i++)
		add(&columns, always[i]);
	if (table->section->thread) {
		add(&columns, SWZ_COLUMN_TID);
		add(&columns, SWZ_COLUMN_THREAD);
	}
	add(&columns, SWZ_COLUMN_SELF_WAITING);
	add(&columns, SWZ_COLUMN_INCLUSIVE_WAITING);
	if (table->section->report->joined ||
	    table->section->report->hook_ns > 0)
		add(&columns, SWZ_COLUMN_BOUND);
	if (swz_report_is_estimated(table->section->report))
		add(&columns, SWZ_COLUMN_ERROR);
	if (has_times(table->section)) {
		for (unsigned p = 0; p < SWZ_PERCENTILES_SHOWN; p++)
			add(&columns, SWZ_COLUMN_P50 + p);
		add(&columns, SWZ_COLUMN_TIMED);
	}
	return columns;
}

/* ---- comparisons ---- */

/* An empty field stands for what is not known. */
static void put_noise(FILE *stream, bool known, uint64_t noise)
{
	if (known)
		fprintf(stream, ",%" PRIu64, noise);
	else
		putc(',', stream);
}

static void put_deviation(FILE *stream, bool known,
			  const struct swz_spread *spread)
{
	if (known)
		fprintf(stream, ",%.0f", swz_spread_deviation(spread));
	else
		putc(',', stream);
}

static void put_time(FILE *stream, int64_t ns, bool bounded)
{
	putc(',', stream);
	if (!bounded)
		fprintf(stream, "%" PRId64, ns);
}

static void put_times(FILE *stream, const struct swz_spread *old_runs,
		      const struct swz_spread *new_runs, bool known,
		      uint64_t noise)
{
	put_deviation(stream, known, old_runs);
	put_deviation(stream, known, new_runs);
	put_noise(stream, known, noise);
}

static void put_changes(FILE *stream, const struct swz_section *section,
			const struct diff_row *row)
{
	const struct swz_costs *old = &row->diff.costs.old;
	const struct swz_costs *new = &row->diff.costs.new;
	const struct swz_function_spread *old_runs = &row->diff.old_runs;
	const struct swz_function_spread *new_runs = &row->diff.new_runs;
	const struct swz_diff_noise *noise = &row->diff.noise;
	const char *kind = swz_diff_kind_name(&row->diff);

	if (row->diff.costs.uncounted)
		putc(',', stream);
	else
		fprintf(stream, "%" PRIu64 ",%" PRIu64, old->calls, new->calls);
	put_noise(stream, noise->known && !row->diff.costs.uncounted,
		  noise->calls);
	if (section->report->without_times) {
		fputs(",,,,,,,,,,", stream);
	} else {
		put_time(stream, old->self_ns, swz_self_bound(old));
		put_time(stream, new->self_ns, swz_self_bound(new));
		put_times(stream, &old_runs->self_ns, &new_runs->self_ns,
			  noise->known, noise->self_ns);
		put_time(stream, old->inclusive_ns, swz_inclusive_bound(old));
		put_time(stream, new->inclusive_ns, swz_inclusive_bound(new));
		put_times(stream, &old_runs->inclusive_ns,
			  &new_runs->inclusive_ns, noise->known,
			  noise->inclusive_ns);
	}
	fprintf(stream, ",%s,", kind ? kind : "");
	put_names(stream, &section->catalog->functions[row->function],
		  row->module);
	if (section->thread_name) {
		putc(',', stream);
		swz_put_csv(stream, section->thread_name);
	}
	if (swz_diff_has_bounds(section)) {
		put_time(stream, swz_self_bound(old), !swz_self_bound(old));
		put_time(stream, swz_self_bound(new), !swz_self_bound(new));
	}
	putc('\n', stream);
}

static void write_comparison(struct swz_writer *writer,
			     const struct swz_section *section)
{
	size_t count, i;
	struct diff_row *rows = select_diff_rows(section, writer->options,
						 &count);

	if (!writer->sections)
		fprintf(writer->stream,
			"%1$s_old,%1$s_new,%1$s_noise,self_old_ns,"
			"self_new_ns,self_old_sd_ns,self_new_sd_ns,"
			"self_noise_ns,incl_old_ns,incl_new_ns,incl_old_sd_ns,"
			"incl_new_sd_ns,incl_noise_ns,change,function,module,"
			"file,line%2$s%3$s\n",
			swz_counted(section),
			section->thread_name ? ",thread" : "",
			swz_diff_has_bounds(section)
				? ",bound_old_ns,bound_new_ns"
				: "");
	for (i = 0; i < count; i++)
		put_changes(writer->stream, section, &rows[i]);
	free(rows);
}

void swz_write_csv(struct swz_writer *writer, const struct swz_section *section)
{
	struct swz_function_table table = {.section = section};
	struct swz_columns columns;
	size_t count, i;
	struct swz_row *rows;

	if (section->old) {
		write_comparison(writer, section);
		return;
	}
	columns = csv_columns(&table);
	rows = swz_table_rows(section, writer->options, &count);
	if (!writer->sections) {
		swz_columns_put_names(writer->stream, &columns);
		putc('\n', writer->stream);
	}
	for (i = 0; i < count; i++) {
		swz_columns_put_csv(writer->stream, &columns, &rows[i]);
		putc('\n', writer->stream);
	}
	free(rows);
}
