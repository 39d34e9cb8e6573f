/* A table of functions, for people and for awk: the numbers are plain digits,
 * times in ns, and come before the names, which may hold spaces. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "util/arith.h"
#include "util/output.h"
#include "profile/formats/common/columns.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/tables/table.h"

/* --- text ---------------------------------------------------------------- */

static void add(struct swz_columns *columns, enum swz_function_column column)
{
	swz_columns_add(columns, swz_function_column(column));
}

static struct swz_columns text_columns(const struct swz_function_table *table,
				       const struct swz_table_options *options)
{
	const struct swz_report *report = table->section->report;
	struct swz_columns columns = {.counted = swz_counted(table->section),
				      .table = table};

	add(&columns, SWZ_COLUMN_CALLS);
	add(&columns, SWZ_COLUMN_SELF);
	add(&columns, SWZ_COLUMN_INCLUSIVE);
	if (swz_shows_waiting(report, options)) {
		add(&columns, SWZ_COLUMN_SELF_WAITING);
		add(&columns, SWZ_COLUMN_INCLUSIVE_WAITING);
	}
	if (report->sampled)
		add(&columns, SWZ_COLUMN_ERROR);
	if (options->sort == SWZ_SORT_MIN || options->sort == SWZ_SORT_MAX) {
		add(&columns, SWZ_COLUMN_MIN);
		add(&columns, SWZ_COLUMN_MAX);
	}
	add(&columns, SWZ_COLUMN_FUNCTION);
	add(&columns, SWZ_COLUMN_MODULE);
	return columns;
}

/* As comments: who adds up the columns of the table need not know. */
static void put_unwound(FILE *stream, const struct swz_row *rows, size_t count)
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
		swz_write_text_diff(stream, section, options);
		return;
	}
	rows = swz_rows_select(section, options, &count);
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
	put_unwound(stream, rows, count);
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

static void put_times(FILE *stream, int64_t old, int64_t new,
		      const struct swz_spread *old_runs,
		      const struct swz_spread *new_runs, bool known,
		      uint64_t noise)
{
	fprintf(stream, ",%" PRId64 ",%" PRId64, old, new);
	put_deviation(stream, known, old_runs);
	put_deviation(stream, known, new_runs);
	put_noise(stream, known, noise);
}

static void put_changes(FILE *stream, const struct swz_section *section,
			const struct swz_diff_row *row)
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
		put_times(stream, old->self_ns, new->self_ns,
			  &old_runs->self_ns, &new_runs->self_ns, noise->known,
			  noise->self_ns);
		put_times(stream, old->inclusive_ns, new->inclusive_ns,
			  &old_runs->inclusive_ns, &new_runs->inclusive_ns,
			  noise->known, noise->inclusive_ns);
	}
	fprintf(stream, ",%s,", kind ? kind : "");
	put_names(stream, &section->catalog->functions[row->function],
		  row->module);
	if (section->thread_name) {
		putc(',', stream);
		swz_put_csv(stream, section->thread_name);
	}
	putc('\n', stream);
}

static void write_comparison(struct swz_writer *writer,
			     const struct swz_section *section)
{
	size_t count, i;
	struct swz_diff_row *rows = swz_diff_rows_select(
		section, writer->options, &count);

	if (!writer->sections)
		fprintf(writer->stream,
			"%1$s_old,%1$s_new,%1$s_noise,self_old_ns,"
			"self_new_ns,self_old_sd_ns,self_new_sd_ns,"
			"self_noise_ns,incl_old_ns,incl_new_ns,incl_old_sd_ns,"
			"incl_new_sd_ns,incl_noise_ns,change,function,module,"
			"file,line%2$s\n",
			swz_counted(section),
			section->thread_name ? ",thread" : "");
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
	rows = swz_rows_select(section, writer->options, &count);
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
