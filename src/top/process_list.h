#ifndef SWZ_TOP_PROCESS_LIST_H
#define SWZ_TOP_PROCESS_LIST_H

/* The user's processes, of which one can be chosen to be watched; for root all.
 * The kernel's own threads, what has ended and this process are left out. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/support/style.h"

struct swz_top_process {
	int32_t pid;
	uint64_t start;     /* as swz_process_start() */
	uint64_t used_ns;   /* processor time, since it began */
	uint64_t recent_ns; /* since the reading before, or since it began */
	char *command;
	const char *watch; /* "exact", "samples"; "no": it is not permitted */
};

struct swz_process_list {
	struct swz_top_process *items; /* by pid */
	size_t count, capacity;
	uint64_t read_ns; /* CLOCK_MONOTONIC; 0: it was not read */
	uint64_t wall_ns; /* between the last two readings */
};

/* Reads /proc. The list begins zeroed. */
void swz_process_list_read(struct swz_process_list *list);
void swz_process_list_free(struct swz_process_list *list);

/* As a table, those with the largest share first. */
void swz_process_list_print(FILE *stream, const struct swz_process_list *list,
			    const struct swz_style *style);

#endif
