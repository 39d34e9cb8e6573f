#include "top/process_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/formats/cells.h"
#include "profile/formats/cut_text.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"
#include "top/processes.h"
#include "watch/clock.h"
#include "watch/proc_task.h"
#include "watch/scan.h"

/* Of /proc/PID/stat; proc(5) has the numbers of the fields. */
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

/* Who may not see what it executes may not read its memory. */
static const char *how_to_watch(int32_t pid)
{
	char path[32], target[1], *profile;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, target, sizeof(target)) < 0)
		return "no";
	profile = swz_top_profile_of(pid);
	free(profile);
	return profile ? "exact" : "samples";
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

/* What a process was in the reading before; NULL: it was not there. */
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
