/* Where the output goes: a file, which is complete or not there at all
 * (util/output.h), or standard output, through a pager if that is
 * a terminal. */

#include "tools/dump/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/formats/formats.h"
#include "tools/dump/dump_options.h"
#include "util/memory.h"
#include "util/output.h"

/* --- messages ------------------------------------------------------------ */

void swz_dump_complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	swz_complain_list(format, arguments);
	va_end(arguments);
}

static size_t unread;

size_t swz_dump_unread_files(void)
{
	return unread;
}

void swz_dump_note_unread(const char *path, const char *why)
{
	swz_dump_complain("%s: %s", path, why);
	unread++;
}

/* --- pager --------------------------------------------------------------- */

/* As git does it: the pager is a child that reads from a pipe. */

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

/* A more complex command is the shell's matter. */
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

/* The pager shows what has come so far until the user has seen it. */
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

/* Shows what goes to standard output through a pager: SWIZZLE_PAGER, or PAGER,
 * or less, which ends by itself where all fits on the screen (LESS=FRX unless
 * it is set). Does nothing if standard output is no terminal, if we are in the
 * background, if the pager is "" or "cat" or not there, or if it was done
 * before. Messages go through it, too, if they were for the terminal.
 *
 * The program's end waits for the pager's. If the pager ends first, so does the
 * program, as if all had been read. */
static void pager_start(void)
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

/* --- files that are written ---------------------------------------------- */

/* A file is complete or not there at all: see util/output.h. */

int swz_dump_write_failed(const char *path)
{
	swz_dump_complain("cannot write %s: %s",
			  strcmp(path, "-") == 0 ? "standard output" : path,
			  strerror(errno));
	return EXIT_INPUT;
}

bool swz_dump_to_standard_output(const struct swz_dump_options *options)
{
	return options->output ? strcmp(options->output, "-") == 0
			       : !options->format->prefix;
}

/* NUMBER is that of the part, or "". */
static char *path_of(const struct swz_dump_options *options, int32_t pid,
		     const char *number)
{
	const struct swz_format *format = options->format;

	if (options->output)
		return swz_print("%s%s", options->output, number);
	if (format->prefix)
		return swz_print("%s%s%" PRId32 "%s%s", format->prefix,
				 options->old ? "diff." : "", pid, number,
				 format->suffix);
	return swz_duplicate("-");
}

char *swz_dump_output_path(const struct swz_dump_options *options, int32_t pid)
{
	return path_of(options, pid, "");
}

enum swz_status swz_dump_open_output(struct swz_output *output,
				     const char *path,
				     const struct swz_dump_options *options)
{
	enum swz_compression compression = swz_compression_of(path);
	unsigned int flags = 0;
	enum swz_status status;

	if (!options->output)
		flags = SWZ_OUTPUT_OWN_NAME | SWZ_OUTPUT_PRIVATE;
	if (options->format->for_owner)
		flags |= SWZ_OUTPUT_PRIVATE;
	if (!options->output && strcmp(path, "-") == 0 && options->pager)
		pager_start();
	status = swz_output_open(output, path, flags);
	/* of standard output there is no name */
	if (status == SWZ_OK && options->output && strcmp(path, "-") != 0 &&
	    compression != SWZ_PLAIN &&
	    !(options->format->takes & SWZ_COMPRESSES))
		status = swz_output_compress(output, compression);
	return status;
}

int swz_dump_open_target(struct swz_dump_target *target,
			 const struct swz_dump_options *options, char *path)
{
	target->path = path;
	if (swz_dump_open_output(&target->output, path, options) != SWZ_OK)
		return swz_dump_write_failed(path);
	if (options->format->takes & SWZ_WRITES_FILE &&
	    !target->output.temporary) {
		swz_dump_complain("cannot write %s to %s: it is not written "
				  "from its beginning to its end. Name a file "
				  "with -o",
				  options->format->name, path);
		swz_output_discard(&target->output);
		target->output.stream = NULL;
		return EXIT_USAGE;
	}
	target->writer = (struct swz_writer){.stream = target->output.stream,
					     .path = target->output.temporary,
					     .options = &options->table};
	if (options->format->begin)
		options->format->begin(&target->writer);
	return EXIT_OK;
}

int swz_dump_write_section(struct swz_dump_target *target,
			   const struct swz_section *section,
			   const struct swz_dump_options *options)
{
	options->format->section(&target->writer, section);
	target->writer.sections++;
	return ferror(target->output.stream) ? EXIT_INPUT : EXIT_OK;
}

int swz_dump_begin_part(struct swz_dump_target *to,
			const struct swz_dump_options *options, int32_t pid,
			unsigned int thread_number)
{
	char number[16] = "";

	/* tables need no files of their own, unless a name is given */
	if (to->path && !options->separate_threads)
		return EXIT_OK;
	if (options->separate_threads && !swz_dump_to_standard_output(options))
		snprintf(number, sizeof(number), "-%02u", thread_number);
	return swz_dump_open_target(to, options, path_of(options, pid, number));
}

static char *last_written;

int swz_dump_end_output(struct swz_output *output, const char *path,
			const struct swz_dump_options *options)
{
	if (swz_output_close(output) != SWZ_OK)
		return swz_dump_write_failed(path);
	free(last_written);
	last_written = swz_duplicate(path);
	if (!options->quiet && !options->output && options->format->prefix)
		swz_dump_complain("wrote %s", path);
	return EXIT_OK;
}

static bool has_display(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x && *x) || (wayland && *wayland);
}

/* The browser outlives us, and prints nothing among what we print. */
static void start_browser(const char *command, const char *page)
{
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		int nothing = open("/dev/null", O_RDWR);

		if (nothing >= 0) {
			dup2(nothing, STDIN_FILENO);
			dup2(nothing, STDOUT_FILENO);
			dup2(nothing, STDERR_FILENO);
		}
		(void)setsid();
		if (fork() == 0)
			execl("/bin/sh", "sh", "-c", command, "sh", page,
			      (char *)NULL);
		_exit(127);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* $BROWSER may have a list of commands, of which each may say where the page's
 * name goes (%s); to be freed. */
static char *browser_command(void)
{
	const char *list = getenv("BROWSER");
	char *first, *mark, *command;

	if (!list || !*list)
		return has_display() && is_in_path("xdg-open")
			       ? swz_duplicate("exec xdg-open \"$1\"")
			       : NULL;
	first = swz_print("%.*s", (int)strcspn(list, ":"), list);
	mark = strstr(first, "%s");
	command = !is_there(first) ? NULL
		  : mark ? swz_print("exec %.*s\"$1\"%s", (int)(mark - first),
				     first, mark + 2)
			 : swz_print("exec %s \"$1\"", first);
	if (!command)
		swz_dump_complain("BROWSER in the environment: there is no "
				  "%s",
				  first);
	free(first);
	return command;
}

void swz_dump_open_page(void)
{
	char *page = last_written ? realpath(last_written, NULL) : NULL;
	char *command = page ? browser_command() : NULL;
	char host[256] = "";

	if (command)
		start_browser(command, page);
	else if (page) {
		(void)gethostname(host, sizeof(host) - 1);
		swz_dump_complain("no browser here. Where there is one: scp "
				  "%s:'%s' . && xdg-open '%s'",
				  host, page, strrchr(page, '/') + 1);
	}
	free(command);
	free(page);
}

/* Removes the output: a part of it is of no use. */
static int give_up(struct swz_dump_target *target)
{
	swz_dump_complain("cannot write %s: %s", target->path,
			  target->writer.failure);
	free(target->writer.failure);
	swz_output_discard(&target->output);
	return EXIT_INPUT;
}

int swz_dump_close_target(struct swz_dump_target *target,
			  const struct swz_dump_options *options)
{
	int status = EXIT_OK;

	if (target->path && target->output.stream) {
		if (options->format->end)
			options->format->end(&target->writer);
		status = target->writer.failure
				 ? give_up(target)
				 : swz_dump_end_output(&target->output,
						       target->path, options);
	}
	free(target->path);
	*target = (struct swz_dump_target){0};
	return status;
}
