#ifndef SWZ_PROFILE_FORMATS_DIFF_H
#define SWZ_PROFILE_FORMATS_DIFF_H

/* Two reports of one catalog, side by side: the new one, and the old one that
 * it is compared with. */

#include "profile/costs/aggregate.h"
#include "profile/costs/contexts.h"
#include "profile/formats/formats.h"

/* Gives both the same functions and the same edges, each at the same index:
 * zeros where there was nothing. An edge's place is that in the new program's
 * source, if it has the call. Both are sorted, by caller and callee after that,
 * too. */
void swz_diff_align_reports(const struct swz_catalog *catalog,
			    struct swz_report *new, struct swz_report *old);

/* The same for contexts, which are summed after that. */
void swz_diff_align_contexts(struct swz_contexts *new,
			     struct swz_contexts *old);

/* What a row of a table is about. */
struct swz_costs {
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns;
};

struct swz_costs_diff {
	struct swz_costs new;
	struct swz_costs old;
};

/* new - old, without its sign. */
uint64_t swz_diff_self(const struct swz_costs_diff *costs);
uint64_t swz_diff_inclusive(const struct swz_costs_diff *costs);
uint64_t swz_diff_calls(const struct swz_costs_diff *costs);

/* How wide the columns of a table are. */
struct swz_diff_widths {
	int calls;
	int ns;
};

/* To be called with all that is in the table, or at least with the largest. */
void swz_diff_widen(struct swz_diff_widths *widths,
		    const struct swz_costs *costs);

/* The larger of the two totals, of which limits are percentages. */
int64_t swz_diff_total(const struct swz_section *section);

/* The lines, beginning with '#', that say what is compared. */
void swz_diff_put_heading(FILE *stream, const struct swz_section *section);

/* The columns' names, and a row of them: old, new, the difference and, of
 * times, how many percent of the old one that is. With SAMPLED there is a
 * column for the standard error, 13 wide. */
void swz_diff_put_columns(FILE *stream, const struct swz_diff_widths *widths,
			  bool sampled);
void swz_diff_put_costs(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_costs_diff *costs);

/* What is said behind the names of something that is in one of them only:
 * "  (new)", "  (gone)" or nothing. */
const char *swz_diff_remark(const struct swz_costs_diff *costs);

#endif
