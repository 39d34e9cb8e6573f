#ifndef SWZ_PROFILE_FILE_SUMMARIES_H
#define SWZ_PROFILE_FILE_SUMMARIES_H

/* What a profile that is no trace has of arguments and results, by context (see
 * swizzle/values.h). The file is not trusted. */

#include "profile/file/values.h"

struct swz_scan;
struct swz_chunk;

struct swz_profile_summary {
	uint32_t node;
	uint32_t order; /* in the file */
	const struct swz_profile_signature *signature;
	struct swz_value_summary *head; /* owned, with what follows it */
	size_t bytes;
};

/* That of a node; NULL: there is none. */
const struct swz_profile_summary *swz_summary_find(
	const struct swz_profile *profile, uint32_t node);

/* The values of the last call; false: there are none, or they were being
 * written. */
bool swz_summary_values(const struct swz_profile_summary *summary,
			enum swz_value_moment moment,
			struct swz_call_values *values);

/* The smallest and the largest of a range; false: it has none. They refer to
 * the summary. */
bool swz_summary_range(const struct swz_profile_summary *summary,
		       unsigned index, struct swz_value *low,
		       struct swz_value *high);

/* For the scan and the index: a chunk's body; all in their order, after the
 * signatures; the end. */
void swz_scan_summary(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size);
void swz_summaries_index(struct swz_profile *profile);
void swz_summaries_free(struct swz_profile *profile);

#endif
