#ifndef SWZ_PROFILE_FORMATS_CONTEXT_ROWS_H
#define SWZ_PROFILE_FORMATS_CONTEXT_ROWS_H

/* The rows of context_table.c: what is in them, and their order. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/formats/cells.h"
#include "profile/formats/diff.h"
#include "profile/formats/formats.h"

struct swz_context_table {
	FILE *stream;
	const struct swz_section *section;
	const struct swz_table_options *options;
	const struct swz_contexts *contexts;
	const struct swz_contexts *old; /* in a comparison; otherwise NULL */
	struct swz_diff_widths widths;  /* the same */
	struct swz_cells *cells;        /* for people; otherwise NULL */
	enum swz_sort sort;
	int64_t total;
	uint64_t least; /* what has less is left out */
	bool of_self;   /* the share is of the self time, otherwise of the
			 * inclusive time */
};

/* Of the context with this index. */
struct swz_costs_diff swz_context_costs(const struct swz_context_table *table,
					uint32_t index);

/* How much there is of it, by what the share is of. */
uint64_t swz_context_weight(const struct swz_context_table *table,
			    const struct swz_costs_diff *costs);

/* For sorting: by the table's key, the most first (of what is not compared, old
 * is zero); functions by their names. */
int swz_context_compare_costs(const struct swz_context_table *table,
			      const struct swz_costs_diff *a,
			      const struct swz_costs_diff *b);
int swz_context_compare_functions(const struct swz_section *section, uint32_t a,
				  uint32_t b);

void swz_context_put_columns(const struct swz_context_table *table);
void swz_context_put_row(const struct swz_context_table *table,
			 const struct swz_costs_diff *costs, uint32_t depth,
			 uint32_t function, bool folded);

/* The trees: from the root (context_down.c), from each function upwards
 * (context_up.c), and both for the functions that were asked for. */
void swz_context_put_top_down(const struct swz_context_table *table);
void swz_context_put_bottom_up(const struct swz_context_table *table);
void swz_context_put_relatives(const struct swz_context_table *table);

#endif
