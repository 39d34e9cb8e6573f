#include "top/started.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/program.h"

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

void swz_top_start(struct swz_top_started *started, char **program, bool hidden,
		   const char *output_path)
{
	int gate[2], output = -1;
	char *path, byte;

	*started = (struct swz_top_started){.go = -1};
	if (!**program)
		swz_die(SWZ_NOT_FOUND, "'': not found");
	path = swz_program_find(*program, *program);
	swz_program_check(path, *program, true);
	if (hidden)
		output = swz_program_output_open(&started->output, output_path);
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

void swz_top_await(struct swz_top_started *started)
{
	sigset_t ending;
	int status;

	if (!started->pid || started->ended)
		return;
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &ending, NULL);
	while (waitpid(started->pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	note(started, status);
}

void swz_top_give_up(struct swz_top_started *started)
{
	if (started->go >= 0)
		close(started->go);
	started->go = -1;
	swz_program_output_drop(&started->output);
	if (started->pid)
		(void)waitpid(started->pid, NULL, 0);
}
