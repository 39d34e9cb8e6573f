#ifndef SWZ_RUNTIME_CONTROL_H
#define SWZ_RUNTIME_CONTROL_H

/* What a controller has to know of the library (base/control.h), whichever way
 * it came into the process. */

#include <stdbool.h>

/* Where threads have their states, and how they are paused from outside. */
void swz_control_describe(void);

/* Begins the tables of sites and of code. False: there is no memory. */
bool swz_control_begin_tables(void);

#endif
