#include "launch/pass_on.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const int signals[SWZ_PASSED_COUNT] = {SIGHUP,  SIGTERM, SIGUSR1,
					      SIGUSR2, SIGINT,  SIGQUIT};

static volatile pid_t receiver;

static void pass_on(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (info->si_code <= 0)
		kill(receiver, number);
	errno = error;
}

void swz_pass_on_signals(pid_t child, struct swz_passed_on *passed)
{
	struct sigaction ours = {.sa_sigaction = pass_on,
				 .sa_flags = SA_SIGINFO | SA_RESTART};
	size_t i;

	receiver = child;
	for (i = 0; i < SWZ_PASSED_COUNT; i++) {
		sigaction(signals[i], NULL, &passed->before[i]);
		/* (what nohup has set is the other's, too) */
		if (passed->before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &ours, NULL);
	}
}

void swz_pass_on_no_more(const struct swz_passed_on *passed)
{
	size_t i;

	for (i = 0; i < SWZ_PASSED_COUNT; i++)
		sigaction(signals[i], &passed->before[i], NULL);
}

_Noreturn void swz_end_as(int status)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	struct rlimit none = {0, 0};
	int number = WTERMSIG(status);

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	sigaction(number, &usual, NULL);
	setrlimit(RLIMIT_CORE, &none); /* the other has left one */
	raise(number);
	exit(128 + number);
}
