/* LD_PRELOAD takes us along to what the program executes. Where we cannot be
 * loaded, the dynamic linker there says so on standard error (glibc's) or does
 * not run the program at all (musl's). So what is executed is looked at first:
 * if it is for another dynamic linker than ours, or our library cannot be
 * read (the process has changed its root directory, or given up its rights),
 * we are taken out of the variable for it.
 *
 * This may run between vfork and exec, in memory that is the parent's: what is
 * written is on the stack. */

#include "runtime/compat/execution.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/syscall.h"
#include "runtime/support/config.h"
#include "runtime/support/preload.h"
#include "runtime/record/processor_time.h"
#include "runtime/record/switches.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"

#define PAGE UINT64_C(4096)
#define VARIABLE "LD_PRELOAD="
#define NAME_BYTES (sizeof(VARIABLE) - 1)
/* Of #! lines, and how many in a row, as the kernel has it. */
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

/* What is to be executed: as execveat has it. REAL: by which it will be. */
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
	uint64_t address = (uintptr_t)at, page = address / PAGE;

	if (page == r->page && address % PAGE <= PAGE - sizeof(uint64_t))
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
};

static bool find_preload(struct environment *e, strings of)
{
	struct reader r = {NO_PAGE};

	e->of = of;
	e->at = 0;
	e->list = NULL;
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
	static const char descriptors[] = "/proc/self/fd/";
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

/* Whether that program's dynamic linker would load us; one that cannot be read
 * is taken for one whose would, and what is static has none. */
static bool fits(const struct execution *x)
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

/* The last moment at which what it ran can be asked, and who executes. (In a
 * vforked child the state is the parent's, and the kernel refuses to tell.) */
static void note_last_moment(void)
{
	struct swz_thread *thread = swz_thread_here();

	if (swz_recording && thread && thread->cold) {
		swz_processor_time_note(thread->record);
		swz_switches_take_now(thread);
		if (swz_config.flows)
			swz_values_note_exec(thread);
	}
}

/* The file ends where another program begins. A vforked child has its parent's.
 */
static void set_end(uint64_t ticks)
{
	struct swz_file_header *file = swz_file;

	if (swz_recording && file && !(file->flags & SWZ_FILE_ENDED) &&
	    SWZ_SYSCALL(SYS_getpid) == file->pid)
		__atomic_store_n(&file->end_ticks, ticks, __ATOMIC_RELAXED);
}

static int run(const struct execution *x, strings environment)
{
	int result;

	/* in this order: the processor time is that of all until the end */
	set_end(__builtin_ia32_rdtsc());
	note_last_moment();
	result = x->run(x, environment);
	set_end(0); /* it could not be executed */
	return result;
}

static int execute(const struct execution *x, strings environment)
{
	struct environment e;
	void *room, *mapping = NULL;
	size_t bytes;
	int result;

	if (swz_system_calls_end || !environment ||
	    !find_preload(&e, environment))
		return run(x, environment);
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
