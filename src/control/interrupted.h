#ifndef SWZ_CONTROL_INTERRUPTED_H
#define SWZ_CONTROL_INTERRUPTED_H

#include <sys/user.h>

#include "control/target.h"

/* Calls VISIT for each place that a signal has interrupted, and to which its
 * handler will return: from what the kernel has put on the stack, up to 1 MiB
 * of which are searched. Ends when VISIT returns false. Not thread safe. */
void swz_interrupted_each(const struct swz_target *target,
			  const struct user_regs_struct *registers,
			  bool (*visit)(void *context, uint64_t address),
			  void *context);

#endif
