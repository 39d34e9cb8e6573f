/* As git does it: the pager is a child that reads from a pipe. */

#include "tools/dump/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "profile/support/progress.h"

static pid_t pager;

static const char *choose(void)
{
	const char *command = getenv("SWIZZLE_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return !*command || strcmp(command, "cat") == 0 ? NULL : command;
}

static bool is_in_path(const char *word)
{
	const char *path = getenv("PATH");

	if (strchr(word, '/'))
		return access(word, X_OK) == 0;
	while (path && *path) {
		size_t length = strcspn(path, ":");
		char *file = swz_print("%.*s/%s", (int)length, path, word);
		bool found = access(file, X_OK) == 0;

		free(file);
		if (found)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* What the shell makes of a more complex command is its matter. */
static bool is_there(const char *command)
{
	char *word = swz_duplicate(command);
	bool found;

	word[strcspn(word, " \t")] = '\0';
	found = word[strcspn(word, "\"'\\$~`*?[({;&|<>=")] || !*word ||
		is_in_path(word);
	free(word);
	return found;
}

static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* It has shown what was wanted, or nothing: that is no failure. */
static void pager_has_ended(int signal)
{
	(void)signal;
	(void)waitpid(pager, NULL, 0);
	_exit(EXIT_SUCCESS);
}

/* What has come so far is shown until the user has seen it. */
static void end_pager(void)
{
	(void)fflush(stdout);
	(void)fflush(stderr);
	/* the pager reads on while anybody could write */
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	wait_for_pager();
}

static _Noreturn void become_pager(const char *command, const int *ends)
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	(void)setenv("LESS", "FRX", 0);
	(void)setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void swz_pager_start(void)
{
	const char *command = choose();
	int ends[2];

	if (pager || !command || !isatty(STDOUT_FILENO) ||
	    tcgetpgrp(STDOUT_FILENO) != getpgrp() || !is_there(command))
		return;
	swz_progress_end();
	swz_progress_allow(false);
	if (fflush(stdout) != 0 || pipe(ends) != 0)
		return;
	pager = fork();
	if (pager == 0)
		become_pager(command, ends);
	if (pager > 0) {
		/* keys for the pager are not for us */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		signal(SIGPIPE, pager_has_ended);
		dup2(ends[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
		(void)atexit(end_pager);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}
