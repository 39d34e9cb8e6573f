#ifndef SWZ_TOOLS_DUMP_JOIN_H
#define SWZ_TOOLS_DUMP_JOIN_H

/* Counts of a run whose calls were recorded, and times of one that was sampled,
 * mostly the same: see profile/costs/joined.h. Each side is added up by itself,
 * with one catalog, in which a function is the same in both: by build-id and
 * address. */

#include "profile/costs/joined.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "tools/dump/result.h"

/* Reads both and writes them in the options' format. Returns an exit status. */
int swz_dump_times(const struct swz_dump_options *options);

/* The same of what was read: INPUT, and the samples that it has. */
int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options);

/* --- for comparisons ----------------------------------------------------- */

/* The caller adds threads to `counts` and `times`. At the end `counts` has
 * both, is the caller's to free, and swz_dump_join_free() frees the rest. */
struct swz_dump_join {
	struct swz_dump_result counts, times;
	struct swz_counting *counting;
	struct swz_joined joined;
};

void swz_dump_join_begin(struct swz_dump_join *join);
void swz_dump_join_end(struct swz_dump_join *join,
		       const struct swz_dump_input *input,
		       const struct swz_dump_input *samples);
void swz_dump_join_free(struct swz_dump_join *join);

/* Makes the bindings of an input's profiles. */
void swz_dump_bind(struct swz_dump_input *input, struct swz_catalog *catalog);

/* Marks functions of REPORT that no hook has counted: those without a call that
 * were not hooked in any of the inputs. IS_FIRST: begins anew. */
void swz_dump_mark_uncounted(struct swz_report *report,
			     const struct swz_catalog *catalog,
			     const struct swz_dump_input *input, bool is_first);

#endif
