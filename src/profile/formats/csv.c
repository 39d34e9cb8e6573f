/* The table of functions as comma-separated values (RFC 4180, but lines end as
 * lines do here), for spreadsheets and scripts. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/support/output.h"
#include "profile/formats/rows.h"

static void put_row(FILE *stream, const struct swz_section *section,
		    const struct swz_row *row)
{
	const struct swz_report_function *costs = row->costs;

	fprintf(stream,
		"%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
		",%" PRIu64 ",",
		costs->calls, costs->self_ns, costs->inclusive_ns,
		costs->min_ns, costs->max_ns, costs->unwound);
	swz_put_csv(stream, row->function->name);
	putc(',', stream);
	swz_put_csv(stream, row->module);
	putc(',', stream);
	if (row->function->file) {
		swz_put_csv(stream, row->function->file);
		fprintf(stream, ",%d", row->function->line);
	} else {
		putc(',', stream);
	}
	if (section->thread) {
		fprintf(stream, ",%" PRId32 ",", section->thread->record.tid);
		swz_put_csv(stream, section->thread->name);
	}
	putc('\n', stream);
}

void swz_write_csv(struct swz_writer *writer, const struct swz_section *section)
{
	size_t count, i;
	struct swz_row *rows = swz_rows_select(section, writer->options,
					       &count);

	if (!writer->sections)
		fprintf(writer->stream,
			"calls,self_ns,incl_ns,min_ns,max_ns,unwound,function,"
			"module,file,line%s\n",
			section->thread ? ",tid,thread" : "");
	for (i = 0; i < count; i++)
		put_row(writer->stream, section, &rows[i]);
	free(rows);
}
