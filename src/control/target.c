#include "control/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "watch/unwind/elf_copy.h"

bool swz_target_open(struct swz_target *t, int32_t pid)
{
	char path[64];

	*t = (struct swz_target){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	t->memory = open(path, O_RDWR | O_CLOEXEC);
	return t->memory >= 0;
}

static void forget_mappings(struct swz_target *t)
{
	for (size_t i = 0; i < t->mapping_count; i++)
		free(t->mappings[i].path);
	t->mapping_count = 0;
}

void swz_target_close(struct swz_target *t)
{
	forget_mappings(t);
	free(t->mappings);
	if (t->memory >= 0)
		close(t->memory);
	*t = (struct swz_target){.memory = -1};
}

bool swz_target_read_mappings(struct swz_target *t)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	forget_mappings(t);
	while (getline(&line, &room, file) > 0) {
		struct swz_target_mapping m = {0};
		char rights[8];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %" SCNu64 " %n",
			   &m.start, &m.end, rights, &m.offset, &m.inode,
			   &at) < 5)
			continue;
		m.readable = rights[0] == 'r';
		m.writable = rights[1] == 'w';
		m.executable = rights[2] == 'x';
		m.path = swz_duplicate(at ? line + at : "");
		swz_grow(&t->mappings, &t->mapping_capacity, t->mapping_count,
			 sizeof(m));
		t->mappings[t->mapping_count++] = m;
	}
	free(line);
	fclose(file);
	return t->mapping_count > 0;
}

const struct swz_target_mapping *swz_target_mapping_at(
	const struct swz_target *t, uint64_t address)
{
	size_t low = 0, high = t->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->mapping_count && t->mappings[low].start <= address
		       ? &t->mappings[low]
		       : NULL;
}

bool swz_target_read(const struct swz_target *t, uint64_t address, void *to,
		     size_t bytes)
{
	char *at = to;

	while (bytes) {
		ssize_t n = pread(t->memory, at, bytes, (off_t)address);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		if (n < 0)
			continue;
		at += n;
		address += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

bool swz_target_write(const struct swz_target *t, uint64_t address,
		      const void *from, size_t bytes)
{
	const char *at = from;

	while (bytes) {
		ssize_t n = pwrite(t->memory, at, bytes, (off_t)address);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		if (n < 0)
			continue;
		at += n;
		address += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

/* ---------------------------------------------------------------- symbols */

char *swz_target_path(const struct swz_target *t, const char *path)
{
	return swz_print("/proc/%d/root%s", (int)t->pid, path);
}

static bool read_section(struct swz_elf_copy *copy, int fd,
			 const Elf64_Shdr *section)
{
	return swz_elf_copy_read(copy, fd, section->sh_offset,
				 section->sh_size);
}

/* The file's dynamic symbols and their names. */
static bool read_symbols(struct swz_elf_copy *copy, int fd)
{
	for (size_t i = 0; i < copy->elf.section_count; i++) {
		const Elf64_Shdr *s = &copy->elf.sections[i];

		if (s->sh_type == SHT_DYNSYM &&
		    s->sh_link < copy->elf.section_count)
			return read_section(copy, fd, s) &&
			       read_section(copy, fd,
					    &copy->elf.sections[s->sh_link]);
	}
	return false;
}

static int open_regular(const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
			(inode && st.st_ino != inode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool swz_target_is_library(const char *path)
{
	const char *base = strrchr(path, '/');

	/* the second one is in a file in memory */
	return base && (strncmp(base, "/libswizzle.so", 14) == 0 ||
			strncmp(base, "/memfd:libswizzle.so", 20) == 0);
}

/* The first page has the build-id. */
static int open_stand_in(const struct swz_target *t,
			 const struct swz_target_mapping *m)
{
	uint8_t wanted[4096], there[4096];
	int fd = open_regular(t->stand_in, 0);

	if (fd >= 0 && (m->offset ||
			!swz_target_read(t, m->start, wanted, sizeof(wanted)) ||
			pread(fd, there, sizeof(there), 0) != sizeof(there) ||
			memcmp(there, wanted, sizeof(there)) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What the kernel says of a process with another root directory is a path of
 * ours, or of its own. */
static int open_file(const struct swz_target *t,
		     const struct swz_target_mapping *m)
{
	char *path;
	int fd;

	if (m->path[0] != '/')
		return -1;
	path = swz_target_path(t, m->path);
	fd = open_regular(path, m->inode);
	free(path);
	if (fd < 0)
		fd = open_regular(m->path, m->inode);
	if (fd < 0 && t->stand_in && swz_target_is_library(m->path))
		fd = open_stand_in(t, m);
	return fd;
}

/* The ELF address of the file's byte at this offset, less its run-time address.
 */
static bool bias_of(const struct swz_elf *elf,
		    const struct swz_target_mapping *m, uint64_t *bias)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *s = &elf->segments[i];

		if (s->p_type != PT_LOAD ||
		    m->offset < (s->p_offset & -4096ull) ||
		    m->offset >= s->p_offset + s->p_filesz)
			continue;
		*bias = m->start - (s->p_vaddr + m->offset - s->p_offset);
		return true;
	}
	return false;
}

void swz_target_symbols(const struct swz_target *t,
			const struct swz_target_mapping *m,
			swz_symbol_visitor *visit, void *context)
{
	struct swz_elf_copy copy;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	int fd = open_file(t, m);
	uint64_t bias;

	if (fd < 0)
		return;
	if (swz_elf_copy_open(&copy, fd)) {
		if (read_symbols(&copy, fd) && bias_of(&copy.elf, m, &bias) &&
		    swz_elf_symbols_open(&it, &copy.elf, SHT_DYNSYM) == SWZ_OK)
			while (swz_elf_symbols_next(&it, &symbol))
				if (symbol.section != SHN_UNDEF &&
				    symbol.value &&
				    symbol.type != STT_GNU_IFUNC &&
				    symbol.type != STT_TLS)
					visit(context, symbol.name,
					      bias + symbol.value, symbol.size);
		swz_elf_copy_close(&copy);
	}
	close(fd);
}

struct search {
	const char *name;
	uint64_t found;
};

static void look(void *context, const char *name, uint64_t address,
		 uint64_t size)
{
	struct search *search = context;

	(void)size;
	if (!search->found && strcmp(name, search->name) == 0)
		search->found = address;
}

uint64_t swz_target_symbol_in(const struct swz_target *t,
			      const struct swz_target_mapping *m,
			      const char *name)
{
	struct search search = {name, 0};

	swz_target_symbols(t, m, look, &search);
	return search.found;
}

uint64_t swz_target_symbol(const struct swz_target *t, const char *name)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct swz_target_mapping *m = &t->mappings[i];
		const char *base = strrchr(m->path, '/');
		uint64_t found;

		/* what else defines such a name may mean something else */
		if (!m->executable || !base ||
		    (strncmp(base, "/libc.so", 8) &&
		     strncmp(base, "/libc-", 6) &&
		     strncmp(base, "/libdl.so", 9) &&
		     strncmp(base, "/libdl-", 7)))
			continue;
		found = swz_target_symbol_in(t, m, name);
		if (found)
			return found;
	}
	return 0;
}
