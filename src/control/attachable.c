#include "control/attachable.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "watch/proc_task.h"
#include "watch/process_check.h"

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

/* A dynamic linker of x86-64, in the program's file. */
static char *refuse_program(int32_t pid)
{
	char path[64];
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	bool has_linker = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL; /* it will show */
	if (pread(fd, &header, sizeof(header), 0) < (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != EM_X86_64) {
		close(fd);
		return swz_print("-p %d: the program is not one of x86-64 "
				 "(64 bits): it cannot be profiled",
				 (int)pid);
	}
	for (unsigned i = 0; i < header.e_phnum && !has_linker; i++)
		if (pread(fd, &segment, sizeof(segment),
			  (off_t)(header.e_phoff + i * sizeof(segment))) ==
		    (ssize_t)sizeof(segment))
			has_linker = segment.p_type == PT_INTERP;
	close(fd);
	if (has_linker)
		return NULL;
	return swz_print("-p %d: the program is statically linked: no library "
			 "can be loaded into it. Use -m sample",
			 (int)pid);
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

static char *refuse_state(int32_t pid)
{
	struct swz_proc_task task;
	long tracer = status_of(pid, "TracerPid");

	if (tracer > 0)
		return swz_print("-p %d: process %ld traces it already (a "
				 "debugger, or strace). Detach that first",
				 (int)pid, tracer);
	if (swz_proc_task_read(pid, pid, &task) && task.state == 'T')
		return swz_print("-p %d: the process is stopped. Continue it "
				 "(kill -CONT %d), and try again",
				 (int)pid, (int)pid);
	if (has_shadow_stack(pid))
		return swz_print("-p %d: the process runs with a shadow stack "
				 "(CET). Start it with swizzle-run, or use -m "
				 "sample",
				 (int)pid);
	return NULL;
}

char *swz_attach_refused(int32_t pid)
{
	char *why = swz_process_refused(pid, "swizzle-run");

	if (!why && pid == getpid())
		why = swz_print("-p %d: that is swizzle-run itself", (int)pid);
	if (!why)
		why = refuse_state(pid);
	if (!why)
		why = refuse_program(pid);
	if (!why)
		why = refuse_filter(pid);
	if (!why)
		why = refuse_user(pid);
	return why;
}
