#ifndef SWZ_PROFILE_FORMATS_BY_RANK_H
#define SWZ_PROFILE_FORMATS_BY_RANK_H

/* How functions differ between the ranks of a parallel program (--by rank):
 * what the writers of tables by a key put in place of their figures. Where SORT
 * asks for inclusive times, people's tables show those. */

#include "profile/formats/by_rows.h"
#include "profile/formats/cells.h"

/* All of the table, its titles included. */
void swz_put_imbalance_text(FILE *stream, const struct swz_by_section *by,
			    const struct swz_by_rows *rows, enum swz_sort sort);
void swz_put_imbalance_csv(FILE *stream, const struct swz_by_section *by,
			   const struct swz_by_rows *rows);

/* The members of a row's object. */
void swz_put_imbalance_json(FILE *stream, const struct swz_by_section *by,
			    const struct swz_group_row *row);

/* The figures of a row, their titles, and what explains them. */
void swz_put_imbalance_titles(struct swz_cells *cells, enum swz_sort sort);
void swz_put_imbalance_cells(struct swz_cells *cells,
			     const struct swz_by_section *by,
			     const struct swz_group_row *row,
			     enum swz_sort sort);
void swz_put_imbalance_note(FILE *stream, const struct swz_by_section *by,
			    enum swz_sort sort);

#endif
