#include "top/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscall.h"
#include "profile/formats/common/cells.h"
#include "swizzle/format.h"
#include "util/figures.h"
#include "util/memory.h"
#include "watch/proc_task.h"

/* --- which processes there are ------------------------------------------- */

/* A profile is mapped, shared, while it is written: /proc/PID/maps names it.
 * Its header says that it is one. */

/* Reads the header of a regular file; *inode is set. */
static bool read_any_header(const char *path, struct swz_file_header *header,
			    uint64_t *inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	     pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	     memcmp(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic)) == 0;
	close(fd);
	*inode = is ? st.st_ino : 0;
	return is;
}

static bool read_header(const char *path, struct swz_file_header *header,
			uint64_t *inode)
{
	return read_any_header(path, header, inode) &&
	       !(header->flags & SWZ_FILE_SAMPLES);
}

bool swz_top_profile_header(const char *path, struct swz_file_header *header)
{
	uint64_t inode;

	return read_header(path, header, &inode);
}

/* Who reads a profile, as swizzle-ctl does, may have it mapped, too. Either may
 * differ where the process is in a namespace: of numbers, or of time. */
static bool is_written_by(const struct swz_file_header *header, int32_t pid)
{
	return (int32_t)header->pid == pid ||
	       header->process_start == swz_process_start(pid);
}

/* *OWN: it is the process's own. */
static bool is_profile(int32_t pid, const char *path, uint64_t inode, bool *own)
{
	struct swz_file_header header;
	uint64_t found;

	if (!read_header(path, &header, &found) || found != inode)
		return false;
	*own = is_written_by(&header, pid);
	return true;
}

void swz_top_profiles_beside(const char *profile,
			     void (*visit)(void *context, const char *path),
			     void *context)
{
	const char *slash = strrchr(profile, '/');
	char *folder = slash ? strndup(profile, (size_t)(slash - profile) + 1)
			     : NULL;
	DIR *directory = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path;

		if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
			continue;
		path = swz_print("%s%s", folder, entry->d_name);
		visit(context, path);
		free(path);
	}
	if (directory)
		closedir(directory);
	free(folder);
}

/* The process may have another root. */
static char *find_profile(int32_t pid, const char *path, uint64_t inode,
			  bool *own)
{
	char *inside;

	if (is_profile(pid, path, inode, own))
		return swz_duplicate(path);
	inside = swz_print("/proc/%d/root%s", (int)pid, path);
	if (is_profile(pid, inside, inode, own))
		return inside;
	free(inside);
	return NULL;
}

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strstr(slash, "libswizzle.so");
}

/* A child that was forked while recording was stopped has its parent's, and the
 * library. */
char *swz_top_profile_of(int32_t pid)
{
	char *name = swz_print("/proc/%d/maps", (int)pid), *line = NULL;
	FILE *file = fopen(name, "re");
	char *found = NULL;
	bool own = false, has_library = false;
	size_t room = 0;

	free(name);
	if (!file)
		return NULL;
	while (!own && getline(&line, &room, file) > 0) {
		char rights[8], *profile;
		uint64_t inode;
		int path = 0;

		if (sscanf(line, "%*x-%*x %7s %*x %*s %" SCNu64 " %n", rights,
			   &inode, &path) < 2 ||
		    !path || line[path] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		has_library |= is_library(line + path);
		profile = rights[3] == 's'
				  ? find_profile(pid, line + path, inode, &own)
				  : NULL;
		if (profile && (own || !found)) {
			free(found);
			found = profile;
		} else {
			free(profile);
		}
	}
	free(line);
	fclose(file);
	if (!own && !has_library) {
		free(found);
		found = NULL;
	}
	return found;
}

static char *read_file(int32_t pid, const char *name, size_t *size)
{
	char *path = swz_print("/proc/%d/%s", (int)pid, name), *text;
	FILE *file = fopen(path, "re");

	free(path);
	*size = 0;
	if (!file)
		return NULL;
	text = swz_allocate(4096, 1);
	*size = fread(text, 1, 4095, file);
	fclose(file);
	return text;
}

char *swz_top_process_command(int32_t pid)
{
	size_t size;
	char *text = read_file(pid, "cmdline", &size);

	if (text && !size) {
		free(text);
		text = read_file(pid, "comm", &size);
	}
	if (!text)
		return swz_duplicate("");
	for (size_t i = 0; i < size; i++)
		if (!text[i] || text[i] == '\n')
			text[i] = i + 1 < size ? ' ' : '\0';
	return text;
}

/* --- the list of processes ----------------------------------------------- */

/* Fields of /proc/PID/stat; proc(5) has their numbers. */
enum {
	FIELD_STATE = 3,
	FIELD_FLAGS = 9,
	FIELD_USER_TIME = 14,
	FIELD_START = 22
};

#define IS_KERNEL_THREAD 0x00200000u

/* --------------------------------------------------------------- one process
 */

static bool is_users(int32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 &&
	       (geteuid() == 0 || st.st_uid == geteuid());
}

/* False: it has ended, or is none that could be watched. */
static bool read_stat(struct swz_top_process *process)
{
	char path[48], text[1024] = "";
	uint64_t flags = 0, user = 0, system = 0;
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	at = n > 0 ? strrchr(text, ')') : NULL;
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return false;
	at++;
	swz_scan_past(&at, FIELD_FLAGS - FIELD_STATE);
	(void)swz_scan(&at, 10, &flags);
	swz_scan_past(&at, FIELD_USER_TIME - FIELD_FLAGS - 1);
	(void)swz_scan(&at, 10, &user);
	(void)swz_scan(&at, 10, &system);
	swz_scan_past(&at, FIELD_START - FIELD_USER_TIME - 2);
	(void)swz_scan(&at, 10, &process->start);
	process->used_ns = (user + system) *
			   (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return !(flags & IS_KERNEL_THREAD);
}

struct counted_run {
	struct swz_file_header header; /* of a profile of its */
	bool is_sampled;
};

static void look_for_samples(void *context, const char *path)
{
	struct counted_run *run = context;
	struct swz_file_header h;
	uint64_t inode;

	if (!run->is_sampled && read_any_header(path, &h, &inode))
		run->is_sampled = h.flags & SWZ_FILE_SAMPLES &&
				  h.counts_pid == run->header.root_pid &&
				  h.counts_start == run->header.root_start;
}

bool swz_top_is_sampled(const char *profile)
{
	struct counted_run run = {.is_sampled = false};

	if (swz_top_profile_header(profile, &run.header) &&
	    run.header.flags & SWZ_FILE_COUNTS)
		swz_top_profiles_beside(profile, look_for_samples, &run);
	return run.is_sampled;
}

/* Who may not see what it executes may not read its memory. */
static const char *how_to_watch(int32_t pid)
{
	char path[32], target[1], *profile;
	const char *watch;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, target, sizeof(target)) < 0)
		return "no";
	profile = swz_top_profile_of(pid);
	watch = profile && !swz_top_is_sampled(profile) ? "exact" : "samples";
	free(profile);
	return watch;
}

/* ------------------------------------------------------------------- all */

static int by_pid(const void *left, const void *right)
{
	const struct swz_top_process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void add(void *context, int32_t pid)
{
	struct swz_process_list *list = context;
	struct swz_top_process process = {.pid = pid};

	if (pid == getpid() || !is_users(pid) || !read_stat(&process))
		return;
	process.command = swz_top_process_command(pid);
	swz_grow(&list->items, &list->capacity, list->count,
		 sizeof(*list->items));
	list->items[list->count++] = process;
}

/* The process in the reading before; NULL: it was not there. */
static const struct swz_top_process *find(const struct swz_process_list *list,
					  const struct swz_top_process *process)
{
	const struct swz_top_process *found = NULL;

	if (list->count)
		found = bsearch(process, list->items, list->count,
				sizeof(*process), by_pid);
	return found && found->start == process->start ? found : NULL;
}

static void compare(const struct swz_process_list *before,
		    struct swz_top_process *process)
{
	const struct swz_top_process *then = find(before, process);

	/* (in the first reading nothing is recent) */
	if (then)
		process->recent_ns = process->used_ns - then->used_ns;
	else if (before->read_ns)
		process->recent_ns = process->used_ns;
	/* another program may be profiled */
	process->watch = then && strcmp(then->command, process->command) == 0
				 ? then->watch
				 : how_to_watch(process->pid);
}

void swz_process_list_read(struct swz_process_list *list)
{
	struct swz_process_list before = *list;

	*list = (struct swz_process_list){.read_ns = swz_watch_now()};
	if (before.read_ns)
		list->wall_ns = list->read_ns - before.read_ns;
	swz_proc_numbers("/proc", add, list);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_pid);
	for (size_t i = 0; i < list->count; i++)
		compare(&before, &list->items[i]);
	swz_process_list_free(&before);
}

void swz_process_list_free(struct swz_process_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].command);
	free(list->items);
	*list = (struct swz_process_list){0};
}

/* ------------------------------------------------------------- printing */

static int by_share(const void *left, const void *right)
{
	const struct swz_top_process *const *a = left, *const *b = right;

	if ((*a)->recent_ns != (*b)->recent_ns)
		return (*a)->recent_ns > (*b)->recent_ns ? -1 : 1;
	return by_pid(*a, *b);
}

static void print(FILE *stream, const struct swz_process_list *list,
		  const struct swz_top_process *process,
		  const struct swz_style *style)
{
	char share[SWZ_FIGURE_BYTES], time[SWZ_FIGURE_BYTES];
	char *head, *command;
	unsigned int width;

	swz_figure_share(share, (int64_t)process->recent_ns,
			 (int64_t)list->wall_ns);
	swz_figure_time(time, (int64_t)process->used_ns, style->utf8);
	head = swz_print("%7" PRId32 " %6s %8s %-7s ", process->pid, share,
			 time, process->watch);
	width = swz_text_width(head);
	if (!style->width)
		command = swz_printable(process->command, style->utf8);
	else
		command = swz_cut_command(
			process->command,
			style->width > width ? style->width - width : 0,
			style->utf8);
	fprintf(stream, "%s%s\n", head, command);
	free(command);
	free(head);
}

void swz_process_list_print(FILE *stream, const struct swz_process_list *list,
			    const struct swz_style *style)
{
	const struct swz_top_process **sorted = swz_allocate(
		list->count + 1, sizeof(const struct swz_top_process *));

	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->items[i];
	qsort(sorted, list->count, sizeof(const struct swz_top_process *),
	      by_share);
	fprintf(stream, "%7s %6s %8s %-7s %s\n", "PID", "CPU", "TIME", "WATCH",
		"COMMAND");
	for (size_t i = 0; i < list->count; i++)
		print(stream, list, sorted[i], style);
	free(sorted);
}
