#include "tests/stacks/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* It stops soon, or never if it has ended or was stopped otherwise. */
enum { LOOK_US = 20, MOST_LOOKS = 1000 };

enum { MOST_TASKS = 4096, MOST_MAPPINGS = 8192, MAPS_BYTES = 1 << 20 };

static pid_t tasks[MOST_TASKS];
static size_t task_count;
static pid_t executed; /* the one that did so last, and was not stopped since */

static char maps_text[MAPS_BYTES], maps_before[MAPS_BYTES];
static char paths[MAPS_BYTES];
static struct truth_mapping mappings[MOST_MAPPINGS];
static bool executable[MOST_MAPPINGS];
static size_t mapping_count;

static bool is_known(pid_t tid)
{
	size_t i;

	for (i = 0; i < task_count; i++)
		if (tasks[i] == tid)
			return true;
	return false;
}

static void forget(pid_t tid)
{
	size_t i;

	for (i = 0; i < task_count; i++)
		if (tasks[i] == tid)
			tasks[i--] = tasks[--task_count];
}

static bool read_process(void *context, uint64_t address, void *into,
			 size_t size)
{
	struct iovec mine = {into, size};
	struct iovec its = {(void *)(uintptr_t)address, size};

	return process_vm_readv(*(const pid_t *)context, &mine, 1, &its, 1,
				0) == (ssize_t)size;
}

/* True if they are not as before. */
static bool read_maps(pid_t tid)
{
	char name[64], *line, *path = paths;
	size_t size = 0;
	ssize_t got;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)tid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && size < MAPS_BYTES - 1 &&
	       (got = read(fd, maps_text + size, MAPS_BYTES - 1 - size)) > 0)
		size += (size_t)got;
	if (fd >= 0)
		close(fd);
	maps_text[size] = 0;
	if (!strcmp(maps_text, maps_before))
		return false;
	memcpy(maps_before, maps_text, size + 1);
	mapping_count = 0;
	for (line = strtok(maps_text, "\n"); line; line = strtok(NULL, "\n")) {
		struct truth_mapping *m = &mappings[mapping_count];
		char mode[8];
		int at = 0;

		if (mapping_count == MOST_MAPPINGS ||
		    sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &m->start,
			   &m->end, mode, &m->offset, &at) < 4)
			break;
		strcpy(path, at ? line + at : "");
		m->path = path;
		path += strlen(path) + 1;
		executable[mapping_count++] = mode[2] == 'x';
	}
	return true;
}

static void set_registers(struct swz_registers *to,
			  const struct user_regs_struct *from)
{
	*to = (struct swz_registers){.ip = from->rip};
	to->ax = from->rax;
	to->bx = from->rbx;
	to->cx = from->rcx;
	to->dx = from->rdx;
	to->si = from->rsi;
	to->di = from->rdi;
	to->bp = from->rbp;
	to->sp = from->rsp;
	to->r8 = from->r8;
	to->r9 = from->r9;
	to->r10 = from->r10;
	to->r11 = from->r11;
	to->r12 = from->r12;
	to->r13 = from->r13;
	to->r14 = from->r14;
	to->r15 = from->r15;
}

static uint64_t end_of_stack(uint64_t sp)
{
	size_t i;

	for (i = 0; i < mapping_count; i++)
		if (sp >= mappings[i].start && sp < mappings[i].end)
			return mappings[i].end;
	return sp;
}

static bool sample(pid_t tid, uint8_t *copy, size_t stack_bytes,
		   void (*take)(void *context, const struct captured *sample),
		   void *context)
{
	struct user_regs_struct registers;
	struct captured c = {.tid = tid};
	size_t size;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
		return false;
	set_registers(&c.registers, &registers);
	c.maps_changed = read_maps(tid);
	size = end_of_stack(c.registers.sp) - c.registers.sp;
	if (size > stack_bytes)
		size = stack_bytes;
	if (!size || !read_process(&tid, c.registers.sp, copy, size))
		return false;
	c.stack = (struct swz_stack){c.registers.sp, copy, size,
				     read_process,   &tid, 0};
	c.mappings = mappings;
	c.mapping_count = mapping_count;
	c.executable = executable;
	take(context, &c);
	return true;
}

/* What a task does that waitpid() has told of. */
enum state {
	RUNS,    /* or has ended */
	STANDS,  /* because it was asked to, and waits to go on */
	SKIPPED, /* likewise, but is not to be looked at */
};

static enum state handle(pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		forget(tid);
		return RUNS;
	}
	if (!is_known(tid)) {
		/* a new one, which stands at its first instruction */
		if (task_count == MOST_TASKS) {
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
		} else {
			tasks[task_count++] = tid;
			ptrace(PTRACE_CONT, tid, NULL, NULL);
		}
		return RUNS;
	}
	if (event == PTRACE_EVENT_EXEC)
		executed = tid;
	if (event == PTRACE_EVENT_STOP) {
		if (signal == SIGTRAP && tid == executed) {
			/* mostly at the first instruction, where it has no
			 * stack yet */
			executed = 0;
			return SKIPPED;
		}
		if (signal == SIGTRAP)
			return STANDS;
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return RUNS;
	}
	ptrace(PTRACE_CONT, tid, NULL, event ? 0 : signal);
	return RUNS;
}

static void pause_a_while(unsigned interval_us)
{
	unsigned us = (unsigned)rand() % (2 * interval_us) + 1;
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

size_t capture(char **command, size_t most, size_t stack_bytes,
	       unsigned interval_us,
	       void (*take)(void *context, const struct captured *sample),
	       void *context)
{
	uint8_t *copy = malloc(stack_bytes);
	size_t taken = 0;
	unsigned looks;
	int go[2], status;
	enum state state;
	pid_t child, tid;

	if (!copy || pipe(go) != 0)
		abort();
	child = fork();
	if (!child) {
		char c;

		close(go[1]);
		if (freopen("/dev/null", "w", stdout) &&
		    read(go[0], &c, 1) == 1)
			execvp(command[0], command);
		_exit(127);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, child, NULL,
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			   PTRACE_O_EXITKILL) != 0 ||
	    write(go[1], "", 1) != 1)
		abort();
	close(go[1]);
	tasks[task_count++] = child;
	maps_before[0] = 0;
	while (task_count && taken < most) {
		pid_t wanted = tasks[(size_t)rand() % task_count];

		pause_a_while(interval_us);
		looks = ptrace(PTRACE_INTERRUPT, wanted, NULL, NULL)
				? 1
				: MOST_LOOKS;
		for (unsigned i = 0; i < looks; i++) {
			tid = waitpid(-1, &status, __WALL | WNOHANG);
			if (tid < 0)
				break;
			if (!tid) {
				pause_a_while(LOOK_US);
				continue;
			}
			state = handle(tid, status);
			if (state == RUNS)
				continue;
			if (tid == wanted && state == STANDS)
				taken += sample(tid, copy, stack_bytes, take,
						context);
			ptrace(PTRACE_CONT, tid, NULL, NULL);
			if (tid == wanted)
				break;
		}
	}
	/* the others end with this program: PTRACE_O_EXITKILL */
	while (task_count) {
		kill(tasks[0], SIGKILL);
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0 || !WIFSTOPPED(status))
			forget(tid < 0 ? tasks[0] : tid);
	}
	free(copy);
	return taken;
}
