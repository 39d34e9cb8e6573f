/* As the table of functions: plain digits, times in ns, names last. */

#include "profile/formats/by_rank.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/joined_figures.h"
#include "profile/support/output.h"

/* So many threads or processes have columns of their own; a line of more is
 * hard to read. csv has all. */
#define MOST_COLUMNS 8u

static void put_command(FILE *stream, const struct swz_group_process *process)
{
	swz_put_command(stream, process->profile);
}

static void put_ns(FILE *stream, bool known, int64_t ns)
{
	if (known)
		fprintf(stream, " %15" PRId64, ns);
	else
		fprintf(stream, " %15s", "-");
}

static void put_times_heading(FILE *stream, bool samples)
{
	if (samples)
		return;
	fputs("# wall, processor, waiting: with the cost of the hooks; ?: not "
	      "known which of the two, after the last reading\n",
	      stream);
}

static void put_times(FILE *stream, const struct swz_by_rows *rows,
		      const struct swz_group_row *row, bool unknown)
{
	const struct swz_thread_times *times = swz_by_times(rows, row);

	put_ns(stream, true, times->wall_ns);
	put_ns(stream, times->known, times->processor_ns);
	put_ns(stream, times->known, times->waiting_ns);
	if (unknown)
		put_ns(stream, true,
		       times->known ? times->unknown_ns : times->wall_ns);
}

static void put_thread(FILE *stream, const struct swz_group_row *row)
{
	fprintf(stream, " %10" PRId32 " %10" PRId32 "  ",
		row->thread->thread->record.tid,
		row->process->profile->header.pid);
	swz_put_text(stream, row->name[0] ? row->name : "-");
}

static void put_process(FILE *stream, const struct swz_group_row *row)
{
	fprintf(stream, " %8" PRIu32 " %10" PRId32 "  %*s",
		row->process->children, row->process->profile->header.pid,
		(int)(2 * (row->level < 64 ? row->level : 64)), "");
	put_command(stream, row->process);
}

/* Names of functions may hold spaces; the module comes behind two of them. */
static void put_source(FILE *stream, enum swz_group_key key,
		       const struct swz_group_row *row)
{
	fputs("  ", stream);
	if (key == SWZ_BY_MODULE)
		swz_put_text(stream,
			     row->module ? row->module_name : row->name);
	else
		swz_put_text(stream, row->name);
	if (row->line)
		fprintf(stream, ":%d", row->line);
	if (key == SWZ_BY_MODULE || (key != SWZ_BY_FUNCTION && !row->module))
		return;
	fputs("  ", stream);
	swz_put_text(stream, row->module_name);
}

static void put_label(FILE *stream, enum swz_group_key key,
		      const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD)
		put_thread(stream, row);
	else if (key == SWZ_BY_PROCESS)
		put_process(stream, row);
	else
		put_source(stream, key, row);
	putc('\n', stream);
}

static void put_label_heading(FILE *stream, enum swz_group_key key)
{
	if (key == SWZ_BY_THREAD)
		fprintf(stream, " %10s %10s  thread\n", "tid", "pid");
	else if (key == SWZ_BY_PROCESS)
		fprintf(stream, " %8s %10s  command\n", "children", "pid");
	else if (key == SWZ_BY_FUNCTION)
		fputs("  function  module\n", stream);
	else
		fprintf(stream, "  %s\n", swz_by_name(key));
}

static void put_columns_heading(FILE *stream, const struct swz_by_section *by,
				const struct swz_by_rows *rows, size_t own)
{
	size_t i;

	for (i = 0; i < own; i++) {
		char *name = swz_by_column_name(by, rows, i);

		fprintf(stream, "# %" PRId32 ": ",
			swz_by_column_id(by, rows, i));
		swz_put_text(stream, name);
		putc('\n', stream);
		free(name);
	}
	if (own < rows->table.columns)
		fprintf(stream, "# others: %zu %s\n", rows->table.columns - own,
			by->groups->columns == SWZ_BY_RANK ? "further ranks"
			: by->groups->columns == SWZ_BY_THREAD
				? "threads that have less time"
				: "processes that have less time");
}

/* The self time of each row in each thread or process. */
static void write_matrix(FILE *stream, const struct swz_by_section *by,
			 const struct swz_by_rows *rows)
{
	size_t own = rows->table.columns, i, j;

	if (own > MOST_COLUMNS)
		own = MOST_COLUMNS - 1;
	put_columns_heading(stream, by, rows, own);
	fprintf(stream, "%15s", "self");
	for (i = 0; i < own; i++)
		fprintf(stream, " %13" PRId32, swz_by_column_id(by, rows, i));
	if (own < rows->table.columns)
		fprintf(stream, " %13s", "others");
	put_label_heading(stream, by->groups->rows);
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];
		int64_t rest = row->self_ns;

		fprintf(stream, "%15" PRId64, row->self_ns);
		for (j = 0; j < own; j++) {
			int64_t ns = row->cells[rows->columns[j]];

			rest -= ns;
			fprintf(stream, " %13" PRId64, ns);
		}
		if (own < rows->table.columns)
			fprintf(stream, " %13" PRId64, rest);
		put_label(stream, by->groups->rows, row);
	}
}

static void put_costs(FILE *stream, const struct swz_report *report,
		      const struct swz_group_row *row, bool has_inclusive)
{
	swz_put_plain_count(stream, 12, row->calls,
			    row->counted || !report->joined);
	putc(' ', stream);
	swz_put_plain_time(stream, 15, row->self_ns,
			   row->self_ns ? 0 : report->bound_ns);
	if (!has_inclusive)
		return;
	putc(' ', stream);
	swz_put_plain_time(stream, 15, row->inclusive_ns,
			   row->inclusive_ns ? 0 : report->bound_ns);
}

static void write_rows(FILE *stream, const struct swz_by_section *by,
		       const struct swz_by_rows *rows)
{
	enum swz_group_key key = by->groups->rows;
	bool has_inclusive = key != SWZ_BY_THREAD;
	bool unknown = rows->has_times && swz_by_any_unknown(rows);
	size_t i;

	if (rows->has_times)
		put_times_heading(stream, by->section->report->samples);
	if (rows->shows_waiting)
		swz_put_waiting_note(stream, by->section->report);
	fprintf(stream, "%12s %15s", swz_counted(by->section), "self");
	if (has_inclusive)
		fprintf(stream, " %15s", "incl");
	if (rows->has_times)
		fprintf(stream, " %15s %15s", "wall", "processor");
	if (rows->has_times)
		fprintf(stream, " %15s", "waiting");
	if (rows->shows_waiting)
		fprintf(stream, " %15s %15s", "self-wait", "incl-wait");
	if (unknown)
		fprintf(stream, " %15s", "?");
	put_label_heading(stream, key);
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];

		put_costs(stream, by->section->report, row, has_inclusive);
		if (rows->has_times)
			put_times(stream, rows, row, unknown);
		if (rows->shows_waiting) {
			put_ns(stream, true, row->self_waiting_ns);
			put_ns(stream, true, row->inclusive_waiting_ns);
		}
		put_label(stream, key, row);
	}
}

void swz_write_text_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options)
{
	struct swz_by_rows rows;

	swz_by_rows_make(&rows, by, options);
	swz_put_heading(stream, by->section);
	if (by->section->report->sampled)
		fputs("# sampled: counts are exact, times are estimates\n",
		      stream);
	if (by->groups->imbalance)
		swz_put_imbalance_text(stream, by, &rows, options->sort);
	else if (rows.table.columns)
		write_matrix(stream, by, &rows);
	else
		write_rows(stream, by, &rows);
	swz_by_rows_free(&rows);
}
