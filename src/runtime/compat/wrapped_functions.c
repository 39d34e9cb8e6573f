/* The functions of libc that go through wrappers, where a program asks for one
 * of them: _exit, those that give up system calls or rights, and those that
 * execute another program. One table at the end names them all.
 *
 * The invariant: a wrapper does nothing but note or prepare, and then goes to
 * the real function with its own arguments. A program that imports none of them
 * has no wrapper, and pays nothing. */

#include "base/basics.h"
#include "runtime/compat/compat.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/program_kind.h"
#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/module/module.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

/* ----------------------------------------------------------------- the end */

/* Notes what is known at the end only: the end itself, the threads' processor
 * time and context switches. False: the calling process has no profile of its
 * own (a child of vfork, for example), or that is closed. Async-signal-safe. */
static bool ending_note(void)
{
	if (!swz_recording || !swz_file_is_ours() ||
	    swz_file->flags & SWZ_FILE_ENDED || swz_request_is_detached())
		return false;
	swz_thread_note_ended();
	return true;
}

void swz_ending(int status, void (*real)(int status));

void swz_ending(int status, void (*real)(int status))
{
	(void)ending_note();
	swz_tell_end();
	real(status);
}

/* ------------------------------------------------- seccomp, setuid, chroot */

/* A wrapper's data say of which function it is. SWZ_LEAVES_FILES: of one
 * after which the process may not get at the profile by name any more (setuid,
 * chroot), for which it is made as long as it may get before. So it is for the
 * others, too, where they do the like. SWZ_ENDS: of one that ends the process
 * and has to find its caller's stack as it is (abort). SWZ_MAPS, SWZ_UNMAPS: of
 * mmap, munmap. */
enum swz_confining {
	SWZ_BY_PRCTL,
	SWZ_BY_SYSCALL,
	SWZ_LEAVES_FILES,
	SWZ_ENDS,
	SWZ_MAPS,
	SWZ_UNMAPS
};

#ifndef SYS_landlock_restrict_self /* Linux 5.13 */
#define SYS_landlock_restrict_self 446
#endif

#ifndef PR_SET_SYSCALL_USER_DISPATCH /* Linux 5.11 */
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

static const enum swz_confining swz_by_prctl = SWZ_BY_PRCTL,
				by_syscall = SWZ_BY_SYSCALL,
				leaves_files = SWZ_LEAVES_FILES,
				swz_ends = SWZ_ENDS, maps = SWZ_MAPS,
				unmaps = SWZ_UNMAPS;

enum change { NOTHING, END, FILES, FILTER, NO_SYSTEM_CALLS, NO_CLOCK };

/* 32-bit arguments are cut as the kernel cuts them: a register's upper half
 * may be anything then (SysV ABI 3.2.3). Strict mode forbids the time stamp
 * counter, too. A filter of NULL only asks whether filters are to be had.
 * Where a thread has its system calls dispatched, each from outside of a range
 * of the program's choice is a SIGSYS for it, when it likes: to its handler
 * ours would be the program's, and with signals blocked they end it. */
static enum change by_prctl(int option, long mode, long filter)
{
	if (option == PR_SET_TSC && (int)mode == PR_TSC_SIGSEGV)
		return NO_CLOCK;
	if (option == PR_SET_SYSCALL_USER_DISPATCH)
		return mode == PR_SYS_DISPATCH_OFF ? NOTHING : NO_SYSTEM_CALLS;
	if (option != PR_SET_SECCOMP)
		return NOTHING;
	if (mode == SECCOMP_MODE_STRICT)
		return NO_CLOCK;
	return filter ? FILTER : NOTHING;
}

/* Libraries find out what a kernel can do (libseccomp does at its first use) by
 * requests that are refused for what they ask: strict mode with flags, a filter
 * of NULL. */
static enum change by_seccomp(int operation, int flags, long filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return flags || filter ? NOTHING : NO_CLOCK;
	if (operation == SECCOMP_SET_MODE_FILTER)
		return filter ? FILTER : NOTHING;
	return NOTHING;
}

/* The kernel takes it for a set of signals, which are blocked for a moment. */
static bool is_readable(uintptr_t address)
{
	uint64_t before;

	return SWZ_SYSCALL(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, address,
			   &before, 8) == 0 &&
	       SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before,
			   NULL, 8) == 0;
}

/* From where the program says that it is; false: it is not there, or that
 * cannot be known. Both sides have whole words. */
static bool copy(void *to, uintptr_t from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8) {
		if ((!at || (from + at + 7) % 4096 < 8) &&
		    !is_readable(from + at))
			return false;
		memcpy((char *)to + at, (const char *)from + at, 8);
	}
	return true;
}

/* Keeps a copy, since the program may do with its own what it likes. If the
 * kernel does not take the filter after all, we have a rule more than it. */
static bool keep_filter(uintptr_t from)
{
	struct sock_fprog program;
	struct sock_filter *code;
	size_t bytes;

	if (!copy(&program, from, sizeof(program)) || !program.len)
		return false;
	bytes = program.len * sizeof(*code);
	code = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!code || !copy(code, (uintptr_t)program.filter, bytes))
		return false;
	swz_sys_add_filter(code, program.len);
	return true;
}

/* The identity that files are opened with, what they are looked up in, and how
 * long they may be. */
static const int leaving[] = {
	SYS_setuid,    SYS_setreuid,  SYS_setresuid,
	SYS_setfsuid,  SYS_setgid,    SYS_setregid,
	SYS_setresgid, SYS_setfsgid,  SYS_setgroups,
	SYS_capset,    SYS_chroot,    SYS_pivot_root,
	SYS_unshare,   SYS_setns,     SYS_landlock_restrict_self,
	SYS_setrlimit, SYS_prlimit64,
};

static enum change by_system_call(int number, long first, long second,
				  long third)
{
	if (number == SYS_prctl)
		return by_prctl((int)first, second, third);
	if (number == SYS_exit_group)
		return END;
	if (number == SYS_seccomp)
		return by_seccomp((int)first, (int)second, third);
	for (unsigned i = 0; i < sizeof(leaving) / sizeof(*leaving); i++)
		if (number == leaving[i])
			return FILES;
	return NOTHING;
}

static enum change change_of(enum swz_confining which, long first, long second,
			     long third, long fourth)
{
	switch (which) {
	case SWZ_BY_PRCTL:
		return by_prctl((int)first, second, third);
	case SWZ_BY_SYSCALL:
		return by_system_call((int)first, second, third, fourth);
	case SWZ_ENDS:
		return END;
	case SWZ_MAPS:
	case SWZ_UNMAPS:
		return NOTHING;
	case SWZ_LEAVES_FILES:
		break;
	}
	return FILES;
}

/* A program at a fixed address may map files at addresses of its choice, as
 * loaders of other formats do, where trampolines happen to lie. The functions
 * that lead there get their own code back before: they are lost, and the
 * program goes on. (Other trampolines lie where the kernel chooses.) */
static void lose_trampolines(uint64_t start, uint64_t bytes)
{
	const uint64_t end = start + ((bytes + 4095) & -4096ull);
	struct swz_region region;
	unsigned at = 0;

	while (swz_region_next(&at, &region)) {
		const struct swz_hooks *hooks =
			(const struct swz_hooks *)(const void *)region.start;
		uint64_t low = (uintptr_t)region.start,
			 high = low + region.bytes;

		if (start >= high || end <= low - hooks->factor_bytes)
			continue;
		swz_live_sites_lose(low, high);
		swz_region_remove(region.start);
		swz_say("the program maps memory over the code for hooks: its "
			"functions are not recorded any more",
			NULL, NULL);
	}
}

void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which);

void swz_confine(long first, long second, long third, long fourth,
		 const enum swz_confining *which)
{
	const long filter = *which == SWZ_BY_PRCTL ? third : fourth;
	enum change change = change_of(*which, first, second, third, fourth);

	if (*which == SWZ_UNMAPS || (*which == SWZ_MAPS && fourth & MAP_FIXED &&
				     !(fourth & MAP_FIXED_NOREPLACE)))
		lose_trampolines((uint64_t)first, (uint64_t)second);
	if (change == NOTHING || !swz_recording)
		return;
	if (change == END) {
		(void)ending_note();
		return;
	}
	swz_extent_reach_all();
	if (change == FILES)
		return;
	if (change != FILTER || !keep_filter((uintptr_t)filter))
		swz_sys_end_all();
	if (!swz_system_calls_end)
		swz_hooks_go_quiet();
	if (change == NO_CLOCK)
		swz_hooks_stop();
}

/* -------------------------------------------------------------------- exec */

/* LD_PRELOAD takes us along to what the program executes. Where we cannot be
 * loaded, the dynamic linker there says so on standard error (glibc's) or does
 * not run the program at all (musl's). So what is executed is looked at first:
 * if it is for another dynamic linker than ours, or our library cannot be
 * read (the process has changed its root directory, or given up its rights),
 * we are taken out of the variable for it.
 *
 * This may run between vfork and exec, in memory that is the parent's: what is
 * written is on the stack. */

#define VARIABLE "LD_PRELOAD="
#define NAME_BYTES (sizeof(VARIABLE) - 1)
/* Length of #! lines, and how many may follow each other, as the kernel has
 * it. */
#define LINE_BYTES 256
#define MOST_LEVELS 5
/* For a copy of the environment: a thousand variables, and a quarter of the
 * stack that a thread has at least. A larger one has a mapping, which after
 * vfork and exec stays with the parent. */
#define MOST_ON_STACK 8192

typedef char *const *strings;

typedef int by_path(const char *path, strings arguments, strings environment);

typedef int by_descriptor(int fd, strings arguments, strings environment);

typedef int by_directory(int directory, const char *path, strings arguments,
			 strings environment, int flags);

/* The program to be executed, named as execveat names it. REAL: the path by
 * which it will be executed. */
struct execution {
	int (*run)(const struct execution *x, strings environment);
	const void *real;
	int directory;
	const char *path;
	strings arguments;
	int flags;
};

/* ------------------------------------------------------- the environment */

/* The page that was found to be readable, at first none. */
struct reader {
	uint64_t page;
};

#define NO_PAGE UINT64_MAX

/* A wrong pointer is the kernel's to refuse. */
static bool can_read(struct reader *r, const void *at)
{
	uint64_t address = (uintptr_t)at, page = address / SWZ_PAGE;

	if (page == r->page &&
	    address % SWZ_PAGE <= SWZ_PAGE - sizeof(uint64_t))
		return true;
	if (!swz_sys_is_readable(address))
		return false;
	r->page = page;
	return true;
}

static bool can_read_text(struct reader *r, const char *text)
{
	for (;; text++)
		if (!can_read(r, text))
			return false;
		else if (!*text)
			return true;
}

static bool begins(struct reader *r, const char *text, const char *wanted)
{
	for (; *wanted; text++, wanted++)
		if (!can_read(r, text) || *text != *wanted)
			return false;
	return true;
}

struct environment {
	strings of;
	size_t count;     /* of variables */
	size_t at;        /* the first that is LD_PRELOAD */
	const char *list; /* its value */
	bool ends;        /* its end was found, not a wrong pointer */
};

static bool find_preload(struct environment *e, strings of)
{
	struct reader r = {NO_PAGE};

	e->of = of;
	e->at = 0;
	e->list = NULL;
	e->ends = false;
	for (e->count = 0;; e->count++) {
		if (!can_read(&r, &of[e->count]))
			return false;
		if (!of[e->count])
			break;
		if (!e->list && begins(&r, of[e->count], VARIABLE)) {
			e->list = of[e->count] + NAME_BYTES;
			e->at = e->count;
		}
	}
	e->ends = true;
	return e->list && can_read_text(&r, e->list);
}

/* -------------------------------------------------- what can take us along */

static bool opens(int directory, const char *path, int *fd)
{
	long r = SWZ_SYSCALL(SYS_openat, directory, path,
			     O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);

	*fd = (int)r;
	return r >= 0;
}

/* The interpreter that a script asks for; false: it is none. */
static bool read_interpreter(int fd, char line[LINE_BYTES + 1])
{
	long n = SWZ_SYSCALL(SYS_pread64, fd, line, LINE_BYTES, 0);
	char *from = line + 2;
	size_t length = 0;

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	while (*from == ' ' || *from == '\t')
		from++;
	while (from[length] && !strchr(" \t\n", from[length]))
		length++;
	memmove(line, from, length);
	line[length] = '\0';
	return length;
}

static const char *put_number(char *end, unsigned number)
{
	*--end = '\0';
	do
		*--end = (char)('0' + number % 10);
	while (number /= 10);
	return end;
}

/* The program of a descriptor, which may be one that cannot be read by. */
static bool opens_descriptor(int descriptor, int *fd)
{
	static const char descriptors[] = "/proc/thread-self/fd/";
	char path[sizeof(descriptors) + 10], number[11];
	const char *digits = put_number(number + sizeof(number),
					(unsigned)descriptor);

	memcpy(path, descriptors, sizeof(descriptors));
	memcpy(path + sizeof(descriptors) - 1, digits, strlen(digits) + 1);
	return opens(AT_FDCWD, path, fd);
}

static bool opens_first(const struct execution *x, int *fd)
{
	struct reader r = {NO_PAGE};

	if (x->flags & AT_EMPTY_PATH && can_read(&r, x->path) && !*x->path)
		return opens_descriptor(x->directory, fd);
	return opens(x->directory, x->path, fd);
}

/* The program, or a script's interpreter. */
static enum swz_program kind_of(const struct execution *x)
{
	char line[LINE_BYTES + 1];
	enum swz_program kind = SWZ_PROGRAM_IS_NO_ELF;
	bool is_open;
	int fd;

	is_open = opens_first(x, &fd);
	for (int level = 0; level <= MOST_LEVELS && is_open; level++) {
		bool is_script;

		kind = swz_program_of(fd);
		is_script = kind == SWZ_PROGRAM_IS_NO_ELF &&
			    read_interpreter(fd, line);
		SWZ_SYSCALL(SYS_close, fd);
		if (!is_script)
			break;
		is_open = opens(AT_FDCWD, line, &fd);
	}
	return kind;
}

/* True if that program's dynamic linker would load us. One that cannot be read
 * is taken for one that would; a static program has none. */
static bool fits(const struct execution *x)
{
	enum swz_program kind = kind_of(x);

	return kind != SWZ_PROGRAM_IS_32_BIT &&
	       kind != SWZ_PROGRAM_IS_FOREIGN && kind != SWZ_PROGRAM_IS_MUSL;
}

/* By the real user and without capabilities, as the program will be (if it has
 * another effective user it ignores the variable). A name without a slash is
 * looked for in more than one place. */
static bool is_there(const char *library)
{
	return !strchr(library, '/') ||
	       SWZ_SYSCALL(SYS_faccessat, AT_FDCWD, library, R_OK) == 0;
}

/* True if the kernel gives the program rights that the caller has not: then its
 * dynamic linker ignores the variable (AT_SECURE, getauxval(3)). Of a script
 * only the interpreter's rights would count; that has none as a rule. */
static bool gains_rights(const struct execution *x)
{
	struct statfs system;
	struct stat st;
	bool gains = false;
	int fd;

	if (!opens_first(x, &fd))
		return false;
	if (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 &&
	    SWZ_SYSCALL(SYS_fstatfs, fd, &system) == 0 &&
	    !(system.f_flags & ST_NOSUID) &&
	    SWZ_SYSCALL(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
		uid_t user = (uid_t)SWZ_SYSCALL(SYS_getuid);

		gains = (st.st_mode & S_ISUID && st.st_uid != user) ||
			((st.st_mode & (S_ISGID | S_IXGRP)) ==
				 (S_ISGID | S_IXGRP) &&
			 st.st_gid != (gid_t)SWZ_SYSCALL(SYS_getgid)) ||
			(user != 0 &&
			 SWZ_SYSCALL(SYS_fgetxattr, fd, "security.capability",
				     NULL, 0) > 0);
	}
	SWZ_SYSCALL(SYS_close, fd);
	return gains;
}

/* The user waits for the profile of a program that could have us, but does not
 * get us. Said once in a process: the memory after vfork is the parent's. */
static void tell_unprofiled(const struct execution *x, const char *why)
{
	static bool told;

	enum swz_program kind;

	if (told || !swz_config.follow || swz_config.attached)
		return;
	kind = kind_of(x);
	if (kind != SWZ_PROGRAM_FITS && kind != SWZ_PROGRAM_IS_LINKER)
		return;
	told = true;
	swz_say(*x->path ? x->path : "a program", why, NULL);
}

/* env -i, a LD_PRELOAD of its own. The sampler needs neither. */
static void tell_environment(const struct execution *x)
{
	tell_unprofiled(x,
			swz_config.run.sampled
				? " is sampled alone, its calls are not "
				  "counted: it is started with an environment "
				  "without LD_PRELOAD=libswizzle.so"
				: " is not profiled: it is started with an "
				  "environment without "
				  "LD_PRELOAD=libswizzle.so");
}

/* -------------------------------------------------------------- the wrapper */

/* The environment for that program: with others' libraries alone, or without
 * the variable, where that is better. ROOM is for the pointers, the variable
 * and our library's path. */
static strings environment_for(const struct execution *x,
			       const struct environment *e, void *room)
{
	char **copy = room, *text = (char *)(copy + e->count + 1);
	char *others = text + NAME_BYTES;
	char *ours = others + strlen(e->list) + 1;
	size_t count = 0;

	swz_preload_split(e->list, others, ours);
	if (!*ours)
		tell_environment(x);
	else if (gains_rights(x))
		tell_unprofiled(x, " is not profiled: it is set-user-ID, "
				   "set-group-ID or has capabilities, so it "
				   "ignores LD_PRELOAD");
	if (!*ours || (is_there(ours) && fits(x)))
		return e->of;
	memcpy(text, VARIABLE, NAME_BYTES);
	for (size_t i = 0; i < e->count; i++)
		if (i != e->at)
			copy[count++] = e->of[i];
		else if (*others)
			copy[count++] = text;
	copy[count] = NULL;
	return copy;
}

static void *map(size_t bytes)
{
	return swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The file ends where another program begins; the last moment at which what it
 * ran can be asked, and who executes. */
static int run(const struct execution *x, strings environment)
{
	struct swz_thread *thread = swz_thread_here();
	bool ends = ending_note();
	int result;

	if (swz_recording && swz_config.flows && thread && thread->cold)
		swz_values_note_exec(thread);
	result = x->run(x, environment);
	if (ends) /* it could not be executed */
		__atomic_store_n(&swz_file->end_ticks, 0, __ATOMIC_RELAXED);
	return result;
}

static int execute(const struct execution *x, strings environment)
{
	struct environment e;
	void *room, *mapping = NULL;
	size_t bytes;
	int result;

	if (swz_system_calls_end)
		return run(x, environment);
	if (!environment || !find_preload(&e, environment)) {
		if (!environment || (e.ends && !e.list))
			tell_environment(x);
		return run(x, environment);
	}
	bytes = (e.count + 1) * sizeof(*environment) + NAME_BYTES +
		2 * (strlen(e.list) + 1);
	if (bytes <= MOST_ON_STACK)
		room = __builtin_alloca(bytes);
	else
		room = mapping = map(bytes);
	if (room)
		environment = environment_for(x, &e, room);
	if (mapping && environment == e.of) {
		swz_sys_munmap(mapping, bytes);
		mapping = NULL;
	}
	result = run(x, environment);
	if (mapping)
		swz_sys_munmap(mapping, bytes);
	return result;
}

static int run_path(const struct execution *x, strings environment)
{
	by_path *real = (by_path *)(uintptr_t)x->real;

	return real(x->path, x->arguments, environment);
}

static int run_descriptor(const struct execution *x, strings environment)
{
	by_descriptor *real = (by_descriptor *)(uintptr_t)x->real;

	return real(x->directory, x->arguments, environment);
}

static int run_directory(const struct execution *x, strings environment)
{
	by_directory *real = (by_directory *)(uintptr_t)x->real;

	return real(x->directory, x->path, x->arguments, environment, x->flags);
}

int swz_execute(const char *path, strings arguments, strings environment,
		const void *real);

int swz_execute(const char *path, strings arguments, strings environment,
		const void *real)
{
	struct execution x = {.run = run_path,
			      .real = real,
			      .directory = AT_FDCWD,
			      .path = path,
			      .arguments = arguments};

	return execute(&x, environment);
}

int swz_execute_descriptor(int fd, strings arguments, strings environment,
			   const void *real);

int swz_execute_descriptor(int fd, strings arguments, strings environment,
			   const void *real)
{
	struct execution x = {.run = run_descriptor,
			      .real = real,
			      .directory = fd,
			      .path = "",
			      .arguments = arguments,
			      .flags = AT_EMPTY_PATH};

	return execute(&x, environment);
}

int swz_execute_at(int directory, const char *path, strings arguments,
		   strings environment, int flags, const void *real);

int swz_execute_at(int directory, const char *path, strings arguments,
		   strings environment, int flags, const void *real)
{
	struct execution x = {.run = run_directory,
			      .real = real,
			      .directory = directory,
			      .path = path,
			      .arguments = arguments,
			      .flags = flags};

	return execute(&x, environment);
}

/* --------------------------------------------------------------- the table */

enum { PRCTL, SYSCALL, MMAP, MUNMAP };

#define LEAVES(name) \
	{ \
		name, \
		{ \
			swz_wrap_confine, &leaves_files \
		} \
	}

static const struct {
	const char *name;
	struct swz_wrapper wrapper;
} known[] = {
	[PRCTL] = {"prctl", {swz_wrap_confine, &swz_by_prctl}},
	[SYSCALL] = {"syscall", {swz_wrap_confine, &by_syscall}},
	[MMAP] = {"mmap", {swz_wrap_confine, &maps}},
	[MUNMAP] = {"munmap", {swz_wrap_confine, &unmaps}},
	{"setrlimit", {swz_wrap_limit_set, NULL}},
	{"getrlimit", {swz_wrap_limit_get, NULL}},
	{"prlimit", {swz_wrap_limit_change, NULL}},
	{"execve", {swz_wrap_execute, NULL}},
	{"fexecve", {swz_wrap_execute_descriptor, NULL}},
	{"execveat", {swz_wrap_execute_at, NULL}},
	{"mlockall", {swz_wrap_lock_all, NULL}},
	{"_exit", {swz_wrap_end, NULL}},
	{"abort", {swz_wrap_confine, &swz_ends}},
	LEAVES("setuid"),
	LEAVES("seteuid"),
	LEAVES("setreuid"),
	LEAVES("setresuid"),
	LEAVES("setfsuid"),
	LEAVES("setgid"),
	LEAVES("setegid"),
	LEAVES("setregid"),
	LEAVES("setresgid"),
	LEAVES("setfsgid"),
	LEAVES("setgroups"),
	LEAVES("initgroups"),
	LEAVES("capset"),
	LEAVES("chroot"),
	LEAVES("unshare"),
	LEAVES("setns"),
};

#define KNOWN (sizeof(known) / sizeof(*known))

static bool asked_for;

/* Who only reads its limits, or ends by _exit, has no use for them
 * (swizzle-run's watcher sees an end, too). setrlimit64 is setrlimit, and all
 * from execv to posix_spawnp come to execve. What comes by dlopen may ask for
 * any, and dlsym may give the address of any. */
static const char *const askers[] = {
	"prctl",     "syscall",     "setrlimit", "setrlimit64", "execve",
	"execv",     "execvp",      "execvpe",   "execl",       "execle",
	"execlp",    "posix_spawn", "popen",     "system",      "posix_spawnp",
	"dlopen",    "dlmopen",     "fexecve",   "execveat",    "mlockall",
	"prlimit",   "prlimit64",   "setuid",    "seteuid",     "setreuid",
	"setresuid", "setfsuid",    "setgid",    "setegid",     "setregid",
	"setresgid", "setfsgid",    "setgroups", "initgroups",  "capset",
	"chroot",    "unshare",     "setns",     "dlsym",       "dlvsym",
};

static bool is_asked_for(const char *name)
{
	for (unsigned i = 0; i < sizeof(askers) / sizeof(*askers); i++)
		if (!strcmp(name, askers[i]))
			return true;
	return false;
}

bool swz_wrapped_asks(const struct swz_module *m)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	if (!m->file.file.size ||
	    swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return false;
	while (swz_elf_symbols_next(&it, &symbol))
		if (symbol.section == SHN_UNDEF && is_asked_for(symbol.name))
			return true;
	return swz_readers_are_pointed_to(m);
}

void swz_wrapped_look(const struct swz_module *m)
{
	asked_for = asked_for || swz_wrapped_asks(m);
}

void swz_wrapped_expect(void)
{
	asked_for = true;
}

bool swz_wrapped_is_expected(void)
{
	return asked_for;
}

static bool find(const struct swz_module *m, unsigned which, uint64_t *address)
{
	struct swz_elf_symbol symbol;

	if (!swz_module_symbol(m, known[which].name, &symbol))
		return false;
	*address = symbol.value;
	return symbol.value != 0;
}

bool swz_wrapped_is_offered(const struct swz_module *m)
{
	struct swz_elf_symbol dlsym_of_old; /* glibc before 2.34: in libdl */
	uint64_t address;

	return (find(m, PRCTL, &address) && find(m, SYSCALL, &address)) ||
	       swz_module_symbol(m, "dlsym", &dlsym_of_old);
}

static bool wrapped_is_in(const struct swz_module *m)
{
	return asked_for && swz_wrapped_is_offered(m);
}

void swz_wrapped_mark(struct swz_module *m)
{
	if (!wrapped_is_in(m))
		return;
	for (unsigned i = 0; i < KNOWN; i++) {
		struct swz_function *f;
		uint64_t address;

		if (((i == MMAP || i == MUNMAP) &&
		     !swz_config.at_fixed_address) ||
		    !find(m, i, &address))
			continue;
		f = swz_function_at(m, address);
		if (f && f->start == address && !f->is_piece && !f->wrapper)
			f->wrapper = &known[i].wrapper;
	}
}

/* KNOWN: it is another's. */
static unsigned index_of(const struct swz_wrapper *wrapper)
{
	unsigned i = 0;

	while (i < KNOWN && wrapper != &known[i].wrapper)
		i++;
	return i;
}

bool swz_wrapped_has(const struct swz_wrapper *wrapper)
{
	return index_of(wrapper) < KNOWN;
}

/* --------------------------------------------------------- the plan cache */

bool swz_wrapped_save(const struct swz_wrapper *wrapper,
		      struct swz_saved_wrapper *saved)
{
	saved->kind = SWZ_SAVED_WATCH;
	saved->which = (uint16_t)index_of(wrapper);
	return saved->which < KNOWN;
}

const struct swz_wrapper *swz_wrapped_restore(
	const struct swz_saved_wrapper *saved)
{
	return saved->which < KNOWN ? &known[saved->which].wrapper : NULL;
}
