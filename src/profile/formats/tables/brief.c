/* -f brief: a profile's answer in at most 60 lines of plain text, for terminals
 * without colours, mails, chats and language models. The head, ten functions
 * with their callers, the waits, what is not to be trusted, and the commands
 * that show more. Each part has a bound of its own; together they are below 60.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/cells.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/tables/table.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

enum {
	MOST_CALLERS = 3,
	MOST_WAITS = 5,
	MOST_NOTES = 10,
	MOST_ADVICE = 4,
	NAME_COLUMNS = 70,
	HEAD_COLUMNS = 160
};

/* The commands at the end need these; from begin to end. */
struct brief {
	char example[SWZ_EXAMPLE_BYTES];
	bool waits, without_times, has_rows;
};

/* Figures are ASCII: whoever reads it may know nothing else. */
static const struct swz_style plain = {.width = HEAD_COLUMNS};

static void put_name(FILE *stream, const char *name)
{
	char *shown = swz_printable(name, true);
	char *cut = swz_cut_middle(shown, NAME_COLUMNS, true);

	fputs(cut, stream);
	free(cut);
	free(shown);
}

/* --- callers ------------------------------------------------------------- */

/* The calls of one function by one other, from all places. */
struct caller {
	uint32_t function;
	uint64_t calls;
	int64_t ns;
};

struct callers {
	struct caller *items;
	size_t count, capacity;
};

static int by_share(const void *left, const void *right)
{
	const struct caller *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* Edges are sorted by caller. WAITING: by what they waited. */
static struct callers find_callers(const struct swz_report *report,
				   uint32_t callee, bool waiting)
{
	struct callers all = {0};
	size_t i;

	for (i = 0; i < report->edge_count; i++) {
		const struct swz_report_edge *edge = &report->edges[i];
		struct caller *last = all.count ? &all.items[all.count - 1]
						: NULL;

		if (edge->callee != callee || edge->caller == callee)
			continue;
		if (!last || last->function != edge->caller) {
			swz_grow(&all.items, &all.capacity, all.count,
				 sizeof(*all.items));
			last = &all.items[all.count++];
			*last = (struct caller){.function = edge->caller};
		}
		last->calls = swz_add_count(last->calls, edge->calls);
		last->ns = swz_add(last->ns, waiting ? edge->waiting_ns
						     : edge->inclusive_ns);
	}
	if (all.count > 1)
		qsort(all.items, all.count, sizeof(*all.items), by_share);
	return all;
}

static void put_callers(FILE *stream, const struct swz_section *section,
			uint32_t callee, bool waiting)
{
	struct callers all = find_callers(section->report, callee, waiting);
	char figure[SWZ_FIGURE_BYTES];
	uint64_t calls = 0;
	int64_t ns = 0;
	size_t i;

	for (i = 0; i < all.count; i++) {
		calls = swz_add_count(calls, all.items[i].calls);
		ns = swz_add(ns, all.items[i].ns);
	}
	if (all.count)
		fputs("      called by ", stream);
	for (i = 0; i < all.count && i < MOST_CALLERS; i++) {
		const struct caller *caller = &all.items[i];

		if (i)
			fputs("; ", stream);
		put_name(stream,
			 section->catalog->functions[caller->function].name);
		if (ns)
			swz_figure_share(figure, caller->ns, ns);
		else
			swz_figure_share(figure, swz_signed(caller->calls),
					 swz_signed(calls));
		if (ns || calls)
			fprintf(stream, " %s", figure);
	}
	if (all.count > MOST_CALLERS)
		fprintf(stream, "; and %zu more", all.count - MOST_CALLERS);
	if (all.count)
		putc('\n', stream);
	free(all.items);
}

/* --- functions ----------------------------------------------------------- */

/* "583 ms", "<1.06 ms", or "-". */
static void put_time(FILE *stream, int64_t ns, int64_t bound_ns)
{
	char figure[SWZ_FIGURE_BYTES];

	if (bound_ns == SWZ_TIME_UNKNOWN)
		putc('-', stream);
	else
		fprintf(stream, "%s%s", bound_ns > 0 ? "<" : "",
			swz_figure_time(figure, bound_ns > 0 ? bound_ns : ns,
					false));
}

static void put_times(FILE *stream, const struct swz_report *report,
		      uint32_t function,
		      const struct swz_report_function *costs)
{
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "self %s ",
		swz_figure_share(figure, costs->self_ns, report->total_ns));
	if (swz_is_rough(report, costs))
		putc('~', stream);
	put_time(stream, costs->self_ns,
		 swz_bound_of(report, function, costs->self_ns));
	if (swz_report_is_estimated(report) && costs->self_ns)
		fprintf(stream, " +/- %s",
			swz_figure_time(figure,
					llround(sqrt(costs->variance_ns)),
					false));
	fprintf(stream, ", incl %s ",
		swz_figure_share(figure, costs->inclusive_ns,
				 report->total_ns));
	put_time(stream, costs->inclusive_ns,
		 swz_bound_of(report, function, costs->inclusive_ns));
	if (report->knows_waiting && costs->self_waiting_ns)
		fprintf(stream, ", waits %s",
			swz_figure_time(figure, costs->self_waiting_ns, false));
	fputs(", ", stream);
}

static void put_function(FILE *stream, const struct swz_section *section,
			 const struct swz_row *row, size_t number)
{
	const struct swz_report *report = section->report;
	uint32_t function = (uint32_t)(row->costs - report->functions);
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "%3zu. ", number);
	put_name(stream, row->function->name);
	fputs(" (", stream);
	put_name(stream, row->module);
	fputs("): ", stream);
	if (!report->without_times)
		put_times(stream, report, function, row->costs);
	if (report->first_calls)
		fputs("ran\n", stream);
	else if (row->costs->uncounted)
		fputs("calls not counted\n", stream);
	else
		fprintf(stream, "%s %.*s\n",
			swz_figure_count(figure, row->costs->calls),
			row->costs->calls == 1 ? 4 + 2 * report->samples : 7,
			swz_counted(section));
	put_callers(stream, section, function, false);
}

static void put_functions(struct swz_writer *writer,
			  const struct swz_section *section)
{
	struct brief *brief = writer->state;
	FILE *stream = writer->stream;
	struct swz_table_options all = *writer->options;
	char quoted[SWZ_EXAMPLE_BYTES];
	size_t count, shown, i;
	struct swz_row *rows;

	all.rows = 0;
	rows = swz_table_rows(section, &all, &count);
	shown = writer->options->rows && writer->options->rows < count
			? writer->options->rows
			: count;
	fprintf(stream, "\nFunctions, %zu of %zu:\n", shown, count);
	for (i = 0; i < shown; i++)
		put_function(stream, section, &rows[i], i + 1);
	brief->has_rows = shown > 0;
	snprintf(brief->example, sizeof(brief->example), "%s",
		 swz_table_example(quoted, rows, shown));
	free(rows);
}

/* --- waits --------------------------------------------------------------- */

static void put_waits(struct swz_writer *writer,
		      const struct swz_section *section)
{
	struct swz_table_options by_waiting = *writer->options;
	const struct swz_report *report = section->report;
	struct brief *brief = writer->state;
	FILE *stream = writer->stream;
	char figure[SWZ_FIGURE_BYTES];
	struct swz_row *rows;
	size_t count, i;

	if (!report->knows_waiting) {
		fputs("\nWaiting: not recorded.\n", stream);
		return;
	}
	by_waiting.sort = SWZ_SORT_WAITING;
	by_waiting.rows = MOST_WAITS;
	rows = swz_table_rows(section, &by_waiting, &count);
	fprintf(stream, "\nWaiting, %s in all:\n",
		swz_figure_time(
			figure,
			swz_add(report->waiting_ns, report->unplaced_ns),
			false));
	for (i = 0; i < count && rows[i].costs->self_waiting_ns; i++) {
		const struct swz_row *row = &rows[i];

		fputs("     ", stream);
		put_name(stream, row->function->name);
		fprintf(stream, ": %s",
			swz_figure_share(figure, row->costs->self_waiting_ns,
					 report->waiting_ns));
		fprintf(stream, " %s\n",
			swz_figure_time(figure, row->costs->self_waiting_ns,
					false));
		put_callers(stream, section,
			    (uint32_t)(row->costs - report->functions), true);
	}
	brief->waits = i > 0;
	free(rows);
}

/* --- head and notes ------------------------------------------------------ */

/* The lines of SUMMARY that are notes, or those that are not. */
static size_t put_lines(FILE *stream, char *summary, bool notes, size_t most)
{
	char *line = summary, *end;
	size_t count = 0;

	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		bool is_note = strncmp(line, "Note: ", 6) == 0;

		if (end == line || is_note != notes)
			continue;
		if (count++ < most)
			fprintf(stream, "%s%.*s\n", notes ? "     " : "",
				(int)(end - line) - (notes ? 6 : 0),
				line + (notes ? 6 : 0));
	}
	return count;
}

static void put_notes(FILE *stream, char *summary)
{
	size_t count;

	fputs("\nNot to be trusted, or missing:\n", stream);
	count = put_lines(stream, summary, true, MOST_NOTES);
	if (!count)
		fputs("     nothing that is known\n", stream);
	if (count > MOST_NOTES)
		fprintf(stream, "     and %zu more: swizzle-dump -f table\n",
			count - MOST_NOTES);
}

void swz_brief_begin(struct swz_writer *writer)
{
	writer->state = swz_allocate(1, sizeof(struct brief));
}

void swz_brief_section(struct swz_writer *writer,
		       const struct swz_section *section)
{
	struct brief *brief = writer->state;
	char *summary = NULL;
	size_t size = 0;
	FILE *stream = swz_text_stream(&summary, &size);

	brief->without_times = section->report->without_times;
	swz_put_summary(stream, &plain, section);
	swz_text_stream_end(stream);
	put_lines(writer->stream, summary, false, SIZE_MAX);
	put_functions(writer, section);
	if (!section->report->without_times)
		put_waits(writer, section);
	put_notes(writer->stream, summary);
	free(summary);
}

void swz_brief_end(struct swz_writer *writer)
{
	const char *inputs = writer->options->inputs;
	struct brief *brief = writer->state;
	FILE *stream = writer->stream;
	size_t i;

	if (inputs) {
		fputs("\nNext:\n", stream);
		if (brief->has_rows)
			fprintf(stream,
				"     swizzle-dump -f tree -F %s%s  "
				"(its callers and callees)\n",
				brief->example, inputs);
		if (brief->waits)
			fprintf(stream,
				"     swizzle-dump -s waiting%s  "
				"(more of what waits)\n",
				inputs);
		fprintf(stream, "     swizzle-dump -f %s%s  (a page)\n",
			brief->without_times ? "graph" : "html", inputs);
		for (i = 0;
		     writer->advice && writer->advice[i] && i < MOST_ADVICE;
		     i++)
			fprintf(stream, "     %s\n", writer->advice[i]);
	}
	free(brief);
	writer->state = NULL;
}
