#ifndef SWZ_RUNTIME_RECORD_RECURSION_H
#define SWZ_RUNTIME_RECORD_RECURSION_H

/* Whether a call of a function that is on the path already gets a context of
 * its own, or is folded: goes on in that of the call further up (Ammons, Ball
 * and Larus, PLDI 1997). With a context for each call the tree shows the true
 * stacks. But the contexts of a binary recursion double with each level, and
 * those of a deep one do not end. docs/recursion.md says how the bounds were
 * chosen. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* How many recursive contexts a function may have in a thread at its second
 * place on a path; half as many at its third, and so on, so that what explodes
 * is wide near the root rather than deep in one place. It may always have a
 * path with --recursion of them. */
#define SWZ_RECURSIVE_CONTEXTS 256u

/* Decides it for a new edge to FUNCTION from the context of KEY. Returns 0: it
 * gets a context of its own, which is counted; or the unit of the context in
 * which it goes on, the nearest of the function on the path.
 * Async-signal-safe. */
uint32_t swz_recursion_fold(struct swz_thread *thread, uint64_t key,
			    uint32_t function);

#endif
