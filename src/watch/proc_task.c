#include "watch/proc_task.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "watch/scan.h"

#define PAGE 4096u

enum {
	FIELD_PARENT = 4,
	FIELD_USER_TIME = 14,
	FIELD_THREADS = 20,
	FIELD_START_STACK = 28
};

#define MOST_PAGES 18

static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static bool read_task_file(int32_t pid, int32_t tid, const char *name,
			   char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid,
		 name);
	return read_text(path, text, size);
}

bool swz_proc_task_turns(int32_t pid, int32_t tid, struct swz_proc_turns *turns)
{
	char text[128];
	const char *at = text;

	if (!read_task_file(pid, tid, "schedstat", text, sizeof(text)) ||
	    !swz_scan(&at, 10, &turns->processor_ns))
		return false;
	(void)swz_scan(&at, 10, &turns->queued_ns);
	(void)swz_scan(&at, 10, &turns->turns);
	return true;
}

bool swz_proc_task_time(int32_t pid, int32_t tid, uint64_t *ns)
{
	struct swz_proc_turns turns;
	bool known = swz_proc_task_turns(pid, tid, &turns);

	*ns = known ? turns.processor_ns : 0;
	return known;
}

bool swz_proc_task_name(int32_t pid, int32_t tid, char name[16])
{
	char text[64];
	size_t length;

	if (!read_task_file(pid, tid, "comm", text, sizeof(text)))
		return false;
	length = strcspn(text, "\n");
	if (length > 15)
		length = 15;
	memcpy(name, text, length);
	name[length] = '\0';
	return true;
}

bool swz_proc_task_waits_made(int32_t pid, int32_t tid, uint64_t *count)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char text[4096];
	const char *at;

	if (!read_task_file(pid, tid, "status", text, sizeof(text)))
		return false;
	at = strstr(text, key);
	if (!at)
		return false;
	at += sizeof(key) - 1;
	return swz_scan(&at, 10, count);
}

bool swz_proc_task_read(int32_t pid, int32_t tid, struct swz_proc_task *task)
{
	uint64_t parent, user, system;
	char text[1024];
	const char *at;

	*task = (struct swz_proc_task){0};
	if (!read_task_file(pid, tid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return false;
	/* behind the name; proc(5) has the numbers of the fields */
	task->state = at[2];
	swz_scan_past(&at, 2);
	if (!swz_scan(&at, 10, &parent))
		return false;
	task->parent_pid = (int32_t)parent;
	swz_scan_past(&at, FIELD_USER_TIME - FIELD_PARENT - 1);
	if (!swz_scan(&at, 10, &user) || !swz_scan(&at, 10, &system))
		return false;
	swz_scan_past(&at, FIELD_THREADS - FIELD_USER_TIME - 2);
	(void)swz_scan(&at, 10, &task->threads);
	swz_scan_past(&at, FIELD_START_STACK - FIELD_THREADS - 1);
	(void)swz_scan(&at, 10, &task->start_stack);
	if (!swz_proc_task_turns(pid, tid, &task->turns))
		task->turns.processor_ns = (user + system) *
					   (1000000000u /
					    (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

/* "running", or the system call's number (-1: none), perhaps its arguments, the
 * stack pointer and the instruction pointer. */
bool swz_proc_task_waits(int32_t pid, int32_t tid, uint64_t *ip, uint64_t *sp)
{
	char text[512], *last, *before;

	if (!read_task_file(pid, tid, "syscall", text, sizeof(text)) ||
	    strncmp(text, "running", 7) == 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last = '\0';
	before = strrchr(text, ' ');
	*ip = strtoull(last + 1, NULL, 16);
	*sp = before ? strtoull(before + 1, NULL, 16) : 0;
	return *ip && *sp;
}

void swz_proc_numbers(const char *directory,
		      void (*visit)(void *context, int32_t number),
		      void *context)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;

	if (!entries)
		return;
	while ((entry = readdir(entries)))
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(context,
			      (int32_t)strtol(entry->d_name, NULL, 10));
	closedir(entries);
}

void swz_proc_children(int32_t pid, int32_t tid,
		       void (*visit)(void *context, int32_t child),
		       void *context)
{
	char text[8192], *at = text, *end;

	if (!read_task_file(pid, tid, "children", text, sizeof(text)))
		return;
	for (;;) {
		long child = strtol(at, &end, 10);

		/* (what was cut off is found the next time) */
		if (end == at || *end == '\0')
			return;
		visit(context, (int32_t)child);
		at = end;
	}
}

/* A page after the other: what follows one that is not there is not read. */
size_t swz_proc_memory(int32_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote[MOST_PAGES];
	unsigned long count = 0;
	ssize_t n;

	while (size && count < MOST_PAGES) {
		size_t part = PAGE - (size_t)(address % PAGE);

		if (part > size)
			part = size;
		remote[count].iov_base = (void *)(uintptr_t)address;
		remote[count++].iov_len = part;
		address += part;
		size -= part;
	}
	n = process_vm_readv(pid, &local, 1, remote, count, 0);
	return n > 0 ? (size_t)n : 0;
}

bool swz_proc_task_has_signal(int32_t pid, int32_t tid)
{
	static const char *const keys[] = {"SigPnd:", "ShdPnd:", "SigBlk:"};
	uint64_t sets[3] = {0};
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
		 (int)tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	while (fgets(line, sizeof(line), file))
		for (int i = 0; i < 3; i++) {
			const char *at = line + strlen(keys[i]);

			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				(void)swz_scan(&at, 16, &sets[i]);
		}
	fclose(file);
	return ((sets[0] | sets[1]) & ~sets[2]) != 0;
}
