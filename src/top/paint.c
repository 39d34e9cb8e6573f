/* From above: what is watched, sums of the round, titles, rows, and a line for
 * messages and what is typed. On a low screen the sums go first, then the
 * message, then the titles. */

#include "top/screen.h"

#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "util/memory.h"
#include "profile/formats/common/cells.h"
#include "top/page.h"

struct layout {
	int sums, titles, rows, message; /* lines; -1: not shown */
	int row_count;
};

static struct layout lay_out(void)
{
	struct layout l = {.sums = LINES >= 7 ? 1 : -1,
			   .titles = LINES >= 4 ? 1 + (LINES >= 7) : -1,
			   .message = LINES >= 3 ? LINES - 1 : -1};

	l.rows = 1 + (l.sums > 0) + (l.titles > 0);
	l.row_count = LINES - l.rows - (l.message > 0);
	return l;
}

size_t swz_paint_rows(void)
{
	int rows = lay_out().row_count;

	return rows > 0 ? (size_t)rows : 1;
}

/* --------------------------------------------------------------- texts */

static attr_t attribute(const struct swz_painting *p, enum swz_colour colour)
{
	switch (colour) {
	case SWZ_COLOUR_BOLD:
		return A_BOLD;
	case SWZ_COLOUR_DIM:
		return A_DIM;
	case SWZ_COLOUR_HOT:
		return A_BOLD |
		       (p->terminal->colour ? (attr_t)COLOR_PAIR(SWZ_COLOUR_HOT)
					    : 0);
	case SWZ_COLOUR_WARM:
	case SWZ_COLOUR_GOOD:
		return p->terminal->colour ? (attr_t)COLOR_PAIR((int)colour)
					   : 0;
	default:
		return A_NORMAL;
	}
}

/* Writes TEXT, cut to the line, from a column on; returns the one behind it. */
static int put(const struct swz_painting *p, int line, int column,
	       const char *text)
{
	char *cut;

	if (line < 0 || column >= COLS)
		return column;
	cut = swz_cut_end(text, (unsigned int)(COLS - column),
			  p->terminal->utf8);
	mvaddstr(line, column, cut);
	column += (int)swz_text_width(cut);
	free(cut);
	return column;
}

static void put_right(const struct swz_painting *p, int line, int from,
		      const char *text)
{
	int column = COLS - (int)swz_text_width(text);

	if (column > from)
		put(p, line, column, text);
}

/* A whole line in the other colours. */
static void put_bar(const struct swz_painting *p, int line, const char *text)
{
	if (line < 0)
		return;
	attrset(A_REVERSE);
	mvhline(line, 0, ' ', COLS);
	put(p, line, 0, text);
	attrset(A_NORMAL);
}

/* ---------------------------------------------------------- the heading */

static const char *source(const struct swz_top_session *s, char text[64])
{
	uint64_t rate = s->options.sampling.rate;
	bool pauses = s->sampler.why_pause ||
		      s->options.sampling.engine == SWZ_ENGINE_PAUSE;

	if (!s->live.samples)
		return s->live.without_times ? "exact counts, no times"
					     : "exact counts";
	if (!rate)
		rate = pauses ? 100 : 1000;
	snprintf(text, 64, "%" PRIu64 " samples/s%s", rate,
		 pauses ? " by pauses" : "");
	return text;
}

static void put_heading_of_list(const struct swz_painting *p)
{
	char length[SWZ_FIGURE_BYTES];
	char *state = swz_print("  last %s%s",
				swz_figure_time(length,
						(int64_t)p->list->wall_ns,
						p->terminal->utf8),
				p->frozen ? "  FROZEN" : "");
	int end;

	attrset(A_BOLD);
	end = put(p, 0, 0, "Which process is to be watched?");
	attrset(A_NORMAL);
	put_right(p, 0, end, state);
	free(state);
}

static void put_heading(const struct swz_painting *p)
{
	const struct swz_top_session *s = p->session;
	const struct swz_live_figures *figures = swz_page_figures(p->page,
								  &s->live);
	char *what = swz_print("%d %s", (int)s->pid, s->command);
	char length[SWZ_FIGURE_BYTES], how[64], only[32] = "";
	char *state;
	int end;

	if (s->live.only_tid)
		snprintf(only, sizeof(only), "ONLY THREAD %d  ",
			 (int)s->live.only_tid);
	state = swz_print("  %s%s  %s %s%s%s", only, source(s, how),
			  p->page->whole ? "all" : "last",
			  swz_figure_time(length, (int64_t)figures->wall_ns,
					  p->terminal->utf8),
			  p->frozen ? "  FROZEN" : "",
			  s->ended ? "  ENDED" : "");
	attrset(A_BOLD);
	end = put(p, 0, 0, what);
	attrset(A_NORMAL);
	if (end + (int)swz_text_width(state) > COLS) {
		end = COLS - (int)swz_text_width(state);
		if (end < COLS / 3)
			end = COLS;
		move(0, end);
		clrtoeol();
	}
	put_right(p, 0, end - 1, state);
	free(state);
	free(what);
}

static uint64_t used_ns(const struct swz_live *live, bool whole)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < live->thread_count; i++)
		if (whole)
			sum += live->threads[i].total_used_ns;
		else if (live->threads[i].seen == live->round)
			sum += live->threads[i].used_ns;
	return sum;
}

static void put_sums_of_list(const struct swz_painting *p, int line)
{
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES], *all;
	uint64_t used = 0;

	for (size_t i = 0; i < p->list->count; i++)
		used += p->list->items[i].recent_ns;
	all = swz_print("CPU %s  processes %s",
			swz_figure_share(share, (int64_t)used,
					 (int64_t)p->list->wall_ns),
			swz_figure_count(count, p->list->count));
	put(p, line, 0, all);
	free(all);
}

static void put_sums(const struct swz_painting *p, int line)
{
	const struct swz_live *live = &p->session->live;
	const struct swz_live_figures *f = swz_page_figures(p->page, live);
	char text[6][SWZ_FIGURE_BYTES];
	char *all;

	swz_figure_share(text[0], (int64_t)used_ns(live, p->page->whole),
			 (int64_t)f->wall_ns);
	swz_figure_count(text[1], live->processes);
	swz_figure_count(text[2], live->live_threads);
	swz_figure_count(text[3], f->calls);
	if (live->samples)
		all = swz_print("CPU %s  processes %s  threads %s  samples %s  "
				"lost %s  cut %s",
				text[0], text[1], text[2], text[3],
				swz_figure_count(text[4], f->lost + f->missed),
				swz_figure_count(text[5], f->cut));
	else
		all = swz_print(
			"CPU %s  processes %s  threads %s  calls %s  "
			"calls/s %s",
			text[0], text[1], text[2], text[3],
			swz_figure_count(
				text[4],
				live->recent.wall_ns
					? (uint64_t)((double)live->recent
							     .calls *
						     1e9 /
						     (double)live->recent
							     .wall_ns)
					: 0));
	put(p, line, 0, all);
	free(all);
}

/* ----------------------------------------------------------------- rows */

static void put_cell(const char *text, const struct swz_column *column, int x,
		     int line)
{
	int spare = (int)column->width - (int)swz_text_width(text);

	if (!column->left && spare > 0)
		x += spare;
	mvaddstr(line, x, text);
}

static void put_titles(const struct swz_painting *p, int line,
		       const struct swz_column *columns, size_t count)
{
	enum swz_column_id sorted = p->page->sort[p->page->kind];
	bool sorts = p->page->kind <= SWZ_PAGE_PROCESSES;
	int x = 0;

	if (line < 0)
		return;
	attrset(A_REVERSE);
	mvhline(line, 0, ' ', COLS);
	for (size_t i = 0; i < count; i++) {
		char *title = swz_cut_end(columns[i].title, columns[i].width,
					  p->terminal->utf8);

		attrset(sorts && columns[i].id == sorted
				? A_REVERSE | A_BOLD | A_UNDERLINE
				: A_REVERSE);
		put_cell(title, &columns[i], x, line);
		x += (int)columns[i].width + 1;
		free(title);
	}
	attrset(A_NORMAL);
}

static void put_row(const struct swz_painting *p, int line,
		    const struct swz_row *row, bool selected,
		    const struct swz_column *columns, size_t count)
{
	int x = 0;

	if (selected) {
		attrset(A_REVERSE);
		mvhline(line, 0, ' ', COLS);
	}
	for (size_t i = 0; i < count; i++) {
		enum swz_colour colour;
		char *text = swz_cell(p->page, p->live, row, &columns[i],
				      p->terminal->utf8, &colour);

		attrset((int)(selected ? A_REVERSE : attribute(p, colour)));
		put_cell(text, &columns[i], x, line);
		x += (int)columns[i].width + 1;
		free(text);
	}
	attrset(A_NORMAL);
}

static void scroll_to_cursor(struct swz_painting *p, size_t room)
{
	const struct swz_page *page = p->page;

	if (p->first > page->cursor)
		p->first = page->cursor;
	if (page->cursor >= p->first + room)
		p->first = page->cursor - room + 1;
	if (p->first + room > page->row_count)
		p->first = page->row_count > room ? page->row_count - room : 0;
}

/* ------------------------------------------------------------ the last line */

static const char *problem_of(const struct swz_top_session *s)
{
	if (!s)
		return NULL;
	if (s->sampler.problem[0])
		return s->sampler.problem;
	return s->live.damaged;
}

static const char *const hints[SWZ_PAGE_KINDS] = {
	[SWZ_PAGE_FUNCTIONS] = "? keys  q leave  Enter callers and callees  "
			       "t threads  m modules  / filter",
	[SWZ_PAGE_THREADS] = "? keys  q leave  Enter functions of it  f all "
			     "functions  m modules",
	[SWZ_PAGE_MODULES] = "? keys  q leave  Enter functions of it  "
			     "f functions  t threads",
	[SWZ_PAGE_PROCESSES] = "? keys  q leave  Enter watch it  < > sort  "
			       "/ filter",
	[SWZ_PAGE_NEIGHBOURS] = "? keys  Right open  Left close  Enter its "
				"callers and callees  Esc back",
	[SWZ_PAGE_OUTPUT] = "? keys  Esc back",
	[SWZ_PAGE_HELP] = "Esc back",
};

static void put_message(const struct swz_painting *p, int line)
{
	const struct swz_page *page = p->page;
	const char *problem = problem_of(p->session);
	char shown[SWZ_FIGURE_BYTES], hidden[SWZ_FIGURE_BYTES];
	char *text;

	if (line < 0)
		return;
	if (p->prompt) {
		text = swz_print("%s%s_", p->prompt, p->input);
		put_bar(p, line, text);
		free(text);
		return;
	}
	if (p->message[0]) {
		put_bar(p, line, p->message);
		return;
	}
	if (problem) {
		put_bar(p, line, problem);
		return;
	}
	if (page->filter[0])
		text = swz_print("/%s  %s rows, %s not shown  Esc all",
				 page->filter,
				 swz_figure_count(shown, page->row_count),
				 swz_figure_count(hidden, page->hidden));
	else if (page->module)
		text = swz_print("of %s  Esc back", page->module);
	else if (page->kind == SWZ_PAGE_FUNCTIONS && p->session->live.only_tid)
		text = swz_duplicate("? keys  q leave  Esc all threads  Enter "
				     "callers and callees  m modules");
	else if (page->kind == SWZ_PAGE_FUNCTIONS && p->has_list)
		text = swz_duplicate("? keys  q leave  Esc processes  Enter "
				     "callers and callees  t threads  m "
				     "modules");
	else
		text = swz_duplicate(hints[page->kind]);
	put(p, line, 0, text);
	free(text);
}

void swz_paint(struct swz_painting *p)
{
	struct swz_column columns[SWZ_MOST_COLUMNS];
	size_t count = swz_columns(p->page, p->live, (unsigned int)COLS,
				   columns);
	struct layout l = lay_out();
	size_t room = swz_paint_rows();

	scroll_to_cursor(p, room);
	erase();
	if (p->session)
		put_heading(p);
	else
		put_heading_of_list(p);
	if (l.sums > 0 && p->session)
		put_sums(p, l.sums);
	else if (l.sums > 0)
		put_sums_of_list(p, l.sums);
	put_titles(p, l.titles, columns, count);
	for (size_t i = 0; i < room && p->first + i < p->page->row_count; i++)
		put_row(p, l.rows + (int)i, &p->page->rows[p->first + i],
			p->first + i == p->page->cursor, columns, count);
	put_message(p, l.message);
	refresh();
}
