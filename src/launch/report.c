/* A pipe that closes when the program is executed brings the name of the
 * profiles. They are found by what their headers say of the run, so older files
 * in the same folder are not shown. */

#include "launch/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/environment.h"
#include "launch/pass_on.h"
#include "launch/library.h"
#include "launch/mode.h"
#include "launch/program.h"
#include "profile/file/run_end.h"
#include "profile/file/run_profiles.h"

#define BLANKS " \t\n"
#define LEAST_DESCRIPTOR 10 /* not where a standard one is closed */
#define WAIT_NS 10000000
#define MOST_WAITS 500 /* 5 s */

/* What the child knows. */
struct told {
	int32_t root_pid;
	uint32_t shown;
	uint64_t root_start;
	char output[SWZ_RUN_PATH_BYTES];
};

static int tells = -1; /* the child's end */

void swz_report_tell(const struct swz_run *run)
{
	struct told told = {.root_pid = run->root_pid,
			    .root_start = run->root_start,
			    .shown = run->shown};

	if (tells < 0)
		return;
	snprintf(told.output, sizeof(told.output), "%s", run->output);
	/* less than a pipe has room for */
	(void)!write(tells, &told, sizeof(told));
	close(tells);
	tells = -1;
}

/* ------------------------------------------------------------- the command */

struct words {
	char **items;
	size_t count, capacity;
};

static void add(struct words *words, char *word)
{
	if (words->count == words->capacity) {
		words->capacity = words->capacity * 2 + 16;
		words->items = realloc(words->items,
				       words->capacity * sizeof(char *));
		if (!words->items)
			swz_die(SWZ_CANNOT_RUN, "--report: no memory");
	}
	words->items[words->count++] = word;
}

struct search {
	const struct told *told;
	bool sampled; /* files of the sampler */
	struct words *words;
};

static struct swz_run run_of(const struct told *told)
{
	return (struct swz_run){.output = told->output,
				.root_pid = told->root_pid,
				.root_start = told->root_start};
}

/* As the user names it. */
static void add_profile(void *context, const struct swz_run_profile *profile)
{
	const struct search *search = context;
	const struct told *told = search->told;
	const char *end = strrchr(told->output, '/') + 1;
	const char *from = told->output + told->shown;

	if (!(profile->header->flags & SWZ_FILE_SAMPLES) == search->sampled)
		return;
	if (from > end)
		from = end;
	add(search->words,
	    swz_text("%.*s%s", (int)(end - from), from, profile->name));
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Those of hooks; of a run without hooks, those of the sampler. */
static bool add_profiles(const struct told *told, struct words *words)
{
	const struct swz_run run = run_of(told);
	struct search search = {told, false, words};
	size_t before = words->count;

	swz_run_profiles_each(&run, add_profile, &search);
	if (words->count == before) {
		search.sampled = true;
		swz_run_profiles_each(&run, add_profile, &search);
	}
	qsort(words->items + before, words->count - before, sizeof(char *),
	      compare_names);
	return words->count > before;
}

/* A sampler may be behind a program that has ended at once. */
static bool find_profiles(const struct told *told, bool sampled,
			  struct words *words)
{
	const struct timespec pause = {0, WAIT_NS};

	for (int i = 0; i < (sampled ? MOST_WAITS : 1); i++) {
		if (add_profiles(told, words))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Standard output is the program's. */
static void run_dump(char **words, char **environment)
{
	int status;
	pid_t dump = fork();

	if (dump == 0) {
		if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
			execve(words[0], words, environment);
		swz_die(SWZ_CANNOT_RUN, "--report: cannot execute %s: %s",
			words[0], strerror(errno));
	}
	while (dump > 0 && waitpid(dump, &status, 0) < 0 && errno == EINTR)
		;
}

/* REFUSED: the status is one that we have ourselves, so it may be that nothing
 * was run; then that was said. */
static void show(const struct told *told, char *options, bool sampled,
		 bool refused, const char *argv0, char **environment)
{
	struct words words = {0};

	add(&words, swz_dump_find(argv0));
	add(&words, "-f");
	add(&words, "table");
	add(&words, "--no-pager");
	if (strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0)
		add(&words, "-q");
	for (char *word = strtok(options, BLANKS); word;
	     word = strtok(NULL, BLANKS))
		add(&words, word);
	add(&words, "--");
	if (!find_profiles(told, sampled && !refused, &words)) {
		if (!refused)
			fprintf(stderr,
				"swizzle: --report: no profile was written\n");
		return;
	}
	add(&words, NULL);
	run_dump(words.items, environment);
}

/* -------------------------------------------------------------- the program */

static bool receive(int from, struct told *told)
{
	ssize_t n;

	do
		n = read(from, told, sizeof(*told));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*told) && strchr(told->output, '/');
}

static bool was_refused(int status)
{
	return WIFEXITED(status) && (WEXITSTATUS(status) == SWZ_CANNOT_RUN ||
				     WEXITSTATUS(status) == SWZ_NOT_FOUND);
}

_Noreturn static void wait_for(pid_t child, int from, char *options,
			       const char *argv0, char **environment)
{
	bool sampled = swz_sampling_wanted();
	struct swz_passed_on passed;
	struct told told;
	sigset_t none;
	int status = 0;
	struct swz_run run;
	bool known;

	swz_pass_on_signals(child, &passed);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	known = receive(from, &told);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	swz_pass_on_no_more(&passed);
	run = run_of(&told);
	run.end_ticks = __builtin_ia32_rdtsc();
	if (known)
		swz_run_note_end(&run);
	if (known)
		show(&told, options, sampled, was_refused(status), argv0,
		     environment);
	swz_end_as(status);
}

void swz_report_begin(const char *argv0, char **given)
{
	char *options = swz_text("%s", swz_environment_get("SWIZZLE_REPORT"));
	struct sigaction usual = {.sa_handler = SIG_DFL}, before;
	sigset_t all, mask;
	int ends[2];
	pid_t child;

	unsetenv("SWIZZLE_REPORT");
	if (!*options || strcmp(options, "0") == 0)
		return;
	if (strcmp(options, "1") == 0)
		*options = '\0';
	if (pipe2(ends, O_CLOEXEC) != 0)
		swz_die(SWZ_CANNOT_RUN, "--report: %s", strerror(errno));
	sigaction(SIGCHLD, &usual, &before);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	child = fork();
	if (child < 0)
		swz_die(SWZ_CANNOT_RUN, "--report: %s", strerror(errno));
	if (child) {
		close(ends[1]);
		wait_for(child, ends[0], options, argv0, given);
	}
	close(ends[0]);
	tells = fcntl(ends[1], F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
	close(ends[1]);
	sigaction(SIGCHLD, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}
