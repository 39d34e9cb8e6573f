#ifndef SWZ_RUNTIME_RECORD_OVERWRITTEN_H
#define SWZ_RUNTIME_RECORD_OVERWRITTEN_H

/* A program may put its text back from its file, map it anew, or write other
 * code over it. Functions that were hooked are not any more then, and calls of
 * them are missing. */

#include <stdint.h>

/* Looks at the first bytes of all functions that were patched, of modules that
 * are loaded, and notes with each module (swz_module_record.overwritten) how
 * many do not lead to their trampoline now. Returns how many in all. May be
 * called at any time, by any thread, with signals blocked; where another one is
 * at it, nothing is done. Async-signal-safe. */
uint32_t swz_overwritten_find(void);

/* The same, from slow paths: a second and more after the last time, and so
 * seldom that it takes less than one part in 256. */
void swz_overwritten_look(void);

#endif
