#ifndef SWZ_LAUNCH_RUN_OPTIONS_H
#define SWZ_LAUNCH_RUN_OPTIONS_H

/* The options of swizzle-run and their values. Variables in the environment
 * take the same values; a list has one item a line there. */

#include <stdbool.h>
#include <stdint.h>

#include "options/command_line.h"
#include "swizzle/format.h"

/* The words of these kinds, in the order in which they are shown. */
swz_word_at swz_mode_at, swz_timing_at, swz_imports_at, swz_engine_at,
	swz_event_at;

/* The mode that --mode or the environment say. */

bool swz_sampling_wanted(void); /* sample */
bool swz_both_wanted(void);     /* both */

/* swizzle-run's options. Each is a variable of the environment, by which the
 * library reads it. */

/* Reads the arguments up to the program and sets the variables; returns the
 * program and what follows (nothing with -p). Says what is wrong with them, or
 * with a variable that no option has set, and exits, as it does for --help and
 * --version. */
char **swz_options_read(char **argv);

extern const struct swz_option_table swz_run_option_table;

/* Chooses the mode, where --mode has not said it, by what the other options,
 * the environment and the configuration file need, and says so in a line. Says
 * which options are not for the mode, and exits. After
 * swz_configuration_apply(). */
void swz_options_settle_mode(bool has_program);

/* Makes --mode both, once it is settled, to --mode sample: WHOSE calls cannot
 * be counted, and WHY. Says so, unless SWIZZLE_QUIET=1, and exits if an option
 * that was given is for hooks only. */
void swz_options_sample_alone(const char *whose, const char *why);

/* Says which variables SWIZZLE_... are no settings, unless SWIZZLE_QUIET=1. */
void swz_options_check_environment(void);

/* True if --check was given, which needs no program. */
bool swz_options_check_is_wanted(void);

/* The builds of --compare OLD NEW, and how many runs there may be of each.
 * NULL: it was not given. */
struct swz_compared_builds {
	const char *old, *new;
	unsigned int most;
};

const struct swz_compared_builds *swz_options_compared(void);

/* The value of -o, or NULL. */
const char *swz_options_output(void);

/* --- values of options ---------------------------------------------------- */

enum swz_option_kind {
	SWZ_OPTION_FLAG,
	SWZ_OPTION_OFF,
	SWZ_OPTION_IMPORTS,
	SWZ_OPTION_REPORT,
	SWZ_OPTION_LIVE,
	SWZ_OPTION_OUTPUT,
	SWZ_OPTION_FILE,
	SWZ_OPTION_MODE,
	SWZ_OPTION_TIMING,
	SWZ_OPTION_ENGINE,
	SWZ_OPTION_EVENT,
	SWZ_OPTION_PATTERN,
	SWZ_OPTION_ARGS,
	SWZ_OPTION_ARGUMENT,
	SWZ_OPTION_STRING_BYTES,
	SWZ_OPTION_STACK_BYTES,
	SWZ_OPTION_DEPTH,
	SWZ_OPTION_RATE,
	SWZ_OPTION_PID,
	SWZ_OPTION_TRIGGER,
	SWZ_OPTION_SLOW,
	SWZ_OPTION_KEEP,
	SWZ_OPTION_TIME,
	SWZ_OPTION_DURATION,
	SWZ_OPTION_BYTES,
	SWZ_OPTION_MEMORY,
	SWZ_OPTION_CHECK,
	SWZ_OPTION_COMPARE,
	SWZ_OPTION_RUNS,
	SWZ_OPTION_LABEL,
};

#define SWZ_MOST_SLOW_RULES 7u
#define SWZ_USUAL_RUNS 20u

/* Returns what is wrong with the value of an option, to be put behind "option
 * -D: "; NULL: nothing. For the kinds FLAG, OFF and IMPORTS it is the
 * variable's value. */
const char *swz_option_problem(enum swz_option_kind kind, const char *value);

/* The same of a variable's value: each line of a list is looked at. Empty is
 * never wrong. */
const char *swz_variable_problem(enum swz_option_kind kind, const char *value);

/* "64", "1K", "2M", "3G": bytes. False: it is none of those. */
bool swz_size_read(const char *text, uint64_t *bytes);

/* --- the settings of -m sample ------------------------------------------- */

#define SWZ_MOST_RATE 20000u /* samples a second */
/* A record of the kernel has no more than 64 KB. */
#define SWZ_MOST_STACK_BYTES 65528u

struct swz_sampling {
	uint64_t rate;                 /* a second; 0: the engine's own */
	enum swz_sample_engine engine; /* 0: perf, or where that is refused
					* pause */
	const char *event;             /* of perf */
	uint32_t stack_bytes;          /* a multiple of 8; 0: as many as the
					* engine has room for */
	bool wall;   /* threads that wait are looked at, too */
	bool follow; /* child processes, too */
	bool quiet, verbose, summary;
	int32_t pid;               /* the process that runs already; 0: none */
	const char *counts_output; /* -m both: what the profiles with the counts
				    * are called; NULL: there are none */
	int32_t counts_pid;        /* what swz_file_header has of it */
	uint64_t counts_start;
	uint64_t for_ns;     /* of it: for so long; 0: until it ends */
	const char *program; /* the ELF file that is run; NULL: not known */
	char **command;      /* what is run; NULL: not known */
};

/* Reads the settings from the environment. If one is wrong, says so and exits.
 */
struct swz_sampling swz_sampling_read(void);

#endif
