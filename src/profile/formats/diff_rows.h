#ifndef SWZ_PROFILE_FORMATS_DIFF_ROWS_H
#define SWZ_PROFILE_FORMATS_DIFF_ROWS_H

/* The functions of a comparison as rows of a table: sorted by how much they
 * differ, those within the noise last; filtered, limited. */

#include "profile/formats/diff.h"

struct swz_diff_row {
	struct swz_diff_function diff;
	double variance_ns; /* of the difference of the self times */
	const char *name;
	const char *module;
	uint32_t function;
};

/* The rows that are wanted, for free(). */
struct swz_diff_row *swz_diff_rows_select(
	const struct swz_section *section,
	const struct swz_table_options *options, size_t *count);

#endif
