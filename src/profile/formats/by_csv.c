/* One row a line, all columns of a matrix. What is not known is empty. */

#include "profile/formats/by_rank.h"

#include <inttypes.h>

#include "profile/support/output.h"

/* A field that swz_put_csv() would have to put together first. */
static void put_command(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	putc('"', stream);
	if (!profile->argument_count)
		swz_put_csv_part(stream, profile->executable);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(' ', stream);
		swz_put_csv_part(stream, profile->arguments[i]);
	}
	putc('"', stream);
}

static void put_known(FILE *stream, bool known, int64_t ns)
{
	if (known)
		fprintf(stream, ",%" PRId64, ns);
	else
		putc(',', stream);
}

static void put_times(FILE *stream, const struct swz_by_rows *rows,
		      const struct swz_group_row *row)
{
	const struct swz_thread_times *times = swz_by_times(rows, row);

	put_known(stream, rows->has_times, times->wall_ns);
	put_known(stream, rows->has_times && times->known, times->processor_ns);
	put_known(stream, rows->has_times && times->known, times->waiting_ns);
	put_known(stream, rows->has_times,
		  times->known ? times->unknown_ns : times->wall_ns);
}

static const char *label_heading(enum swz_group_key key)
{
	switch (key) {
	case SWZ_BY_FUNCTION:
		return "function,module";
	case SWZ_BY_MODULE:
		return "module";
	case SWZ_BY_PROCESS:
		return "children,level,pid,parent,command";
	case SWZ_BY_THREAD:
		return "tid,pid,thread";
	case SWZ_BY_FILE:
		return "file,module";
	default:
		return "file,line,module";
	}
}

static void put_label(FILE *stream, enum swz_group_key key,
		      const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD) {
		fprintf(stream, "%" PRId32 ",%" PRId32 ",",
			row->thread->thread->record.tid,
			row->process->profile->header.pid);
		swz_put_csv(stream, row->name);
	} else if (key == SWZ_BY_PROCESS) {
		fprintf(stream,
			"%" PRIu32 ",%" PRIu32 ",%" PRId32 ",%" PRId32 ",",
			row->process->children, row->level,
			row->process->profile->header.pid,
			row->process->profile->header.parent_pid);
		put_command(stream, row->process->profile);
	} else {
		swz_put_csv(stream, row->name);
		if (key == SWZ_BY_LINE)
			putc(',', stream);
		if (key == SWZ_BY_LINE && row->line)
			fprintf(stream, "%d", row->line);
		if (key != SWZ_BY_MODULE) {
			putc(',', stream);
			swz_put_csv(stream, row->module ? row->module : "");
		}
	}
	putc('\n', stream);
}

static void put_heading(FILE *stream, const struct swz_by_section *by,
			const struct swz_by_rows *rows)
{
	size_t i;

	if (!rows->table.columns) {
		fprintf(stream, "%s,self_ns,incl_ns,%s,%s%s\n",
			swz_counted(by->section),
			rows->has_source ? "self_waiting_ns,incl_waiting_ns"
					 : "wall_ns,processor_ns,waiting_ns,"
					   "unknown_ns",
			by->section->report->joined ? "bound_ns," : "",
			label_heading(by->groups->rows));
		return;
	}
	fputs("self_ns,", stream);
	for (i = 0; i < rows->table.columns; i++) {
		uint32_t at = rows->columns[i];
		const struct swz_group_thread *thread;

		if (by->groups->columns == SWZ_BY_RANK) {
			fprintf(stream, "rank %" PRIu32 ",",
				by->groups->ranks[at].rank);
		} else if (by->groups->columns == SWZ_BY_THREAD) {
			thread = &by->groups->threads[at];
			fprintf(stream, "\"%" PRId32 " ",
				thread->thread->record.tid);
			swz_put_csv_part(stream, thread->thread->name);
			fputs("\",", stream);
		} else {
			fprintf(stream, "%" PRId32 ",",
				by->groups->processes[at].profile->header.pid);
		}
	}
	fprintf(stream, "%s\n", label_heading(by->groups->rows));
}

void swz_write_csv_by(FILE *stream, const struct swz_by_section *by,
		      const struct swz_table_options *options)
{
	bool joined = by->section->report->joined;
	struct swz_by_rows rows;
	size_t i, j;

	swz_by_rows_make(&rows, by, options);
	if (by->groups->imbalance) {
		swz_put_imbalance_csv(stream, by, &rows);
		swz_by_rows_free(&rows);
		return;
	}
	put_heading(stream, by, &rows);
	for (i = 0; i < rows.count; i++) {
		const struct swz_group_row *row =
			&rows.table.rows[rows.order[i]];

		if (rows.table.columns) {
			fprintf(stream, "%" PRId64, row->self_ns);
			for (j = 0; j < rows.table.columns; j++)
				put_known(stream, true,
					  row->cells[rows.columns[j]]);
		} else {
			if (row->counted || !joined)
				fprintf(stream, "%" PRIu64, row->calls);
			fprintf(stream, ",%" PRId64 ",%" PRId64, row->self_ns,
				row->inclusive_ns);
			if (rows.has_source) {
				put_known(stream, rows.shows_waiting,
					  row->self_waiting_ns);
				put_known(stream, rows.shows_waiting,
					  row->inclusive_waiting_ns);
			} else {
				put_times(stream, &rows, row);
			}
			if (joined)
				put_known(stream, !row->self_ns,
					  by->section->report->bound_ns);
		}
		putc(',', stream);
		put_label(stream, by->groups->rows, row);
	}
	swz_by_rows_free(&rows);
}
