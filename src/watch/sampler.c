/* Two forks: the process in between ends at once, so the sampler is no child of
 * the program. A pipe tells the program's process when it may go on; nothing of
 * the two is left in it. */

#include "watch/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/program.h"
#include "options/notice.h"
#include "profile/support/memory.h"
#include "watch/clock.h"
#include "watch/engine.h"
#include "watch/process_check.h"
#include "watch/run_line.h"
#include "watch/script_advice.h"

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
	if (n > 0)
		swz_notice_write(text, (size_t)n < sizeof(text)
					       ? (size_t)n
					       : sizeof(text) - 1);
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
	line = swz_run_line(&watch->run, run, &totals);
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
	line = swz_rate_advice(&watch->run, &totals);
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
	watch->run.root_pid = run->root_pid;
	watch->run.root_start = run->root_start;
	watch->run.counts_pid = options->counts_pid;
	watch->run.counts_start = options->counts_start;
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

/* What ps shows, and what pgrep -f finds: not the program's name. */
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
	watch->launched = true;
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
static void check_orphans(void)
{
	int asked = 0;

	if (getpid() == 1)
		swz_die(SWZ_CANNOT_RUN,
			"-m sample cannot watch process 1 of a container, as "
			"the sampler would end with it. Start the container "
			"with --init, or start swizzle-run from a shell");
	if (prctl(PR_GET_CHILD_SUBREAPER, &asked) == 0 && asked)
		swz_die(SWZ_CANNOT_RUN,
			"-m sample cannot watch a process that takes orphans "
			"(PR_SET_CHILD_SUBREAPER): the sampler would be its "
			"child. Start swizzle-run from a shell");
}

void swz_sampler_start(const struct swz_run *run,
		       const struct swz_sampling *options, char **argv)
{
	char problem[1024];
	int ready[2];
	size_t length = 0;
	ssize_t n;
	pid_t between;

	check_orphans();
	if (pipe2(ready, O_CLOEXEC) != 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start the sampler: %s",
			strerror(errno));
	between = fork();
	if (between < 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start the sampler: %s",
			strerror(errno));
	if (between == 0) {
		close(ready[0]);
		between = getpid();
		if (fork() == 0)
			sample(run, options, ready[1], argv, between);
		_exit(0);
	}
	close(ready[1]);
	while (waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	while (length < sizeof(problem) - 1 &&
	       ((n = read(ready[0], problem + length,
			  sizeof(problem) - 1 - length)) > 0 ||
		(n < 0 && errno == EINTR)))
		length += n > 0 ? (size_t)n : 0;
	close(ready[0]);
	if (length == 1 && !problem[0])
		return;
	problem[length] = '\0';
	swz_die(SWZ_CANNOT_RUN, "cannot sample: %s",
		length ? problem : "the sampler has ended");
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
