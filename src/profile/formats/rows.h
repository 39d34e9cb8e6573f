#ifndef SWZ_PROFILE_FORMATS_ROWS_H
#define SWZ_PROFILE_FORMATS_ROWS_H

/* The functions of a report as rows of a table: sorted, filtered, limited. */

#include "profile/formats/formats.h"

struct swz_row {
	const struct swz_catalog_function *function;
	const struct swz_report_function *costs;
	const char *module; /* without its directory */
};

/* The rows that are wanted, for free(). */
struct swz_row *swz_rows_select(const struct swz_section *section,
				const struct swz_table_options *options,
				size_t *count);

#endif
