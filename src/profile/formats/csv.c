/* The table of functions as comma-separated values (RFC 4180, but lines end as
 * lines do here), for spreadsheets and scripts. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/diff_rows.h"
#include "profile/support/output.h"
#include "profile/formats/rows.h"

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

static void put_row(FILE *stream, const struct swz_section *section,
		    const struct swz_row *row)
{
	const struct swz_report_function *costs = row->costs;

	if (!costs->uncounted)
		fprintf(stream, "%" PRIu64, costs->calls);
	fprintf(stream,
		",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",",
		costs->self_ns, costs->inclusive_ns, costs->min_ns,
		costs->max_ns, costs->unwound);
	put_names(stream, row->function, row->module);
	if (section->thread) {
		fprintf(stream, ",%" PRId32 ",", section->thread->record.tid);
		swz_put_csv(stream, section->thread->name);
	}
	if (section->report->knows_waiting)
		fprintf(stream, ",%" PRId64 ",%" PRId64, costs->self_waiting_ns,
			costs->inclusive_waiting_ns);
	else
		fputs(",,", stream);
	/* which a time of 0 is less than */
	if (section->report->joined && costs->self_ns)
		putc(',', stream);
	else if (section->report->joined)
		fprintf(stream, ",%" PRId64, section->report->bound_ns);
	putc('\n', stream);
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

	fprintf(stream, "%" PRIu64 ",%" PRIu64, old->calls, new->calls);
	put_noise(stream, noise->known, noise->calls);
	put_times(stream, old->self_ns, new->self_ns, &old_runs->self_ns,
		  &new_runs->self_ns, noise->known, noise->self_ns);
	put_times(stream, old->inclusive_ns, new->inclusive_ns,
		  &old_runs->inclusive_ns, &new_runs->inclusive_ns,
		  noise->known, noise->inclusive_ns);
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
	size_t count, i;
	struct swz_row *rows;

	if (section->old) {
		write_comparison(writer, section);
		return;
	}
	rows = swz_rows_select(section, writer->options, &count);
	if (!writer->sections)
		fprintf(writer->stream,
			"%s,self_ns,incl_ns,min_ns,max_ns,unwound,function,"
			"module,file,line%s,self_waiting_ns,"
			"incl_waiting_ns%s\n",
			swz_counted(section),
			section->thread ? ",tid,thread" : "",
			section->report->joined ? ",bound_ns" : "");
	for (i = 0; i < count; i++)
		put_row(writer->stream, section, &rows[i]);
	free(rows);
}
