#ifndef SWZ_WATCH_UNWIND_PROGRAM_BEGIN_H
#define SWZ_WATCH_UNWIND_PROGRAM_BEGIN_H

/* Where the main thread's stack begins, as a new program finds it: the number
 * of arguments, these, NULL, the environment, NULL, pairs of numbers (SysV ABI,
 * 3.4.1). */

#include <stdbool.h>

#include "watch/unwind/stack_read.h"

/* Whether arguments are there, as far as that can be read. */
bool swz_has_arguments(const struct swz_stack *stack, uint64_t at);

/* Whether all of it is there, not far above SP: what lies between may be the
 * frames of those that call main(). */
bool swz_program_begins_near(const struct swz_stack *stack, uint64_t sp);

#endif
