/* Tables by a key for people: as the table of functions, with units, shares and
 * colours, cut to the width of the terminal. Where that has no room for all
 * columns, the shares stand for the times that they are of. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"
#include "profile/formats/tables/table.h"
#include "util/figures.h"
#include "util/memory.h"

#define NARROW 100u      /* terminals below: not all columns */
#define MOST_COLUMNS 8u  /* of a matrix */
#define LEAST_COLUMNS 2u /* one, and the others */
#define LEAST_LABEL 28u  /* columns of a matrix leave so much for names */

/* --- by rank: how functions differ between ranks ------------------------- */

#define PERCENT_WIDTH 8
#define RANK_WIDTH 7

static void put_imbalance_titles(struct swz_cells *cells,
				 const struct swz_by_section *by,
				 enum swz_sort sort)
{
	swz_put_share_title(cells,
			    sort == SWZ_SORT_INCLUSIVE ? "incl%" : "self%");
	swz_put_time_title(cells, "min");
	swz_put_time_title(cells, "mean");
	swz_put_time_title(cells, "max");
	swz_put_text_cell(cells, SWZ_COLOUR_BOLD, "uneven", PERCENT_WIDTH);
	swz_put_text_cell(cells, SWZ_COLOUR_BOLD, "rank", RANK_WIDTH);
	if (by->groups->timed_count) {
		swz_put_time_title(cells, "p99 min");
		swz_put_time_title(cells, "p99 max");
		swz_put_text_cell(cells, SWZ_COLOUR_BOLD, "rank", RANK_WIDTH);
	}
	swz_put_count_title(cells, cells->counted);
}

/* (--percentiles) */
static void put_rank_p99(struct swz_cells *cells,
			 const struct swz_by_section *by,
			 const struct swz_rank_percentile *x)
{
	char text[32] = "";

	if (!by->groups->timed_count)
		return;
	swz_put_time_below(cells, SWZ_COLOUR_NONE, x->least_ns,
			   x->count ? 0 : SWZ_TIME_UNKNOWN);
	swz_put_time_below(cells, SWZ_COLOUR_NONE, x->most_ns,
			   x->count ? 0 : SWZ_TIME_UNKNOWN);
	if (x->count)
		snprintf(text, sizeof(text), "%" PRIu32,
			 by->groups->ranks[x->most_at].rank);
	swz_put_text_cell(cells, SWZ_COLOUR_NONE, text, RANK_WIDTH);
}

static void put_imbalance_cells(struct swz_cells *cells,
				const struct swz_by_section *by,
				const struct swz_group_row *row,
				enum swz_sort sort)
{
	bool inclusive = sort == SWZ_SORT_INCLUSIVE;
	const struct swz_imbalance *x = swz_imbalance_of(row, inclusive);
	int64_t lost = x->most_ns - x->mean_ns;
	char text[32];

	swz_put_share(cells, inclusive ? row->inclusive_ns : row->self_ns);
	swz_put_time(cells, SWZ_COLOUR_NONE, x->least_ns);
	swz_put_time(cells, SWZ_COLOUR_NONE, x->mean_ns);
	/* of the time of all ranks, as they wait for it */
	swz_put_time(cells,
		     swz_colour_of_share(lost * (int64_t)by->groups->rank_count,
					 cells->total),
		     x->most_ns);
	snprintf(text, sizeof(text), "%" PRId64 "%%", (x->tenths + 5) / 10);
	swz_put_text_cell(cells, SWZ_COLOUR_NONE, text, PERCENT_WIDTH);
	snprintf(text, sizeof(text), "%" PRIu32, swz_slowest_rank(by, x));
	swz_put_text_cell(cells, SWZ_COLOUR_NONE, text, RANK_WIDTH);
	put_rank_p99(cells, by, &row->spread->percentiles[SWZ_P99]);
	swz_put_count(cells, row->calls);
}

static void put_imbalance_note(FILE *stream, const struct swz_by_section *by,
			       enum swz_sort sort)
{
	fprintf(stream,
		"Min, mean and max: %s time by rank, of %zu. Uneven: the "
		"maximum above the mean; rank: which has the maximum.\n",
		sort == SWZ_SORT_INCLUSIVE ? "inclusive" : "self",
		by->groups->rank_count);
	if (by->groups->timed_count)
		fputs("P99: of the calls of each rank; csv and json have the "
		      "other percentiles.\n",
		      stream);
}

/* --- the table ----------------------------------------------------------- */

struct table {
	struct swz_cells cells;
	const struct swz_by_section *by;
	struct swz_by_rows rows;
	enum swz_group_key key;
	size_t own; /* columns of a matrix that are a thread or a process */
	size_t all; /* rows that there are */
	bool narrow;
	bool bounded; /* some wall times are lower bounds */
	bool unknown; /* a column for time that neither ran nor waited */
	int id;       /* the width of a tid or pid */
	enum swz_sort sort;
};

static const struct swz_group_row *row_at(const struct table *table, size_t i)
{
	return &table->rows.table.rows[table->rows.order[i]];
}

static bool has_columns(const struct table *table)
{
	return table->rows.table.columns != 0;
}

static bool has_inclusive(const struct table *table)
{
	return table->key != SWZ_BY_THREAD && !has_columns(table);
}

/* In the tree of processes the time of a row with all below it comes first, and
 * is the one that stays. */
static bool has_self(const struct table *table)
{
	return table->key != SWZ_BY_PROCESS || !table->narrow;
}

static bool has_cost_times(const struct table *table)
{
	return !table->narrow || !table->rows.has_times;
}

static bool has_others(const struct table *table)
{
	return table->own < table->rows.table.columns;
}

static void put_number(struct table *table, enum swz_colour colour,
		       const char *text, int width)
{
	swz_put_text_cell(&table->cells, colour, text, width);
}

static void put_id(struct table *table, enum swz_colour colour, int32_t id,
		   int width)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRId32, id);
	put_number(table, colour, text, width);
}

static void put_cost_titles(struct table *table, const char *share,
			    const char *time)
{
	swz_put_share_title(&table->cells, share);
	if (has_cost_times(table))
		swz_put_time_title(&table->cells, time);
	if (table->rows.shows_waiting && !has_columns(table))
		swz_put_time_title(&table->cells, "waiting");
}

static void put_matrix_titles(struct table *table)
{
	size_t i;

	for (i = 0; i < table->own; i++)
		put_id(table, SWZ_COLOUR_BOLD,
		       swz_by_column_id(table->by, &table->rows, i),
		       table->cells.time + 1);
	if (has_others(table))
		swz_put_time_title(&table->cells, "others");
}

static void put_titles(struct table *table)
{
	struct swz_cells *cells = &table->cells;
	int p;

	if (table->by->groups->imbalance) {
		put_imbalance_titles(cells, table->by, table->sort);
		return;
	}
	if (table->key == SWZ_BY_PROCESS && has_inclusive(table))
		put_cost_titles(table, "incl%", "incl");
	if (has_self(table))
		put_cost_titles(table, "self%", "self");
	if (table->key != SWZ_BY_PROCESS && has_inclusive(table))
		put_cost_titles(table, "incl%", "incl");
	if (has_columns(table)) {
		put_matrix_titles(table);
		return;
	}
	if (table->rows.has_times) {
		swz_put_time_title(cells, "wall");
		swz_put_time_title(cells, "cpu");
	}
	if (table->rows.has_times)
		swz_put_time_title(cells, "waiting");
	if (table->unknown)
		swz_put_time_title(cells, "?");
	for (p = 0; p < SWZ_PERCENTILES_SHOWN && table->rows.timed; p++)
		swz_put_time_title(
			cells, swz_percentile_title((enum swz_percentile)p));
	swz_put_count_title(cells, cells->counted);
	if (table->key == SWZ_BY_THREAD)
		put_number(table, SWZ_COLOUR_BOLD, "tid", table->id + 2);
	if (!table->rows.has_source)
		put_number(table, SWZ_COLOUR_BOLD, "pid", table->id + 2);
}

static void put_costs(struct table *table, int64_t ns, int64_t waiting_ns)
{
	int64_t bound_ns = ns ? 0 : table->rows.bound_ns;

	swz_put_share_below(&table->cells, ns, bound_ns);
	if (has_cost_times(table))
		swz_put_time_below(&table->cells, SWZ_COLOUR_NONE, ns,
				   bound_ns);
	if (table->rows.shows_waiting && !has_columns(table))
		swz_put_time(&table->cells, SWZ_COLOUR_DIM, waiting_ns);
}

/* A time that may not be known. */
static void put_time(struct table *table, bool known, int64_t ns)
{
	if (known)
		swz_put_time(&table->cells, SWZ_COLOUR_NONE, ns);
	else
		put_number(table, SWZ_COLOUR_DIM, "-", table->cells.time + 1);
}

static void put_wall(struct table *table, const struct swz_thread_times *times)
{
	if (times->wall_is_bound)
		swz_put_time_above(&table->cells, times->wall_ns);
	else
		put_time(table, true, times->wall_ns);
}

static void put_times(struct table *table, const struct swz_group_row *row)
{
	const struct swz_thread_times *times = swz_by_times(&table->rows, row);

	put_wall(table, times);
	if (times->known && !times->processor_ns && table->rows.bound_ns > 0)
		swz_put_time_below(&table->cells, SWZ_COLOUR_NONE, 0,
				   table->rows.bound_ns);
	else
		put_time(table, times->known && times->processor_ns,
			 times->processor_ns);
	put_time(table, times->known, times->waiting_ns);
	if (table->unknown)
		put_time(table, true,
			 times->known ? times->unknown_ns : times->wall_ns);
}

static void put_columns(struct table *table, const struct swz_group_row *row)
{
	int64_t rest = row->self_ns;
	size_t i;

	for (i = 0; i < table->own; i++) {
		int64_t ns = row->cells[table->rows.columns[i]];

		rest -= ns;
		swz_put_time(&table->cells,
			     swz_colour_of_share(ns, table->cells.total), ns);
	}
	if (has_others(table))
		swz_put_time(&table->cells, SWZ_COLOUR_DIM, rest);
}

static void put_figures(struct table *table, const struct swz_group_row *row)
{
	int p;

	if (table->by->groups->imbalance) {
		put_imbalance_cells(&table->cells, table->by, row, table->sort);
		return;
	}
	if (table->key == SWZ_BY_PROCESS && has_inclusive(table))
		put_costs(table, row->inclusive_ns, 0);
	if (has_self(table))
		put_costs(table, row->self_ns, row->self_waiting_ns);
	if (table->key != SWZ_BY_PROCESS && has_inclusive(table))
		put_costs(table, row->inclusive_ns, row->inclusive_waiting_ns);
	if (has_columns(table)) {
		put_columns(table, row);
		return;
	}
	if (table->rows.has_times)
		put_times(table, row);
	for (p = 0; p < SWZ_PERCENTILES_SHOWN && table->rows.timed; p++) {
		int64_t ns = swz_by_percentile(&table->rows, row,
					       (enum swz_percentile)p);

		swz_put_time_below(&table->cells, SWZ_COLOUR_NONE,
				   ns < 0 ? 0 : ns,
				   ns < 0 ? SWZ_TIME_UNKNOWN : 0);
	}
	swz_put_count_or_none(&table->cells, row->calls,
			      row->counted || table->rows.bound_ns <= 0);
	if (table->key == SWZ_BY_THREAD)
		put_id(table, SWZ_COLOUR_NONE, row->thread->thread->record.tid,
		       table->id + 2);
	if (!table->rows.has_source)
		put_id(table, SWZ_COLOUR_NONE,
		       row->process->profile->header.pid, table->id + 2);
}

/* A row's label; to be freed. */
static char *label_of(const struct table *table,
		      const struct swz_group_row *row)
{
	switch (table->key) {
	case SWZ_BY_PROCESS:
		return swz_command_text(row->process->profile);
	case SWZ_BY_THREAD:
		return swz_duplicate(row->name[0] ? row->name : "-");
	case SWZ_BY_MODULE:
		return swz_duplicate(row->module ? row->module_name
						 : row->name);
	case SWZ_BY_LINE:
		return row->line ? swz_print("%s:%d", row->name, row->line)
				 : swz_duplicate(row->name);
	default:
		return swz_duplicate(row->name);
	}
}

static bool has_modules(const struct table *table)
{
	return table->rows.has_source && table->key != SWZ_BY_MODULE;
}

/* "" where there is no column for it. */
static const char *module_of(const struct table *table,
			     const struct swz_group_row *row)
{
	if (!has_modules(table))
		return "";
	return row->module ? row->module_name : "-";
}

/* The end of a path says most; a command begins with its program and what
 * follows; names of functions are cut where they are put. */
static char *fit_label(const struct table *table,
		       const struct swz_group_row *row)
{
	char *whole = label_of(table, row);
	char *(*cut_to)(const char *, unsigned int, bool) = swz_cut_end;
	char *cut;
	unsigned int room = has_modules(table)
				    ? table->cells.name
				    : swz_cells_room(&table->cells,
						     2 + 2 * row->level);
	bool utf8 = table->cells.style->utf8;

	if (!table->cells.style->width || table->key == SWZ_BY_FUNCTION ||
	    table->key == SWZ_BY_CAUSE)
		return whole;
	if (table->key == SWZ_BY_FILE || table->key == SWZ_BY_LINE)
		cut_to = swz_cut_beginning;
	else if (table->key == SWZ_BY_PROCESS)
		cut_to = swz_cut_command;
	cut = cut_to(whole, room, utf8);
	free(whole);
	return cut;
}

static void put_row(struct table *table, const struct swz_group_row *row)
{
	char *label;

	put_figures(table, row);
	label = fit_label(table, row);
	swz_put_names(&table->cells, row->level, label, module_of(table, row),
		      "");
	free(label);
}

/* Where no module follows, names take what is left of the line. */
static void fit(struct table *table)
{
	unsigned int name = 0, module = 0;
	size_t i;

	if (!has_modules(table)) {
		table->cells.name = 0;
		return;
	}
	for (i = 0; i < table->rows.count; i++) {
		const struct swz_group_row *row = row_at(table, i);
		char *label = label_of(table, row);

		swz_cells_widen(&name, table->cells.style, label, "");
		swz_cells_widen(&module, table->cells.style,
				module_of(table, row), "");
		free(label);
	}
	swz_cells_fit(&table->cells, name, module);
}

/* How many columns of threads or processes have room. */
static void choose_columns(struct table *table)
{
	size_t columns = table->rows.table.columns, most = MOST_COLUMNS;
	unsigned int width = table->cells.style->width;
	unsigned int taken = 5 + (unsigned int)table->cells.time + 1;

	if (width) {
		most = width > taken + LEAST_LABEL
			       ? (width - taken - LEAST_LABEL) /
					 ((unsigned int)table->cells.time + 1)
			       : 0;
		most = most < LEAST_COLUMNS  ? LEAST_COLUMNS
		       : most > MOST_COLUMNS ? MOST_COLUMNS
					     : most;
	}
	table->own = columns > most ? most - 1 : columns;
	if (table->by->groups->imbalance)
		table->own = 0;
}

static int width_of_id(int32_t id)
{
	char text[16];

	return snprintf(text, sizeof(text), "%" PRId32, id);
}

static void measure(struct table *table, FILE *stream,
		    const struct swz_style *style)
{
	int64_t total = table->by->section->report->total_ns, longest = total;
	int64_t waiting = table->by->section->report->waiting_ns;
	uint64_t calls = 0;
	size_t i;

	table->id = (int)strlen("tid");
	longest = waiting > longest ? waiting : longest;
	for (i = 0; i < table->rows.count; i++) {
		const struct swz_group_row *row = row_at(table, i);
		int width = 0;

		calls = row->calls > calls ? row->calls : calls;
		if (table->rows.has_source)
			continue;
		table->bounded |=
			table->rows.has_times &&
			swz_by_times(&table->rows, row)->wall_is_bound;
		if (swz_by_times(&table->rows, row)->wall_ns > longest)
			longest = swz_by_times(&table->rows, row)->wall_ns;
		width = width_of_id(row->process->profile->header.pid);
		table->id = width > table->id ? width : table->id;
		if (row->thread)
			width = width_of_id(row->thread->thread->record.tid);
		table->id = width > table->id ? width : table->id;
	}
	swz_cells_begin(&table->cells, stream, style, longest, calls,
			swz_counted_title(table->by->section));
	table->cells.total = total;
	table->cells.time += table->bounded;
}

static void put_legend(struct table *table)
{
	const struct swz_style *style = table->cells.style;
	FILE *stream = table->cells.stream;
	char figure[SWZ_FIGURE_BYTES], label[32];
	enum swz_group_key columns = table->by->groups->columns;
	size_t i;

	for (i = 0; i < table->own; i++) {
		char *name = swz_by_column_name(table->by, &table->rows, i);

		snprintf(label, sizeof(label), "%" PRId32 ": ",
			 swz_by_column_id(table->by, &table->rows, i));
		fputs(label, stream);
		swz_put_line(stream, style, name, (unsigned int)strlen(label));
		putc('\n', stream);
		free(name);
	}
	if (has_others(table)) {
		size_t rest = table->rows.table.columns - table->own;

		fprintf(stream, "others: %s ", swz_figure_count(figure, rest));
		fputs(columns == SWZ_BY_RANK
			      ? rest == 1 ? "further rank\n" : "further ranks\n"
		      : columns == SWZ_BY_THREAD
			      ? rest == 1 ? "thread that has less time\n"
					  : "threads that have less time\n"
		      : rest == 1 ? "process that has less time\n"
				  : "processes that have less time\n",
		      stream);
	}
	putc('\n', stream);
}

static void put_rest(struct table *table)
{
	static const char *const many[] = {
		[SWZ_BY_NOTHING] = "",       [SWZ_BY_FUNCTION] = "functions",
		[SWZ_BY_MODULE] = "modules", [SWZ_BY_PROCESS] = "processes",
		[SWZ_BY_THREAD] = "threads", [SWZ_BY_FILE] = "files",
		[SWZ_BY_LINE] = "lines",     [SWZ_BY_RANK] = "ranks",
		[SWZ_BY_CAUSE] = "causes",
	};
	FILE *stream = table->cells.stream;
	char figure[SWZ_FIGURE_BYTES];
	const struct swz_report *report = table->by->section->report;
	uint64_t calls = 0;
	int64_t self = 0;
	size_t i;

	for (i = 0; i < table->rows.count; i++) {
		self = swz_add(self, row_at(table, i)->self_ns);
		calls = swz_add_count(calls, row_at(table, i)->calls);
	}
	swz_put_shown(stream, table->rows.count, table->all,
		      swz_by_name(table->key), many[table->key]);
	if (report->without_times)
		fprintf(stream, ". These have %s of the calls.\n",
			swz_figure_share(figure, swz_signed(calls),
					 swz_signed(swz_calls_of(report))));
	else
		fprintf(stream, ". These have %s of the time.\n",
			swz_figure_share(figure, self, table->cells.total));
	if (table->by->groups->imbalance)
		put_imbalance_note(stream, table->by, table->sort);
	if (has_columns(table))
		return;
	if (table->rows.has_times && !table->by->section->report->samples)
		fputs("Wall, cpu and waiting include the cost of the hooks.\n",
		      stream);
	else if (table->rows.shows_waiting)
		fprintf(stream, "Waiting: beside self and incl, time in %s.\n",
			report->knows_switches ? "which the thread did not run"
					       : "calls that wait");
	if (table->rows.timed)
		fprintf(stream, "p50 to p99.9: of the calls of %s.\n",
			table->by->section->catalog
				->functions[table->by->groups->timed]
				.name);
	if (table->unknown)
		fputs("?: either cpu or waiting, after the last reading.\n",
		      stream);
	if (table->bounded)
		fprintf(stream,
			"%s: or more; it was killed, or left by _exit, and "
			"nothing tells when.\n",
			table->cells.style->utf8 ? "\u2265" : ">");
}

void swz_write_table_by(FILE *stream, const struct swz_by_section *by,
			const struct swz_table_options *options)
{
	static const struct swz_style plain;
	const struct swz_style *style = options->style ? options->style
						       : &plain;
	struct table table = {
		.by = by, .key = by->groups->rows, .sort = options->sort};
	size_t i;

	swz_by_rows_make(&table.rows, by, options);
	table.all = table.rows.table.count;
	table.narrow = style->width && style->width < NARROW;
	table.unknown = table.rows.has_times && !has_columns(&table) &&
			swz_by_any_unknown(&table.rows);
	measure(&table, stream, style);
	choose_columns(&table);
	swz_put_summary(stream, style, by->section);
	if (has_columns(&table) && !by->groups->imbalance)
		put_legend(&table);
	put_titles(&table);
	fit(&table);
	swz_put_name_titles(&table.cells,
			    table.key == SWZ_BY_PROCESS
				    ? "command"
				    : swz_by_name(table.key),
			    has_modules(&table) ? "module" : NULL);
	for (i = 0; i < table.rows.count; i++)
		put_row(&table, row_at(&table, i));
	put_rest(&table);
	swz_by_rows_free(&table.rows);
}
