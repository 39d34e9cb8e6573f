#ifndef SWZ_PROFILE_FORMATS_BY_H
#define SWZ_PROFILE_FORMATS_BY_H

/* Tables by another key than functions (--by): the writers of the formats that
 * have one. */

#include "profile/costs/groups.h"
#include "profile/formats/formats.h"

struct swz_by_section {
	const struct swz_section *section; /* of all threads */
	const struct swz_groups *groups;   /* swz_groups_end() was called */
};

void swz_write_text_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options);
void swz_write_table_by(FILE *stream, const struct swz_by_section *by,
			const struct swz_table_options *options);
void swz_write_csv_by(FILE *stream, const struct swz_by_section *by,
		      const struct swz_table_options *options);
void swz_write_json_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options);

/* "module" for SWZ_BY_MODULE, and so on. */
const char *swz_by_name(enum swz_group_key key);
/* SWZ_BY_NOTHING if there is no such key. */
enum swz_group_key swz_by_find(const char *name);

#endif
