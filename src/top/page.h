#ifndef SWZ_TOP_PAGE_H
#define SWZ_TOP_PAGE_H

/* The columns of a page, and what is in their cells. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/contexts.h"
#include "top/live.h"
#include "util/figures.h"

/* --- callers and callees ------------------------------------------------- */

/* Who calls a function, and what it calls: two trees of contexts. The root of
 * each is the function. In that of the callers a child calls its parent; in
 * that of the callees it is called by it. A context's inclusive_ns is the part
 * of the function's time that was spent on this path, and `calls` are the
 * calls (of callers: of the function; samples: hits). */

struct swz_neighbours {
	struct swz_contexts callers, callees;
};

/* From contexts that were summed up. To be freed. */
void swz_neighbours_find(struct swz_neighbours *neighbours,
			 const struct swz_contexts *contexts,
			 uint32_t function);
void swz_neighbours_free(struct swz_neighbours *neighbours);

/* --- a page -------------------------------------------------------------- */

/* A page of swizzle-top's screen is a list of rows, of which one is selected.
 * Nothing here knows a terminal. */

enum swz_page_kind {
	SWZ_PAGE_FUNCTIONS,
	SWZ_PAGE_THREADS,
	SWZ_PAGE_MODULES,
	SWZ_PAGE_PROCESSES,  /* of which one can be chosen */
	SWZ_PAGE_NEIGHBOURS, /* callers and callees of a function */
	SWZ_PAGE_OUTPUT,     /* of the program */
	SWZ_PAGE_HELP,
	SWZ_PAGE_KINDS
};

enum swz_column_id {
	SWZ_COLUMN_SELF,
	SWZ_COLUMN_TOTAL,
	SWZ_COLUMN_COUNT, /* samples, or calls */
	SWZ_COLUMN_MEAN,  /* of a call */
	SWZ_COLUMN_CPU,
	SWZ_COLUMN_TIME,
	SWZ_COLUMN_PID,
	SWZ_COLUMN_TID,
	SWZ_COLUMN_FUNCTIONS,
	SWZ_COLUMN_NAME,
	SWZ_COLUMN_MODULE /* or how a process can be watched */
};

/* How a row of a tree is folded. */
enum swz_row_fold { SWZ_ROW_LEAF, SWZ_ROW_CLOSED, SWZ_ROW_OPEN };

struct swz_row {
	uint64_t key;   /* the same row has it in the next round */
	uint32_t index; /* function, thread; of a text its line */
	int32_t pid, tid;
	uint32_t depth; /* in a tree */
	enum swz_row_fold fold;
	bool heading; /* name alone */
	int64_t self_ns, inclusive_ns;
	uint64_t calls;
	uint32_t functions; /* of a module, that are shown */
	const char *name, *module;
};

#define SWZ_FILTER_BYTES 64
#define SWZ_PAGE_DEPTH 32

struct swz_page {
	enum swz_page_kind kind;
	bool whole; /* since the beginning; else the last round */
	char filter[SWZ_FILTER_BYTES];
	const char *module; /* functions of it alone; NULL: of all */
	/* SWZ_PAGE_NEIGHBOURS: the function, behind those that were looked at
	 * before */
	uint32_t functions[SWZ_PAGE_DEPTH];
	size_t function_count;
	struct swz_map folds; /* (key, 0): rows that were opened or closed */
	enum swz_column_id sort[SWZ_PAGE_KINDS];
	bool reversed[SWZ_PAGE_KINDS];
	struct swz_row *rows;
	size_t row_count, row_capacity, hidden; /* by the filter */
	size_t cursor;
	bool follows; /* the cursor stays on its row, wherever that goes */
	uint64_t key; /* of that row */
};

void swz_page_begin(struct swz_page *page);
void swz_page_free(struct swz_page *page);

/* Makes the rows of the page, from the figures as they are now. LINES: of the
 * pages that are a text; ended by NULL. They and `live` must outlive the rows.
 */
void swz_page_fill(struct swz_page *page, const struct swz_live *live,
		   const char *const *lines);

/* The same of the page of processes. Of `live` the times of the readings are
 * set. */
void swz_page_fill_processes(struct swz_page *page,
			     const struct swz_process_list *list,
			     struct swz_live *live);

/* The figures that are shown. */
const struct swz_live_figures *swz_page_figures(const struct swz_page *page,
						const struct swz_live *live);

/* The whole that shares are of. */
int64_t swz_page_total(const struct swz_page *page,
		       const struct swz_live *live);

uint64_t swz_page_key_of_thread(int32_t pid, int32_t tid);

/* Moves the cursor by so many rows, as far as there are rows. */
void swz_page_move(struct swz_page *page, int64_t by);

/* Each goes to another page; swz_page_fill() is due then. */
void swz_page_show(struct swz_page *page, enum swz_page_kind kind);
/* Goes to what is behind the selected row: a function's neighbours, a module's
 * functions. False: there is nothing. */
bool swz_page_enter(struct swz_page *page);
/* Takes back the filter, or goes back to where the page came from. */
void swz_page_back(struct swz_page *page);

/* Opens or closes the selected row of a tree. */
void swz_page_fold(struct swz_page *page, bool open);

/* --- columns ------------------------------------------------------------- */

#define SWZ_MOST_COLUMNS 8

struct swz_column {
	enum swz_column_id id;
	const char *title;
	unsigned int width;
	bool left; /* a text */
};

/* The columns that there is room for, in SCREEN columns with a blank between
 * two; the name has what is left. Returns how many. */
size_t swz_columns(const struct swz_page *page, const struct swz_live *live,
		   unsigned int screen,
		   struct swz_column columns[SWZ_MOST_COLUMNS]);

/* The text of a cell, no wider than the column unless it is a figure of many
 * digits; to be freed. *COLOUR is set. */
char *swz_cell(const struct swz_page *page, const struct swz_live *live,
	       const struct swz_row *row, const struct swz_column *column,
	       bool utf8, enum swz_colour *colour);

/* The next column to sort by, to the right or the left of the one that is. */
void swz_columns_sort_next(struct swz_page *page, const struct swz_live *live,
			   int step);

#endif
