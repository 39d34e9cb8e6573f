/* An object with the key, the total and an array of rows. What is not known is
 * null. */

#include "profile/formats/by_rank.h"

#include <inttypes.h>

#include "profile/formats/json_value.h"
#include "profile/formats/losses.h"
#include "profile/support/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

static void put_ns(FILE *stream, const char *key, bool known, int64_t ns)
{
	fprintf(stream, ",\"%s\":", key);
	if (known)
		fprintf(stream, "%" PRId64, ns);
	else
		fputs("null", stream);
}

static void put_command(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	fputs(",\"command\":[", stream);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(',', stream);
		swz_put_json(stream, profile->arguments[i]);
	}
	putc(']', stream);
}

static void put_thread(FILE *stream, const struct swz_group_thread *thread)
{
	fprintf(stream, ",\"tid\":%" PRId32 ",\"pid\":%" PRId32,
		thread->thread->record.tid, thread->profile->header.pid);
	swz_json_put_next_string(stream, "thread", thread->thread->name);
}

static void put_process(FILE *stream, const struct swz_group_process *process)
{
	fprintf(stream, ",\"pid\":%" PRId32 ",\"parent\":%" PRId32,
		process->profile->header.pid,
		process->profile->header.parent_pid);
	put_command(stream, process->profile);
}

static void put_rank(FILE *stream, const struct swz_group_rank *rank)
{
	fprintf(stream, ",\"rank\":%" PRIu32, rank->rank);
	swz_json_put_next_string(stream, "host", rank->host);
}

static void put_label(FILE *stream, enum swz_group_key key,
		      const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD) {
		put_thread(stream, row->thread);
	} else if (key == SWZ_BY_PROCESS) {
		put_process(stream, row->process);
		fprintf(stream, ",\"children\":%" PRIu32 ",\"level\":%" PRIu32,
			row->process->children, row->level);
	} else {
		if (key != SWZ_BY_MODULE)
			swz_json_put_next_string(
				stream,
				key == SWZ_BY_FUNCTION ? "function" : "file",
				row->name);
		if (key == SWZ_BY_LINE)
			fprintf(stream, ",\"line\":%d", row->line);
		swz_json_put_next_string(stream, "module",
					 key == SWZ_BY_MODULE ? row->name
							      : row->module);
	}
}

static void put_costs(FILE *stream, const struct swz_by_section *by,
		      const struct swz_by_rows *rows,
		      const struct swz_group_row *row)
{
	const struct swz_thread_times *times;

	fprintf(stream, ",\"%s\":", swz_counted(by->section));
	if (row->counted || !by->section->report->joined)
		fprintf(stream, "%" PRIu64, row->calls);
	else
		fputs("null", stream);
	put_ns(stream, "incl_ns", true, row->inclusive_ns);
	if (by->section->report->joined && !row->self_ns)
		put_ns(stream, "bound_ns", true, by->section->report->bound_ns);
	if (rows->has_source) {
		put_ns(stream, "self_waiting_ns", rows->shows_waiting,
		       row->self_waiting_ns);
		put_ns(stream, "incl_waiting_ns", rows->shows_waiting,
		       row->inclusive_waiting_ns);
		return;
	}
	times = swz_by_times(rows, row);
	put_ns(stream, "wall_ns", rows->has_times, times->wall_ns);
	put_ns(stream, "processor_ns", rows->has_times && times->known,
	       times->processor_ns);
	put_ns(stream, "waiting_ns", rows->has_times && times->known,
	       times->waiting_ns);
	put_ns(stream, "unknown_ns", rows->has_times,
	       times->known ? times->unknown_ns : times->wall_ns);
}

static void put_columns(FILE *stream, const struct swz_by_section *by,
			const struct swz_by_rows *rows)
{
	size_t i;

	fprintf(stream, ",\"columns_by\":\"%s\",\"columns\":[",
		swz_by_name(by->groups->columns));
	for (i = 0; i < rows->table.columns; i++) {
		uint32_t at = rows->columns[i];

		fprintf(stream, "%s\n{\"self_ns\":%" PRId64, i ? "," : "",
			rows->table.column_ns[at]);
		if (by->groups->columns == SWZ_BY_RANK)
			put_rank(stream, &by->groups->ranks[at]);
		else if (by->groups->columns == SWZ_BY_THREAD)
			put_thread(stream, &by->groups->threads[at]);
		else
			put_process(stream, &by->groups->processes[at]);
		putc('}', stream);
	}
	putc(']', stream);
}

void swz_write_json_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options)
{
	struct swz_by_rows rows;
	size_t i, j;

	swz_by_rows_make(&rows, by, options);
	fprintf(stream,
		"{\"creator\":\"swizzle-" SWZ_VERSION "\",\"by\":\"%s\""
		",\"profiles\":%zu,\"threads\":%zu,\"total_ns\":%" PRId64,
		swz_by_name(by->groups->rows), by->section->profile_count,
		by->section->report->thread_count,
		by->section->report->total_ns);
	swz_put_loss_members(stream, by->section);
	if (rows.table.columns)
		put_columns(stream, by, &rows);
	fputs(",\"rows\":[", stream);
	for (i = 0; i < rows.count; i++) {
		const struct swz_group_row *row =
			&rows.table.rows[rows.order[i]];

		fprintf(stream, "%s\n{\"self_ns\":%" PRId64, i ? "," : "",
			row->self_ns);
		if (!rows.table.columns)
			put_costs(stream, by, &rows, row);
		if (by->groups->imbalance)
			swz_put_imbalance_json(stream, by, row);
		put_label(stream, by->groups->rows, row);
		if (rows.table.columns) {
			fputs(",\"cells_ns\":[", stream);
			for (j = 0; j < rows.table.columns; j++)
				fprintf(stream, "%s%" PRId64, j ? "," : "",
					row->cells[rows.columns[j]]);
			putc(']', stream);
		}
		putc('}', stream);
	}
	fputs("\n]}\n", stream);
	swz_by_rows_free(&rows);
}
