/* All that the sampler and the controller read from /proc goes through here. A
 * thread or process may end at any moment, so each reader says that there is
 * nothing rather than give half of an answer. */

#include "watch/proc_task.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>
#include <unistd.h>

#include "base/basics.h"
#include "util/memory.h"

/* --- the clock ----------------------------------------------------------- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t swz_watch_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t swz_watch_used(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void swz_watch_rest(uint64_t ns)
{
	struct timespec time = {0, (long)ns};

	nanosleep(&time, NULL);
}

/* --- files of a task ----------------------------------------------------- */

enum {
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_USER_TIME = 14,
	FIELD_THREADS = 20,
	FIELD_START_STACK = 28,
	FIELD_PROCESSOR = 39
};

#define MOST_PAGES 18
/* PF_KTHREAD, of the kernel. */
#define OF_KERNEL 0x00200000u

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
	uint64_t parent, flags, user, system, processor;
	char text[1024];
	const char *at, *name;

	*task = (struct swz_proc_task){.processor = -1};
	if (!read_task_file(pid, tid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return false;
	name = strchr(text, '(');
	if (name && at > name)
		memcpy(task->name, name + 1,
		       (size_t)(at - name - 1) < sizeof(task->name)
			       ? (size_t)(at - name - 1)
			       : sizeof(task->name) - 1);
	/* behind the name; proc(5) has the numbers of the fields */
	task->state = at[2];
	swz_scan_past(&at, 2);
	if (!swz_scan(&at, 10, &parent))
		return false;
	task->parent_pid = (int32_t)parent;
	swz_scan_past(&at, FIELD_FLAGS - FIELD_PARENT - 1);
	if (!swz_scan(&at, 10, &flags))
		return false;
	task->of_kernel = flags & OF_KERNEL;
	swz_scan_past(&at, FIELD_USER_TIME - FIELD_FLAGS - 1);
	if (!swz_scan(&at, 10, &user) || !swz_scan(&at, 10, &system))
		return false;
	swz_scan_past(&at, FIELD_THREADS - FIELD_USER_TIME - 2);
	(void)swz_scan(&at, 10, &task->threads);
	swz_scan_past(&at, FIELD_START_STACK - FIELD_THREADS - 1);
	(void)swz_scan(&at, 10, &task->start_stack);
	swz_scan_past(&at, FIELD_PROCESSOR - FIELD_START_STACK - 1);
	if (swz_scan(&at, 10, &processor) && processor <= INT32_MAX)
		task->processor = (int32_t)processor;
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

/* NSpid has one number for each namespace, the innermost last (Linux 4.1). */
int32_t swz_proc_inner_number(int32_t pid)
{
	char text[4096];
	const char *line = read_task_file(pid, pid, "status", text,
					  sizeof(text))
				   ? strstr(text, "\nNSpid:")
				   : NULL;
	const char *end = line ? strchr(line + 1, '\n') : NULL;
	uint64_t number = 0;

	while (end && end > line && isdigit((unsigned char)end[-1]))
		end--;
	return end && swz_scan(&end, 10, &number) && number <= INT32_MAX &&
			       number
		       ? (int32_t)number
		       : pid;
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
		size_t part = SWZ_PAGE - (size_t)(address % SWZ_PAGE);

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

bool swz_proc_task_call(int32_t pid, int32_t tid, uint64_t *number)
{
	char text[512];
	const char *at = text;

	return read_task_file(pid, tid, "syscall", text, sizeof(text)) &&
	       isdigit((unsigned char)text[0]) && swz_scan(&at, 10, number);
}

enum { PENDING, PROCESS_PENDING, BLOCKED, CAUGHT, SIGNAL_SETS };

static bool read_signals(int32_t pid, int32_t tid, uint64_t sets[SIGNAL_SETS])
{
	static const char *const keys[] = {
		"\nSigPnd:", "\nShdPnd:", "\nSigBlk:", "\nSigCgt:"};
	char text[4096];

	if (!read_task_file(pid, tid, "status", text, sizeof(text)))
		return false;
	for (int i = 0; i < SIGNAL_SETS; i++) {
		const char *at = strstr(text, keys[i]);

		sets[i] = 0;
		if (at) {
			at += strlen(keys[i]);
			(void)swz_scan(&at, 16, &sets[i]);
		}
	}
	return true;
}

bool swz_proc_task_catches(int32_t pid, int32_t tid)
{
	uint64_t sets[SIGNAL_SETS];

	return !read_signals(pid, tid, sets) ||
	       ((sets[PENDING] | sets[PROCESS_PENDING]) & ~sets[BLOCKED] &
		sets[CAUGHT]) != 0;
}

bool swz_proc_task_may_take(int32_t pid, int32_t tid)
{
	uint64_t sets[SIGNAL_SETS];

	return read_signals(pid, tid, sets) &&
	       (sets[PROCESS_PENDING] & ~sets[BLOCKED]) != 0;
}

/* --- processes that are sampled ------------------------------------------ */

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

static bool is_of_kernel(int32_t pid)
{
	struct swz_proc_task task;

	return swz_proc_task_read(pid, pid, &task) && task.of_kernel;
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
	if (is_of_kernel(pid))
		return swz_print("-p %d: that is a thread of the kernel, which "
				 "runs no program. Use perf",
				 (int)pid);
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

/* --- interrupted calls --------------------------------------------------- */

#define SYSCALL_BYTES 2u

/* The kernel's own, which a stopped thread's registers show. */
enum {
	ERESTARTSYS_ = 512,
	ERESTARTNOINTR_ = 513,
	ERESTARTNOHAND_ = 514,
	ERESTART_RESTARTBLOCK_ = 516,
	SYS_RESTART = 219
};

bool swz_call_makes_again(const struct user_regs_struct *r,
			  struct user_regs_struct *again)
{
	if ((int64_t)r->orig_rax < 0)
		return false;
	*again = *r;
	switch (-(int64_t)r->rax) {
	case EINTR: /* epoll_wait and others: a stop is no signal */
		if (r->orig_rax == SYS_close)
			return false;
		again->rax = r->orig_rax;
		break;
	case ERESTARTSYS_:
	case ERESTARTNOINTR_:
	case ERESTARTNOHAND_:
		again->rax = r->orig_rax;
		break;
	case ERESTART_RESTARTBLOCK_:
		again->rax = SYS_RESTART;
		break;
	default:
		return false;
	}
	again->rip -= SYSCALL_BYTES;
	again->orig_rax = UINT64_MAX;
	return true;
}

bool swz_call_anew(const struct user_regs_struct *r,
		   struct user_regs_struct *again)
{
	if ((int64_t)r->orig_rax < 0 || (int64_t)r->rax != -EINTR ||
	    r->orig_rax == SYS_close)
		return false;
	*again = *r;
	again->rax = SWZ_CALL_ANEW;
	return true;
}
