#ifndef SWZ_TOOLS_DUMP_DUMP_OPTIONS_H
#define SWZ_TOOLS_DUMP_DUMP_OPTIONS_H

/* The terminal that standard output may be. */

#include <stdbool.h>
#include <stdint.h>

#include "options/command_line.h"
#include "profile/file/inputs.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/formats.h"
#include "profile/formats/tables/table.h"
#include "profile/names/debug_info.h"
#include "util/figures.h"

/* --- the terminal -------------------------------------------------------- */

enum swz_colour_when {
	SWZ_COLOUR_AUTO, /* on a terminal that has colours, without NO_COLOR */
	SWZ_COLOUR_ALWAYS,
	SWZ_COLOUR_NEVER
};

/* --- the command line ---------------------------------------------------- */

/* The command line. */

enum swz_dump_status {
	EXIT_OK = 0,
	EXIT_INPUT = 1,
	EXIT_FAILED = 1, /* a gate: --fail-above and others */
	EXIT_USAGE = 2,
	EXIT_UNDECIDED = 3, /* a gate cannot tell */
};

struct swz_dump_moment {
	bool given, percent;
	double value;
};

struct swz_dump_options {
	const struct swz_format *format;
	struct swz_dump_moment from, to; /* of a trace */
	struct swz_range range;          /* the same in ticks */
	const char *since;               /* a snapshot; NULL: none is given */
	uint64_t since_ticks;            /* of a trace; 0: see from */
	struct swz_dump_moment at;       /* -f calls */
	struct swz_event_limits limits;  /* of what is written of a trace */
	struct swz_calls_options calls; /* of those; style, rows, ticks later */
	struct swz_rings_options rings; /* rows later */
	struct swz_assembly_options assembly;
	const char *syntax;            /* of -f asm, if it was given */
	const char *output;            /* NULL: the format's default */
	enum swz_group_key by;         /* --by; SWZ_BY_NOTHING: functions */
	enum swz_group_key columns_by; /* its second key, or SWZ_BY_NOTHING */
	bool imbalance;                /* --by rank */
	bool causes;                   /* --causes, or --by cause */
	char **arguments;              /* files and directories */
	size_t argument_count;
	char **old; /* the same of what they are compared with; NULL: nothing */
	size_t old_count;
	bool sides_parted; /* by a "--" */
	char **processes;  /* --process: numbers and patterns; none: all */
	size_t process_count;
	const char *push;       /* --push: the URL; or NULL */
	const char *merge_into; /* --merge-into; or NULL */
	char *times;    /* where the times are from (--times); NULL: the same */
	bool own_times; /* those of -m both are not looked for */
	double fail_above, fail_calls_above; /* percent; below 0: whatever has
					      * changed is no failure */
	const char *budget;                  /* --budget; or NULL */
	bool follow; /* --follow: calls, while they are recorded */
	bool told; /* --told, of swizzle-run --compare: status 3 if the total's
		    * change is not told from noise */
	bool annotate; /* what fails is said as GitHub reads it */
	bool thread_parts;
	bool separate_threads;
	bool compensate;
	bool quiet;
	bool get_names; /* debug packages are installed; nothing is shown */
	bool embed;     /* an archive gets the names that it needs */
	bool in_place;  /* so do the profiles themselves; nothing is written */
	struct swz_debug_files files;
	bool open;  /* --open: the page is shown in a browser */
	bool pager; /* where standard output is a terminal */
	enum swz_colour_when colour;
	struct swz_style style; /* that the table's options may point to */
	char *inputs;           /* see struct swz_table_options */
	struct swz_thread_choice threads;
	enum swz_demangle demangle;
	struct swz_table_options table;
	struct swz_patterns ran;      /* --ran */
	struct swz_patterns tests_of; /* --tests-of */
	const char *old_build;        /* --affected, --rebuilt; NULL: neither */
	const char *new_build;        /* the first argument behind it */
	bool affected;                /* --affected */
	char *callers;                /* of the profiles: reports.h */
	struct swz_view view;
	struct swz_config_file config; /* --config; the view refers to it */
	const char *config_path;       /* NULL: the usual ones */
	unsigned int given; /* options there were: enum swz_format_takes, and
			     * those that are below, besides */
};

/* Reads the command line into *options, which is whole after that. Ends the
 * program where the command line is wrong or asks for nothing but a text. */
void swz_dump_parse_options(struct swz_dump_options *options, char **argv);

extern const struct swz_option_table swz_dump_option_table;
void swz_dump_free_options(struct swz_dump_options *options);

/* True if the thread is asked for. */
bool swz_dump_wants(const struct swz_dump_options *options,
		    const struct swz_profile_thread *thread);

/* The same of the process that a profile is of. */
bool swz_dump_wants_process(const struct swz_dump_options *options,
			    const struct swz_profile *profile);

/* The option that cannot be had of joined times (--times), or NULL. */
const char *swz_dump_not_of_times(const struct swz_dump_options *options,
				  bool one_run);

/* True if a part of the time is asked for. */
static inline bool swz_dump_has_range(const struct swz_dump_options *options)
{
	return options->from.given || options->to.given;
}

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
