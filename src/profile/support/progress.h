#ifndef SWZ_PROFILE_SUPPORT_PROGRESS_H
#define SWZ_PROFILE_SUPPORT_PROGRESS_H

/* How far long work is, in a line on the terminal that stderr is, if it is one.
 * It appears after a second and is gone when the work is done. Not thread safe.
 */

#include <stdbool.h>
#include <stdint.h>

/* Nothing is shown before this says so, and without a terminal it does not
 * matter. */
void swz_progress_allow(bool allowed);

/* A part of the work begins: what is done, and how much of it there is. */
void swz_progress_stage(const char *doing, uint64_t total);

/* So much more of it is done. */
void swz_progress_add(uint64_t amount);

/* Takes the line away, so that something else can be written. */
void swz_progress_clear(void);

/* The same, and nothing is shown until the next stage. */
void swz_progress_end(void);

#endif
