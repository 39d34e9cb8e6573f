/* A page is a list of rows (functions, threads, processes, modules, callers)
 * made anew each round from the live figures, and columns chosen for it. The
 * chosen row is kept by its key, not by its place, so it stays while rows move.
 * Nothing here knows a terminal: unit tests look at pages as they are. */

#include "top/page.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/contexts.h"
#include "profile/formats/common/cells.h"
#include "profile/names/catalog.h"
#include "top/live.h"
#include "util/figures.h"
#include "util/memory.h"

/* --- columns ------------------------------------------------------------- */

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

/* Positive: A comes behind B. The largest come first, of texts the first in
 * the alphabet. */
static int rows_compare(const struct swz_row *a, const struct swz_row *b,
			enum swz_column_id by, enum swz_page_kind kind)
{
	double of_a, of_b;

	if (by == SWZ_COLUMN_NAME)
		return strcmp(a->name, b->name);
	if (by == SWZ_COLUMN_MODULE)
		return strcmp(a->module, b->module);
	of_a = figure(a, by, kind);
	of_b = figure(b, by, kind);
	if (of_a == of_b) { /* as all times are that nobody knows */
		of_a = (double)a->calls;
		of_b = (double)b->calls;
	}
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

/* Times of threads and processes are the kernel's. */
static bool is_unknown(const struct swz_page *page, const struct swz_live *live,
		       enum swz_column_id column)
{
	return live->without_times && page->kind != SWZ_PAGE_THREADS &&
	       page->kind != SWZ_PAGE_PROCESSES &&
	       (column == SWZ_COLUMN_SELF || column == SWZ_COLUMN_TOTAL ||
		column == SWZ_COLUMN_MEAN || column == SWZ_COLUMN_TIME);
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
	if (is_unknown(page, live, column->id)) {
		text[0] = '-';
		return text;
	}
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

/* --- rows ---------------------------------------------------------------- */

/* Makes the rows of the pages: parts of swz_page_fill(). */

static void page_add(struct swz_page *page, const struct swz_row *row)
{
	swz_grow(&page->rows, &page->row_capacity, page->row_count,
		 sizeof(*page->rows));
	page->rows[page->row_count++] = *row;
}

/* True if the filter, if there is one, is in one of the texts. */
static bool page_shows(const struct swz_page *page, const char *name,
		       const char *module)
{
	return !page->filter[0] || strcasestr(name, page->filter) ||
	       (module && strcasestr(module, page->filter));
}

static void add_filtered(struct swz_page *page, const struct swz_row *row)
{
	if (page_shows(page, row->name, row->module))
		page_add(page, row);
	else
		page->hidden++;
}

static uint64_t page_key_of_function(uint32_t function)
{
	return (uint64_t)function + 1;
}

uint64_t swz_page_key_of_thread(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

/* ------------------------------------------------------------- sorting */

struct order {
	enum swz_column_id by;
	bool reversed;
	enum swz_page_kind kind;
};

static int compare(const void *left, const void *right, void *argument)
{
	const struct order *order = argument;
	const struct swz_row *a = left, *b = right;
	int result = rows_compare(a, b, order->by, order->kind);

	if (result)
		return order->reversed ? -result : result;
	return a->key < b->key ? -1 : a->key > b->key;
}

static void sort_rows(struct swz_page *page)
{
	struct order order = {page->sort[page->kind],
			      page->reversed[page->kind], page->kind};

	if (page->row_count > 1)
		qsort_r(page->rows, page->row_count, sizeof(*page->rows),
			compare, &order);
}

/* --------------------------------------------------------------- pages */

/* True for the callers outside of all functions: nobody asks for that sum. */
static bool is_nothing(const struct swz_live_figures *figures,
		       uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];

	return !f->calls && !f->self_ns &&
	       (!f->inclusive_ns || function == SWZ_CATALOG_OUTSIDE);
}

static struct swz_row row_of(const struct swz_live *live,
			     const struct swz_live_figures *figures,
			     uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];

	return (struct swz_row){
		.key = page_key_of_function(function),
		.index = function,
		.self_ns = f->self_ns,
		.inclusive_ns = f->inclusive_ns,
		.calls = f->calls,
		.name = swz_live_name(live, function),
		.module = swz_live_module(live, function),
	};
}

static void page_add_functions(struct swz_page *page,
			       const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);

	for (uint32_t i = 0; i < figures->function_count; i++) {
		struct swz_row row;

		if (is_nothing(figures, i))
			continue;
		row = row_of(live, figures, i);
		if (!page->module || strcmp(page->module, row.module) == 0)
			add_filtered(page, &row);
	}
	sort_rows(page);
}

static void page_add_threads(struct swz_page *page, const struct swz_live *live)
{
	for (uint32_t i = 0; i < live->thread_count; i++) {
		const struct swz_live_thread *t = &live->threads[i];
		struct swz_row row = {
			.key = swz_page_key_of_thread(t->pid, t->tid),
			.index = i,
			.pid = t->pid,
			.tid = t->tid,
			.name = t->name,
			.self_ns = (int64_t)(page->whole ? t->total_used_ns
							 : t->used_ns),
			.calls = page->whole ? t->total_calls : t->calls,
		};

		if (page->whole || t->seen == live->round)
			add_filtered(page, &row);
	}
	sort_rows(page);
}

static void page_add_processes(struct swz_page *page,
			       const struct swz_process_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct swz_top_process *p = &list->items[i];

		char pid[16];

		snprintf(pid, sizeof(pid), "%" PRId32, p->pid);
		if (!page_shows(page, p->command, pid)) {
			page->hidden++;
			continue;
		}
		page_add(page, &(struct swz_row){
				       .key = (uint64_t)(uint32_t)p->pid,
				       .index = i,
				       .pid = p->pid,
				       .name = p->command,
				       .module = p->watch,
				       .self_ns = (int64_t)p->recent_ns,
				       .inclusive_ns = (int64_t)p->used_ns,
			       });
	}
	sort_rows(page);
}

/* Modules are known by their names, which differ. */
static struct swz_row *module_row(struct swz_page *page, struct swz_map *found,
				  const char *name)
{
	uint32_t *index = swz_map_at(found, (uintptr_t)name, 0);

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)page->row_count;
		page_add(page, &(struct swz_row){.key = (uintptr_t)name,
						 .name = name});
	}
	return &page->rows[*index];
}

static void page_add_modules(struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);
	struct swz_map found = {0};
	size_t kept = 0;

	for (uint32_t i = 0; i < figures->function_count; i++) {
		struct swz_row *row, of;

		if (is_nothing(figures, i))
			continue;
		of = row_of(live, figures, i);
		row = module_row(page, &found, of.module);
		row->self_ns += of.self_ns;
		row->calls += of.calls;
		row->functions++;
	}
	for (size_t i = 0; i < page->row_count; i++)
		if (page_shows(page, page->rows[i].name, NULL))
			page->rows[kept++] = page->rows[i];
	page->hidden = page->row_count - kept;
	page->row_count = kept;
	swz_map_free(&found);
	sort_rows(page);
}

/* --- figures ------------------------------------------------------------- */

const struct swz_live_figures *swz_page_figures(const struct swz_page *page,
						const struct swz_live *live)
{
	return page->whole ? &live->total : &live->recent;
}

int64_t swz_page_total(const struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);

	if (page->kind == SWZ_PAGE_PROCESSES)
		return (int64_t)live->recent.wall_ns;
	if (page->kind == SWZ_PAGE_THREADS)
		return (int64_t)figures->wall_ns;
	if (page->kind == SWZ_PAGE_NEIGHBOURS)
		return page->row_count ? page->rows[0].inclusive_ns : 0;
	return figures->total_ns;
}

/* --- callers and callees ------------------------------------------------- */

/* A function that calls itself has contexts below its own. Only the topmost
 * ones have its time once; the others are callees of these. */

/* Parents come before their children. */
static void add_callees(struct swz_contexts *callees,
			const struct swz_contexts *contexts, uint32_t function)
{
	uint32_t *place = swz_allocate(contexts->count, sizeof(*place));

	for (size_t i = 1; i < contexts->count; i++) {
		const struct swz_context *c = &contexts->items[i];
		uint32_t above = place[c->parent];

		place[i] = SWZ_MAP_NONE;
		if (c->function == function && c->topmost)
			place[i] = SWZ_CONTEXT_ROOT;
		else if (c->parent && above != SWZ_MAP_NONE)
			place[i] = swz_contexts_child(
				callees, above, c->function, SWZ_PLACE_UNKNOWN,
				c->folded);
		if (place[i] != SWZ_MAP_NONE)
			swz_context_merge(&callees->items[place[i]], c);
	}
	free(place);
	swz_contexts_sum(callees);
}

static void add_path(struct swz_contexts *callers,
		     const struct swz_contexts *contexts,
		     const struct swz_context *from)
{
	uint32_t at = SWZ_CONTEXT_ROOT;

	for (uint32_t i = from->parent; i; i = contexts->items[i].parent)
		at = swz_contexts_child(callers, at,
					contexts->items[i].function,
					SWZ_PLACE_UNKNOWN, false);
	callers->items[at].self_ns = swz_add(callers->items[at].self_ns,
					     from->inclusive_ns);
	callers->items[at].calls = swz_add_count(callers->items[at].calls,
						 from->calls);
}

static void add_callers(struct swz_contexts *callers,
			const struct swz_contexts *contexts, uint32_t function)
{
	for (size_t i = 1; i < contexts->count; i++) {
		const struct swz_context *c = &contexts->items[i];

		if (c->function == function && c->topmost &&
		    (c->inclusive_ns || c->calls))
			add_path(callers, contexts, c);
	}
	for (size_t i = callers->count; i-- > 1;) {
		const struct swz_context *c = &callers->items[i];

		callers->items[c->parent].calls = swz_add_count(
			callers->items[c->parent].calls, c->calls);
	}
	swz_contexts_sum(callers);
}

void swz_neighbours_find(struct swz_neighbours *n,
			 const struct swz_contexts *contexts, uint32_t function)
{
	swz_contexts_begin(&n->callers, function, false);
	swz_contexts_begin(&n->callees, function, false);
	add_callers(&n->callers, contexts, function);
	add_callees(&n->callees, contexts, function);
}

void swz_neighbours_free(struct swz_neighbours *n)
{
	swz_contexts_free(&n->callers);
	swz_contexts_free(&n->callees);
	*n = (struct swz_neighbours){0};
}

/* --- rows of callers and callees ----------------------------------------- */

/* A tree is shown as far as its rows are open: at first those near the
 * function that have some of its time. What the user opened or closed is kept
 * by the path, so that it stays so in the next round. */

/* Open at first. */
#define OPEN_DEPTH 2u
#define OPEN_PERCENT 2

struct rows {
	struct swz_page *page;
	const struct swz_live *live;
	const struct swz_contexts *contexts;
	struct swz_children children;
	uint64_t *keys;
	bool *shown; /* by the filter */
};

static uint64_t mix(uint64_t above, uint64_t of)
{
	uint64_t key = (above ^ of) * 0x9e3779b97f4a7c15u;

	return key ^ key >> 29;
}

static int by_time(const void *left, const void *right, void *argument)
{
	const struct swz_context *items = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].inclusive_ns != items[b].inclusive_ns)
		return items[a].inclusive_ns > items[b].inclusive_ns ? -1 : 1;
	if (items[a].calls != items[b].calls)
		return items[a].calls > items[b].calls ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Rows that the filter finds are shown with the path that leads there. A
 * context of earlier rounds, in which nothing was spent since, is left out. */
static void prepare(struct rows *r, uint64_t salt)
{
	const struct swz_context *items = r->contexts->items;

	r->keys = swz_allocate(r->contexts->count, sizeof(*r->keys));
	r->shown = swz_allocate(r->contexts->count, sizeof(*r->shown));
	r->keys[0] = mix(salt, items[0].function);
	for (size_t i = 1; i < r->contexts->count; i++)
		r->keys[i] = mix(r->keys[items[i].parent],
				 (uint64_t)items[i].function << 1 |
					 items[i].folded);
	for (size_t i = r->contexts->count; i-- > 1;) {
		uint32_t function = items[i].function;

		if (!items[i].inclusive_ns && !items[i].calls)
			continue;
		/* of counted calls nobody knows who called the caller */
		if (r->live->without_times && items[i].depth > 1 &&
		    function == SWZ_CATALOG_UNKNOWN)
			continue;
		r->shown[i] |= page_shows(r->page,
					  swz_live_name(r->live, function),
					  swz_live_module(r->live, function));
		r->shown[items[i].parent] |= r->shown[i];
		r->page->hidden += !r->shown[i];
	}
	swz_children_find(&r->children, r->contexts, by_time,
			  r->contexts->items);
}

static bool is_open(const struct rows *r, uint32_t at)
{
	const struct swz_context *c = &r->contexts->items[at];
	uint32_t told = swz_map_get(&r->page->folds, r->keys[at], 0);

	if (r->page->filter[0])
		return true;
	if (told != SWZ_MAP_NONE)
		return told;
	return c->depth <= OPEN_DEPTH &&
	       (double)c->inclusive_ns * 100 >=
		       (double)r->contexts->items[0].inclusive_ns *
			       OPEN_PERCENT;
}

static void add_row(const struct rows *r, uint32_t at, bool open)
{
	const struct swz_context *c = &r->contexts->items[at];
	bool leaf = r->children.start[at] == r->children.start[at + 1];

	page_add(r->page,
		 &(struct swz_row){
			 .key = r->keys[at],
			 .index = c->function,
			 .depth = c->depth - 1,
			 .fold = leaf   ? SWZ_ROW_LEAF
				 : open ? SWZ_ROW_OPEN
					: SWZ_ROW_CLOSED,
			 .self_ns = c->self_ns,
			 .inclusive_ns = c->inclusive_ns,
			 .calls = c->calls,
			 .name = swz_live_name(r->live, c->function),
			 .module = swz_live_module(r->live, c->function)});
}

static void add_heading(struct swz_page *page, const char *text, uint64_t key)
{
	page_add(page,
		 &(struct swz_row){.key = key, .heading = true, .name = text});
}

/* Depth first; a path can be too long for recursion. */
static void add_tree(struct swz_page *page, const struct swz_live *live,
		     const struct swz_contexts *contexts, uint64_t salt)
{
	struct rows r = {.page = page, .live = live, .contexts = contexts};
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	size_t depth = 0;

	prepare(&r, salt);
	stack[depth++] = SWZ_CONTEXT_ROOT;
	while (depth) {
		uint32_t at = stack[--depth];
		bool open = at == SWZ_CONTEXT_ROOT || is_open(&r, at);

		if (at != SWZ_CONTEXT_ROOT)
			add_row(&r, at, open);
		for (uint32_t i = r.children.start[at + 1];
		     open && i-- > r.children.start[at];)
			if (r.shown[r.children.items[i]])
				stack[depth++] = r.children.items[i];
	}
	swz_children_free(&r.children);
	free(r.keys);
	free(r.shown);
	free(stack);
}

/* The function, who calls it and what it calls. */
static void page_add_neighbours(struct swz_page *page,
				const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);
	uint32_t function = page->functions[page->function_count - 1];
	struct swz_neighbours n;

	swz_neighbours_find(&n, &figures->contexts, function);
	page_add(page, &(struct swz_row){
			       .key = page_key_of_function(function),
			       .index = function,
			       .self_ns = n.callees.items[0].self_ns,
			       .inclusive_ns = n.callees.items[0].inclusive_ns,
			       .calls = n.callees.items[0].calls,
			       .name = swz_live_name(live, function),
			       .module = swz_live_module(live, function)});
	add_heading(page, "called by", UINT64_MAX);
	add_tree(page, live, &n.callers, 1);
	add_heading(page, "calls", UINT64_MAX - 1);
	if (n.callees.items[0].self_ns)
		page_add(page,
			 &(struct swz_row){
				 .key = UINT64_MAX - 2,
				 .index = function,
				 .inclusive_ns = n.callees.items[0].self_ns,
				 .name = "[itself]",
				 .module = ""});
	add_tree(page, live, &n.callees, 2);
	swz_neighbours_free(&n);
}

/* --- a page -------------------------------------------------------------- */

void swz_page_begin(struct swz_page *page)
{
	*page = (struct swz_page){
		.kind = SWZ_PAGE_FUNCTIONS,
		.sort = {[SWZ_PAGE_FUNCTIONS] = SWZ_COLUMN_SELF,
			 [SWZ_PAGE_THREADS] = SWZ_COLUMN_CPU,
			 [SWZ_PAGE_MODULES] = SWZ_COLUMN_SELF,
			 [SWZ_PAGE_PROCESSES] = SWZ_COLUMN_CPU},
	};
}

void swz_page_free(struct swz_page *page)
{
	free(page->rows);
	swz_map_free(&page->folds);
	*page = (struct swz_page){0};
}

/* ------------------------------------------------------------- the cursor */

static void place_cursor(struct swz_page *page)
{
	for (size_t i = 0; page->follows && i < page->row_count; i++)
		if (page->rows[i].key == page->key) {
			page->cursor = i;
			return;
		}
	if (!page->follows)
		page->cursor = 0;
	else if (page->cursor >= page->row_count)
		page->cursor = page->row_count ? page->row_count - 1 : 0;
}

/* At the top it stays there, whatever comes to the top. */
void swz_page_move(struct swz_page *page, int64_t by)
{
	int64_t most = page->row_count ? (int64_t)page->row_count - 1 : 0;
	int64_t to = (int64_t)page->cursor;

	to = by < -to ? 0 : by > most - to ? most : to + by;
	page->cursor = (size_t)to;
	page->follows = to > 0;
	if (page->follows)
		page->key = page->rows[to].key;
}

void swz_page_fill(struct swz_page *page, const struct swz_live *live,
		   const char *const *lines)
{
	page->row_count = page->hidden = 0;
	switch (page->kind) {
	case SWZ_PAGE_FUNCTIONS:
		page_add_functions(page, live);
		break;
	case SWZ_PAGE_THREADS:
		page_add_threads(page, live);
		break;
	case SWZ_PAGE_MODULES:
		page_add_modules(page, live);
		break;
	case SWZ_PAGE_NEIGHBOURS:
		page_add_neighbours(page, live);
		break;
	case SWZ_PAGE_PROCESSES:
		break; /* see below */
	case SWZ_PAGE_OUTPUT:
	case SWZ_PAGE_HELP:
	case SWZ_PAGE_KINDS:
		for (uint32_t i = 0; lines && lines[i]; i++)
			page_add(page, &(struct swz_row){.key = i + 1,
							 .index = i,
							 .name = lines[i]});
	}
	place_cursor(page);
}

void swz_page_fill_processes(struct swz_page *page,
			     const struct swz_process_list *list,
			     struct swz_live *live)
{
	live->recent.wall_ns = list->wall_ns;
	page->row_count = page->hidden = 0;
	page_add_processes(page, list);
	place_cursor(page);
}

/* ------------------------------------------------------- to and fro */

static void go(struct swz_page *page, enum swz_page_kind kind)
{
	page->kind = kind;
	page->cursor = 0;
	page->follows = false;
	page->filter[0] = '\0';
}

void swz_page_show(struct swz_page *page, enum swz_page_kind kind)
{
	go(page, kind);
	page->module = NULL;
	page->function_count = 0;
}

bool swz_page_enter(struct swz_page *page)
{
	const struct swz_row *row = &page->rows[page->cursor];
	uint32_t function;

	if (page->cursor >= page->row_count || row->heading)
		return false;
	function = row->index;
	if (page->kind == SWZ_PAGE_MODULES) {
		const char *module = row->name;

		go(page, SWZ_PAGE_FUNCTIONS);
		page->module = module;
		return true;
	}
	if (page->kind != SWZ_PAGE_FUNCTIONS &&
	    page->kind != SWZ_PAGE_NEIGHBOURS)
		return false;
	if (page->function_count &&
	    page->functions[page->function_count - 1] == function)
		return page->kind == SWZ_PAGE_NEIGHBOURS;
	if (page->function_count == SWZ_PAGE_DEPTH) {
		memmove(page->functions, page->functions + 1,
			sizeof(page->functions) - sizeof(*page->functions));
		page->function_count--;
	}
	page->functions[page->function_count++] = function;
	go(page, SWZ_PAGE_NEIGHBOURS);
	return true;
}

void swz_page_back(struct swz_page *page)
{
	if (page->filter[0]) {
		page->filter[0] = '\0';
	} else if (page->kind == SWZ_PAGE_NEIGHBOURS) {
		uint32_t left = page->functions[--page->function_count];

		if (page->function_count) {
			go(page, SWZ_PAGE_NEIGHBOURS);
		} else {
			go(page, SWZ_PAGE_FUNCTIONS);
			page->follows = true;
			page->key = page_key_of_function(left);
		}
	} else if (page->module) {
		swz_page_show(page, SWZ_PAGE_MODULES);
	} else {
		swz_page_show(page, SWZ_PAGE_FUNCTIONS);
	}
}

void swz_page_fold(struct swz_page *page, bool open)
{
	if (page->cursor < page->row_count &&
	    page->rows[page->cursor].fold != SWZ_ROW_LEAF)
		*swz_map_at(&page->folds, page->rows[page->cursor].key,
			    0) = open;
}
