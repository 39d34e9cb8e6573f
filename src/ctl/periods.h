#ifndef SWZ_CTL_PERIODS_H
#define SWZ_CTL_PERIODS_H

/* start --for TIME [--every TIME]. */

#include <stdbool.h>
#include <stdint.h>

/* From here on SIGINT, SIGTERM and SIGHUP only end a wait. */
void swz_periods_begin(void);

/* Waits until NS after the last call of swz_periods_begin(), or until a signal.
 * False: a signal came, also before. */
bool swz_periods_wait(uint64_t ns);

#endif
