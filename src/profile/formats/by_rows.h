#ifndef SWZ_PROFILE_FORMATS_BY_ROWS_H
#define SWZ_PROFILE_FORMATS_BY_ROWS_H

/* What the writers of tables by a key share. */

#include "profile/formats/by.h"

struct swz_by_rows {
	struct swz_group_table table;
	uint32_t *order;    /* of the rows that are wanted */
	size_t count;       /* of these */
	uint32_t *columns;  /* their order: what has most time comes first */
	bool shows_waiting; /* of functions and their like */
	bool has_times;     /* of threads or processes */
	bool has_source;    /* functions: module and name, files: name */
};

void swz_by_rows_make(struct swz_by_rows *rows, const struct swz_by_section *by,
		      const struct swz_table_options *options);
void swz_by_rows_free(struct swz_by_rows *rows);

/* The times of a thread's or a process's row. */
const struct swz_thread_times *swz_by_times(const struct swz_by_rows *rows,
					    const struct swz_group_row *row);

/* Of a row that is shown some time is known to be neither running nor
 * waiting. */
bool swz_by_any_unknown(const struct swz_by_rows *rows);

/* The number of a column's thread, process or rank, and what it is: "thread
 * NAME of process PID", the command, or "rank N on HOST"; to be freed. */
int32_t swz_by_column_id(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column);
char *swz_by_column_name(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column);

#endif
