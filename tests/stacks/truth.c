#include "tests/stacks/truth.h"

#include <elf.h>
#include <fcntl.h>
#include <libunwind-x86_64.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* not in its headers, but exported for this use */
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip,
				       unw_dyn_info_t *info,
				       unw_proc_info_t *found,
				       int need_unwind_info, void *argument);

enum { MOST_FILES = 1024 };

struct file {
	char *path;
	const uint8_t *bytes;
	size_t size;
};

struct truth {
	unw_addr_space_t space;
	const struct truth_mapping *mappings;
	size_t count;
	struct file files[MOST_FILES];
	size_t file_count;
	const struct swz_registers *registers;
	const struct swz_stack *stack;
};

static const struct file *file_of(struct truth *t, const char *path)
{
	struct file *file;
	struct stat st;
	void *bytes;
	size_t i;
	int fd;

	for (i = 0; i < t->file_count; i++)
		if (!strcmp(t->files[i].path, path))
			return &t->files[i];
	if (t->file_count == MOST_FILES)
		abort();
	file = &t->files[t->file_count++];
	file->path = strdup(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size) {
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
		if (bytes != MAP_FAILED) {
			file->bytes = bytes;
			file->size = (size_t)st.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	return file;
}

static const struct truth_mapping *mapping_of(const struct truth *t,
					      uint64_t address)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (address < t->mappings[middle].start)
			high = middle;
		else if (address >= t->mappings[middle].end)
			low = middle + 1;
		else
			return &t->mappings[middle];
	}
	return NULL;
}

static bool read_memory(struct truth *t, uint64_t address, void *into,
			size_t size)
{
	const struct truth_mapping *m;
	uint64_t at = address - t->stack->start;

	if (at < t->stack->size && size <= t->stack->size - at) {
		memcpy(into, t->stack->bytes + at, size);
		return true;
	}
	m = mapping_of(t, address);
	if (m && m->path[0] == '/' && size <= m->end - address) {
		const struct file *file = file_of(t, m->path);
		uint64_t offset = address - m->start + m->offset;

		if (offset < file->size && size <= file->size - offset) {
			memcpy(into, file->bytes + offset, size);
			return true;
		}
	}
	return t->stack->read &&
	       t->stack->read(t->stack->context, address, into, size);
}

/* The module's unwind header at run time. The mapping of its first page is the
 * nearest one before with the same path and offset 0. */
static bool find_header(struct truth *t, const struct truth_mapping *m,
			uint64_t *header)
{
	const struct truth_mapping *first = m;
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
	uint64_t lowest = UINT64_MAX, vaddr = 0;
	unsigned i;

	while (first->offset && first > t->mappings)
		first--;
	if (first->offset || strcmp(first->path, m->path) != 0 ||
	    !read_memory(t, first->start, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	for (i = 0; i < elf.e_phnum; i++) {
		if (!read_memory(
			    t, first->start + elf.e_phoff + i * sizeof(segment),
			    &segment, sizeof(segment)))
			return false;
		if (segment.p_type == PT_LOAD && segment.p_vaddr < lowest)
			lowest = segment.p_vaddr;
		if (segment.p_type == PT_GNU_EH_FRAME)
			vaddr = segment.p_vaddr;
	}
	*header = first->start + vaddr - (lowest & ~(uint64_t)4095);
	return vaddr != 0;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip,
			  unw_proc_info_t *found, int need_unwind_info,
			  void *argument)
{
	struct truth *t = argument;
	const struct truth_mapping *m = mapping_of(t, ip);
	unw_dyn_info_t info = {0};
	uint64_t header;
	uint32_t count;

	if (!m || !find_header(t, m, &header) ||
	    !read_memory(t, header + 8, &count, sizeof(count)))
		return -UNW_ENOINFO;
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.start_ip = m->start;
	info.end_ip = m->end;
	info.u.rti.segbase = header;
	info.u.rti.table_data = header + 12;
	info.u.rti.table_len = count; /* words of 8 bytes */
	return _Ux86_64_dwarf_search_unwind_table(space, ip, &info, found,
						  need_unwind_info, argument);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info,
			    void *argument)
{
	(void)space;
	(void)info;
	(void)argument;
}

static int no_list(unw_addr_space_t space, unw_word_t *list, void *argument)
{
	(void)space;
	(void)list;
	(void)argument;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address,
		      unw_word_t *value, int write, void *argument)
{
	(void)space;
	return write || !read_memory(argument, address, value, sizeof(*value))
		       ? -UNW_EINVAL
		       : 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number,
		      unw_word_t *value, int write, void *argument)
{
	const struct truth *t = argument;

	(void)space;
	if (write || number < 0 || number > UNW_X86_64_RIP)
		return -UNW_EBADREG;
	*value = number == UNW_X86_64_RIP ? t->registers->ip
					  : t->registers->general[number];
	return 0;
}

static int no_fpreg(unw_addr_space_t space, unw_regnum_t number,
		    unw_fpreg_t *value, int write, void *argument)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)argument;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor,
		     void *argument)
{
	(void)space;
	(void)cursor;
	(void)argument;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t address, char *name,
		   size_t size, unw_word_t *offset, void *argument)
{
	(void)space;
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	(void)argument;
	return -UNW_ENOINFO;
}

struct truth *truth_create(bool cached)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = no_fpreg,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	struct truth *truth = calloc(1, sizeof(*truth));

	truth->space = unw_create_addr_space(&accessors, 0);
	unw_set_caching_policy(truth->space,
			       cached ? UNW_CACHE_GLOBAL : UNW_CACHE_NONE);
	return truth;
}

void truth_destroy(struct truth *truth)
{
	size_t i;

	unw_destroy_addr_space(truth->space);
	for (i = 0; i < truth->file_count; i++) {
		free(truth->files[i].path);
		if (truth->files[i].bytes)
			munmap((void *)(uintptr_t)truth->files[i].bytes,
			       truth->files[i].size);
	}
	free(truth);
}

void truth_map(struct truth *truth, const struct truth_mapping *mappings,
	       size_t count)
{
	truth->mappings = mappings;
	truth->count = count;
	unw_flush_cache(truth->space, 0, 0);
}

size_t truth_walk(struct truth *truth, const struct swz_registers *registers,
		  const struct swz_stack *stack, uint64_t *pcs, size_t most,
		  int *status)
{
	unw_cursor_t cursor;
	unw_word_t ip;
	size_t count = 0;
	bool interrupted = false;

	truth->registers = registers;
	truth->stack = stack;
	*status = unw_init_remote(&cursor, truth->space, truth);
	if (*status < 0)
		return 0;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || !ip)
			break;
		/* as ours: what a signal interrupted is no return address */
		pcs[count++] = ip + interrupted;
		*status = unw_step(&cursor);
		/* it says so of the frame that a step from a signal's came to
		 */
		interrupted = unw_is_signal_frame(&cursor) > 0;
	} while (count<most && * status> 0);
	return count;
}
