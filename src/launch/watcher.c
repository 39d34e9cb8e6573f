/* The kernel makes orphans the children of the next process above that has
 * asked for them (PR_SET_CHILD_SUBREAPER), or of the first. Where that is the
 * program itself there is no watcher. The process in between is reaped by the
 * kernel: nothing of it is in the program's RUSAGE_CHILDREN. */

#include "launch/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/file/run_end.h"

#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#define OUR_STDERR 3
#define THE_PROGRAM 4
#define LEAST_PRIORITY 19

/* A terminal or a file: nobody waits for its end. */
static bool stderr_is_lasting(void)
{
	struct stat st;

	return fstat(STDERR_FILENO, &st) == 0 &&
	       (S_ISREG(st.st_mode) || isatty(STDERR_FILENO));
}

static bool gets_orphans(void)
{
	int asked = 1;

	return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &asked) != 0 ||
	       asked;
}

/* A shell's, that has executed us. The kernel would reap them, too. */
static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ==
		       0 ||
	       errno != ECHILD;
}

/* What ps shows, and what pgrep -f finds: not the program's name. */
static void rename_to(char **argv, int32_t root)
{
	static const char format[] = "swizzle-run: waits for %d";
	char *last = argv[0];
	char text[64];
	size_t room;

	if (!last)
		return;
	for (int i = 0; argv[i] && argv[i] == last; i++)
		last = argv[i] + strlen(argv[i]) + 1;
	room = (size_t)(last - argv[0]);
	snprintf(text, sizeof(text), format, (int)root);
	memset(argv[0], 0, room);
	memcpy(argv[0], text, strlen(text) < room ? strlen(text) : room - 1);
	prctl(PR_SET_NAME, "swizzle-watcher");
}

/* Keeps the two, as 3 and 4. */
static bool keep_descriptors(int program, bool tells)
{
	int messages = tells ? fcntl(STDERR_FILENO, F_DUPFD, 10)
			     : open("/dev/null", O_WRONLY);
	int end = fcntl(program, F_DUPFD, 10);

	if (messages < 0 || end < 0 || dup2(messages, OUR_STDERR) < 0 ||
	    dup2(end, THE_PROGRAM) < 0)
		return false;
	for (int fd = 0; fd < OUR_STDERR; fd++)
		close(fd);
	return syscall(SYS_close_range, THE_PROGRAM + 1, ~0u, 0) == 0;
}

_Noreturn static void watch(struct swz_run *run, int program, char **argv,
			    bool tells,
			    void (*afterwards)(const struct swz_run *run))
{
	char text[SWZ_SUMMARY_BYTES];
	struct pollfd end = {.fd = THE_PROGRAM, .events = POLLIN};
	sigset_t all;
	size_t length;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	rename_to(argv, run->root_pid);
	if (chdir("/") != 0 || !keep_descriptors(program, tells) ||
	    poll(&end, 1, -1) != 1)
		_exit(1);
	run->end_ticks = __builtin_ia32_rdtsc();
	swz_run_note_end(run);
	length = tells ? swz_run_summarize(run, text) : 0;
	if (length && write(OUR_STDERR, text, length) != (ssize_t)length)
		_exit(1);
	/* nobody waits for us */
	if (setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY) == 0)
		afterwards(run);
	_exit(0);
}

void swz_watcher_start(struct swz_run *run, char **argv,
		       void (*afterwards)(const struct swz_run *run))
{
	struct sigaction none = {.sa_handler = SIG_DFL,
				 .sa_flags = SA_NOCLDWAIT},
			 before;
	bool tells = stderr_is_lasting();
	int program;
	pid_t between;

	if (gets_orphans() || has_children() ||
	    sigaction(SIGCHLD, &none, &before) != 0)
		return;
	program = (int)syscall(SYS_pidfd_open, getpid(), 0);
	between = program < 0 ? -1 : fork();
	if (between == 0) {
		if (fork() == 0)
			watch(run, program, argv, tells, afterwards);
		_exit(0);
	}
	/* until there is none any more */
	if (between > 0)
		(void)waitpid(between, NULL, 0);
	if (program >= 0)
		close(program);
	sigaction(SIGCHLD, &before, NULL);
}
