#ifndef SWZ_TOOLS_DUMP_OPTION_VALUES_H
#define SWZ_TOOLS_DUMP_OPTION_VALUES_H

/* Values of options: each ends the program where it is no such value. AS is the
 * option as it was written. */

#include "tools/dump/options.h"

const struct swz_format *swz_dump_parse_format(const char *as,
					       const char *name);
enum swz_sort swz_dump_parse_sort(const char *as, const char *name);
/* The name of the sort key at INDEX; NULL: no more. */
const char *swz_dump_sort_key(size_t index, enum swz_sort *sort);
enum swz_demangle swz_dump_parse_demangle(const char *as, const char *name);
enum swz_rings_clock swz_dump_parse_clock(const char *as, const char *name);
enum swz_rings_paths swz_dump_parse_paths(const char *as, const char *name);
enum swz_colour_when swz_dump_parse_colour(const char *as, const char *when);

/* 0 to HIGH; WHAT says what it should be. */
unsigned long swz_dump_parse_count(const char *as, const char *text,
				   const char *what, unsigned long high);
double swz_dump_parse_percent(const char *as, const char *text);

/* Seconds since the start, or a percentage of the time recorded. */
struct swz_dump_moment swz_dump_parse_moment(const char *as, const char *text);

/* "10us"; without a unit ns. */
int64_t swz_dump_parse_duration(const char *as, const char *text);

/* One key, for the rows, or two. */
void swz_dump_parse_by(struct swz_dump_options *options, const char *as,
		       const char *value);

#endif
