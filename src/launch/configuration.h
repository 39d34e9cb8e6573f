#ifndef SWZ_LAUNCH_CONFIGURATION_H
#define SWZ_LAUNCH_CONFIGURATION_H

/* --config: what of the configuration file is for recording. */

#include <stdbool.h>

/* Reads the file of --config, or those that there are, and adds what they leave
 * out to the environment's patterns. Dies where a file is wrong. */
void swz_configuration_apply(void);

/* Whether debug information is needed to do what it says. */
bool swz_configuration_needs_values(void);

/* For swizzle-dump: the absolute path of --config; "": the usual ones; "-":
 * there are none. */
const char *swz_configuration_path(void);

#endif
