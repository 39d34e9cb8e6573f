#ifndef SWZ_PROFILE_FORMATS_TABLES_TABLE_H
#define SWZ_PROFILE_FORMATS_TABLES_TABLE_H

/* The rows of the tables of functions. */

#include <stddef.h>

#include "profile/formats/common/columns.h"
#include "profile/formats/common/section.h"

/* The functions that OPTIONS let through, in their order, no more than their
 * rows; to be freed. */
struct swz_row *swz_table_rows(const struct swz_section *section,
			       const struct swz_table_options *options,
			       size_t *count);

/* A buffer for swz_table_example(). */
#define SWZ_EXAMPLE_BYTES 63

/* The name of the first row that a shell takes as an argument of -F, in quotes
 * where it needs them: in QUOTED, or "NAME" if no name will do. */
const char *swz_table_example(char quoted[SWZ_EXAMPLE_BYTES],
			      const struct swz_row *rows, size_t count);

#endif
