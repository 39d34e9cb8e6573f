/* A function is found once per pc: by_pc answers from then on, until a mapping
 * changes. */

#include "watch/image.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/basics.h"
#include "base/printable.h"
#include "base/syscall.h"
#include "swizzle/format.h"
#include "util/memory.h"
#include "util/output.h"
#include "watch/code_file.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"
#include "watch/unwind/unwinder.h"

/* --- labels of a process ------------------------------------------------- */

/* The labels of another process, from the environment that it was given; and
 * what swizzle-run was told to show (--caller). */

/* As many levels of #! as the kernel takes. */
#define MOST_LEVELS 5

/* All of /proc/PID/environ, with a NUL behind it. */
static char *read_environment(int32_t pid, size_t *size)
{
	char *path = swz_print("/proc/%d/environ", (int)pid), *text = NULL;
	size_t capacity = 0, n;
	FILE *file = fopen(path, "re");

	free(path);
	*size = 0;
	do {
		swz_grow(&text, &capacity, *size + 4096, 1);
		n = file ? fread(text + *size, 1, 4096, file) : 0;
		*size += n;
	} while (n);
	if (file)
		fclose(file);
	text[*size] = '\0';
	return text;
}

/* A variable of the profiler's own, whatever the process was started with. */
static const char caller[] = "SWIZZLE_CALLER=";

static bool is_ours(const char *variable)
{
	return strncmp(variable, caller, sizeof(caller) - 1) == 0;
}

/* A text of the process at an address; to be freed. NULL: it cannot be read. */
static char *read_text(int32_t pid, uint64_t address)
{
	char *path = swz_print("/proc/%d/mem", (int)pid), *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	if (fd >= 0) {
		/* behind it, at the end of the stack, little is mapped */
		text = swz_allocate(PATH_MAX + 1, 1);
		if (pread(fd, text, PATH_MAX, (off_t)address) <= 0)
			*text = '\0';
		close(fd);
	}
	return text;
}

/* The path that the kernel was asked to execute (AT_EXECFN). */
static char *executed(int32_t pid)
{
	char *path = swz_print("/proc/%d/auxv", (int)pid), *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_auxv_t entry;

	free(path);
	while (fd >= 0 && !text &&
	       read(fd, &entry, sizeof(entry)) == (ssize_t)sizeof(entry))
		if (entry.a_type == AT_EXECFN)
			text = read_text(pid, entry.a_un.a_val);
	if (fd >= 0)
		close(fd);
	return text;
}

/* The interpreter that a script names, as a path within the process's root;
 * NULL: it is no script. Takes PATH, which is within ours. */
static char *interpreter_of(char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char line[256] = "", *from = line + 2;
	struct stat st;

	free(path);
	if (fd >= 0) {
		if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
		    pread(fd, line, sizeof(line) - 1, 0) < 0)
			line[0] = '\0';
		close(fd);
	}
	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	from += strspn(from, " \t");
	from[strcspn(from, " \t\n")] = '\0';
	return swz_duplicate(from);
}

/* PATH of the process, as we reach it. */
static char *reach(int32_t pid, const char *path)
{
	return swz_print(*path == '/' ? "/proc/%d/root%s" : "/proc/%d/cwd/%s",
			 (int)pid, path);
}

static bool is_same_file(int32_t pid, const char *path, const char *other)
{
	char *there = reach(pid, path), *here = reach(pid, other);
	struct stat a, b;
	bool same = stat(there, &a) == 0 && stat(here, &b) == 0 &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	free(there);
	free(here);
	return same;
}

char *swz_process_called(int32_t pid, const char *file)
{
	char *path = file ? executed(pid) : NULL, *next;

	for (int i = 0; path && *path && i < MOST_LEVELS; i++) {
		if (is_same_file(pid, path, file))
			return path;
		next = interpreter_of(reach(pid, path));
		free(path);
		path = next;
	}
	free(path);
	return NULL;
}

/* FILE is that of its program, or NULL. Where its environment may not be read
 * only the host is known. */
static void process_labels(int32_t pid, const char *file,
			   struct swz_labels *labels)
{
	char *called;
	size_t size, count = 0, capacity = 0;
	char *text = read_environment(pid, &size), **list = NULL;

	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		swz_grow(&list, &capacity, count + 1, sizeof(*list));
		if (!is_ours(text + at))
			list[count++] = text + at;
	}
	swz_grow(&list, &capacity, count + 2, sizeof(*list));
	for (char **own = environ; *own; own++)
		if (is_ours(*own))
			list[count++] = *own;
	list[count] = NULL;
	swz_labels_read(labels, list);
	called = swz_process_called(pid, file);
	swz_labels_add_called(labels, called, file);
	free(called);
	free(list);
	free(text);
}

/* --- frames of hooked functions ------------------------------------------ */

/* Stacks of a process that runs under swizzle-run. The return addresses of its
 * hooked functions are those of thunks, which know the real ones: see
 * docs/internals/thunks.md. */

/* A thunk lies in libswizzle.so's own address range, and so its address tells
 * what it is. Its return address was written before the thunk was used, and
 * stays: it may be read while the process goes on. When the process has ended
 * what was read before is still known. */

#define LIBRARY "/libswizzle.so"
/* call *body(%rip); push return_address(%rip); push %rax; lea data(%rip), %rax
 */
static const uint8_t thunk_code[] = {
	0xff, 0x15, 0xfa, 0xff, 0x0f, 0x00, /* data - 6 */
	0xff, 0x35, 0xfc, 0xff, 0x0f, 0x00, /* data + 8 - 12 */
	0x50, 0x48, 0x8d, 0x05, 0xec, 0xff, 0x0f, 0x00};
_Static_assert(SWZ_THUNK_DATA_DISTANCE == 0x100000 &&
		       SWZ_THUNK_REAL_RETURN == 8,
	       "thunk code");

static uint64_t read_thunk(int32_t pid, uint64_t thunk)
{
	uint8_t code[sizeof(thunk_code)];
	uint64_t real;
	struct iovec local[] = {{code, sizeof(code)}, {&real, sizeof(real)}};
	struct iovec remote[] = {
		{(void *)(uintptr_t)thunk, sizeof(code)},
		{(void *)(uintptr_t)(thunk + SWZ_THUNK_DATA_DISTANCE +
				     SWZ_THUNK_REAL_RETURN),
		 sizeof(real)},
	};

	if (process_vm_readv(pid, local, 2, remote, 2, 0) !=
		    (ssize_t)(sizeof(code) + sizeof(real)) ||
	    memcmp(code, thunk_code, sizeof(code)) != 0)
		return 0;
	return real;
}

static uint64_t resolve(void *context, uint64_t return_address)
{
	struct swz_image *image = context;
	struct swz_hooked_frames *hooked = &image->hooked;
	uint32_t *known;
	uint64_t real;

	if (return_address < hooked->start || return_address >= hooked->end ||
	    return_address % SWZ_THUNK_CODE_BYTES != SWZ_THUNK_T)
		return 0;
	real = read_thunk(image->pid, return_address - SWZ_THUNK_T);
	if (!real) {
		uint32_t before = swz_map_get(&hooked->by_thunk, return_address,
					      0);

		return before == SWZ_MAP_NONE ? 0 : hooked->returns[before];
	}
	known = swz_map_at(&hooked->by_thunk, return_address, 0);
	if (*known == SWZ_MAP_NONE) {
		*known = (uint32_t)hooked->count;
		swz_grow(&hooked->returns, &hooked->capacity, hooked->count,
			 sizeof(*hooked->returns));
		hooked->count++;
	}
	hooked->returns[*known] = real;
	return real;
}

/* A module was mapped; if it is libswizzle.so, the image's walks look through
 * its thunks from now on. */
static void hooked_frames_look_for(struct swz_image *image,
				   const struct swz_image_module *module)
{
	const char *path = module->file->path;
	size_t length = strlen(path), name = strlen(LIBRARY);
	uint64_t address;

	if (length < name || strcmp(path + length - name, LIBRARY) != 0 ||
	    !swz_code_file_symbol(module->file,
				  "swizzle_resolve_return_address", &address))
		return;
	image->hooked.start = module->start;
	image->hooked.end = module->end;
	swz_unwinder_resolve(image->unwinder, resolve, image);
}

/* The same for an image that was forked from one where they do. */
static void hooked_frames_fork(struct swz_image *image,
			       const struct swz_image *parent)
{
	image->hooked.start = parent->hooked.start;
	image->hooked.end = parent->hooked.end;
	if (image->hooked.end)
		swz_unwinder_resolve(image->unwinder, resolve, image);
}

static void hooked_frames_free(struct swz_image *image)
{
	swz_map_free(&image->hooked.by_thunk);
	free(image->hooked.returns);
}

/* --- images -------------------------------------------------------------- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct swz_image *swz_image_create(int32_t pid, uint64_t now_ns)
{
	struct swz_image *image = swz_allocate(1, sizeof(*image));
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);

	image->pid = pid;
	image->fd = image->counted.fd = -1;
	image->start_ns = now_ns;
	image->start_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (monotonic > now_ns)
		image->start_realtime_ns -= monotonic - now_ns;
	image->process_start = swz_process_start(pid);
	image->unwinder = swz_unwinder_create();
	swz_script_frames_unwind(image);
	return image;
}

static char *copy(const char *string)
{
	return string ? swz_duplicate(string) : NULL;
}

struct swz_image *swz_image_fork(const struct swz_image *parent, int32_t pid,
				 uint64_t now_ns)
{
	struct swz_image *image = swz_image_create(pid, now_ns);

	image->by_fork = true;
	image->pause_period_ns = parent->pause_period_ns;
	image->is_judged = parent->is_judged;
	image->parent_pid = parent->pid;
	image->executable = copy(parent->executable);
	image->directory = copy(parent->directory);
	image->labels = parent->labels;
	image->argument_count = parent->argument_count;
	image->argument_bytes = parent->argument_bytes;
	image->arguments = swz_allocate(parent->argument_bytes + 1, 1);
	if (parent->arguments)
		memcpy(image->arguments, parent->arguments,
		       parent->argument_bytes);
	for (size_t i = 0; i < parent->mapping_count; i++) {
		swz_grow(&image->mappings, &image->mapping_capacity,
			 image->mapping_count, sizeof(*image->mappings));
		image->mappings[image->mapping_count++] = parent->mappings[i];
	}
	for (size_t i = 0; i < parent->module_count; i++) {
		swz_grow(&image->modules, &image->module_capacity,
			 image->module_count, sizeof(*image->modules));
		image->modules[image->module_count++] = parent->modules[i];
	}
	swz_unwinder_destroy(image->unwinder);
	image->unwinder = swz_unwinder_fork(parent->unwinder);
	swz_script_frames_unwind(image);
	hooked_frames_fork(image, parent);
	swz_counted_code_fork(image, parent);
	image->keeps_moments = parent->keeps_moments;
	if (parent->names)
		image->names = swz_code_names_fork(parent->names, pid,
						   image->process_start);
	return image;
}

static void free_thread(struct swz_image_thread *thread)
{
	free(thread->nodes);
	swz_sample_times_forget(thread);
	free(thread->children);
	free(thread);
}

void swz_image_free(struct swz_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->thread_count; i++)
		free_thread(image->threads[i]);
	for (size_t i = 0; i < image->function_count; i++)
		free(image->functions[i].name);
	for (size_t i = 0; i < image->script_count; i++)
		free(image->scripts[i]);
	free(image->scripts);
	swz_code_names_close(image->names);
	swz_script_frames_close(image->script);
	swz_map_free(&image->by_name);
	swz_map_free(&image->by_place);
	swz_map_free(&image->by_unnamed_pc);
	swz_map_free(&image->by_code);
	swz_unwinder_destroy(image->unwinder);
	hooked_frames_free(image);
	swz_counted_code_free(image);
	swz_map_free(&image->by_address);
	swz_map_free(&image->by_pc);
	free(image->threads);
	free(image->functions);
	free(image->modules);
	free(image->mappings);
	free(image->executable);
	free(image->directory);
	free(image->arguments);
	free(image->path);
	if (image->fd >= 0)
		close(image->fd);
	free(image);
}

/* ------------------------------------------------------------- /proc */

static FILE *open_proc(int32_t pid, const char *name)
{
	char *path = swz_print("/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");

	free(path);
	return file;
}

static void read_link(int32_t pid, const char *name, char **to)
{
	char *path = swz_print("/proc/%d/%s", (int)pid, name), text[4096];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	free(path);
	if (n <= 0)
		return;
	text[n] = '\0';
	text[swz_mapped_path_length(text)] = '\0';
	free(*to);
	*to = swz_duplicate(text);
}

void swz_image_loaded(struct swz_image *image, const char *path)
{
	bool is_program = image->is_loading && path[0] == '/' && path[1] != '/';

	image->is_loading = false;
	if (!is_program || !image->executable ||
	    strcmp(swz_base_name(image->executable), swz_base_name(path)) == 0)
		return;
	free(image->executable);
	image->executable = swz_duplicate(path);
	image->argument_count = image->argument_bytes = 0;
}

bool swz_image_is_left(const struct swz_image *image)
{
	const char *before = image->executable;
	char *now = NULL;
	bool is_left;

	read_link(image->pid, "exe", &now);
	is_left = now && before && strcmp(now, before) != 0;
	free(now);
	return is_left;
}

static void read_parent(struct swz_image *image)
{
	FILE *file = open_proc(image->pid, "stat");
	char text[512];
	const char *at;
	uint64_t pid;

	if (!file)
		return;
	/* behind the name: the state, the parent */
	if (fgets(text, sizeof(text), file) && (at = strrchr(text, ')'))) {
		swz_scan_past(&at, 2);
		if (swz_scan(&at, 10, &pid))
			image->parent_pid = (int32_t)pid;
	}
	fclose(file);
}

void swz_image_describe(struct swz_image *image)
{
	FILE *file = open_proc(image->pid, "cmdline");
	size_t capacity = 0;
	int c;

	read_link(image->pid, "exe", &image->executable);
	read_link(image->pid, "cwd", &image->directory);
	read_parent(image);
	process_labels(image->pid, image->executable, &image->labels);
	if (!file)
		return;
	image->argument_count = image->argument_bytes = 0;
	while ((c = getc(file)) != EOF) {
		swz_grow(&image->arguments, &capacity,
			 image->argument_bytes + 1, 1);
		image->arguments[image->argument_bytes++] = (char)c;
		image->argument_count += !c;
	}
	if (image->argument_bytes &&
	    image->arguments[image->argument_bytes - 1]) {
		image->arguments[image->argument_bytes++] = '\0';
		image->argument_count++;
	}
	fclose(file);
}

/* ---------------------------------------------------------- mappings */

static uint32_t add_module(struct swz_image *image, struct swz_code_file *file,
			   const struct swz_image_module *wanted)
{
	for (size_t i = 0; i < image->module_count; i++)
		if (image->modules[i].file == file &&
		    image->modules[i].load_bias == wanted->load_bias) {
			struct swz_image_module *m = &image->modules[i];

			if (wanted->start < m->start)
				m->start = wanted->start;
			if (wanted->end > m->end)
				m->end = wanted->end;
			return (uint32_t)i;
		}
	swz_grow(&image->modules, &image->module_capacity, image->module_count,
		 sizeof(*image->modules));
	image->modules[image->module_count] = *wanted;
	hooked_frames_look_for(image, wanted);
	return (uint32_t)image->module_count++;
}

/* The kernel's names of memory that looks like a file, but is in none. */
static bool has_code_file(const char *path)
{
	static const char *const others[] = {"//", "/dev/zero", "/SYSV",
					     "/anon_hugepage"};

	if (strcmp(path, SWZ_VDSO) == 0)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(path, others[i], strlen(others[i])) == 0)
			return false;
	return path[0] == '/';
}

static uint32_t module_of(struct swz_image *image, uint64_t start, uint64_t end,
			  uint64_t offset, const char *path, uint64_t inode)
{
	struct swz_image_module module = {.start = start, .end = end};
	uint64_t address;

	if (!has_code_file(path))
		return SWZ_NO_MODULE;
	module.file = swz_code_file_of(
		&(struct swz_mapped_file){.pid = image->pid,
					  .inode = inode,
					  .path = path,
					  .start = start,
					  .end = end});
	/* a program may be in a memory file; else it is code made at run time
	 */
	if (!module.file->readable && strncmp(path, "/memfd:", 7) == 0)
		return SWZ_NO_MODULE;
	if (!module.file->readable ||
	    !swz_code_file_address(module.file, offset, &address)) {
		module.load_bias = start - offset;
		return add_module(image, module.file, &module);
	}
	module.load_bias = start - address;
	module.start = (module.load_bias + module.file->first) & -4096ull;
	module.end = module.load_bias + module.file->past;
	if (end > ((module.end + 4095) & -4096ull)) /* a mapping is of pages */
		module.end = end;
	return add_module(image, module.file, &module);
}

static void insert(struct swz_image *image, size_t at,
		   const struct swz_image_mapping *mapping)
{
	swz_grow(&image->mappings, &image->mapping_capacity,
		 image->mapping_count, sizeof(*mapping));
	memmove(&image->mappings[at + 1], &image->mappings[at],
		(image->mapping_count - at) * sizeof(*mapping));
	image->mappings[at] = *mapping;
	image->mapping_count++;
}

/* Puts the mapping in the place of all that was there. */
static void replace(struct swz_image *image,
		    const struct swz_image_mapping *mapping)
{
	size_t at = 0;

	while (at < image->mapping_count) {
		struct swz_image_mapping *m = &image->mappings[at];
		struct swz_image_mapping rest = *m;

		if (m->end <= mapping->start) {
			at++;
			continue;
		}
		if (m->start >= mapping->end)
			break;
		if (m->start < mapping->start) {
			m->end = mapping->start;
			at++;
			if (rest.end > mapping->end) {
				rest.start = mapping->end;
				insert(image, at, &rest);
				break;
			}
		} else if (m->end > mapping->end) {
			m->start = mapping->end;
			break;
		} else {
			memmove(m, m + 1,
				(--image->mapping_count - at) * sizeof(*m));
		}
	}
	insert(image, at, mapping);
}

static const struct swz_image_mapping *mapping_at(const struct swz_image *image,
						  uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, image->mapping_count,
		      image->mappings[low].end <= address);
	if (low == image->mapping_count || image->mappings[low].start > address)
		return NULL;
	return &image->mappings[low];
}

static bool is_there(const struct swz_image *image,
		     const struct swz_image_mapping *wanted)
{
	const struct swz_image_mapping *there = mapping_at(image,
							   wanted->start);

	return there && there->start == wanted->start &&
	       there->end == wanted->end && there->module == wanted->module;
}

static void look_for_jitdump(struct swz_image *image, const char *path)
{
	if (!strstr(path, "/jit-"))
		return;
	if (!image->names)
		image->names = swz_code_names_open(image->pid,
						   image->process_start);
	swz_code_names_mapped(image->names, path);
}

void swz_image_map(struct swz_image *image, uint64_t start, uint64_t end,
		   uint64_t offset, const char *path, uint64_t inode)
{
	struct swz_image_mapping mapping = {.start = start, .end = end};

	if (end <= start)
		return;
	mapping.module = module_of(image, start, end, offset, path, inode);
	/* the program itself comes first; it has ended before /proc was read */
	if (!image->executable && mapping.module != SWZ_NO_MODULE)
		image->executable = swz_duplicate(path);
	if (is_there(image, &mapping))
		return;
	image->mappings_made++;
	replace(image, &mapping);
	look_for_jitdump(image, path);
	swz_map_free(&image->by_pc);
	swz_unwinder_map(image->unwinder, &(struct swz_unwinder_mapping){
						  .pid = image->pid,
						  .start = start,
						  .end = end,
						  .offset = offset,
						  .path = path,
						  .inode = inode,
					  });
}

/* "START-END RIGHTS OFFSET DEVICE INODE PATH" */
static bool read_mapping(struct swz_image *image, const char *line)
{
	uint64_t start, end, offset, inode;
	const char *at = line, *rights;

	if (!swz_scan(&at, 16, &start) || *at++ != '-' ||
	    !swz_scan(&at, 16, &end) || *at++ != ' ')
		return false;
	rights = at;
	swz_scan_past(&at, 1);
	if (!swz_scan(&at, 16, &offset))
		return false;
	swz_scan_past(&at, 1);
	if (!swz_scan(&at, 10, &inode))
		return false;
	at += strspn(at, " ");
	if (memchr(rights, 'x', 4))
		swz_image_map(image, start, end, offset, at, inode);
	return true;
}

bool swz_image_read_maps(struct swz_image *image)
{
	FILE *file = open_proc(image->pid, "maps");
	char *line = NULL;
	size_t room = 0;
	bool any = false;

	if (!file)
		return false;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		any |= read_mapping(image, line);
	}
	free(line);
	fclose(file);
	return any;
}

/* ---------------------------------------------------------- functions */

bool swz_image_knows(const struct swz_image *image, uint64_t address)
{
	return mapping_at(image, address) != NULL;
}

bool swz_image_is_in_file(const struct swz_image *image, uint64_t address)
{
	const struct swz_image_mapping *mapping = mapping_at(image, address);

	return mapping && mapping->module != SWZ_NO_MODULE;
}

static uint32_t find_function(struct swz_image *image, uint64_t pc)
{
	const struct swz_image_mapping *mapping = mapping_at(image, pc);
	struct swz_image_function function = {0};
	struct swz_code_function found;
	uint32_t *index;

	function.module = mapping->module;
	found = swz_code_file_function(
		image->modules[mapping->module].file,
		pc - image->modules[mapping->module].load_bias);
	function.address = found.start;
	function.size = found.size;
	function.from_symbol = found.from_symbol;
	index = swz_map_at(&image->by_address, function.module, found.start);
	if (*index == SWZ_MAP_NONE)
		*index = swz_image_add_function(image, &function);
	return *index;
}

uint32_t swz_image_function_at(struct swz_image *image, uint64_t pc,
			       uint64_t time_ns)
{
	uint32_t known = swz_map_get(&image->by_pc, pc, 0);
	const struct swz_image_mapping *mapping;

	if (known != SWZ_MAP_NONE)
		return known;
	mapping = mapping_at(image, pc);
	/* (what is made at run time may be another function the next time) */
	if (!mapping || mapping->module == SWZ_NO_MODULE)
		return swz_jit_function(image, pc, time_ns);
	known = find_function(image, pc);
	*swz_map_at(&image->by_pc, pc, 0) = known;
	return known;
}
