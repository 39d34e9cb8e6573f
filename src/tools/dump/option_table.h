#ifndef SWZ_TOOLS_DUMP_OPTION_TABLE_H
#define SWZ_TOOLS_DUMP_OPTION_TABLE_H

/* The options, and how their values are read. */

#include "options/command_line.h"
#include "tools/dump/dump_options.h"

/* --- options ------------------------------------------------------------- */

enum long_option {
	OPTION_THREAD_PARTS = 256,
	OPTION_SEPARATE_THREADS,
	OPTION_NO_COMPENSATE,
	OPTION_DEMANGLE,
	OPTION_PERCENT_LIMIT,
	OPTION_BOTTOM_UP,
	OPTION_OFFSETS,
	OPTION_CAUSES,
	OPTION_TID,
	OPTION_FROM,
	OPTION_SINCE,
	OPTION_TO,
	OPTION_NO_DEBUGINFOD,
	OPTION_DIFF,
	OPTION_EMBED,
	OPTION_NO_EMBED,
	OPTION_DEBUG_DIR,
	OPTION_SYMFS,
	OPTION_BY,
	OPTION_COLOUR,
	OPTION_NO_PAGER,
	OPTION_OPEN,
	OPTION_JSON,
	OPTION_NO_SOURCE,
	OPTION_FAIL_ABOVE,
	OPTION_FAIL_CALLS_ABOVE,
	OPTION_BUDGET,
	OPTION_ANNOTATE,
	OPTION_TOLD,
	OPTION_TIMES,
	OPTION_NO_TIMES,
	OPTION_SCRIPT,
	OPTION_MERGE_INTO,
	OPTION_AT,
	OPTION_BLAME,
	OPTION_CALLS_OF,
	OPTION_PROCESS,
	OPTION_PUSH,
	OPTION_SAMPLE_EVENTS,
	OPTION_CONFIG,
	OPTION_RING_CLOCK,
	OPTION_RING_PATHS,
	OPTION_SYNTAX,
	OPTION_APART,
	OPTION_NEVER,
	OPTION_RAN,
	OPTION_TESTS_OF,
	OPTION_AFFECTED,
	OPTION_REBUILT,
	OPTION_GET_NAMES,
	OPTION_WHY,
	OPTION_FOLLOW,
	OPTION_CALL
};

/* Options besides those of enum swz_format_takes that not all formats take. */
enum {
	GIVEN_TID = 1 << 16,
	GIVEN_RANGE = 1 << 17,
	GIVEN_THREAD_PARTS = 1 << 18,
	GIVEN_SEPARATE_THREADS = 1 << 19,
	GIVEN_NO_COMPENSATE = 1 << 20,
	GIVEN_DEMANGLE = 1 << 21,
	GIVEN_EMBED = 1 << 22,
	GIVEN_NO_EMBED = 1 << 23,
	GIVEN_DEBUG_DIR = 1 << 24,
	GIVEN_SYMFS = 1 << 25,
	GIVEN_BY = 1 << 26,
	GIVEN_CALLS_OF = 1 << 27,
	GIVEN_DEPTH = 1 << 28,
	GIVEN_LIMITS = 1 << 29,
	GIVEN_BLAME = 1 << 30
};

extern const struct swz_option swz_dump_option_list[];

/* Says what is wrong, and ends the program. */
#define swz_dump_bad_usage(...) swz_wrong_usage("swizzle-dump", __VA_ARGS__)

/* --- values of options --------------------------------------------------- */

/* Values of options: each ends the program where it is no such value. AS is the
 * option as it was written. */

const struct swz_format *swz_dump_parse_format(const char *as,
					       const char *name);
enum swz_sort swz_dump_parse_sort(const char *as, const char *name);
/* The name of the sort key at INDEX; NULL: no more. */
const char *swz_dump_sort_key(size_t index, enum swz_sort *sort);
enum swz_demangle swz_dump_parse_demangle(const char *as, const char *name);
enum swz_rings_clock swz_dump_parse_clock(const char *as, const char *name);
enum swz_rings_paths swz_dump_parse_paths(const char *as, const char *name);
/* True: Intel's; else AT&T's. */
bool swz_dump_parse_syntax(const char *as, const char *name);
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
