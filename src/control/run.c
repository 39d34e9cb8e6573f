#include "control/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "control/attachable.h"
#include "control/children.h"
#include "launch/program.h"
#include "profile/file/run_end.h"
#include "watch/clock.h"
#include "watch/process_check.h"

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

/* Between looks at whether the process runs another program. */
#define LOOK_MS 500
/* How long a process that was killed may take to end. */
#define ENDING_MS 2000

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
}

/* What the library had to say, with its own "swizzle: ". */
static void pass_on(const struct swz_attached *a)
{
	uint32_t bytes = a->control.message_bytes;

	if (bytes && bytes <= sizeof(a->control.message))
		say("%.*s", (int)bytes, a->control.message);
}

static double in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void tell_stops(const struct swz_attached *a)
{
	char text[SWZ_STOPS_BYTES];

	swz_attached_tell_stops(a, text);
	say("swizzle: %s\n", text);
}

static void tell_begin(const struct swz_attached *a)
{
	say("swizzle: attached: %u of %u functions hooked; planned in %.1f ms "
	    "while it ran\n",
	    a->control.hooked, a->control.functions,
	    in_ms(a->control.planning_ns));
	tell_stops(a);
	if (a->skipped)
		say("swizzle: %zu function%s left out: a thread was in the "
		    "first "
		    "instructions\n",
		    a->skipped, a->skipped == 1 ? "" : "s");
}

static void tell_end(const struct swz_attached *a)
{
	say("swizzle: detached\n");
	tell_stops(a);
	if (a->control.frames_left)
		say("swizzle: %u open call%s through libswizzle.so, which "
		    "stays loaded\n",
		    a->control.frames_left,
		    a->control.frames_left == 1 ? " returns" : "s return");
}

/* Until the time is over, a signal says so (both: true), or the process ends or
 * executes another program. */
static bool wait_until(struct swz_attached *a, int process, int signals,
		       uint64_t for_ns)
{
	uint64_t end = for_ns ? swz_watch_now() + for_ns : UINT64_MAX;
	struct pollfd fds[] = {{signals, POLLIN, 0}, {process, POLLIN, 0}};

	for (;;) {
		uint64_t now = swz_watch_now();
		int most = LOOK_MS;

		if (now >= end)
			return true;
		if ((end - now) / 1000000 < LOOK_MS)
			most = (int)((end - now) / 1000000) + 1;
		if (poll(fds, 2, most) < 0 && errno != EINTR)
			return true;
		swz_stop_reap();
		if (fds[1].revents || !swz_attach_goes_on(a))
			return false;
		if (fds[0].revents)
			return true;
	}
}

/* What was forked meanwhile becomes native as well. */
static bool end_children(struct swz_attached *a, const struct swz_sampling *o)
{
	struct swz_children children;

	swz_attach_end_children(a, &children);
	if (o->verbose && children.ended)
		say("swizzle: detached from %u forked children, too\n",
		    children.ended);
	if (children.left)
		say("swizzle: cannot detach from %u forked children, which "
		    "stay hooked until they end: %s\n",
		    children.left, children.problem);
	return !children.left;
}

/* Or is about to: who is killed may have threads yet that end. */
static bool has_ended(int process, int32_t pid)
{
	struct pollfd fd = {process, POLLIN, 0};

	for (unsigned i = 0; i < ENDING_MS; i += 10) {
		swz_stop_reap();
		if (!swz_process_runs(pid) || poll(&fd, 1, 10) == 1)
			return true;
	}
	return false;
}

static int record(struct swz_attached *a, const struct swz_sampling *o,
		  int process, int signals)
{
	if (!wait_until(a, process, signals, o->for_ns)) {
		if (!o->quiet && kill(o->pid, 0) == 0 &&
		    swz_process_runs(o->pid))
			say("swizzle: the process executes another program "
			    "now, which is not profiled\n");
		return end_children(a, o) ? 0 : 1;
	}
	if (swz_attach_end(a) || has_ended(process, o->pid)) {
		if (o->verbose)
			tell_end(a);
		return end_children(a, o) ? 0 : 1;
	}
	say("swizzle: cannot detach from process %d: %s\n", (int)o->pid,
	    a->problem);
	return 1;
}

static void summarize(struct swz_run *run)
{
	char text[SWZ_SUMMARY_BYTES];
	size_t length = swz_run_summarize(run, text);

	if (length)
		say("%.*s", (int)length, text);
}

static int block_signals(void)
{
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	return signalfd(-1, &ending, SFD_CLOEXEC);
}

int swz_attach_run(struct swz_run *run, const struct swz_sampling *o,
		   const char *library, char **environment)
{
	struct swz_attach_settings settings = {.pid = o->pid,
					       .library = library,
					       .environment = environment,
					       .verbose = o->verbose};
	static struct swz_attached attached;
	char *refused = swz_attach_refused(o->pid);
	int process, signals, status;

	if (refused) {
		say("swizzle: %s\n", refused);
		free(refused);
		return SWZ_CANNOT_RUN;
	}
	process = (int)syscall(SYS_pidfd_open, o->pid, 0);
	signals = block_signals();
	signal(SIGCHLD, SIG_DFL);
	if (!swz_attach_begin(&attached, &settings)) {
		say("swizzle: cannot attach to process %d: %s\n", (int)o->pid,
		    attached.problem);
		swz_attach_free(&attached);
		return SWZ_CANNOT_RUN;
	}
	if (!o->quiet)
		pass_on(&attached);
	if (o->verbose)
		tell_begin(&attached);
	if (attached.has_other_root)
		say("swizzle: the process has a root directory of its own: "
		    "the profile is /proc/%d/root%s\n",
		    (int)o->pid, attached.control.path);
	status = record(&attached, o, process, signals);
	swz_attach_free(&attached);
	if (!swz_process_runs(o->pid)) { /* one that was killed cannot say */
		run->end_ticks = __builtin_ia32_rdtsc();
		swz_run_note_end(run);
	}
	if (!o->quiet && o->summary)
		summarize(run);
	return status;
}
