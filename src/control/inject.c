/* Brings libswizzle.so into the process: makes the library reachable there,
 * writes the request that the library reads, and calls dlopen and the library's
 * functions on a borrowed thread.
 *
 * A container may have another root or mount namespace, so the path of the
 * library may mean nothing to the process. The library is then copied into a
 * file in the process's own memory (memfd), or into one that is removed at
 * once. */

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/control.h"
#include "base/program_kind.h"
#include "base/syscall.h"
#include "control/attach.h"
#include "control/target.h"
#include "util/memory.h"
#include "watch/image.h"
#include "watch/proc_task.h"

/* ------------------------------------------------------------- the request */

/* The request: it tells the library what it needs to know, in the target's
 * memory. */

#define ROOM (SWZ_REGION_TEXTS_END - SWZ_REGION_TEXTS)
#define MOST_ARGUMENT_BYTES (64u << 10)
#define PATH_BYTES 4096u

/* Grows from the region's texts on. */
struct block {
	uint64_t at; /* in the target */
	size_t used;
	bool full;
	uint8_t bytes[ROOM];
};

static uint64_t add(struct block *b, const void *bytes, size_t count)
{
	uint64_t address;

	b->used = (b->used + 15) & ~(size_t)15;
	address = b->at + b->used;
	if (count > sizeof(b->bytes) - b->used) {
		b->full = true;
		return 0;
	}
	memcpy(b->bytes + b->used, bytes, count);
	b->used += count;
	return address;
}

static uint64_t add_text(struct block *b, const char *text)
{
	return add(b, text, strlen(text) + 1);
}

/* A link of /proc/PID. */
static bool read_link(int32_t pid, const char *name, char path[PATH_BYTES])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, name);
	n = readlink(link, path, PATH_BYTES - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
}

/* The program's file, as the process itself would open it, and as it was
 * called: where it has no /proc it cannot find out. 0: not known. */
static uint64_t add_program(struct block *b, const struct swz_target *t)
{
	char program[PATH_BYTES], root[PATH_BYTES], link[64], *inside;
	struct stat wanted, st;
	size_t skipped = 0;
	char *called;
	uint64_t at;

	if (!read_link(t->pid, "exe", program) ||
	    !read_link(t->pid, "root", root))
		return 0;
	if (root[1] && strncmp(program, root, strlen(root)) == 0)
		skipped = strlen(root);
	inside = swz_target_path(t, program + skipped);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->pid);
	if (stat(link, &wanted) != 0 || stat(inside, &st) != 0 ||
	    st.st_dev != wanted.st_dev || st.st_ino != wanted.st_ino) {
		free(inside);
		return 0;
	}
	free(inside);
	called = swz_process_called(t->pid, program + skipped);
	at = add_text(b, called && *called == '/' ? called : program + skipped);
	free(called);
	return at;
}

static bool is_begun_by_linker(int32_t pid)
{
	char path[64];
	bool is;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	is = fd >= 0 && swz_program_of(fd) == SWZ_PROGRAM_IS_LINKER;
	if (fd >= 0)
		close(fd);
	return is;
}

/* NULL at the end, and behind that an auxiliary vector, as at a program's
 * start. */
static uint64_t add_environment(struct block *b, const struct swz_target *t,
				char **environment)
{
	const uint64_t program = add_program(b, t);
	const Elf64_auxv_t vector[4] = {
		{.a_type = AT_SECURE},
		/* as the kernel has it for who was executed itself */
		{.a_type = is_begun_by_linker(t->pid) ? AT_BASE : AT_IGNORE},
		{.a_type = program ? AT_EXECFN : AT_NULL,
		 .a_un.a_val = program},
		{.a_type = AT_NULL}};
	size_t count = 0, bytes;
	uint64_t *words, at;

	while (environment[count])
		count++;
	bytes = (count + 1) * sizeof(*words);
	words = swz_allocate(1, bytes + sizeof(vector));
	for (size_t i = 0; i < count; i++)
		words[i] = add_text(b, environment[i]);
	memcpy((char *)words + bytes, vector, sizeof(vector));
	at = add(b, words, bytes + sizeof(vector));
	free(words);
	return at;
}

/* /proc/PID/cmdline; what is too long is cut. */
static uint64_t add_arguments(struct block *b, int32_t pid, uint64_t *count)
{
	static char text[MOST_ARGUMENT_BYTES + 1];
	uint64_t words[1025] = {0};
	char path[64];
	size_t size = 0, n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (file) {
		size = fread(text, 1, MOST_ARGUMENT_BYTES, file);
		fclose(file);
	}
	text[size] = '\0';
	for (size_t at = 0; at < size && n < 1024; at += strlen(text + at) + 1)
		words[n++] = add_text(b, text + at);
	*count = n;
	return add(b, words, (n + 1) * sizeof(*words));
}

/* Reads where the first thread's stack begins: the 28th field. */
static uint64_t main_stack_of(int32_t pid)
{
	char path[64], text[1024];
	unsigned long long start = 0;
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	return start;
}

/* Writes texts into the region. False: they are too long, or it cannot be
 * written. *library is where the library's path is; *request where the request
 * is, of which dlopen, dlclose and handle are still to be filled in. */
static bool request_write(const struct swz_borrower *b,
			  const char *library_path, char **environment,
			  uint64_t *library, uint64_t *request)
{
	struct block *block = swz_allocate(1, sizeof(*block));
	struct swz_attach_request r = {
		.region = b->region,
		.region_bytes = SWZ_REGION_BYTES,
		.controller_pid = getpid(),
		.controller_start = swz_process_start(0),
		.main_stack = main_stack_of(b->target->pid),
	};
	bool done;

	block->at = b->region + SWZ_REGION_TEXTS;
	*library = add_text(block, library_path);
	r.environment = add_environment(block, b->target, environment);
	r.arguments = add_arguments(block, b->target->pid, &r.argument_count);
	*request = add(block, &r, sizeof(r));
	done = !block->full && swz_target_write(b->target, block->at,
						block->bytes, block->used);
	free(block);
	return done;
}

/* ---------------------------------- a library that the process cannot open */

/* libswizzle.so, for a process that cannot open it by its path: one in another
 * mount namespace (a container), or with another root. */
/* The file in memory is made by a borrowed thread, and filled by us by way of
 * /proc/PID/fd. Its name is spelt as no other's: the dynamic linker takes two
 * files of the same name for one. */

struct swz_carried {
	char path[64]; /* by which the process opens it */
	int64_t fd;    /* the process's; -1: none */
	int root;      /* our descriptor of its root; -1: none */
};

#define NAME "libswizzle.so"

static bool is_same_file(const char *path, const struct stat *other)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_ino == other->st_ino &&
	       st.st_dev == other->st_dev;
}

static bool carry_is_needed(const struct swz_attached *a, const char *library)
{
	char *path = swz_target_path(&a->target, library);
	struct stat st;
	bool needed = stat(library, &st) == 0 && !is_same_file(path, &st);

	free(path);
	return needed;
}

static bool copy(int from, int to)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t done = 0, m; done < n; done += m) {
			m = write(to, bytes + done, (size_t)(n - done));
			if (m <= 0)
				return false;
		}
	return n == 0;
}

/* ------------------------------------------------------------ in its memory */

static bool call_system(struct swz_attached *a, long number, uint64_t first,
			uint64_t second, int64_t *result)
{
	const uint64_t arguments[4] = {(uint64_t)number, first, second};
	uint64_t function = swz_target_symbol(&a->target, "syscall");

	return function && swz_borrow_call(&a->borrower, function, arguments,
					   false, (uint64_t *)result);
}

/* The process says which descriptor it is, and may be wrong, or lie: nothing is
 * written to a file that has a name, or something in it. */
static int open_empty(const struct swz_attached *a, int64_t fd)
{
	char path[64];
	struct stat st;
	int there, to = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->target.pid,
		 (int)fd);
	there = open(path, O_PATH | O_CLOEXEC);
	if (there < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", there);
	if (fstat(there, &st) == 0 && S_ISREG(st.st_mode) && !st.st_nlink &&
	    !st.st_size)
		to = open(path, O_WRONLY | O_CLOEXEC);
	close(there);
	return to;
}

static bool fill(const struct swz_attached *a, int from,
		 struct swz_carried *carried)
{
	int to = open_empty(a, carried->fd);
	bool done;

	if (to < 0) {
		carried->fd = -1; /* it is not for us to close */
		return false;
	}
	done = copy(from, to);
	close(to);
	return done;
}

static bool put_into_memory(struct swz_attached *a, int from,
			    struct swz_carried *carried)
{
	const uint64_t name = a->borrower.region + SWZ_REGION_TEXTS;

	if (!swz_target_write(&a->target, name, NAME, sizeof(NAME)) ||
	    !call_system(a, SYS_memfd_create, name, MFD_CLOEXEC,
			 &carried->fd) ||
	    carried->fd < 0) {
		carried->fd = -1;
		return false;
	}
	snprintf(carried->path, sizeof(carried->path), "/proc/./self/fd/%d",
		 (int)carried->fd);
	return fill(a, from, carried);
}

/* ---------------------------------------------------------- in its directories
 */

static const char *const directories[] = {"tmp", "run", "var", "dev", "."};

/* No symbolic link is followed: it could lead out of there. */
static bool put_into_file(struct swz_attached *a, int from,
			  struct swz_carried *carried)
{
	char path[64];
	bool done = false;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)a->target.pid);
	carried->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) &&
			   carried->root >= 0 && !done;
	     i++) {
		int directory = openat(carried->root, directories[i],
				       O_PATH | O_DIRECTORY | O_NOFOLLOW |
					       O_CLOEXEC);
		int to = -1;

		snprintf(carried->path, sizeof(carried->path),
			 "/%s/" NAME ".%d", directories[i], (int)getpid());
		if (directory >= 0)
			to = openat(directory, strrchr(carried->path, '/') + 1,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					    O_CLOEXEC,
				    0755);
		done = to >= 0 && lseek(from, 0, SEEK_SET) == 0 &&
		       copy(from, to);
		if (to >= 0 && !done)
			(void)unlinkat(directory,
				       strrchr(carried->path, '/') + 1, 0);
		if (to >= 0)
			close(to);
		if (directory >= 0)
			close(directory);
	}
	if (!done && carried->root >= 0) {
		close(carried->root);
		carried->root = -1;
	}
	return done;
}

/* ------------------------------------------------------------------------ */

static bool has_proc(const struct swz_attached *a)
{
	char *path = swz_target_path(&a->target, "/proc/self/fd");
	struct stat st;
	bool has = lstat(path, &st) == 0;

	free(path);
	return has;
}

/* The library is loaded, or will not be: what was put there is taken away. */
static void carry_end(struct swz_attached *a, struct swz_carried *carried)
{
	int64_t result;

	if (carried->fd >= 0)
		(void)call_system(a, SYS_close, (uint64_t)carried->fd, 0,
				  &result);
	if (carried->root >= 0) {
		const char *slash = strrchr(carried->path, '/');
		char directory[64] = "";
		int in;

		memcpy(directory, carried->path + 1,
		       (size_t)(slash - carried->path) - 1);
		in = openat(carried->root, directory,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (in >= 0) {
			(void)unlinkat(in, slash + 1, 0);
			close(in);
		}
		close(carried->root);
	}
	*carried = (struct swz_carried){.fd = -1, .root = -1};
}

/* Puts the library where the process can open it: into a file in memory of its
 * own; where it has no /proc, into a file that is removed at once. False:
 * ->problem. */
static bool carry(struct swz_attached *a, const char *library,
		  struct swz_carried *carried)
{
	int from = open(library, O_RDONLY | O_CLOEXEC);
	bool done;

	*carried = (struct swz_carried){.fd = -1, .root = -1};
	if (from < 0)
		return swz_attached_fail(a, "%s cannot be read: %s", library,
					 strerror(errno));
	if (has_proc(a))
		done = put_into_memory(a, from, carried) ||
		       swz_attached_fail(a, "it has a root directory of its "
					    "own, and no file in memory for "
					    "the library");
	else
		done = put_into_file(a, from, carried) ||
		       swz_attached_fail(a, "it has a root directory of its "
					    "own, without /proc, and none of "
					    "/tmp, /run, /var, /dev there "
					    "can be written for a moment");
	close(from);
	if (!done)
		carry_end(a, carried);
	return done;
}

/* ----------------------------------------------- finding, loading, calling */

const struct swz_target_mapping *swz_injected_mapping(
	const struct swz_target *t)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		if (swz_target_is_library(t->mappings[i].path))
			return &t->mappings[i];
	}
	return NULL;
}

bool swz_injected_find(struct swz_attached *a)
{
	const struct swz_target_mapping *m;

	if (!swz_target_read_mappings(&a->target))
		return false;
	m = swz_injected_mapping(&a->target);
	a->control_at = m ? swz_target_symbol_in(&a->target, m,
						 SWZ_CONTROL_SYMBOL)
			  : 0;
	return a->control_at && swz_attached_read(a);
}

bool swz_injected_call(struct swz_attached *a, uint64_t function,
		       uint64_t first, uint64_t second, bool safe,
		       uint64_t *result)
{
	const uint64_t arguments[4] = {first, second};
	bool done;

	a->borrower.agent = swz_attached_agent(a);
	done = swz_borrow_call(&a->borrower, function, arguments, safe, result);
	return done || swz_attached_fail(a, "%s", a->borrower.problem);
}

bool swz_injected_call_when_free(struct swz_attached *a, uint64_t function,
				 uint64_t argument, bool safe)
{
	uint64_t end = swz_watch_now() + 2 * SWZ_CONTROL_PATIENCE_NS;
	uint64_t result;

	for (;;) {
		if (!swz_injected_call(a, function, argument, 0, safe, &result))
			return false;
		if (!result)
			return true;
		if ((int64_t)result != -EBUSY || swz_watch_now() > end)
			return swz_attached_fail(a, "the library refuses: %s",
						 strerror(-(int)result));
		swz_watch_rest(1000000);
	}
}

/* Reports the dynamic linker's own message. */
static bool fail_to_load(struct swz_attached *a)
{
	uint64_t function = swz_target_symbol(&a->target, "dlerror"), text = 0;
	char why[512] = "";

	if (function && swz_injected_call(a, function, 0, 0, true, &text) &&
	    text)
		(void)!pread(a->target.memory, why, sizeof(why) - 1,
			     (off_t)text);
	return swz_attached_fail(
		a, "its dynamic linker cannot load the library: %s", why);
}

/* One that an earlier attach has loaded is there to stay. */
static bool load_library(struct swz_attached *a, uint64_t open, uint64_t path,
			 uint64_t *handle)
{
	*handle = a->control_at ? a->control.handle : 0;
	if (*handle)
		return true;
	return swz_injected_call(a, open, path, RTLD_NOW, true, handle) &&
	       (*handle || fail_to_load(a));
}

/* Writes the request, loads the library. */
static bool bring(struct swz_attached *a, uint64_t open, const char *library,
		  char **environment, uint64_t *request, uint64_t *handle)
{
	const bool there = a->control_at && a->control.handle;
	struct swz_carried carried = {.fd = -1, .root = -1};
	uint64_t path;
	bool done;

	a->has_other_root = carry_is_needed(a, library);
	if (a->has_other_root && !there && !carry(a, library, &carried))
		return false;
	done = request_write(&a->borrower,
			     carried.path[0] ? carried.path : library,
			     environment, &path, request) ||
	       swz_attached_fail(a, "the settings are too long");
	done = done && load_library(a, open, path, handle);
	carry_end(a, &carried);
	return done;
}

bool swz_injected_load(struct swz_attached *a, const char *library,
		       char **environment)
{
	uint64_t open = swz_target_symbol(&a->target, "dlopen");
	uint64_t close = swz_target_symbol(&a->target, "dlclose");
	uint64_t request, handle, begin;
	struct swz_attach_request r;

	if (!open || !close)
		return swz_attached_fail(a, "its libc has no dlopen");
	if (!bring(a, open, library, environment, &request, &handle))
		return false;
	if (!swz_injected_find(a))
		return swz_attached_fail(
			a,
			"the library that is loaded is of another version "
			"than %s",
			library);
	if (!swz_target_read(&a->target, request, &r, sizeof(r)))
		return swz_attached_fail(a, "the process has ended");
	r.dlopen = open;
	r.dlclose = close;
	r.handle = handle;
	if (!swz_target_write(&a->target, request, &r, sizeof(r)))
		return swz_attached_fail(a, "the process has ended");
	begin = swz_target_symbol_in(&a->target,
				     swz_injected_mapping(&a->target),
				     SWZ_ATTACH_SYMBOL);
	return swz_injected_call_when_free(a, begin, request, true);
}

bool swz_injected_was_preloaded(struct swz_attached *a)
{
	return swz_injected_mapping(&a->target) && swz_injected_find(a) &&
	       a->control.preloaded;
}
