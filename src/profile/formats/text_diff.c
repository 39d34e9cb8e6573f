/* The table of functions of two profiles. */

#include <math.h>
#include <stdlib.h>

#include "profile/formats/cells.h"
#include "profile/formats/diff_rows.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

/* To be freed. */
static char *remark_of(const struct swz_diff_row *row)
{
	return swz_print("%s%s", swz_diff_remark(&row->diff.costs),
			 row->diff.kind == SWZ_DIFF_NOISE ? "  (noise)" : "");
}

static void put_row(FILE *stream, const struct swz_diff_widths *widths,
		    const struct swz_diff_row *row, bool sampled, bool noise)
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

static void put_table(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options, bool sampled)
{
	struct swz_table_options every = *options;
	unsigned int name = 0, module = 0;
	struct swz_cells cells;
	uint64_t most = 0;
	size_t all, count, i;
	struct swz_diff_row *rows;
	char *remark;

	every.rows = 0;
	rows = swz_diff_rows_select(section, &every, &all);
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
			most, swz_counted(section));
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
	free(rows);
}

void swz_write_text_diff(FILE *stream, const struct swz_section *section,
			 const struct swz_table_options *options)
{
	bool noise = swz_diff_of_total(section).noise.known;
	/* what the runs differ by holds what the samples are uncertain by */
	bool sampled = !noise && (section->report->sampled ||
				  section->old->report->sampled);
	struct swz_diff_widths widths = {0};
	size_t count, i;
	struct swz_diff_row *rows;

	if (options->style) {
		put_table(stream, section, options, sampled);
		return;
	}
	rows = swz_diff_rows_select(section, options, &count);

	for (i = 0; i < count; i++) {
		swz_diff_widen(&widths, &rows[i].diff.costs.new);
		swz_diff_widen(&widths, &rows[i].diff.costs.old);
	}
	swz_diff_put_heading(stream, section);
	if (sampled)
		fputs("# sampled: counts are exact, times are estimates; +/- "
		      "is the standard error of self.diff\n",
		      stream);
	swz_diff_put_columns(stream, &widths, swz_counted(section), sampled,
			     noise);
	for (i = 0; i < count; i++)
		put_row(stream, &widths, &rows[i], sampled, noise);
	free(rows);
}
