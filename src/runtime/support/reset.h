#ifndef SWZ_RUNTIME_SUPPORT_RESET_H
#define SWZ_RUNTIME_SUPPORT_RESET_H

/* All variables as they were when we were loaded: a process that is attached to
 * a second time begins anew. Return thunks stay, since a copied stack may yet
 * return through one (thunks/arena.h). */

#include <stdbool.h>

/* Of a variable, all zero at first, that a reset leaves alone. */
#define SWZ_KEPT __attribute__((section(".bss.kept")))

/* Before anything has changed: notes what there is, the first time. False: no
 * memory. */
bool swz_reset_note(void);

/* Brings that back, and gives all memory back that is ours, but the library's
 * own, what was noted, and the mapping of the calling thread's stack. No thread
 * may be in a hook. (One that unwinds may yet come to a thunk, and so to us: it
 * finds nothing that is recorded, and goes on.) */
void swz_reset(const void *own_stack);

#endif
