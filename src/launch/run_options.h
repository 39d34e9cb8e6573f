#ifndef SWZ_LAUNCH_RUN_OPTIONS_H
#define SWZ_LAUNCH_RUN_OPTIONS_H

/* The options of swizzle-run and their values. Variables in the environment
 * take the same values; a list has one item a line there. */

#include <stdbool.h>

#include "options/command_line.h"

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

/* Where the value of VARIABLE is from: "option -r", or "SWIZZLE_RATE in the
 * environment". */
const char *swz_options_name(const char *variable);

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

#endif
