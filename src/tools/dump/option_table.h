#ifndef SWZ_TOOLS_DUMP_OPTION_TABLE_H
#define SWZ_TOOLS_DUMP_OPTION_TABLE_H

/* Which options there are. */

#include <getopt.h>

enum long_option {
	OPTION_THREAD_PARTS = 256,
	OPTION_SEPARATE_THREADS,
	OPTION_NO_COMPENSATE,
	OPTION_DEMANGLE,
	OPTION_PERCENT_LIMIT,
	OPTION_BOTTOM_UP,
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
	OPTION_NO_SOURCE,
	OPTION_FAIL_ABOVE,
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
	OPTION_APART
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

/* For getopt_long(). '-': arguments come in their order, so that it is known
 * which of them were before the "--"; ':': a value that is missing is told from
 * what is unknown. */
#define SWZ_DUMP_SHORT_OPTIONS "-:f:o:F:N:H:C:D:t:n:s:qVh"
extern const struct option swz_dump_long_options[];

/* What getopt_long() has found to be wrong: says it and ends the program.
 * ARGUMENT is what it has read, unless an unknown letter stands among others.
 */
_Noreturn void swz_dump_bad_option(int found, const char *argument);

/* Which of the formats' options it is, 0 for others. */
unsigned int swz_dump_format_option(int option);

#endif
