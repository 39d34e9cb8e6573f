#ifndef SWZ_TOP_COLUMNS_H
#define SWZ_TOP_COLUMNS_H

/* The columns of a page, and what is in their cells. */

#include "profile/support/figures.h"
#include "profile/support/style.h"
#include "top/page.h"

#define SWZ_MOST_COLUMNS 8

struct swz_column {
	enum swz_column_id id;
	const char *title;
	unsigned int width;
	bool left; /* a text */
};

/* Those that there is room for, in SCREEN columns with a blank between two;
 * the name has what is left. Returns how many. */
size_t swz_columns(const struct swz_page *page, const struct swz_live *live,
		   unsigned int screen,
		   struct swz_column columns[SWZ_MOST_COLUMNS]);

/* What a cell shows, no wider than the column unless it is a figure of many
 * digits; to be freed. *COLOUR is set. */
char *swz_cell(const struct swz_page *page, const struct swz_live *live,
	       const struct swz_row *row, const struct swz_column *column,
	       bool utf8, enum swz_colour *colour);

/* The next column to sort by, to the right or the left of the one that is. */
void swz_columns_sort_next(struct swz_page *page, const struct swz_live *live,
			   int step);

/* Positive: A comes behind B. The largest come first, of texts the first in
 * the alphabet. */
int swz_rows_compare(const struct swz_row *a, const struct swz_row *b,
		     enum swz_column_id by, enum swz_page_kind kind);

#endif
