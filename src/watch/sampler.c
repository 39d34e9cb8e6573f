/* Two forks: the process in between ends at once, so the sampler is no child of
 * the program. A pipe tells the program's process when it may go on; nothing of
 * the two is left in it. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/run_summary.h"
#include "launch/program.h"
#include "launch/run_options.h"
#include "options/command_line.h"
#include "util/figures.h"
#include "util/memory.h"
#include "watch/engine.h"
#include "watch/image.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"
#include "watch/tasks.h"

/* --- the line at the end ------------------------------------------------- */

/* The line that ends a sampled run: how many samples of which time, in which
 * files, what is missing, and the next command. */

static void put_count(FILE *to, uint64_t number, const char *what)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			putc(',', to);
		putc(digits[i], to);
	}
	fprintf(to, "%s%s", what, *what && number != 1 ? "s" : "");
}

static void put_time(FILE *to, uint64_t ns)
{
	if (ns < 1000000000)
		fprintf(to, "%.2f ms", (double)ns / 1e6);
	else
		fprintf(to, "%.2f s", (double)ns / 1e9);
}

/* As a shell reads it. */
static void put_word(FILE *to, const char *word, bool star)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._/+:=@%,-";
	bool quoted = word[strspn(word, plain)] != '\0';

	if (quoted)
		putc('\'', to);
	while (*word) {
		bool shown;
		size_t length = swz_character(word, SIZE_MAX, &shown);

		if (*word == '\'')
			fputs("'\\''", to);
		else if (shown)
			fwrite(word, 1, length, to);
		else
			putc('?', to);
		word += length;
	}
	if (quoted)
		putc('\'', to);
	if (star)
		putc('*', to);
}

/* The user's own name for the file or, with a *, all. */
static void put_files(FILE *to, const struct swz_run *run,
		      const struct swz_sample_totals *totals)
{
	char *name = swz_duplicate(totals->files > 1 ? run->output
						     : totals->first_path);
	char *mark = totals->files > 1 ? strstr(name, "%p") : NULL;
	size_t shown = run->shown < strlen(name) ? run->shown : 0;

	if (mark)
		*mark = '\0';
	if (strncmp(name, run->output, shown) != 0)
		shown = 0;
	put_word(to, name + shown, totals->files > 1);
	if (mark && mark[2])
		put_word(to, mark + 2, false);
	free(name);
}

static bool is_default(const struct swz_run *run)
{
	return strcmp(run->output + run->shown, "swizzle.out.%p") == 0;
}

static void put_missing(FILE *to, const struct swz_sample_totals *totals)
{
	if (totals->lost) {
		fputs("; ", to);
		put_count(to, totals->lost, " sample");
		fputs(" lost", to);
	}
	if (swz_missed_matter(totals->samples, totals->missed)) {
		fputs("; ", to);
		put_count(to, totals->missed, " sample");
		fputs(" missed", to);
	}
	if (totals->cut + totals->broken) {
		fputs("; ", to);
		put_count(to, totals->cut + totals->broken, " stack");
		fputs(" cut", to);
	}
	if (totals->unread) {
		fputs("; ", to);
		put_count(to, totals->unread, " stack");
		fputs(" without the script's functions", to);
	}
	if (totals->processes)
		fprintf(to, "; %zu process%s still run%s", totals->processes,
			totals->processes == 1 ? "" : "es",
			totals->processes == 1 ? "s" : "");
}

/* To be freed; NULL: there is nothing to be said, as no file was written. */
static char *run_line(const struct swz_sample_run *sampled,
		      const struct swz_run *run,
		      const struct swz_sample_totals *totals)
{
	char *text = NULL;
	size_t size;
	FILE *to;

	if (!totals->files || !totals->first_path)
		return NULL;
	to = swz_text_stream(&text, &size);
	fputs("swizzle: ", to);
	put_count(to, totals->samples, " sample");
	fputs(" of ", to);
	put_time(to, totals->processor_ns);
	fputs(" processor time, ", to);
	if (totals->files > 1)
		put_count(to, totals->files, " profile");
	else
		put_count(to, totals->threads, " thread");
	fputs(" -> ", to);
	put_files(to, run, totals);
	put_missing(to, totals);
	fputs(". Next: swizzle-dump", to);
	if (totals->scripts)
		fputs(" --script", to);
	if (totals->files > 1 || !is_default(run)) {
		putc(' ', to);
		put_files(to, run, totals);
	}
	putc('\n', to);
	swz_text_stream_end(to);
	(void)sampled;
	return text;
}

#define MUCH 10u /* one in so many ns */
#define HITS 4u  /* of a thread of average length */

/* In thousands. */
static uint64_t rate_for(uint64_t thread_ns)
{
	uint64_t rate = thread_ns ? HITS * UINT64_C(1000000000) / thread_ns
				  : UINT64_MAX;

	if (rate > SWZ_MOST_RATE)
		return SWZ_MOST_RATE;
	return (rate + 999) / 1000 * 1000;
}

#define LEAST_PERIODS 10u

/* Advises a higher rate where much of the time is that of threads which ended
 * before their first sample. A line without its newline, to be freed; NULL: it
 * is less than a tenth, or there are no more to be had, or next to nothing was
 * done: by a process that sleeps, say, which has not ended. */
static char *rate_advice(const struct swz_sample_run *sampled,
			 const struct swz_sample_totals *totals)
{
	uint64_t ns = totals->unsampled_ns, rate;

	if (sampled->engine != SWZ_ENGINE_PERF || !sampled->period_ns ||
	    totals->processor_ns < LEAST_PERIODS * sampled->period_ns ||
	    ns * MUCH < totals->processor_ns)
		return NULL;
	rate = rate_for(ns / totals->unsampled_threads);
	if (rate <= 1000000000u / sampled->period_ns)
		return NULL;
	return swz_print("%" PRIu64 "%% of the time is in threads that ended "
			 "before their first sample. To see into them: -r "
			 "%" PRIu64,
			 100 * ns / totals->processor_ns, rate);
}

/* --- the sampler --------------------------------------------------------- */

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

static struct swz_watch watch_state;
static bool has_stderr = true;

/* ------------------------------------------------------------- messages */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;
	char text[1024];
	int n;

	if (!has_stderr)
		return;
	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (n <= 0)
		return;
	/* paths and names are those of other processes */
	swz_make_printable(text, "\n");
	swz_notice_write(text, strlen(text));
}

/* The process that the user waits for has ended. */
static void tell(struct swz_watch *watch, const struct swz_run *run)
{
	struct swz_sample_totals totals = swz_tasks_totals(&watch->tasks);
	char *line;

	if (watch->run.problem)
		say("swizzle: cannot write a profile: %s\n",
		    watch->run.problem);
	if (watch->options->quiet || !watch->options->summary)
		return;
	line = run_line(&watch->run, run, &totals);
	if (line)
		say("%s", line);
	free(line);
	if (totals.advice)
		say("swizzle: %s\n", totals.advice);
	line = watch->options->engine
		       ? NULL
		       : swz_pause_advice(totals.interpreter_samples,
					  totals.samples, totals.interpreter);
	if (line)
		say("swizzle: %s\n", line);
	free(line);
	line = rate_advice(&watch->run, &totals);
	if (line)
		say("swizzle: %s\n", line);
	free(line);
}

static const struct swz_run *run_of_watch;

static void root_ended(struct swz_watch *watch)
{
	/* others run on */
	swz_tasks_write(&watch->tasks);
	tell(watch, run_of_watch);
	/* who reads there waits for nobody any more */
	if (watch->launched) {
		close(STDERR_FILENO);
		has_stderr = false;
	}
}

/* ------------------------------------------------------------ beginning */

static void fill(struct swz_watch *watch, const struct swz_run *run,
		 const struct swz_sampling *options, int32_t pid)
{
	*watch = (struct swz_watch){.options = options,
				    .pid = pid,
				    .pidfd = -1,
				    .stop = -1,
				    .end_ns = UINT64_MAX,
				    .root_ended = root_ended};
	run_of_watch = run;
	watch->run.output = run->output;
	watch->run.keeps_moments = true;
	watch->run.root_pid = run->root_pid;
	watch->run.root_start = run->root_start;
	watch->run.counts_output = options->counts_output;
	watch->run.counts_pid = options->counts_pid;
	watch->run.counts_start = options->counts_start;
	if (options->counts_output)
		swz_counted_code_measure(&watch->run);
	if (options->wall)
		watch->run.flags |= SWZ_SAMPLES_OF_WAITING;
	signal(SIGCHLD, SIG_DFL);
	watch->tasks.run = &watch->run;
	watch->tasks.context = watch;
	watch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
}

static void say_how(const struct swz_watch *watch)
{
	const struct swz_sample_run *run = &watch->run;

	if (!watch->options->verbose || watch->options->quiet)
		return;
	say("swizzle: sampling process %d: engine %s, %s%llu bytes of stack, "
	    "%s the kernel\n",
	    (int)watch->pid, run->engine == SWZ_ENGINE_PERF ? "perf" : "pause",
	    run->period_ns ? swz_print("%llu a second, ",
				       1000000000ull / run->period_ns)
			   : "",
	    (unsigned long long)run->stack_bytes,
	    run->flags & SWZ_SAMPLES_OF_KERNEL ? "also in" : "not in");
}

/* False: *problem says why. */
static bool open_engine(struct swz_watch *watch, const char **problem)
{
	const char *why_pause;

	if (!swz_engine_open(watch, &why_pause, problem))
		return false;
	if (why_pause && !watch->options->quiet)
		say("swizzle: sampling by pauses (--engine pause): %s\n",
		    why_pause);
	say_how(watch);
	return true;
}

/* -------------------------------------------------------------- launched */

/* Sets the name that ps shows and pgrep -f finds: not the program's. */
static void rename_to(char **argv, int32_t root)
{
	char *last = argv[0];
	char text[64];
	size_t room;

	for (int i = 0; argv[i] && argv[i] == last; i++)
		last = argv[i] + strlen(argv[i]) + 1;
	room = (size_t)(last - argv[0]);
	snprintf(text, sizeof(text), "swizzle-run: samples %d", (int)root);
	if (!room)
		return;
	memset(argv[0], 0, room);
	memcpy(argv[0], text, strlen(text) < room ? strlen(text) : room - 1);
	prctl(PR_SET_NAME, "swizzle-sampler");
}

/* 0 and 1 lead nowhere; 2 stays; the rest but KEPT is closed. */
static bool keep_descriptors(int *kept)
{
	int null = open("/dev/null", O_RDWR), to = fcntl(*kept, F_DUPFD, 3);
	long most = sysconf(_SC_OPEN_MAX);

	if (null < 0 || to < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return false;
	if (dup2(to, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) != 0)
		return false;
	*kept = 3;
	if (syscall(SYS_close_range, 4u, ~0u, 0u) != 0)
		for (int fd = 4; fd < (int)most && fd < 65536; fd++)
			close(fd);
	return true;
}

/* Until then it is a child of the program's, and we are a child of that. */
static void await_end_of(pid_t between)
{
	while (getppid() == between)
		swz_watch_rest(100000);
}

_Noreturn static void sample(const struct swz_run *run,
			     const struct swz_sampling *options, int ready,
			     char **argv, pid_t between)
{
	struct swz_watch *watch = &watch_state;
	const char *problem = "no descriptors";
	struct swz_command *command = swz_command_of(options->program,
						     options->command);
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	await_end_of(between);
	prctl(PR_SET_DUMPABLE, 0);
	rename_to(argv, run->root_pid);
	if (chdir("/") != 0 || !keep_descriptors(&ready))
		goto fail;
	fill(watch, run, options, run->root_pid);
	watch->launched = watch->is_launcher = true;
	watch->tasks.command = command;
	if (!open_engine(watch, &problem))
		goto fail;
	if (watch->run.problem) {
		problem = watch->run.problem;
		goto fail;
	}
	if (write(ready, "", 1) != 1)
		_exit(1); /* it has gone */
	close(ready);
	swz_engine_run(watch);
	if (!watch->told)
		root_ended(watch);
	_exit(0);
fail:
	(void)!write(ready, problem, strlen(problem));
	_exit(1);
}

/* The kernel makes orphans the children of the next process above that has
 * asked for them, or of the first. */
static const char *refuse_orphans(void)
{
	int asked = 0;

	if (getpid() == 1)
		return "process 1 of a container cannot be watched, as the "
		       "sampler would end with it. Start the container with "
		       "--init, or start swizzle-run from a shell";
	if (prctl(PR_GET_CHILD_SUBREAPER, &asked) == 0 && asked)
		return "a process that takes orphans (PR_SET_CHILD_SUBREAPER) "
		       "cannot be watched: the sampler would be its child. "
		       "Start swizzle-run from a shell";
	return NULL;
}

/* One byte that is 0 when it is ready, else what is in the way. */
static char *await_sampler(int ready)
{
	char text[1024];
	size_t length = 0;
	ssize_t n;

	while (length < sizeof(text) - 1 &&
	       ((n = read(ready, text + length, sizeof(text) - 1 - length)) >
			0 ||
		(n < 0 && errno == EINTR)))
		length += n > 0 ? (size_t)n : 0;
	if (length == 1 && !text[0])
		return NULL;
	text[length] = '\0';
	return swz_duplicate(length ? text : "the sampler has ended");
}

char *swz_sampler_start(const struct swz_run *run,
			const struct swz_sampling *options, char **argv)
{
	const char *refused = refuse_orphans();
	struct sigaction none = {.sa_handler = SIG_DFL,
				 .sa_flags = SA_NOCLDWAIT},
			 before;
	char *problem = NULL;
	int ready[2];
	pid_t between;

	if (refused)
		return swz_duplicate(refused);
	if (pipe2(ready, O_CLOEXEC) != 0)
		return swz_duplicate(strerror(errno));
	/* the kernel reaps it: it is not in the program's RUSAGE_CHILDREN */
	sigaction(SIGCHLD, &none, &before);
	between = fork();
	if (between == 0) {
		close(ready[0]);
		between = getpid();
		if (fork() == 0)
			sample(run, options, ready[1], argv, between);
		_exit(0);
	}
	close(ready[1]);
	if (between < 0)
		problem = swz_duplicate(strerror(errno));
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGCHLD, &before, NULL);
	if (between > 0)
		problem = await_sampler(ready[0]);
	close(ready[0]);
	return problem;
}

/* -------------------------------------------------------------- attached */

int swz_sampler_attach(const struct swz_run *run,
		       const struct swz_sampling *options)
{
	struct swz_watch *watch = &watch_state;
	int32_t pid = options->pid;
	const char *problem;
	char *refused = swz_process_refused(pid, "swizzle-run");
	sigset_t ending, blocked;

	if (!refused)
		refused = swz_process_program_refused(pid);
	if (refused) {
		say("swizzle: %s\n", refused);
		free(refused);
		return SWZ_CANNOT_RUN;
	}
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	blocked = ending;
	sigaddset(&blocked, SIGCHLD); /* of threads that stop */
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	fill(watch, run, options, pid);
	watch->tasks.attached = pid;
	watch->stop = signalfd(-1, &ending, SFD_CLOEXEC);
	if (!open_engine(watch, &problem)) {
		say("swizzle: cannot sample process %d: %s\n", (int)pid,
		    problem);
		return SWZ_CANNOT_RUN;
	}
	if (options->for_ns)
		watch->end_ns = swz_watch_now() + options->for_ns;
	swz_engine_run(watch);
	if (!watch->told)
		root_ended(watch);
	return watch->run.problem ? 1 : 0;
}
