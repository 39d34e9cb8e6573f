/* Each ability is tried out, not concluded from settings: a container's filter
 * may forbid what they permit. The settings then say what would change it. */

#include "control/attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run_options.h"
#include "options/command_line.h"
#include "util/memory.h"
#include "watch/engine.h"

#define NAME_WIDTH 34

static unsigned failed;

/* --- lines --------------------------------------------------------------- */

enum verdict { WORKS, FAILS, NOTE };

/* "  samples by perf events   yes, in the kernel, too". DETAIL may be NULL, and
 * is freed. */
static void say(enum verdict verdict, const char *name, char *detail)
{
	static const char *const words[] = {"yes", "no", ""};
	const char *between = verdict == WORKS ? ", " : ": ";

	failed += verdict == FAILS;
	printf("  %-*s %s%s%s\n", NAME_WIDTH, name, words[verdict],
	       detail && verdict != NOTE ? between : "", detail ? detail : "");
	free(detail);
}

/* Under the last line: what to do. */
__attribute__((format(printf, 1, 2))) static void advise(const char *format,
							 ...)
{
	va_list list;

	printf("  %*s   ", NAME_WIDTH - 2, "");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

/* --- settings ------------------------------------------------------------ */

/* The first number in a file of /proc; NONE where it cannot be read. */
#define NONE (-1000)

static long number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = NONE;

	if (!file)
		return NONE;
	if (fscanf(file, "%ld", &number) != 1)
		number = NONE;
	fclose(file);
	return number;
}

/* The word behind NAME in /proc/self/status or the like; to be freed. NULL: it
 * is not there. */
static char *word_behind(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *word = NULL;
	size_t room = 0, length = strlen(name);

	while (file && !word && getline(&line, &room, file) > 0)
		if (strncmp(line, name, length) == 0) {
			char *at = line + length +
				   strspn(line + length, " \t:");

			at[strcspn(at, "\n")] = '\0';
			word = swz_duplicate(at);
		}
	free(line);
	if (file)
		fclose(file);
	return word;
}

static bool is_filtered(void)
{
	char *mode = word_behind("/proc/self/status", "Seccomp:");
	bool filtered = mode && strcmp(mode, "2") == 0;

	free(mode);
	return filtered;
}

/* --- what is tried out --------------------------------------------------- */

static void check_processor(const char *library)
{
	char *flags = word_behind("/proc/cpuinfo", "flags");
	bool steady = !flags || (strstr(flags, "constant_tsc") &&
				 strstr(flags, "nonstop_tsc"));

	if (access(library, R_OK) == 0)
		say(WORKS, "hooks (-m profile, count, trace)", NULL);
	else
		say(FAILS, "hooks (-m profile, count, trace)",
		    swz_print("%s: %s", library, strerror(errno)));
	if (!steady) {
		say(NOTE, "time stamp counter",
		    swz_print("not said to be constant: times may be off"));
		advise("-m sample does not use it");
	}
	free(flags);
}

static void advise_perf(void)
{
	long paranoid = number_in("/proc/sys/kernel/perf_event_paranoid");

	if (is_filtered())
		advise("a seccomp filter is in force: docker run "
		       "--security-opt seccomp=unconfined, or --cap-add "
		       "PERFMON");
	if (paranoid > 2)
		advise("kernel.perf_event_paranoid is %ld. As root: sysctl "
		       "kernel.perf_event_paranoid=2",
		       paranoid);
	advise("samples are taken by pauses meanwhile, if these work");
}

static void check_perf(void)
{
	const struct swz_perf_options options = {.rate = 1000,
						 .event = "cpu-clock"};
	const char *problem = "";
	struct swz_perf perf;
	long paranoid = number_in("/proc/sys/kernel/perf_event_paranoid");

	if (!swz_perf_open(&perf, getpid(), &options, &problem)) {
		say(FAILS, "samples by perf events", swz_duplicate(problem));
		advise_perf();
		return;
	}
	if (perf.of_kernel) {
		say(WORKS, "samples by perf events",
		    swz_print("in the kernel, too"));
	} else {
		say(WORKS, "samples by perf events",
		    swz_print("not in the kernel"));
		if (paranoid > 1)
			advise("kernel.perf_event_paranoid is %ld. As root, "
			       "for functions of the kernel: sysctl "
			       "kernel.perf_event_paranoid=1",
			       paranoid);
	}
	if (perf.stack_bytes < SWZ_MOST_STACK_BYTES)
		advise("stacks are copied up to %u bytes, as memory locks are "
		       "limited: raise ulimit -l, or sysctl "
		       "kernel.perf_event_mlock_kb",
		       perf.stack_bytes);
	swz_perf_close(&perf);
}

/* A process that does nothing until its input ends. RELATED: it is our child
 * and lets us trace it, as programs do that swizzle-run starts; otherwise it
 * has another parent by the time that its number is known. */
static pid_t start_idle(bool related, int *release)
{
	int hold[2], tell[2];
	pid_t child, idle = -1;

	if (pipe2(hold, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(tell, O_CLOEXEC) != 0) {
		close(hold[0]);
		close(hold[1]);
		return -1;
	}
	child = fork();
	if (child == 0) {
		char byte;

		if (!related && (idle = fork()) > 0)
			_exit(0);
		idle = getpid();
		close(hold[1]);
		if (related)
			(void)prctl(PR_SET_PTRACER, (long)getppid(), 0, 0, 0);
		if (write(tell[1], &idle, sizeof(idle)) == sizeof(idle))
			while (read(hold[0], &byte, 1) < 0 && errno == EINTR)
				;
		_exit(0);
	}
	close(tell[1]);
	if (child < 0 || read(tell[0], &idle, sizeof(idle)) != sizeof(idle))
		idle = -1;
	if (child > 0 && !related)
		(void)waitpid(child, NULL, 0);
	close(tell[0]);
	close(hold[0]);
	*release = hold[1];
	return idle;
}

/* 0, or the error with which ptrace(2) was refused. */
static int try_ptrace(bool related)
{
	int release, error = 0;
	pid_t idle = start_idle(related, &release);

	if (idle < 0)
		return errno ? errno : EAGAIN;
	if (ptrace(PTRACE_SEIZE, idle, NULL, NULL) != 0)
		error = errno;
	close(release); /* it ends, and is traced no more */
	(void)waitpid(idle, NULL, __WALL);
	return error;
}

static void advise_ptrace(void)
{
	long scope = number_in("/proc/sys/kernel/yama/ptrace_scope");

	if (scope == 3)
		advise("kernel.yama.ptrace_scope is 3, which only a new start "
		       "of the machine changes");
	else if (scope > 0)
		advise("kernel.yama.ptrace_scope is %ld. As root: sysctl "
		       "kernel.yama.ptrace_scope=0, or start swizzle as root",
		       scope);
	if (is_filtered())
		advise("a seccomp filter is in force: docker run --cap-add "
		       "SYS_PTRACE");
}

static void check_ptrace(void)
{
	int error = try_ptrace(true);

	if (error) {
		say(FAILS, "pauses (functions of scripts)",
		    swz_print("ptrace: %s", strerror(error)));
		advise_ptrace();
	} else {
		say(WORKS, "pauses (functions of scripts)", NULL);
	}
	error = try_ptrace(false);
	if (error) {
		say(FAILS, "processes that run (-p)",
		    swz_print("ptrace: %s", strerror(error)));
		advise_ptrace();
	} else {
		say(WORKS, "processes that run (-p)",
		    swz_print("%s",
			      geteuid() == 0 ? "of all users" : "your own"));
	}
}

/* --- limits and surroundings --------------------------------------------- */

static void check_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 1024) {
		say(NOTE, "open files",
		    swz_print("%llu (ulimit -n)",
			      (unsigned long long)files.rlim_cur));
		advise("-p of a process with many threads needs one for each "
		       "thread and processor: ulimit -n 65536");
	}
}

static void check_space(void)
{
	int fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	struct statvfs here;

	if (fd >= 0)
		close(fd);
	else if (errno == EOPNOTSUPP || errno == EISDIR)
		fd = access(".", W_OK);
	if (fd < 0) {
		say(FAILS, "profiles in this directory",
		    swz_duplicate(strerror(errno)));
		advise("name another place: -o DIRECTORY/");
		return;
	}
	if (statvfs(".", &here) == 0)
		say(WORKS, "profiles in this directory",
		    swz_print("%.1f GB are free",
			      (double)here.f_bavail * (double)here.f_frsize /
				      1e9));
}

static uint64_t bytes_in(const char *path, unsigned *count)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (directory && (entry = readdir(directory)))
		if (fstatat(dirfd(directory), entry->d_name, &st, 0) == 0 &&
		    S_ISREG(st.st_mode)) {
			bytes += (uint64_t)st.st_size;
			++*count;
		}
	if (directory)
		closedir(directory);
	return bytes;
}

/* See docs/cache.md. */
static void check_cache(void)
{
	const char *home = getenv("XDG_CACHE_HOME");
	unsigned count = 0;
	uint64_t bytes;
	char *path;

	if (home && *home == '/')
		path = swz_print("%s/swizzle", home);
	else if ((home = getenv("HOME")) && *home == '/')
		path = swz_print("%s/.cache/swizzle", home);
	else
		path = NULL;
	if (!path) {
		say(NOTE, "cache of plans", swz_print("none: HOME is not set"));
		return;
	}
	bytes = bytes_in(path, &count);
	if (access(path, W_OK) == 0 || errno == ENOENT)
		say(NOTE, "cache of plans",
		    swz_print("%s, %u files, %.1f MB", path, count,
			      (double)bytes / 1e6));
	else
		say(NOTE, "cache of plans",
		    swz_print("%s: %s. Each start plans anew", path,
			      strerror(errno)));
	free(path);
}

static void check_names(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool debug = access("/usr/lib/debug/.build-id", F_OK) == 0;

	if (urls && *urls)
		say(NOTE, "names of stripped libraries",
		    swz_print("from debuginfod (%s)", urls));
	else
		say(NOTE, "names of stripped libraries",
		    swz_print("%s", debug ? "from installed debug packages"
					  : "exported ones only"));
	if (!debug && !(urls && *urls))
		advise("export DEBUGINFOD_URLS, or install debug packages: "
		       "swizzle-dump names those of a profile");
}

int swz_check_machine(const char *library)
{
	printf("swizzle " SWZ_VERSION "\n");
	check_processor(library);
	check_perf();
	check_ptrace();
	check_space();
	check_limits();
	check_cache();
	check_names();
	if (failed)
		printf("%u of these do not work here.\n", failed);
	return fflush(stdout) == 0 && !failed ? 0 : 1;
}
