/* A function is found once per pc: by_pc answers from then on, until a mapping
 * changes. */

#include "watch/image.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process_start.h"
#include "profile/support/memory.h"
#include "swizzle/format.h"
#include "watch/hooked_frames.h"
#include "watch/jit_functions.h"
#include "watch/names/python_frames.h"
#include "watch/names/ruby_frames.h"
#include "watch/process_labels.h"
#include "watch/scan.h"
#include "watch/script_frames.h"

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
	image->fd = -1;
	image->start_ns = now_ns;
	image->start_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (monotonic > now_ns)
		image->start_realtime_ns -= monotonic - now_ns;
	image->process_start = swz_process_start(pid);
	image->unwinder = swz_unwinder_create();
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
	swz_hooked_frames_fork(image, parent);
	if (parent->names)
		image->names = swz_code_names_fork(parent->names, pid,
						   image->process_start);
	return image;
}

static void free_thread(struct swz_image_thread *thread)
{
	free(thread->nodes);
	swz_map_free(&thread->children);
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
	swz_python_close(image->python);
	swz_ruby_close(image->ruby);
	swz_map_free(&image->by_name);
	swz_map_free(&image->by_place);
	swz_map_free(&image->by_unnamed_pc);
	swz_unwinder_destroy(image->unwinder);
	swz_hooked_frames_free(image);
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
	free(*to);
	*to = swz_duplicate(text);
}

/* (A file that was removed since has " (deleted)" behind its name.) */
bool swz_image_is_left(const struct swz_image *image)
{
	const char *before = image->executable;
	char *now = NULL;
	bool is_left;

	read_link(image->pid, "exe", &now);
	is_left = now && before && strncmp(now, before, strlen(before)) != 0;
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
	swz_process_labels(image->pid, &image->labels);
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
	swz_hooked_frames_look_for(image, wanted);
	return (uint32_t)image->module_count++;
}

/* The kernel's names of memory that looks like a file, but is in none. */
static bool has_code_file(const char *path)
{
	static const char *const others[] = {"//", "/dev/zero", "/SYSV",
					     "/memfd:", "/anon_hugepage"};

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
	module.file = swz_code_file_of(image->pid, path, inode);
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

/* What lies there now takes the place of what was there. */
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
	size_t low = 0, high = image->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
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

static uint32_t function_at(struct swz_image *image, uint64_t pc,
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

/* ------------------------------------------------------------ samples */

static uint32_t add_rows(struct swz_image_thread *thread, uint32_t node,
			 const struct swz_stack_row *rows, size_t count)
{
	for (size_t i = count; i-- > 0;)
		node = swz_stack_child(thread, node, rows[i].function,
				       rows[i].call_site);
	return node;
}

static uint32_t add_frames(struct swz_image *image,
			   struct swz_image_thread *thread,
			   const struct swz_registers *registers,
			   const struct swz_stack *stack,
			   const struct swz_hit *hit)
{
	static uint64_t pcs[SWZ_MOST_FRAMES];
	static struct swz_stack_row rows[SWZ_MOST_FRAMES];
	static struct swz_stack_row with_script[2 * SWZ_MOST_FRAMES];
	enum swz_walk_end end = SWZ_WALK_LOST;
	size_t count = swz_unwinder_walk(image->unwinder, registers, stack, pcs,
					 SWZ_MOST_FRAMES, &end);
	uint32_t node = 0;

	if (end == SWZ_WALK_LOST)
		image->broken_stacks++;
	else if (end != SWZ_WALK_ROOT)
		image->cut_stacks++;
	if (end != SWZ_WALK_ROOT)
		node = swz_stack_child(thread, node, SWZ_FUNCTION_CALLERS, 0);
	for (size_t i = 0; i < count; i++) {
		/* a return address may be the first of the next function */
		uint64_t pc = i ? pcs[i] - 1 : pcs[i];

		rows[i].function = function_at(image, pc, hit->time_ns);
		rows[i].call_site = i + 1 < count ? pcs[i + 1] : 0;
	}
	if (!hit->script)
		return add_rows(thread, node, rows, count);
	count = swz_script_frames_put(image, hit->script, rows, count,
				      end == SWZ_WALK_ROOT, with_script,
				      (size_t)2 * SWZ_MOST_FRAMES);
	return add_rows(thread, node, with_script, count);
}

/* Where in the function it was hit may be asked for. */
static bool has_source(const struct swz_image *image,
		       const struct swz_stack_node *node)
{
	return node->function < image->function_count &&
	       image->functions[node->function].module != SWZ_NO_MODULE;
}

void swz_image_add(struct swz_image *image, struct swz_image_thread *thread,
		   const struct swz_registers *registers,
		   const struct swz_stack *stack, const struct swz_hit *hit)
{
	uint32_t node = 0;

	if (registers)
		node = add_frames(image, thread, registers, stack, hit);
	if (hit->in_kernel || !node)
		node = swz_stack_child(thread, node, SWZ_FUNCTION_KERNEL,
				       registers ? registers->ip : 0);
	else if (has_source(image, &thread->nodes[node]))
		node = swz_stack_hit(thread, node, registers->ip);
	if (hit->waiting) {
		thread->nodes[node].waits++;
		thread->waits++;
	} else {
		thread->nodes[node].samples++;
		thread->nodes[node].weight += hit->weight;
		thread->samples++;
		thread->weight += hit->weight;
		thread->kernel_samples += hit->in_kernel || !registers;
	}
	image->samples++;
}
