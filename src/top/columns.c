#include "top/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/cells.h"
#include "profile/formats/cut_text.h"
#include "profile/names/short_name.h"
#include "profile/support/memory.h"

/* A column of a higher rank goes first where there is no room. */
struct known_column {
	enum swz_column_id id;
	const char *title;       /* NULL: of that kind of figures there is no */
	const char *exact_title; /* such column */
	unsigned int width, rank;
};

/* The name's width is what is left, the module's at most a quarter. */
#define LEAST_NAME 14u

static const struct known_column functions[] = {
	{SWZ_COLUMN_SELF, "SELF", "SELF", 6, 0},
	{SWZ_COLUMN_TOTAL, "TOTAL", "TOTAL", 6, 3},
	{SWZ_COLUMN_COUNT, "SAMPLES", "CALLS/s", 11, 2},
	{SWZ_COLUMN_MEAN, NULL, "MEAN", 7, 1},
	{SWZ_COLUMN_NAME, "FUNCTION", "FUNCTION", 0, 0},
	{SWZ_COLUMN_MODULE, "MODULE", "MODULE", 0, 4},
	{0},
};

static const struct known_column threads[] = {
	{SWZ_COLUMN_PID, "PID", "PID", 7, 3},
	{SWZ_COLUMN_TID, "TID", "TID", 7, 1},
	{SWZ_COLUMN_CPU, "CPU", "CPU", 6, 0},
	{SWZ_COLUMN_TIME, "TIME", "TIME", 7, 4},
	{SWZ_COLUMN_COUNT, "SAMPLES", "CALLS/s", 11, 2},
	{SWZ_COLUMN_NAME, "THREAD", "THREAD", 0, 0},
	{0},
};

static const struct known_column modules[] = {
	{SWZ_COLUMN_SELF, "SELF", "SELF", 6, 0},
	{SWZ_COLUMN_TIME, "TIME", "TIME", 7, 3},
	{SWZ_COLUMN_COUNT, "SAMPLES", "CALLS/s", 11, 1},
	{SWZ_COLUMN_FUNCTIONS, "FUNCTIONS", "FUNCTIONS", 9, 2},
	{SWZ_COLUMN_NAME, "MODULE", "MODULE", 0, 0},
	{0},
};

static const struct known_column neighbours[] = {
	{SWZ_COLUMN_TOTAL, "SHARE", "SHARE", 6, 0},
	{SWZ_COLUMN_TIME, "TIME", "TIME", 7, 1},
	{SWZ_COLUMN_COUNT, NULL, "CALLS/s", 11, 2},
	{SWZ_COLUMN_NAME, "CALLERS AND CALLEES", "CALLERS AND CALLEES", 0, 0},
	{SWZ_COLUMN_MODULE, "MODULE", "MODULE", 0, 4},
	{0},
};

static const struct known_column processes[] = {
	{SWZ_COLUMN_PID, "PID", "PID", 7, 1},
	{SWZ_COLUMN_CPU, "CPU", "CPU", 6, 0},
	{SWZ_COLUMN_TIME, "TIME", "TIME", 8, 3},
	{SWZ_COLUMN_MODULE, "WATCH", "WATCH", 7, 2},
	{SWZ_COLUMN_NAME, "COMMAND", "COMMAND", 0, 0},
	{0},
};

static const struct known_column output[] = {
	{SWZ_COLUMN_NAME, "OUTPUT", "OUTPUT", 0, 0},
	{0},
};

static const struct known_column help[] = {
	{SWZ_COLUMN_NAME, "KEYS", "KEYS", 0, 0},
	{0},
};

static const struct known_column *const of_page[SWZ_PAGE_KINDS] = {
	functions, threads, modules, processes, neighbours, output, help};

static const char *title_of(const struct swz_page *page,
			    const struct swz_live *live,
			    const struct known_column *column)
{
	if (live->samples)
		return column->title;
	if (column->id == SWZ_COLUMN_COUNT && page->whole)
		return "CALLS";
	return column->exact_title;
}

static unsigned int taken(const struct swz_column *columns, size_t count)
{
	unsigned int width = 0;

	for (size_t i = 0; i < count; i++)
		width += columns[i].width + (i > 0);
	return width;
}

static size_t find_columns(const struct swz_page *page,
			   const struct swz_live *live, unsigned int screen,
			   unsigned int most_rank,
			   struct swz_column columns[SWZ_MOST_COLUMNS])
{
	const struct known_column *known = of_page[page->kind];
	unsigned int module = screen / 4 < 8 ? 8 : screen / 4;
	size_t count = 0;

	for (; known->title || known->exact_title; known++) {
		const char *title = title_of(page, live, known);
		bool left = known->id == SWZ_COLUMN_NAME ||
			    known->id == SWZ_COLUMN_MODULE;

		if (title && known->rank <= most_rank)
			columns[count++] = (struct swz_column){
				known->id, title,
				known->id == SWZ_COLUMN_MODULE && !known->width
					? module
					: known->width,
				left};
	}
	return count;
}

size_t swz_columns(const struct swz_page *page, const struct swz_live *live,
		   unsigned int screen,
		   struct swz_column columns[SWZ_MOST_COLUMNS])
{
	unsigned int rank = 4, used;
	size_t count;

	do {
		count = find_columns(page, live, screen, rank, columns);
		used = taken(columns, count);
	} while (used + LEAST_NAME > screen && rank-- > 0);
	for (size_t i = 0; i < count; i++)
		if (columns[i].id == SWZ_COLUMN_NAME)
			columns[i].width = screen > used ? screen - used : 1;
	return count;
}

void swz_columns_sort_next(struct swz_page *page, const struct swz_live *live,
			   int step)
{
	struct swz_column columns[SWZ_MOST_COLUMNS] = {{0}};
	int count = (int)find_columns(page, live, 0, UINT32_MAX, columns);

	if (page->kind > SWZ_PAGE_PROCESSES)
		return;
	for (int i = 0; i < count; i++)
		if (columns[i].id == page->sort[page->kind]) {
			page->sort[page->kind] =
				columns[(i + step + count) % count].id;
			page->reversed[page->kind] = false;
			return;
		}
	page->sort[page->kind] = columns[0].id;
}

/* ------------------------------------------------------------- comparing */

static double mean_ns(const struct swz_row *row)
{
	return row->calls ? (double)row->inclusive_ns / (double)row->calls : 0;
}

/* A process's time is all that it has used, that of other rows their own. */
static int64_t time_of(const struct swz_row *row, enum swz_page_kind kind)
{
	return kind == SWZ_PAGE_NEIGHBOURS || kind == SWZ_PAGE_PROCESSES
		       ? row->inclusive_ns
		       : row->self_ns;
}

static double figure(const struct swz_row *row, enum swz_column_id column,
		     enum swz_page_kind kind)
{
	switch (column) {
	case SWZ_COLUMN_TOTAL:
		return (double)row->inclusive_ns;
	case SWZ_COLUMN_COUNT:
		return (double)row->calls;
	case SWZ_COLUMN_MEAN:
		return mean_ns(row);
	case SWZ_COLUMN_FUNCTIONS:
		return row->functions;
	case SWZ_COLUMN_TIME:
		return (double)time_of(row, kind);
	case SWZ_COLUMN_PID:
		return -(double)row->pid;
	case SWZ_COLUMN_TID:
		return -(double)row->tid;
	default:
		return (double)row->self_ns;
	}
}

int swz_rows_compare(const struct swz_row *a, const struct swz_row *b,
		     enum swz_column_id by, enum swz_page_kind kind)
{
	double of_a, of_b;

	if (by == SWZ_COLUMN_NAME)
		return strcmp(a->name, b->name);
	if (by == SWZ_COLUMN_MODULE)
		return strcmp(a->module, b->module);
	of_a = figure(a, by, kind);
	of_b = figure(b, by, kind);
	return of_a > of_b ? -1 : of_a < of_b;
}

/* ------------------------------------------------------------- cells */

static uint64_t shown_count(const struct swz_page *page,
			    const struct swz_live *live, uint64_t calls)
{
	uint64_t wall_ns = live->recent.wall_ns;

	if (live->samples || page->whole || !wall_ns)
		return calls;
	return (uint64_t)((double)calls * 1e9 / (double)wall_ns + 0.5);
}

/* Deeper rows than there is room for say how deep they are. */
static char *name_cell(const struct swz_row *row, unsigned int width, bool utf8)
{
	unsigned int most = width / 2, indent = 2 * row->depth;
	const char *mark = "";
	char *whole = swz_printable(row->name, utf8), *text, *cut, *cell;
	char depth[16] = "";

	if (row->key && row->fold != SWZ_ROW_LEAF)
		mark = row->fold == SWZ_ROW_OPEN ? "- " : "+ ";
	else if (row->depth)
		mark = "  ";
	if (indent > most) {
		snprintf(depth, sizeof(depth), "(%" PRIu32 ") ", row->depth);
		indent = most - (unsigned int)strlen(depth);
		if (most < strlen(depth))
			indent = 0;
	}
	text = swz_print("%*s%s%s", (int)indent, "", depth, mark);
	indent = (unsigned int)strlen(text);
	cut = swz_short_name(whole, width > indent ? width - indent : 1, utf8);
	cell = swz_print("%s%s", text, cut);
	free(text);
	free(cut);
	free(whole);
	text = swz_cut_end(cell, width, utf8);
	free(cell);
	return text;
}

char *swz_cell(const struct swz_page *page, const struct swz_live *live,
	       const struct swz_row *row, const struct swz_column *column,
	       bool utf8, enum swz_colour *colour)
{
	int64_t total = swz_page_total(page, live);
	int64_t part = column->id == SWZ_COLUMN_TOTAL ? row->inclusive_ns
						      : row->self_ns;
	char *text = swz_allocate(SWZ_FIGURE_BYTES, 1);

	*colour = SWZ_COLOUR_NONE;
	if (row->heading && column->id != SWZ_COLUMN_NAME)
		return text;
	switch (column->id) {
	case SWZ_COLUMN_SELF:
	case SWZ_COLUMN_TOTAL:
	case SWZ_COLUMN_CPU:
		*colour = swz_colour_of_share(part, total);
		return swz_figure_share(text, part, total);
	case SWZ_COLUMN_COUNT:
		return swz_figure_count(text,
					shown_count(page, live, row->calls));
	case SWZ_COLUMN_MEAN:
		if (row->calls)
			return swz_figure_time(
				text, (int64_t)(mean_ns(row) + 0.5), utf8);
		text[0] = '-';
		return text;
	case SWZ_COLUMN_TIME:
		return swz_figure_time(text, time_of(row, page->kind), utf8);
	case SWZ_COLUMN_PID:
		snprintf(text, SWZ_FIGURE_BYTES, "%" PRId32, row->pid);
		return text;
	case SWZ_COLUMN_TID:
		snprintf(text, SWZ_FIGURE_BYTES, "%" PRId32, row->tid);
		return text;
	case SWZ_COLUMN_FUNCTIONS:
		return swz_figure_count(text, row->functions);
	case SWZ_COLUMN_NAME:
		free(text);
		if (row->heading)
			*colour = SWZ_COLOUR_BOLD;
		return page->kind == SWZ_PAGE_PROCESSES
			       ? swz_cut_command(row->name, column->width, utf8)
			       : name_cell(row, column->width, utf8);
	case SWZ_COLUMN_MODULE:
		free(text);
		*colour = SWZ_COLOUR_DIM;
		return swz_cut_end(row->module ? row->module : "",
				   column->width, utf8);
	}
	return text;
}
