/* Two builds run in turns: what disturbs the machine disturbs both. The first
 * of a pair is the second of the next (old new, new old, ...), so that a
 * machine that gets slower and slower favours neither.
 *
 * Each run is a swizzle-run of its own, whose settings are in the environment
 * already, and writes into a directory of its own: a program may start others.
 * swizzle-dump says whether the change is told from noise. It is asked after
 * each pair, so it takes less for granted than in a single comparison. */

#include "launch/compare_builds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/library.h"
#include "launch/program.h"
#include "options/command_line.h"

#define LEAST_RUNS 5u /* of each, before it is asked */
#define BLANKS " \t\n"
#define UNDECIDED 3 /* as swizzle-dump's */

enum { OLD, NEW, SIDES };

static const char *const side_names[SIDES] = {"old", "new"};

struct turns {
	const struct swz_compared *compared;
	char *directory;
	const char *argv0;
	char **given;
	bool quiet;
	int status[SIDES]; /* of each side's first run, as waitpid(2) has it */
};

static bool is_quiet(void)
{
	return strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0;
}

/* Waits for the child; a status as waitpid(2) has it. */
static int wait_for(pid_t child)
{
	int status = 0;

	if (child < 0)
		swz_die(SWZ_CANNOT_RUN, "--compare: %s", strerror(errno));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

static void to_nothing(int descriptor, int flags)
{
	int fd = open("/dev/null", flags);

	if (fd >= 0 && fd != descriptor) {
		dup2(fd, descriptor);
		close(fd);
	}
}

static size_t count_of(char **words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* The program's output is not wanted so often, and the first run alone would
 * read its input. */
_Noreturn static void become_run(const struct turns *t, unsigned int side,
				 unsigned int number)
{
	char **arguments = t->compared->arguments;
	size_t count = count_of(arguments), i;
	char **words = calloc(count + 6, sizeof(*words));

	if (!words)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	words[0] = swz_text("%s", t->argv0);
	words[1] = swz_text("-o");
	words[2] = swz_text("%s/%s.%u/", t->directory, side_names[side],
			    number);
	words[3] = swz_text("--");
	words[4] = swz_text("%s",
			    side == OLD ? t->compared->old : t->compared->new);
	for (i = 0; i < count; i++)
		words[5 + i] = arguments[i];
	to_nothing(STDIN_FILENO, O_RDONLY);
	to_nothing(STDOUT_FILENO, O_WRONLY);
	swz_environment_set("SWIZZLE_SUMMARY", "0");
	/* each run would say the same */
	if (number > 1)
		swz_environment_set("SWIZZLE_QUIET", "1");
	execve("/proc/self/exe", words, environ);
	swz_die(SWZ_CANNOT_RUN, "--compare: %s", strerror(errno));
}

/* A build that fails now and then has no time to be compared. */
static void check_end(struct turns *t, unsigned int side, unsigned int number,
		      int status)
{
	const char *program = side == OLD ? t->compared->old : t->compared->new;

	if (WIFSIGNALED(status))
		swz_die(1,
			"%s: run %u was ended by signal %d (%s). Nothing is "
			"compared",
			program, number, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == SWZ_CANNOT_RUN ||
	    WEXITSTATUS(status) == SWZ_NOT_FOUND)
		exit(WEXITSTATUS(status)); /* which was said */
	if (number == 1)
		t->status[side] = status;
	if (status != t->status[side])
		swz_die(1,
			"%s: run 1 ended with status %d, run %u with %d. "
			"Nothing is compared",
			program, WEXITSTATUS(t->status[side]), number,
			WEXITSTATUS(status));
	if (number == 1 && status && !t->quiet)
		swz_notice("%s ends with status %d, in this comparison",
			   program, WEXITSTATUS(status));
}

static void run_one(struct turns *t, unsigned int side, unsigned int number)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		become_run(t, side, number);
	check_end(t, side, number, wait_for(child));
}

/* swizzle-dump with OPTIONS, and then all runs so far; its exit status. */
static int run_dump(const struct turns *t, const char *options,
		    unsigned int count)
{
	char **words = calloc(2 * (size_t)count + strlen(options) + 6,
			      sizeof(*words));
	char *rest = swz_text("%s", options);
	size_t at = 0;
	int status;
	pid_t child;

	if (!words)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	words[at++] = swz_dump_find(t->argv0);
	if (t->quiet)
		words[at++] = swz_text("-q");
	for (char *word = strtok(rest, BLANKS); word;
	     word = strtok(NULL, BLANKS))
		words[at++] = word;
	words[at++] = swz_text("--diff");
	for (unsigned int side = OLD; side < SIDES; side++) {
		for (unsigned int n = 1; n <= count; n++)
			words[at++] = swz_text("%s/%s.%u", t->directory,
					       side_names[side], n);
		if (side == OLD)
			words[at++] = swz_text("--");
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		execve(words[0], words, t->given);
		swz_die(SWZ_CANNOT_RUN, "--compare: cannot execute %s: %s",
			words[0], strerror(errno));
	}
	status = wait_for(child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void make_directory(struct turns *t)
{
	const char *given = t->compared->output;

	t->directory = given ? swz_text("%s", given)
			     : swz_text("swizzle.compare.%d", (int)getpid());
	for (size_t n = strlen(t->directory); n > 1; n--) {
		if (t->directory[n - 1] != '/')
			break;
		t->directory[n - 1] = '\0';
	}
	if (mkdir(t->directory, 0777) != 0 && errno != EEXIST)
		swz_die(SWZ_CANNOT_RUN,
			"--compare: cannot make the directory %s: %s",
			t->directory, strerror(errno));
	/* each directory would be a run of two processes */
	if (swz_path_is_directory(swz_text("%s/old.1", t->directory)))
		swz_die(SWZ_WRONG_USAGE,
			"--compare: %s has the runs of an earlier comparison. "
			"Remove it, or give -o another name",
			t->directory);
}

int swz_compare_builds(const struct swz_compared *compared, const char *argv0,
		       char **given)
{
	struct turns t = {.compared = compared,
			  .argv0 = argv0,
			  .given = given,
			  .quiet = is_quiet()};
	const char *report = swz_environment_get("SWIZZLE_REPORT");
	char *options = swz_text("%s", strcmp(report, "1") == 0 ? "" : report);
	unsigned int least = compared->most < LEAST_RUNS ? compared->most
							 : LEAST_RUNS;
	unsigned int done;
	int told = UNDECIDED, status;

	unsetenv("SWIZZLE_REPORT");
	make_directory(&t);
	for (done = 0; done < compared->most && told == UNDECIDED;) {
		done++;
		run_one(&t, done % 2 ? OLD : NEW, done);
		run_one(&t, done % 2 ? NEW : OLD, done);
		if (done >= least)
			told = run_dump(&t, "--told -q -o /dev/null", done);
	}
	if (told != 0 && told != UNDECIDED)
		return told;
	status = run_dump(&t, options, done);
	if (!t.quiet && told == 0)
		swz_notice(
			"%u runs of each, in turns -> %s. The change is told "
			"from noise",
			done, t.directory);
	else if (!t.quiet)
		swz_notice("%u runs of each, in turns -> %s. The change is not "
			   "told from noise: give more (--runs %u), on a "
			   "quieter machine",
			   done, t.directory, 2 * compared->most);
	return status || *options ? status : told;
}
