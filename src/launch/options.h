#ifndef SWZ_LAUNCH_OPTIONS_H
#define SWZ_LAUNCH_OPTIONS_H

/* swizzle-run's options. Each is a variable of the environment, by which the
 * library reads it. */

#include "options/usage.h"

/* Reads the arguments up to the program and sets the variables; returns the
 * program and what follows (nothing with -p). Says what is wrong with them, or
 * with a variable that no option has set, and exits, as it does for --help and
 * --version. */
char **swz_options_read(char **arguments);

/* Says which variables SWIZZLE_... are no settings, unless SWIZZLE_QUIET=1. */
void swz_options_check_environment(void);

/* Where the value of VARIABLE is from: "option -r", or "SWIZZLE_RATE in the
 * environment". */
const char *swz_options_name(const char *variable);

/* What -o said, or NULL. */
const char *swz_options_output(void);

#endif
