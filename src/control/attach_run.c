/* swizzle-run -p PID: says why a process cannot be attached to, or attaches,
 * waits for the end or an interrupt, detaches, and sums up. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/program_kind.h"
#include "base/run_summary.h"
#include "control/attach.h"
#include "launch/program.h"
#include "launch/run_options.h"
#include "profile/file/packing.h"
#include "util/memory.h"
#include "watch/engine.h"
#include "watch/proc_task.h"
#include "watch/unwind/elf_copy.h"

/* ------------------------------------- why a process cannot be attached to */

/* A number that /proc/PID/status tells; -1: it does not. PID 0: ours. */
static long status_of(int32_t pid, const char *name)
{
	char path[64], line[512];
	long number = -1;
	FILE *file;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/status");
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (number < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0 &&
		    line[strlen(name)] == ':')
			number = strtol(line + strlen(name) + 1, NULL, 10);
	fclose(file);
	return number;
}

static bool has_shadow_stack(int32_t pid)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "x86_Thread_features:", 20) == 0 &&
		    strstr(line, "shstk"))
			found = true;
	if (file)
		fclose(file);
	return found;
}

static char *refuse_user(int32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	if (access(path, R_OK | W_OK) == 0) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fd >= 0) {
			close(fd);
			return NULL;
		}
	}
	(void)st;
	return swz_print(
		"-p %d: ptrace of this process is not permitted "
		"(kernel.yama.ptrace_scope, or a container's rules, or the "
		"process has more rights than you). Run swizzle-run as root, "
		"or: sysctl kernel.yama.ptrace_scope=0",
		(int)pid);
}

/* Its goroutines have stacks of some KiB, which no hook may use. */
static bool is_of_go(int fd)
{
	struct swz_elf_copy copy;
	bool found = false;

	if (swz_elf_copy_open(&copy, fd)) {
		found = swz_elf_section(&copy.elf, ".note.go.buildid") ||
			swz_elf_section(&copy.elf, ".go.buildinfo");
		swz_elf_copy_close(&copy);
	}
	return found;
}

/* Returns what is wrong with the program's file, or NULL. */
static const char *unfit(int fd)
{
	switch (swz_program_of(fd)) {
	case SWZ_PROGRAM_FITS:
		return is_of_go(fd) ? "the program is written in Go, whose "
				      "stacks have no room for hooks. Use -m "
				      "sample"
				    : NULL;
	case SWZ_PROGRAM_IS_STATIC:
		return "the program is statically linked: no library can be "
		       "loaded into it. Use -m sample";
	case SWZ_PROGRAM_IS_MUSL:
		return "the program runs with musl's C library, for which "
		       "libswizzle.so is not made. Use -m sample";
	case SWZ_PROGRAM_IS_NO_ELF:
	case SWZ_PROGRAM_IS_SHORT:
	case SWZ_PROGRAM_IS_32_BIT:
	case SWZ_PROGRAM_IS_FOREIGN:
		return "the program is not one of x86-64 (64 bits): it cannot "
		       "be profiled";
	default: /* it will show */
		return NULL;
	}
}

static char *refuse_program(int32_t pid)
{
	const char *why;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL; /* it will show */
	why = unfit(fd);
	close(fd);
	return why ? swz_print("-p %d: %s", (int)pid, why) : NULL;
}

static bool file_has(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, text, strlen(text)) == 0;
	if (file)
		fclose(file);
	return found;
}

/* ---------------------------------------------------------------- freezers */

/* One line of /proc/self/mountinfo of a hierarchy that can freeze
 * (proc_pid_mountinfo(5)). The pointers lead into the line. */
struct group_mount {
	const char *root; /* the group that is at the mount point */
	const char *point;
	bool is_unified; /* version 2 */
};

static bool parse_mount(char *line, struct group_mount *mount)
{
	char *kind = strstr(line, " - ");
	char *root = line, *point, *end;

	if (!kind)
		return false;
	mount->is_unified = strncmp(kind + 3, "cgroup2 ", 8) == 0;
	if (!mount->is_unified &&
	    (strncmp(kind + 3, "cgroup ", 7) != 0 || !strstr(kind, "freezer")))
		return false;
	/* NUMBER PARENT DEVICE ROOT POINT OPTIONS */
	for (int i = 0; i < 3; i++) {
		root = strchr(root, ' ');
		if (!root++)
			return false;
	}
	point = strchr(root, ' ');
	end = point ? strchr(point + 1, ' ') : NULL;
	if (!end)
		return false;
	*point++ = *end = '\0';
	mount->root = root;
	mount->point = point;
	return true;
}

/* The group's path below the mount point, "/..." or ""; NULL: it is not there.
 */
static const char *below_root(const struct group_mount *mount,
			      const char *group)
{
	size_t length = strlen(mount->root);

	if (strcmp(mount->root, "/") == 0)
		length = 0;
	if (strncmp(group, mount->root, length) != 0 ||
	    (group[length] && group[length] != '/'))
		return NULL;
	return group[length + (group[length] == '/')] ? group + length : "";
}

static bool group_has(const char *directory, const char *name, const char *text)
{
	char *path = swz_print("%s/%s", directory, name);
	bool has = file_has(path, text);

	free(path);
	return has;
}

/* cgroup.events says so only when the last thread has stopped, which takes as
 * long as that waits for a processor. cgroup.freeze says what was asked for, of
 * that group alone; those above it freeze it as well. */
static bool group_is_frozen(const struct group_mount *mount, const char *group)
{
	const char *below = below_root(mount, group);
	size_t length = strlen(mount->point);
	char *path, *slash;
	bool frozen;

	if (!below)
		return false;
	path = swz_print("%s%s", mount->point, below);
	if (!mount->is_unified) {
		frozen = group_has(path, "freezer.state", "FRO") ||
			 group_has(path, "freezer.state", "FREEZING");
	} else {
		frozen = group_has(path, "cgroup.events", "frozen 1") ||
			 group_has(path, "cgroup.freeze", "1");
		while (!frozen && strlen(path) > length &&
		       (slash = strrchr(path, '/'))) {
			*slash = '\0';
			frozen = group_has(path, "cgroup.freeze", "1");
		}
	}
	free(path);
	return frozen;
}

/* The line of /proc/PID/cgroup of such a hierarchy, "NUMBER:CONTROLLERS:PATH"
 * (cgroups(7)), has the group's path. To be freed; NULL: there is none. */
static char *group_of(int32_t pid, bool unified)
{
	char *path = swz_print("/proc/%d/cgroup", (int)pid), line[4096];
	FILE *file = fopen(path, "re");
	char *group = NULL;

	free(path);
	while (file && !group && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *name = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!name)
			continue;
		*name++ = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (unified ? !controllers[1]
			    : strstr(controllers + 1, "freezer") != NULL)
			group = swz_duplicate(name);
	}
	if (file)
		fclose(file);
	return group;
}

static bool is_frozen(int32_t pid)
{
	char *groups[2] = {group_of(pid, false), group_of(pid, true)};
	FILE *file = fopen("/proc/self/mountinfo", "re");
	struct group_mount mount;
	bool frozen = false;
	char line[8192];

	while (file && !frozen && fgets(line, sizeof(line), file))
		if (parse_mount(line, &mount) && groups[mount.is_unified])
			frozen = group_is_frozen(&mount,
						 groups[mount.is_unified]);
	if (file)
		fclose(file);
	free(groups[0]);
	free(groups[1]);
	return frozen;
}

/* Filters that we are under as well do not forbid what is needed. */
static char *refuse_filter(int32_t pid)
{
	long theirs = status_of(pid, "Seccomp_filters");
	long ours = status_of(0, "Seccomp_filters");

	if (status_of(pid, "Seccomp") <= 0 ||
	    (theirs >= 0 && ours >= 0 && theirs <= ours))
		return NULL;
	return swz_print("-p %d: the process filters its system calls "
			 "(seccomp): those of a profiler could kill it. Use -m "
			 "sample",
			 (int)pid);
}

/* Nothing of it can be seen, as it does not run. */
static char *refuse_halted(int32_t pid)
{
	struct swz_proc_task task;

	if (swz_proc_task_read(pid, pid, &task) && task.state == 'T')
		return swz_print("-p %d: the process is stopped. Continue it "
				 "(kill -CONT %d), and try again",
				 (int)pid, (int)pid);
	if (is_frozen(pid))
		return swz_print("-p %d: the process is frozen (its group of "
				 "processes, by the cgroup freezer). Thaw it, "
				 "and try again",
				 (int)pid);
	return NULL;
}

/* The part of it that may change at any time: the process is stopped, frozen or
 * traced. */
static char *attach_hindered(int32_t pid)
{
	long tracer = status_of(pid, "TracerPid");
	char *why;

	if (tracer > 0)
		return swz_print("-p %d: process %ld traces it already (a "
				 "debugger, or strace). Detach that first",
				 (int)pid, tracer);
	why = refuse_halted(pid);
	if (!why && has_shadow_stack(pid))
		why = swz_print("-p %d: the process runs with a shadow stack "
				"(CET). Start it with swizzle-run, or use -m "
				"sample",
				(int)pid);
	return why;
}

static char *process_refused(int32_t pid)
{
	char *why = swz_process_refused(pid, "swizzle-run");

	if (!why && pid == getpid())
		why = swz_print("-p %d: that is swizzle-run itself", (int)pid);
	return why;
}

bool swz_attach_may_sample(int32_t pid)
{
	char *why = process_refused(pid);

	if (!why)
		why = refuse_halted(pid);
	free(why);
	return !why;
}

/* NULL: the exact profiler may be brought into the process, as far as that can
 * be told from outside. Otherwise why not, and what to do; to be freed. */
static char *attach_refused(int32_t pid)
{
	char *why = process_refused(pid);

	if (!why)
		why = attach_hindered(pid);
	if (!why)
		why = refuse_program(pid);
	if (!why)
		why = refuse_filter(pid);
	if (!why)
		why = refuse_user(pid);
	return why;
}

/* ----------------------------------------------------------------- the run */

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

/* Between looks at whether the process runs another program. */
#define LOOK_NS UINT64_C(500000000)
/* How long a process that was killed may take to end. */
#define ENDING_MS 2000

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list arguments;
	char *text;
	int n;

	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0)
		return;
	/* paths and names are those of other processes */
	swz_make_printable(text, "\n");
	fputs(text, stderr);
	free(text);
}

/* Prints the library's messages, which have "swizzle: " of their own. */
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

/* A process that was frozen or stopped meanwhile makes any step fail. */
static void tell_failure(const struct swz_attached *a, int32_t pid)
{
	char *hindered = attach_hindered(pid);

	if (hindered)
		say("swizzle: %s\n", hindered);
	else
		say("swizzle: cannot attach to process %d: %s\n", (int)pid,
		    a->problem);
	free(hindered);
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
	say("swizzle: the longest stop of any thread, from attaching to "
	    "detaching: %.1f ms\n",
	    in_ms(swz_attached_longest_ns(a)));
	if (a->control.frames_left)
		say("swizzle: %u open call%s through libswizzle.so, which "
		    "stays loaded\n",
		    a->control.frames_left,
		    a->control.frames_left == 1 ? " returns" : "s return");
}

/* Until the time is over, a signal says so (both: true), or the process ends or
 * executes another program. */
static bool wait_until(struct swz_attached *a, const struct swz_run *run,
		       int process, int signals, uint64_t for_ns)
{
	uint64_t end = for_ns ? swz_watch_now() + for_ns : UINT64_MAX;
	uint64_t look_at = 0, beat_at = 0;
	struct pollfd fds[] = {{signals, POLLIN, 0}, {process, POLLIN, 0}};

	for (;;) {
		uint64_t now = swz_watch_now(), next;
		struct timespec rest;

		if (now >= end)
			return true;
		if (now >= look_at)
			look_at = now + swz_hooked_waits_look(run);
		if (now >= beat_at) {
			if (!swz_attach_goes_on(a))
				return false;
			beat_at = now + LOOK_NS;
		}
		next = look_at < beat_at ? look_at : beat_at;
		next = next < end ? next - now : end - now;
		rest = (struct timespec){(time_t)(next / 1000000000),
					 (long)(next % 1000000000)};
		if (ppoll(fds, 2, &rest, NULL) < 0 && errno != EINTR)
			return true;
		if (fds[1].revents)
			return false;
		if (fds[0].revents)
			return true;
	}
}

/* Processes that were forked meanwhile become native as well. */
static bool end_children(struct swz_attached *a, const struct swz_sampling *o)
{
	struct swz_child_processes children;

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
		if (!swz_process_runs(pid) || poll(&fd, 1, 10) == 1)
			return true;
	}
	return false;
}

static int record(struct swz_attached *a, const struct swz_run *run,
		  const struct swz_sampling *o, int process, int signals,
		  const struct swz_attach_beside *beside)
{
	bool asked, detached;

	if (beside)
		beside->begin(beside->context,
			      a->has_other_root ? NULL : a->control.path);
	asked = wait_until(a, run, process, signals, o->for_ns);
	if (beside)
		beside->end(beside->context);
	detached = asked && swz_attach_end(a);
	if (!asked || (!detached && swz_attached_has_executed(a))) {
		if (!o->quiet && kill(o->pid, 0) == 0 &&
		    swz_process_runs(o->pid))
			say("swizzle: the process executes another program "
			    "now, which is not profiled\n");
		return end_children(a, o) ? 0 : 1;
	}
	if (detached || has_ended(process, o->pid)) {
		if (o->verbose)
			tell_end(a);
		return end_children(a, o) ? 0 : 1;
	}
	say("swizzle: cannot detach from process %d: %s\n", (int)o->pid,
	    a->problem);
	return 1;
}

/* In another root directory the profile has another name for us, as long as the
 * process is there. */
static void summarize(struct swz_run *run, const struct swz_attached *a,
		      int32_t pid)
{
	char text[SWZ_SUMMARY_BYTES], output[SWZ_RUN_PATH_BYTES];
	size_t length;

	if (a->has_other_root) {
		snprintf(output, sizeof(output), "/proc/%d/root%s", (int)pid,
			 run->output);
		run->output = output;
		run->shown = 0;
	}
	length = swz_run_summarize(run, text);
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
		   const char *library, char **environment,
		   const struct swz_attach_beside *beside)
{
	struct swz_attach_settings settings = {.pid = o->pid,
					       .library = library,
					       .environment = environment,
					       .verbose = o->verbose};
	static struct swz_attached attached;
	char *refused = attach_refused(o->pid);
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
		tell_failure(&attached, o->pid);
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
	status = record(&attached, run, o, process, signals, beside);
	swz_attach_free(&attached);
	if (!swz_process_runs(o->pid)) { /* one that was killed cannot say */
		run->end_ticks = __builtin_ia32_rdtsc();
		swz_run_note_end(run);
	}
	if (!o->quiet && o->summary)
		summarize(run, &attached, o->pid);
	return status;
}
