/* A table of functions, for people and for awk: the numbers are plain digits,
 * times in ns, and come before the names, which may hold spaces. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profile/formats/joined_figures.h"
#include "profile/formats/losses.h"
#include "profile/formats/time_kind.h"
#include "profile/formats/mark_lines.h"
#include "profile/support/output.h"
#include "profile/formats/rows.h"

static void put_folded(FILE *stream, const struct swz_report *report)
{
	size_t split = swz_report_split(report);

	if (report->folded_recursion)
		fprintf(stream,
			"# folded recursion: %" PRIu64
			" calls are in a context further up\n",
			report->folded_recursion);
	if (split)
		fprintf(stream,
			"# incl of %zu function%s is more than the contexts "
			"below add up to, as calls were folded\n",
			split, split == 1 ? "" : "s");
}

void swz_put_heading(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;

	if (section->thread) {
		fprintf(stream, "# thread %" PRId32 " ",
			section->thread->record.tid);
		swz_put_text(stream, section->thread->name);
		fprintf(stream, " of process %" PRId32 ": ",
			section->profile->header.pid);
	} else {
		fprintf(stream, "# process %" PRId32 ": ",
			section->profile->header.pid);
	}
	swz_put_command(stream, section->profile);
	putc('\n', stream);
	if (section->profile_count > 1)
		fprintf(stream, "# %zu profiles merged\n",
			section->profile_count);
	fprintf(stream, "# total %" PRId64 " ns in %zu thread%s",
		report->total_ns, report->thread_count,
		report->thread_count == 1 ? "" : "s");
	if (swz_time_kind(section) == SWZ_PROCESSOR_TIME)
		fputs(" of processor time", stream);
	else if (swz_time_kind(section) == SWZ_THREAD_TIME)
		fputs(", running or waiting", stream);
	else if (section->compensated)
		fprintf(stream, ", after %" PRId64 " ns of hooks",
			report->raw_ns > report->total_ns
				? report->raw_ns - report->total_ns
				: 0);
	fputs("; times in ns\n", stream);
	if (report->joined) {
		fputs("# joined: ", stream);
		swz_put_joined_note(stream, section);
		fprintf(stream,
			"; <%" PRId64 ": no sample hit it; -: not counted\n",
			report->bound_ns);
	}
	if (report->not_shown)
		fprintf(stream,
			"# not shown: %" PRIu64 " %s, whose time is their "
			"callers'\n",
			report->not_shown,
			report->samples ? "samples" : "calls");
	put_folded(stream, report);
	swz_put_loss_lines(stream, section, "# ");
}

static bool shows_extremes(const struct swz_table_options *options)
{
	return options->sort == SWZ_SORT_MIN || options->sort == SWZ_SORT_MAX;
}

static void put_row(FILE *stream, const struct swz_row *row,
		    const struct swz_report *report, bool extremes)
{
	const struct swz_report_function *costs = row->costs;
	uint32_t function = (uint32_t)(costs - report->functions);

	swz_put_plain_count(stream, 12, costs->calls, !costs->uncounted);
	putc(' ', stream);
	swz_put_plain_time(stream, 15, costs->self_ns,
			   swz_bound_of(report, function, costs->self_ns));
	putc(' ', stream);
	swz_put_plain_time(stream, 15, costs->inclusive_ns,
			   swz_bound_of(report, function, costs->inclusive_ns));
	if (report->knows_waiting)
		fprintf(stream, " %15" PRId64 " %15" PRId64,
			costs->self_waiting_ns, costs->inclusive_waiting_ns);
	if (report->sampled)
		fprintf(stream, " %13.0f", sqrt(costs->variance_ns));
	if (extremes)
		fprintf(stream, " %15" PRId64 " %15" PRId64, costs->min_ns,
			costs->max_ns);
	fputs("  ", stream);
	swz_put_text(stream, row->function->name);
	fputs("  ", stream);
	swz_put_text(stream, row->module);
	putc('\n', stream);
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

void swz_put_waiting_note(FILE *stream, const struct swz_report *report)
{
	if (report->knows_waiting)
		fprintf(stream,
			"# self-wait, incl-wait: the parts of self and incl in "
			"%s\n",
			report->knows_switches ? "which the thread did not run"
					       : "calls that wait");
	if (report->knows_waiting && report->silent_threads)
		fprintf(stream,
			"# waiting is not known of %" PRIu64 " of %zu threads: "
			"they were recorded without --switches and --imports\n",
			report->silent_threads, report->thread_count);
	if (report->missing_switches)
		fprintf(stream,
			"# that is too little: %" PRIu64
			" context switches or more are missing\n",
			report->missing_switches);
}

void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options)
{
	bool extremes = shows_extremes(options);
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
	swz_put_waiting_note(stream, section->report);
	fprintf(stream, "%12s %15s %15s", swz_counted(section), "self", "incl");
	if (section->report->knows_waiting)
		fprintf(stream, " %15s %15s", "self-wait", "incl-wait");
	if (section->report->sampled)
		fprintf(stream, " %13s", "+/-");
	if (extremes)
		fprintf(stream, " %15s %15s", "min", "max");
	fputs("  function  module\n", stream);
	for (i = 0; i < count; i++)
		put_row(stream, &rows[i], section->report, extremes);
	put_unwound(stream, rows, count);
	swz_put_marks(stream, section, "# ", 0);
	free(rows);
}
