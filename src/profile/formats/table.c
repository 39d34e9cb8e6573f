/* The table of functions for people. What is in it may change; the formats for
 * programs (csv, text) do not. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/cells.h"
#include "profile/formats/joined_figures.h"
#include "profile/formats/mark_lines.h"
#include "profile/formats/rows.h"
#include "profile/support/arith.h"
#include "profile/support/figures.h"

enum { MOST_MARKS = 20 };

struct table {
	struct swz_cells cells;
	bool sampled;
	bool waiting;
	bool extremes;
	const char *counted;
	const struct swz_report *report;
};

static void put_titles(struct table *table)
{
	struct swz_cells *cells = &table->cells;

	swz_put_share_title(cells, "self%");
	swz_put_time_title(cells, "self");
	if (table->sampled)
		swz_put_time_title(cells, "+/-");
	swz_put_share_title(cells, "incl%");
	swz_put_time_title(cells, "incl");
	if (table->waiting)
		swz_put_time_title(cells, "waiting");
	if (table->extremes) {
		swz_put_time_title(cells, "min");
		swz_put_time_title(cells, "max");
	}
	swz_put_count_title(cells, table->counted);
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
	swz_put_time_below(cells, SWZ_COLOUR_NONE, costs->self_ns, self_bound);
	if (table->sampled)
		swz_put_time(cells, SWZ_COLOUR_DIM,
			     (int64_t)sqrt(costs->variance_ns));
	swz_put_share_below(cells, costs->inclusive_ns, inclusive_bound);
	swz_put_time_below(cells, SWZ_COLOUR_NONE, costs->inclusive_ns,
			   inclusive_bound);
	if (table->waiting)
		swz_put_time(cells, SWZ_COLOUR_DIM,
			     costs->inclusive_waiting_ns);
	if (table->extremes) {
		swz_put_time(cells, SWZ_COLOUR_NONE, costs->min_ns);
		swz_put_time(cells, SWZ_COLOUR_NONE, costs->max_ns);
	}
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
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (rows[i].costs->calls > most)
			most = rows[i].costs->calls;
	swz_cells_begin(&table->cells, table->cells.stream, table->cells.style,
			table->cells.total, most, table->counted);
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
	int64_t self = 0;
	size_t i;

	for (i = 0; i < count; i++)
		self = swz_add(self, rows[i].costs->self_ns);
	swz_put_shown(stream, count, all, "function", "functions");
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
enum { LONGEST_EXAMPLE = 60 };

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

/* The first row's function, or the next one whose name can be typed. */
static const char *example(char *quoted, size_t size,
			   const struct swz_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (quote_name(quoted, size, rows[i].function->name))
			return quoted;
	return "NAME";
}

static void put_hint(FILE *stream, const struct swz_section *section,
		     const struct swz_table_options *options,
		     const struct swz_row *rows, size_t count)
{
	char quoted[LONGEST_EXAMPLE + 3];

	if (!options->inputs || section->thread)
		return;
	fprintf(stream,
		"Who calls it, what it calls: swizzle-dump -f tree -F %s%s\n"
		"All of it in a browser:      swizzle-dump -f html%s\n",
		example(quoted, sizeof(quoted), rows, count), options->inputs,
		options->inputs);
}

static void write_table(FILE *stream, const struct swz_section *section,
			const struct swz_table_options *options)
{
	const struct swz_style *style = options->style;
	struct swz_table_options all = *options;
	struct table table = {
		.cells = {.stream = stream,
			  .style = style,
			  .total = section->report->total_ns},
		.sampled = section->report->sampled,
		.waiting = section->report->knows_waiting,
		.counted = swz_counted(section),
		.report = section->report,
		.extremes = options->sort == SWZ_SORT_MIN ||
			    options->sort == SWZ_SORT_MAX,
	};
	size_t count, shown;
	struct swz_row *rows;

	all.rows = 0;
	rows = swz_rows_select(section, &all, &count);
	shown = options->rows && options->rows < count ? options->rows : count;
	swz_put_summary(stream, style, section);
	put_rows(&table, rows, shown);
	put_rest(stream, section, rows, shown, count);
	if (table.waiting)
		fprintf(stream, "Waiting: the part of incl in %s.\n",
			section->report->knows_switches
				? "which the thread did not run"
				: "calls that wait");
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
		swz_write_text_diff(stream, section, &styled);
	else
		write_table(stream, section, &styled);
}
