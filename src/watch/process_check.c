#include "watch/process_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "watch/proc_task.h"

static void count_task(void *context, int32_t tid)
{
	(void)tid;
	++*(size_t *)context;
}

/* Then /proc has neither its code nor its memory under its number. */
static bool has_lost_first_thread(int32_t pid)
{
	struct swz_proc_task task;

	return swz_proc_task_read(pid, pid, &task) && task.state == 'Z';
}

bool swz_process_runs(int32_t pid)
{
	struct swz_proc_task task;
	char path[64];
	size_t count = 0;

	if (!swz_proc_task_read(pid, pid, &task) || task.state == 'X')
		return false;
	if (task.state != 'Z')
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	swz_proc_numbers(path, count_task, &count);
	return count > 1;
}

char *swz_process_refused(int32_t pid, const char *tool)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)pid);
	if (stat(path, &st) != 0)
		return swz_print("-p %d: there is no such process", (int)pid);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return swz_print("-p %d: the process belongs to another user. "
				 "Run %s as that user, or as root",
				 (int)pid, tool);
	if (!swz_process_runs(pid))
		return swz_print("-p %d: the process has ended", (int)pid);
	if (has_lost_first_thread(pid))
		return swz_print("-p %d: the first thread of the process has "
				 "ended, so its code cannot be found. Watch it "
				 "from before on, or start it by %s",
				 (int)pid, tool);
	return NULL;
}

char *swz_process_program_refused(int32_t pid)
{
	unsigned char ident[EI_NIDENT] = {0};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (pread(fd, ident, sizeof(ident), 0) < (ssize_t)sizeof(ident))
		ident[EI_CLASS] = ELFCLASSNONE;
	close(fd);
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_CLASS] != ELFCLASS32)
		return NULL;
	return swz_print("-p %d: the process runs a 32-bit program, which "
			 "cannot be profiled. Compile it for x86-64",
			 (int)pid);
}
