#include "launch/off.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/environment.h"

/* It is tried by a child: like swizzle-ctl, that is none of our ancestors
 * (kernel.yama.ptrace_scope 1 lets those). We go on undisturbed. */
static bool may_be_traced(void)
{
	/* (where it is ignored, no child can be waited for) */
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	struct sigaction before;
	pid_t us = getpid(), child;
	int status;
	bool may;

	sigaction(SIGCHLD, &usual, &before);
	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_SEIZE, us, NULL, NULL) != 0)
			_exit(1);
		_exit(0);
	}
	may = child > 0 && waitpid(child, &status, 0) == child &&
	      WIFEXITED(status) && WEXITSTATUS(status) == 0;
	sigaction(SIGCHLD, &before, NULL);
	return may;
}

void swz_off_prepare(void)
{
	if (strcmp(swz_environment_get("SWIZZLE_OFF"), "1") == 0 &&
	    !may_be_traced())
		swz_environment_set("SWIZZLE_OFF", "hooked");
}
