#include "top/started.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/program.h"

/* Where the terminal is not to be written on. */
static int open_output(struct swz_top_started *started)
{
	int fd;

	if (!isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return -1;
	started->output = swz_text("swizzle-top.out.%d", (int)getpid());
	fd = open(started->output,
		  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW |
			  O_CLOEXEC,
		  0600);
	if (fd < 0)
		swz_die(SWZ_CANNOT_RUN,
			"cannot make %s for the program's output: %s. Send it "
			"elsewhere: swizzle-top PROGRAM >FILE 2>&1",
			started->output, strerror(errno));
	return fd;
}

static void leave_terminal(int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* the keys are not the program's, nor are the terminal's signals */
	setsid();
	if (null >= 0 && isatty(STDIN_FILENO))
		(void)dup2(null, STDIN_FILENO);
	for (int fd = STDOUT_FILENO; output >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			(void)dup2(output, fd);
}

void swz_top_start(struct swz_top_started *started, char **program, bool hidden)
{
	int gate[2], output = -1;
	char *path, byte;

	*started = (struct swz_top_started){.go = -1};
	if (!**program)
		swz_die(SWZ_NOT_FOUND, "'': not found");
	path = swz_program_find(*program, *program);
	swz_program_check(path, *program, true);
	if (hidden)
		output = open_output(started);
	if (pipe2(gate, O_CLOEXEC) != 0 || (started->pid = fork()) < 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start %s: %s", *program,
			strerror(errno));
	if (started->pid == 0) {
		close(gate[1]);
		if (hidden)
			leave_terminal(output);
		if (read(gate[0], &byte, 1) != 1)
			_exit(SWZ_CANNOT_RUN);
		close(gate[0]);
		swz_program_execute(path, program);
	}
	close(gate[0]);
	if (output >= 0)
		close(output);
	started->go = gate[1];
}

void swz_top_go(struct swz_top_started *started)
{
	(void)!write(started->go, "", 1);
	close(started->go);
	started->go = -1;
}

static void note(struct swz_top_started *started, int status)
{
	started->ended = true;
	started->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					      : WEXITSTATUS(status);
}

void swz_top_look(struct swz_top_started *started)
{
	int status;

	if (started->pid && !started->ended &&
	    waitpid(started->pid, &status, WNOHANG) == started->pid)
		note(started, status);
}

static void wait_for_end(struct swz_top_started *started)
{
	int status;

	while (waitpid(started->pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	note(started, status);
}

void swz_top_await(struct swz_top_started *started)
{
	sigset_t ending;

	if (!started->pid || started->ended)
		return;
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &ending, NULL);
	wait_for_end(started);
}

void swz_top_finish(struct swz_top_started *started)
{
	swz_top_look(started);
	if (started->pid && !started->ended && kill(started->pid, SIGTERM) == 0)
		wait_for_end(started);
}

void swz_top_give_up(struct swz_top_started *started)
{
	if (started->go >= 0)
		close(started->go);
	started->go = -1;
	if (started->output)
		(void)unlink(started->output);
	if (started->pid)
		(void)waitpid(started->pid, NULL, 0);
}
