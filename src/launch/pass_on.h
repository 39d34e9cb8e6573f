#ifndef SWZ_LAUNCH_PASS_ON_H
#define SWZ_LAUNCH_PASS_ON_H

/* While swizzle-run waits for a process in its own place: what others send to
 * one goes to the other, and both end alike. */

#include <signal.h>
#include <sys/types.h>

#define SWZ_PASSED_COUNT 6

/* What the signals did before. */
struct swz_passed_on {
	struct sigaction before[SWZ_PASSED_COUNT];
};

/* From now on the signals that end or tell a process go to CHILD, if kill(1)
 * has sent them: the terminal's go to all processes anyway. Those that are
 * ignored stay so. For one process at a time. */
void swz_pass_on_signals(pid_t child, struct swz_passed_on *passed);
void swz_pass_on_no_more(const struct swz_passed_on *passed);

/* Ends as the process did of which waitpid(2) says STATUS: with its exit
 * status, or by its signal, without a core file of our own. */
_Noreturn void swz_end_as(int status);

#endif
