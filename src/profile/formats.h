#ifndef SWZ_PROFILE_FORMATS_H
#define SWZ_PROFILE_FORMATS_H

/* The writers, one per output format. They print to a stream and leave errors
 * to its owner (see output.h). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/aggregate.h"
#include "profile/catalog.h"
#include "profile/reader.h"

/* What a writer is to show: a report and where it comes from. */
struct swz_section {
	const struct swz_catalog *catalog; /* resolved */
	const struct swz_report *report;   /* sorted */
	const struct swz_profile *profile; /* the first of those merged */
	size_t profile_count;
	const struct swz_profile_thread *thread; /* NULL: several */
	unsigned int part;                       /* from 1 */
	unsigned int thread_number; /* from 1, if there is a thread */
	bool compensated;
};

enum swz_sort {
	SWZ_SORT_SELF,
	SWZ_SORT_INCLUSIVE,
	SWZ_SORT_CALLS,
	SWZ_SORT_NAME,
	SWZ_SORT_MIN,
	SWZ_SORT_MAX
};

struct swz_table_options {
	enum swz_sort sort;
	size_t rows;                /* 0: all */
	double percent_limit;       /* least share of the total, in percent */
	const char *const *filters; /* patterns (glob) of which a name has to
				     * match one, if there are any */
	size_t filter_count;
};

/* One part in the format of callgrind, version 1, with the event ns. */
void swz_write_callgrind(FILE *stream, const struct swz_section *section);

/* A table of functions. Lines that begin with '#' explain it. */
void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options);

/* What a profile file holds. */
void swz_write_info(FILE *stream, struct swz_profile *profile);

/* Writes the profiled command, its words separated by spaces. */
void swz_put_command(FILE *stream, const struct swz_profile *profile);

/* ns that a recorded call costs inside and outside of what it records. */
double swz_hook_cost_ns(const struct swz_profile *profile);

#endif
