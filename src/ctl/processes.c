#include "ctl/ctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/syscall.h"
#include "top/live.h"
#include "util/memory.h"
#include "util/output.h"

/* --- processes that have just begun -------------------------------------- */

/* A process that is so old and has no profile gets none. */
#define YOUNG_SECONDS 10.0

/* (when this command began: what it waits for does not grow old meanwhile) */
static bool is_young(int32_t pid)
{
	return (double)swz_process_start(getpid()) -
		       (double)swz_process_start(pid) <
	       YOUNG_SECONDS * (double)sysconf(_SC_CLK_TCK);
}

static bool is_swizzle_run(int32_t pid)
{
	char link[32], path[4096];
	const char *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	return slash && strcmp(slash + 1, "swizzle-run") == 0;
}

/* True if one of the strings in a file of the process's is so. */
static bool has(int32_t pid, const char *name,
		bool (*is_so)(const char *string, const char *wanted),
		const char *wanted)
{
	char path[32], *string = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	while (file && !found && getdelim(&string, &room, 0, file) > 0)
		found = is_so(string, wanted);
	free(string);
	if (file)
		fclose(file);
	return found;
}

static bool begins_with(const char *string, const char *wanted)
{
	return strncmp(string, wanted, strlen(wanted)) == 0;
}

static bool is_path_of(const char *string, const char *wanted)
{
	const char *slash = strrchr(string, '/');

	return strcmp(slash ? slash + 1 : string, wanted) == 0;
}

/* True if swizzle-run has started a process without a profile a moment ago, so
 * that it may have one soon: it is swizzle-run still, or has its environment.
 */
static bool is_starting(int32_t pid)
{
	return is_young(pid) &&
	       (is_swizzle_run(pid) ||
		has(pid, "environ", begins_with, "SWIZZLE_OUTPUT="));
}

/* True if it is swizzle-run still, and its command line has a program of that
 * name. */
static bool is_starting_as(int32_t pid, const char *name)
{
	return is_young(pid) && is_swizzle_run(pid) &&
	       has(pid, "cmdline", is_path_of, name);
}

/* --- the processes that are meant ---------------------------------------- */

/* A profiled process has its profile mapped, shared, and libswizzle.so: the
 * first tells. All is read once from /proc; what comes later is not seen. */

/* How long to wait for one that is starting, and between two looks. */
#define START_NS UINT64_C(5000000000)
#define LOOK_NS 20000000

static bool is_own(int32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 &&
	       (geteuid() == 0 || st.st_uid == geteuid());
}

/* Name and parent: "PID (NAME) STATE PARENT ...", of which the name may hold
 * anything. False: it is not there any more. */
static bool read_stat(struct swz_ctl_process *process)
{
	char path[32], text[512] = "";
	const char *begin, *end;
	ssize_t n = -1;
	int fd, parent = 0;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	begin = n > 0 ? strchr(text, '(') : NULL;
	end = begin ? strrchr(text, ')') : NULL;
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return false;
	length = (size_t)(end - begin - 1);
	if (length >= sizeof(process->name))
		length = sizeof(process->name) - 1;
	memcpy(process->name, begin + 1, length);
	process->name[length] = '\0';
	process->parent = parent;
	return true;
}

/* All processes, so that trees are known. */
static void read_all(struct swz_ctl_processes *all)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		struct swz_ctl_process process = {
			.pid = (int32_t)strtol(entry->d_name, NULL, 10)};

		if (entry->d_name[strspn(entry->d_name, "0123456789")] ||
		    process.pid <= 0 || !read_stat(&process))
			continue;
		swz_grow(&all->list, &all->capacity, all->count,
			 sizeof(*all->list));
		all->list[all->count++] = process;
	}
	if (directory)
		closedir(directory);
}

static struct swz_ctl_process *find(struct swz_ctl_processes *all, int32_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].pid == pid)
			return &all->list[i];
	return NULL;
}

/* The name that the kernel has, or the last part of the program's path: the
 * first is cut at 15 bytes, and threads may change it. */
static bool is_called(const struct swz_ctl_process *process, const char *name)
{
	char link[32], path[4096];
	const char *slash;
	ssize_t n;

	if (strcmp(process->name, name) == 0)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	return slash && strcmp(slash + 1, name) == 0;
}

static bool is_in_tree(struct swz_ctl_processes *all, int32_t pid, int32_t root)
{
	/* (parents may be read at different times: no circles for ever) */
	for (int i = 0; pid && i < 1000; i++) {
		const struct swz_ctl_process *process;

		if (pid == root)
			return true;
		process = find(all, pid);
		pid = process ? process->parent : 0;
	}
	return false;
}

static bool is_named(const struct swz_ctl_process *process,
		     const struct swz_ctl_options *options)
{
	for (const char **name = options->names; *name; name++)
		if (is_called(process, *name))
			return true;
	return false;
}

static bool will_be_named(const struct swz_ctl_process *process,
			  const struct swz_ctl_options *options)
{
	for (const char **name = options->names; *name; name++)
		if (is_starting_as(process->pid, *name))
			return true;
	return false;
}

static bool is_meant(struct swz_ctl_processes *all,
		     const struct swz_ctl_process *process,
		     const struct swz_ctl_options *options)
{
	if (options->all || is_named(process, options))
		return true;
	for (const int32_t *pid = options->pids; *pid; pid++)
		if (*pid == process->pid)
			return true;
	for (const int32_t *root = options->trees; *root; root++)
		if (is_in_tree(all, process->pid, *root))
			return true;
	return false;
}

/* Says what is there and not meant to be, or not what was asked for. */
static void complain(struct swz_ctl_processes *all,
		     const struct swz_ctl_processes *found,
		     const struct swz_ctl_options *options, bool *missing)
{
	for (const int32_t *pid = options->pids; *pid; pid++) {
		const char *why = "it does not run under swizzle-run";
		bool there = false;

		for (size_t i = 0; i < found->count; i++)
			there |= found->list[i].pid == *pid;
		if (there)
			continue;
		if (!find(all, *pid))
			why = "there is no such process";
		else if (!is_own(*pid))
			why = "it is another user's";
		else if (is_starting(*pid))
			why = "it is still starting under swizzle-run. Try "
			      "again "
			      "in a moment";
		swz_complain("%d is not profiled: %s", (int)*pid, why);
		*missing = true;
	}
	for (const char **name = options->names; *name; name++) {
		bool there = false;

		for (size_t i = 0; i < found->count; i++)
			there |= is_called(&found->list[i], *name);
		if (there)
			continue;
		swz_complain("no profiled process is called '%s'", *name);
		*missing = true;
	}
	for (const int32_t *root = options->trees; *root; root++) {
		bool there = false;

		for (size_t i = 0; i < found->count; i++)
			there |= is_in_tree(all, found->list[i].pid, *root);
		if (there)
			continue;
		swz_complain("%d, and what it has started, is not profiled%s",
			     (int)*root,
			     find(all, *root) ? ""
					      : ": there is no such process");
		*missing = true;
	}
}

static int compare(const void *left, const void *right)
{
	const struct swz_ctl_process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* Finds the profiled processes among those that are meant, which are all in
 * ALL. *STARTING: one has no profile yet. */
static void find_profiled(struct swz_ctl_processes *found,
			  struct swz_ctl_processes *all,
			  const struct swz_ctl_options *options, bool *starting)
{
	*found = (struct swz_ctl_processes){0};
	*starting = false;
	for (size_t i = 0; i < all->count; i++) {
		struct swz_ctl_process process = all->list[i];

		if (!is_own(process.pid))
			continue;
		if (!is_meant(all, &process, options)) {
			*starting |= will_be_named(&process, options);
			continue;
		}
		process.profile = swz_top_profile_of(process.pid);
		if (!process.profile) {
			*starting |= !options->all && is_starting(process.pid);
			continue;
		}
		swz_grow(&found->list, &found->capacity, found->count,
			 sizeof(*found->list));
		found->list[found->count++] = process;
	}
	if (found->count)
		qsort(found->list, found->count, sizeof(*found->list), compare);
}

void swz_ctl_processes_find(struct swz_ctl_processes *found,
			    const struct swz_ctl_options *options)
{
	const struct timespec look = {0, LOOK_NS};
	struct swz_ctl_processes all = {0};
	bool starting;

	for (uint64_t waited = 0;; waited += LOOK_NS) {
		read_all(&all);
		find_profiled(found, &all, options, &starting);
		if (!starting || waited >= START_NS)
			break;
		swz_ctl_processes_free(found);
		free(all.list);
		all = (struct swz_ctl_processes){0};
		nanosleep(&look, NULL);
	}
	complain(&all, found, options, &found->missing);
	free(all.list);
}

void swz_ctl_processes_free(struct swz_ctl_processes *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->list[i].profile);
	free(found->list);
}
