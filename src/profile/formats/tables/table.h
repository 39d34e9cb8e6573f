#ifndef SWZ_PROFILE_FORMATS_TABLES_TABLE_H
#define SWZ_PROFILE_FORMATS_TABLES_TABLE_H

/* Tables: of functions, by other keys, of what ran; and lists. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/basics.h"
#include "profile/costs/groups.h"
#include "profile/costs/trace.h"
#include "profile/file/reader.h"
#include "profile/formats/common/columns.h"
#include "profile/formats/common/section.h"
#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"
#include "profile/names/rebuilt.h"

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

/* --- -f raw --------------------------------------------------------------- */

/* A profile file's header, chunks and records as they are. Nothing is believed
 * and nothing left out: for finding out what is wrong with a file. */

/* Writes what is in the file at PATH, of each chunk at most ROWS records (0:
 * all). *problems is the number of places that are not as they should be.
 * SWZ_E_SYSTEM if it cannot be read, SWZ_E_FORMAT if it is no regular file;
 * *error says why. */
enum swz_status swz_write_raw(FILE *stream, const char *path, size_t rows,
			      uint64_t *problems,
			      struct swz_error *error) SWZ_MUST_CHECK;

/* --- -f asm --------------------------------------------------------------- */

/* The instructions of functions with what was sampled in them, the
 * calls that they make, source lines and jumps. */

struct swz_assembly_options {
	bool intel; /* the other syntax */
};

/* Writes those that the view's patterns name, those with the most samples
 * first; without patterns the one that has the most. Where there is none,
 * trace->failure says why. */
void swz_write_assembly(FILE *stream, struct swz_trace *trace);

/* --- what ran ------------------------------------------------------------ */

/* Which functions ran, of all that the profiles list. */

/* A function of the catalog. */
struct swz_covered {
	uint32_t function;
	uint32_t size;  /* bytes; 0: unknown */
	bool hooked;    /* in a profile at least; otherwise it is not known
			 * whether it ran */
	uint64_t calls; /* 0: it did not run, or is not hooked. Of -m cover: at
			 * least */
	uint64_t ordered; /* profiles that know when it was called first ... */
	double places;    /* ... and the sum of its places there, from 0 to 1 */
};

struct swz_coverage {
	const struct swz_catalog *catalog; /* resolved before it is written */
	struct swz_covered *items;
	size_t count, capacity;
	struct swz_map index; /* by the catalog's function */
	bool counts_calls;    /* no profile is of -m cover */
	/* Profiles of the old build are taken for some of the new one; NULL:
	 * there are none. */
	const struct swz_rebuilt *rebuilt;
	uint32_t new_module; /* of the catalog */
	/* of the writers */
	const struct swz_patterns *filters; /* functions that are shown */
	size_t rows;                        /* 0: all */
	char *test; /* the label "test" that all profiles have; NULL: none */
	uint32_t program; /* the catalog's module of the first profile's
			   * program; SWZ_INDEX_NONE: not known */
};

/* Why the profile does not say which functions ran, or NULL. */
const char *swz_coverage_problem(const struct swz_profile *profile);

/* Adds the functions of the profiles to the catalog and to *COVERAGE, which is
 * all zeros but for what the caller chooses. */
void swz_coverage_find(struct swz_coverage *coverage,
		       struct swz_binding *bindings, size_t count);
void swz_coverage_free(struct swz_coverage *coverage);

/* True if one of the functions that PATTERNS choose ran in that profile. */
bool swz_coverage_reaches(struct swz_binding *binding,
			  const struct swz_patterns *patterns);

/* True if a function of the old build that the new one does not have as it was
 * ran in that profile. */
bool swz_coverage_is_affected(const struct swz_binding *binding,
			      const struct swz_rebuilt *rebuilt);

/* Says of each function that the filters choose whether it ran, if
 * STREAM is not NULL. The counts of those that ran, did not, and have no hook.
 */
struct swz_coverage_counts {
	size_t ran, never, unknown;
};
struct swz_coverage_counts swz_coverage_ask(
	FILE *stream, const struct swz_coverage *coverage);

/* The writers. */
void swz_write_cover(FILE *stream, const struct swz_coverage *coverage);
void swz_write_never(FILE *stream, const struct swz_coverage *coverage);
void swz_write_lcov(FILE *stream, const struct swz_coverage *coverage);
void swz_write_order(FILE *stream, const struct swz_coverage *coverage);
void swz_write_sections(FILE *stream, const struct swz_coverage *coverage);

/* --- --by ---------------------------------------------------------------- */

/* Tables by another key than functions (--by): a row for each module, process,
 * thread, file or line, and perhaps a column for each thread, process or rank.
 */

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

/* --- shared by the writers of these tables -------------------------------- */

struct swz_by_rows {
	struct swz_group_table table;
	uint32_t *order;    /* of the rows that are wanted */
	size_t count;       /* of these */
	uint32_t *columns;  /* their order: what has most time comes first */
	bool shows_waiting; /* of functions and their like */
	bool has_times;     /* of threads or processes */
	bool timed;         /* these have percentiles, of one function */
	bool has_source;    /* functions: module and name, files: name */
	int64_t bound_ns;   /* what a time of 0 is less than, or
			     * SWZ_TIME_UNKNOWN */
};

void swz_by_rows_make(struct swz_by_rows *rows, const struct swz_by_section *by,
		      const struct swz_table_options *options);
void swz_by_rows_free(struct swz_by_rows *rows);

/* The times of a thread's or a process's row. */
const struct swz_thread_times *swz_by_times(const struct swz_by_rows *rows,
					    const struct swz_group_row *row);

/* A percentile of the row's calls of the function that is timed; below 0: it
 * has none. */
int64_t swz_by_percentile(const struct swz_by_rows *rows,
			  const struct swz_group_row *row,
			  enum swz_percentile which);

/* True if some time of a row that is shown is known to be neither running nor
 * waiting. */
bool swz_by_any_unknown(const struct swz_by_rows *rows);

/* The number of a column's thread, process or rank, and what it is: "thread
 * NAME of process PID", the command, or "rank N on HOST"; to be freed. */
int32_t swz_by_column_id(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column);
char *swz_by_column_name(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column);

/* How a row differs between the ranks of a parallel program (--by rank). */
static inline const struct swz_imbalance *swz_imbalance_of(
	const struct swz_group_row *row, bool inclusive)
{
	return inclusive ? &row->spread->inclusive : &row->spread->self;
}

/* The rank that has the maximum. */
static inline uint32_t swz_slowest_rank(const struct swz_by_section *by,
					const struct swz_imbalance *imbalance)
{
	return by->groups->ranks[imbalance->most_at].rank;
}

#endif
