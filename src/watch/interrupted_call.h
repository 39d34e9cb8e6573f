#ifndef SWZ_WATCH_INTERRUPTED_CALL_H
#define SWZ_WATCH_INTERRUPTED_CALL_H

/* A thread that is stopped leaves the system call in which it waits. No signal
 * has come, so it must not see an EINTR: the call is made again. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

/* Whether a system call was interrupted by the stop, and may be made again:
 * then *again are the registers with which it is. (close(2) may not: its
 * descriptor is free, or another file's by now.) */
bool swz_call_makes_again(const struct user_regs_struct *registers,
			  struct user_regs_struct *again);

/* Of a thread that is stopped, and to be let go without a signal: has it make
 * its call again where the kernel alone would have it see EINTR. */
void swz_call_restart(int32_t pid, int32_t tid,
		      const struct user_regs_struct *registers);

#endif
