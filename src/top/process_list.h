#ifndef SWZ_TOP_PROCESS_LIST_H
#define SWZ_TOP_PROCESS_LIST_H

/* Processes, and the profiles that libswizzle.so writes in them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "swizzle/format.h"
#include "util/figures.h"

/* --- which processes there are ------------------------------------------- */

/* The profile of calls that a process writes now: its path, to be freed. NULL:
 * it writes none, or one that cannot be got at. */
char *swz_top_profile_of(int32_t pid);

/* The header of a profile of calls. False: the file is none. */
bool swz_top_profile_header(const char *path, struct swz_file_header *header);

/* True if a profile is of a run that is counted and sampled (--mode both): its
 * calls have no times before the samples are written, at its end. */
bool swz_top_is_sampled(const char *profile);

/* Calls VISIT for each file in the folder of a profile. */
void swz_top_profiles_beside(const char *profile,
			     void (*visit)(void *context, const char *path),
			     void *context);

/* The command line of a process, with blanks between its words; its name where
 * there is none. To be freed. */
char *swz_top_process_command(int32_t pid);

/* --- the list of processes ----------------------------------------------- */

/* The user's processes, of which one can be chosen to be watched; for root all.
 * The kernel's own threads, what has ended and this process are left out. */

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
