/* Two ways to wait for the end of a run. With --report and --live swizzle-run
 * stays as the program's parent, passes signals on, shows the report and ends
 * as the program did. Otherwise swizzle-run becomes the program, and a process
 * that is no child of it sees to its profiles. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/run_summary.h"
#include "launch/program.h"
#include "launch/run_options.h"
#include "options/command_line.h"
#include "profile/file/packing.h"

#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

/* --- signals and ends passed on ------------------------------------------ */

/* While swizzle-run waits for a process in its own place: what others send to
 * one goes to the other, and both end alike. */

#define PASSED_COUNT 6

/* The signals' actions before. */
struct passed_on {
	struct sigaction before[PASSED_COUNT];
};

static const int signals[PASSED_COUNT] = {SIGHUP,  SIGTERM, SIGUSR1,
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

/* From now on the signals that end or tell a process go to CHILD, if kill(1)
 * has sent them: the terminal's go to all processes anyway. Those that are
 * ignored stay so. For one process at a time. */
static void pass_on_signals(pid_t child, struct passed_on *passed)
{
	struct sigaction ours = {.sa_sigaction = pass_on,
				 .sa_flags = SA_SIGINFO | SA_RESTART};
	size_t i;

	receiver = child;
	for (i = 0; i < PASSED_COUNT; i++) {
		sigaction(signals[i], NULL, &passed->before[i]);
		/* (what nohup has set is the other's, too) */
		if (passed->before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &ours, NULL);
	}
}

static void pass_on_no_more(const struct passed_on *passed)
{
	size_t i;

	for (i = 0; i < PASSED_COUNT; i++)
		sigaction(signals[i], &passed->before[i], NULL);
}

/* Ends as the process did of which waitpid(2) says STATUS: with its exit
 * status, or by its signal, without a core file of our own. */
static _Noreturn void end_as(int status)
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

/* --- reports ------------------------------------------------------------- */

/* A pipe that closes when the program is executed brings the name of the
 * profiles. They are found by what their headers say of the run, so older files
 * in the same folder are not shown. */

#define BLANKS " \t\n"
#define LEAST_DESCRIPTOR 10 /* not where a standard one is closed */
#define WAIT_NS 10000000
#define MOST_WAITS 500 /* 5 s */

/* The facts that the child tells. */
struct told {
	int32_t root_pid;
	uint32_t shown;
	uint64_t root_start, from_ticks;
	char output[SWZ_RUN_PATH_BYTES];
};

static int to_parent = -1; /* the child's end */

void swz_report_tell(const struct swz_run *run)
{
	struct told told = {.root_pid = run->root_pid,
			    .root_start = run->root_start,
			    .from_ticks = run->from_ticks,
			    .shown = run->shown};

	if (to_parent < 0)
		return;
	snprintf(told.output, sizeof(told.output), "%s", run->output);
	/* less than a pipe has room for */
	(void)!write(to_parent, &told, sizeof(told));
	close(to_parent);
	to_parent = -1;
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
				.root_start = told->root_start,
				.from_ticks = told->from_ticks};
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

/* Adds the profiles of hooks; in a run without hooks, those of the sampler. */
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

/* OPTIONS are cut into words. */
static void add_options(struct words *words, char *options)
{
	add(words, "-f");
	add(words, "table");
	add(words, "--no-pager");
	for (char *word = strtok(options, BLANKS); word;
	     word = strtok(NULL, BLANKS))
		add(words, word);
	add(words, "--");
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

/* Ends swizzle-run if swizzle-dump would refuse the options: better now than
 * behind a run of hours. */
static void check_options(const char *options, const char *argv0,
			  char **environment)
{
	char *copy = swz_text("%s", options);
	struct words words = {0};
	int status = 0;
	pid_t dump;

	add(&words, swz_dump_find(argv0));
	add(&words, "--check-options");
	add(&words, "-q"); /* wrong options are said all the same */
	add_options(&words, copy);
	add(&words, "one"); /* a profile's name */
	add(&words, NULL);
	dump = fork();
	if (dump == 0) {
		/* what the options ask for by themselves, such as --help */
		int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
			execve(words.items[0], words.items, environment);
		_exit(0); /* show() says why */
	}
	while (dump > 0 && waitpid(dump, &status, 0) < 0 && errno == EINTR)
		;
	if (dump > 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) == SWZ_WRONG_USAGE)
		exit(SWZ_WRONG_USAGE);
	free(words.items);
	free(copy);
}

/* REFUSED: the status is one that we have ourselves, so it may be that nothing
 * was run; then that was said. */
static void show(const struct told *told, char *options, bool sampled,
		 bool refused, const char *argv0, char **environment)
{
	struct words words = {0};

	add(&words, swz_dump_find(argv0));
	if (strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0)
		add(&words, "-q");
	add_options(&words, options);
	if (!find_profiles(told, sampled && !refused, &words)) {
		if (!refused)
			fprintf(stderr,
				"swizzle: --report: no profile was written\n");
		return;
	}
	add(&words, NULL);
	run_dump(words.items, environment);
}

/* ------------------------------------------------------------------ --live */

/* swizzle-dump --follow reads the profiles while they grow. It is a child of
 * ours that the program knows nothing of: whoever reads slowly what it writes,
 * or not at all, holds it alone. We tell it the names of the profiles. */

#define LOOK_NS 20000000     /* until there is a profile */
#define LOOK_ON_NS 200000000 /* for those of other processes */
#define LOOK_PER_WORK 10     /* a folder may have thousands of files */
#define STUCK_NS UINT64_C(2000000000)

struct follower {
	pid_t pid; /* 0: there is none */
	int names; /* a socket */
	struct words told;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Where it writes; a FIFO is opened by the follower, as that may take long. */
static int open_lines(const char *file, bool may_wait)
{
	struct stat st;
	int fd;

	if (!*file)
		return STDERR_FILENO;
	if (!may_wait && stat(file, &st) == 0 && S_ISFIFO(st.st_mode))
		return -1;
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
		  0666);
	if (fd < 0)
		swz_die(SWZ_CANNOT_RUN, "--live=%s: %s", file, strerror(errno));
	return fd;
}

static _Noreturn void become_follower(const char *file, int lines, int names,
				      const char *argv0, char **environment)
{
	struct words words = {0};

	if (lines < 0)
		lines = open_lines(file, true);
	add(&words, swz_dump_find(argv0));
	add(&words, "-f");
	add(&words, "calls");
	add(&words, "--follow");
	if (strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0)
		add(&words, "-q");
	add(&words, "-");
	add(&words, NULL);
	/* it may be there for longer than the program */
	if (dup2(names, STDIN_FILENO) >= 0 && dup2(lines, STDOUT_FILENO) >= 0 &&
	    syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) <= 0)
		execve(words.items[0], words.items, environment);
	swz_die(SWZ_CANNOT_RUN, "--live: cannot execute %s: %s", words.items[0],
		strerror(errno));
}

static void start_follower(struct follower *f, const char *file, int lines,
			   const char *argv0, char **environment)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	f->pid = fork();
	if (f->pid == 0)
		become_follower(file, lines, ends[1], argv0, environment);
	close(ends[1]);
	if (lines > STDERR_FILENO)
		close(lines);
	f->names = ends[0];
	if (f->pid < 0)
		f->pid = 0;
}

static bool has_word(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->items[i], word) == 0)
			return true;
	return false;
}

/* Tells it of profiles that have come. Returns when to look again. */
static uint64_t tell_names(struct follower *f, const struct told *told)
{
	uint64_t begun = now_ns(), took, rest;
	struct words found = {0};

	(void)add_profiles(told, &found);
	for (size_t i = 0; i < found.count; i++) {
		char *line = swz_text("%s\n", found.items[i]);
		size_t length = strlen(line);

		/* where it cannot take it now, the next time */
		if (strchr(found.items[i], '\n') ||
		    has_word(&f->told, found.items[i]) ||
		    send(f->names, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) !=
			    (ssize_t)length)
			free(found.items[i]);
		else
			add(&f->told, found.items[i]);
		free(line);
	}
	free(found.items);
	took = now_ns() - begun;
	rest = f->told.count ? LOOK_ON_NS : LOOK_NS;
	return rest > LOOK_PER_WORK * took ? rest : LOOK_PER_WORK * took;
}

/* Waits for CHILD, and tells names meanwhile. */
static int wait_with_follower(pid_t child, struct follower *f,
			      const struct told *told)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0),
			     .events = POLLIN};
	int status = 0;

	for (;;) {
		uint64_t ns = tell_names(f, told);
		struct timespec rest = {(time_t)(ns / 1000000000),
					(long)(ns % 1000000000)};
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child || (ended < 0 && errno != EINTR))
			break;
		/* (without pidfds, Linux before 5.3, only the time counts) */
		(void)ppoll(&end, end.fd >= 0, &rest, NULL);
	}
	if (end.fd >= 0)
		close(end.fd);
	(void)tell_names(f, told);
	return status;
}

/* Bytes that a process has written; 0: it is not known. */
static uint64_t bytes_written(pid_t pid)
{
	char path[64], line[256];
	unsigned long long bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "wchar: %llu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

/* The program has ended. All that it did is written, unless nobody reads: then
 * the follower is left alone with that. */
static void end_follower(struct follower *f)
{
	const struct timespec pause = {0, WAIT_NS};
	uint64_t since = now_ns(), written = 0;

	close(f->names);
	while (waitpid(f->pid, NULL, WNOHANG) == 0) {
		uint64_t now = bytes_written(f->pid);

		if (now != written)
			since = now_ns();
		if (now == written && now_ns() - since > STUCK_NS)
			break;
		written = now;
		nanosleep(&pause, NULL);
	}
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

/* The values of --report and --live; NULL: the option is not given. */
struct wanted {
	char *report; /* options of swizzle-dump */
	char *live;   /* a file; empty: standard error */
	int lines;    /* that file, see open_lines() */
};

_Noreturn static void wait_for(pid_t child, int from,
			       const struct wanted *wanted, const char *argv0,
			       char **environment)
{
	bool sampled = swz_sampling_wanted();
	struct passed_on passed;
	struct told told;
	sigset_t none;
	int status = 0;
	struct follower follower = {0};
	struct swz_run run;
	bool known;

	pass_on_signals(child, &passed);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	known = receive(from, &told);
	if (known && wanted->live)
		start_follower(&follower, wanted->live, wanted->lines, argv0,
			       environment);
	if (follower.pid)
		status = wait_with_follower(child, &follower, &told);
	while (!follower.pid && waitpid(child, &status, 0) < 0 &&
	       errno == EINTR)
		;
	pass_on_no_more(&passed);
	run = run_of(&told);
	run.end_ticks = __builtin_ia32_rdtsc();
	if (known)
		swz_run_note_end(&run);
	if (follower.pid)
		end_follower(&follower);
	if (known && wanted->report)
		show(&told, wanted->report, sampled, was_refused(status), argv0,
		     environment);
	end_as(status);
}

/* NULL: it is not set, or 0. Takes it out of the environment. */
static char *take_variable(const char *name)
{
	char *value = swz_text("%s", swz_environment_get(name));

	unsetenv(name);
	if (!*value || strcmp(value, "0") == 0)
		return NULL;
	if (strcmp(value, "1") == 0)
		*value = '\0';
	return value;
}

void swz_report_begin(const char *argv0, char **given)
{
	struct wanted wanted = {.report = take_variable("SWIZZLE_REPORT"),
				.live = take_variable("SWIZZLE_LIVE")};
	struct sigaction usual = {.sa_handler = SIG_DFL}, before;
	sigset_t all, mask;
	int ends[2];
	pid_t child;

	if (!wanted.report && !wanted.live)
		return;
	if (wanted.report)
		check_options(wanted.report, argv0, given);
	if (wanted.live)
		wanted.lines = open_lines(wanted.live, false);
	if (pipe2(ends, O_CLOEXEC) != 0)
		swz_die(SWZ_CANNOT_RUN, "cannot run the program: %s",
			strerror(errno));
	sigaction(SIGCHLD, &usual, &before);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	child = fork();
	if (child < 0)
		swz_die(SWZ_CANNOT_RUN, "cannot run the program: %s",
			strerror(errno));
	if (child) {
		close(ends[1]);
		wait_for(child, ends[0], &wanted, argv0, given);
	}
	close(ends[0]);
	if (wanted.live && wanted.lines > STDERR_FILENO)
		close(wanted.lines);
	to_parent = fcntl(ends[1], F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
	close(ends[1]);
	sigaction(SIGCHLD, &before, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* --- a process that waits for the end ------------------------------------ */

/* The kernel makes orphans the children of the next process above that has
 * asked for them (PR_SET_CHILD_SUBREAPER), or of the first. Where that is the
 * program itself there is no watcher. The process in between is reaped by the
 * kernel: nothing of it is in the program's RUSAGE_CHILDREN. */

#define OUR_STDERR 3
#define THE_PROGRAM 4
#define LEAST_PRIORITY 19
#define FIRST_LOOK_NS 2000000

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

/* Sets the name that ps shows and pgrep -f finds: not the program's. */
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

/* False: there is nothing to wait for. */
static bool look_until_end(const struct swz_run *run,
			   uint64_t (*look)(const struct swz_run *run))
{
	struct pollfd end = {.fd = THE_PROGRAM, .events = POLLIN};
	struct timespec rest = {0, FIRST_LOOK_NS};
	int ready;

	while ((ready = ppoll(&end, 1, &rest, NULL)) == 0) {
		uint64_t ns = look(run);

		rest = (struct timespec){(time_t)(ns / 1000000000),
					 (long)(ns % 1000000000)};
	}
	return ready == 1;
}

_Noreturn static void watch(struct swz_run *run, int program, char **argv,
			    bool tells, const struct swz_watching *w)
{
	char text[SWZ_SUMMARY_BYTES];
	sigset_t all;
	size_t length;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	rename_to(argv, run->root_pid);
	if (chdir("/") != 0 || !keep_descriptors(program, tells) ||
	    !look_until_end(run, w->look))
		_exit(1);
	/* threads that are not known to have ended are there until then */
	run->end_ticks = __builtin_ia32_rdtsc();
	if (w->tells)
		swz_run_note_end(run);
	length = tells ? swz_run_summarize(run, text) : 0;
	if (length && write(OUR_STDERR, text, length) != (ssize_t)length)
		_exit(1);
	/* nobody waits for us */
	if (w->afterwards && setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY) == 0)
		w->afterwards(run);
	_exit(0);
}

void swz_watcher_start(struct swz_run *run, char **argv,
		       const struct swz_watching *watching)
{
	struct sigaction none = {.sa_handler = SIG_DFL,
				 .sa_flags = SA_NOCLDWAIT},
			 before;
	bool tells = watching->tells && stderr_is_lasting();
	int program;
	pid_t between;

	if (gets_orphans() || has_children() ||
	    sigaction(SIGCHLD, &none, &before) != 0)
		return;
	program = (int)syscall(SYS_pidfd_open, getpid(), 0);
	between = program < 0 ? -1 : fork();
	if (between == 0) {
		if (fork() == 0)
			watch(run, program, argv, tells, watching);
		_exit(0);
	}
	/* until there is none any more */
	if (between > 0)
		(void)waitpid(between, NULL, 0);
	if (program >= 0)
		close(program);
	sigaction(SIGCHLD, &before, NULL);
}
