/* The process in between waits for the first run and tells how it has ended.
 * The kernel reaps it (SA_NOCLDWAIT), so what it has used is nobody's. */

#include "launch/first_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/environment.h"
#include "launch/pass_on.h"
#include "launch/program.h"
#include "options/notice.h"

static volatile char *executes; /* shared with the first run */
static off_t input_at = -1;     /* where standard input was; -1: no file */

void swz_first_run_check_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) != 0 || isatty(STDIN_FILENO))
		return;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return; /* /dev/null */
	if (S_ISREG(st.st_mode))
		input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (input_at < 0)
		swz_die(SWZ_CANNOT_RUN,
			"-m both runs the program twice, but standard input "
			"can be read once only. Take it from a file (< FILE), "
			"or run it twice yourself: swizzle-run -m sample -o "
			"SAMPLES ..., swizzle-run -o PROFILE ..., and "
			"swizzle-dump --times SAMPLES PROFILE");
}

void swz_first_run_executes(void)
{
	*executes = 1;
}

static bool get(int from, void *to, size_t size)
{
	ssize_t n;

	do
		n = read(from, to, size);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

/* Waits for CHILD and writes its status to TO. */
_Noreturn static void wait_between(pid_t child, int to)
{
	int status = 0;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	_exit(write(to, &status, sizeof(status)) != sizeof(status));
}

_Noreturn static void between(int to, void (*start)(void *), void *argument)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	pid_t child;

	sigaction(SIGCHLD, &usual, NULL);
	child = fork();
	if (child == 0) {
		close(to);
		start(argument);
		_exit(SWZ_CANNOT_RUN);
	}
	if (write(to, &child, sizeof(child)) != sizeof(child) || child < 0)
		_exit(1);
	wait_between(child, to);
}

static bool is_users(int number)
{
	return number == SIGINT || number == SIGQUIT || number == SIGTERM ||
	       number == SIGHUP;
}

static void tell(int status)
{
	bool quiet = strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0;

	if (quiet)
		return;
	if (WIFSIGNALED(status))
		swz_notice("the first run, which was sampled, was killed by "
			   "signal %d (%s)",
			   WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		swz_notice("the first run, which was sampled, ended with exit "
			   "status %d",
			   WEXITSTATUS(status));
}

void swz_first_run(void (*start)(void *), void *argument)
{
	struct sigaction none = {.sa_handler = SIG_DFL,
				 .sa_flags = SA_NOCLDWAIT};
	struct sigaction before;
	struct swz_passed_on passed;
	int ends[2], status = 0;
	pid_t child = -1, helper;

	executes = mmap(NULL, 1, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (executes == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start the first run: %s",
			strerror(errno));
	sigaction(SIGCHLD, &none, &before);
	helper = fork();
	if (helper == 0)
		between(ends[1], start, argument);
	close(ends[1]);
	if (helper < 0 || !get(ends[0], &child, sizeof(child)) || child < 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start the first run");
	swz_pass_on_signals(child, &passed);
	if (!get(ends[0], &status, sizeof(status)))
		swz_die(SWZ_CANNOT_RUN, "the first run was lost");
	swz_pass_on_no_more(&passed);
	(void)waitpid(helper, NULL, 0);
	sigaction(SIGCHLD, &before, NULL);
	close(ends[0]);
	if (!*executes)
		swz_end_as(status);
	tell(status);
	if (WIFSIGNALED(status) && is_users(WTERMSIG(status)))
		swz_end_as(status);
	if (input_at >= 0)
		(void)lseek(STDIN_FILENO, input_at, SEEK_SET);
}
