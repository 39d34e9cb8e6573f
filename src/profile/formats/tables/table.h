#ifndef SWZ_PROFILE_FORMATS_TABLES_TABLE_H
#define SWZ_PROFILE_FORMATS_TABLES_TABLE_H

/* The functions of a report as rows of a table: sorted, filtered, limited. */

#include "profile/formats/common/columns.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"

/* The rows that are wanted, for free(). */
struct swz_row *swz_rows_select(const struct swz_section *section,
				const struct swz_table_options *options,
				size_t *count);

/* --- rows of a comparison ------------------------------------------------ */

/* The functions of a comparison as rows of a table: sorted by how much they
 * differ, those within the noise last; filtered, limited. */

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
