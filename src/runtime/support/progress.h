#ifndef SWZ_RUNTIME_SUPPORT_PROGRESS_H
#define SWZ_RUNTIME_SUPPORT_PROGRESS_H

/* How far planning is, in a line on the terminal that stderr is, if it is one
 * and the process is in its foreground. It appears after a second and is gone
 * when the plan is made. Before the program's first code runs only: afterwards
 * the terminal is the program's. */

#include <stdint.h>

/* Planning begins: of modules with so much text. */
void swz_progress_begin(uint64_t bytes);

/* The module before, if any, is done; this one has so much of the text. */
void swz_progress_module(const char *path, uint64_t bytes);

/* So much of the module is done. */
void swz_progress_percent(unsigned percent);

void swz_progress_end(void);

#endif
