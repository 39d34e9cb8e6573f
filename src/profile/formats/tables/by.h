#ifndef SWZ_PROFILE_FORMATS_TABLES_BY_H
#define SWZ_PROFILE_FORMATS_TABLES_BY_H

/* Tables by another key than functions (--by): a row for each module, process,
 * thread, file or line, and perhaps a column for each thread, process or rank.
 */

#include "profile/costs/groups.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"

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
