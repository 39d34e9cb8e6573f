#include "watch/unwind/elf_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/memory.h"

/* The kernel appends it to the path of a file that was removed (proc(5), maps).
 */
static const char removed[] = " (deleted)";

/* ----------------------------------------------------------- mapped files */

size_t swz_mapped_path_length(const char *path)
{
	size_t length = strlen(path), less = sizeof(removed) - 1;

	return length > less && strcmp(path + length - less, removed) == 0
		       ? length - less
		       : length;
}

/* Takes PATH over. */
static int try_open(char *path, uint64_t inode, struct stat *st, char **opened)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) ||
			(inode && st->st_ino != inode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*opened = path;
	else
		free(path);
	return fd;
}

/* ------------------------------------------------- files made of memory */

#define MADE_BYTES ((uint64_t)1 << 29) /* no more is read for one */

struct made {
	char *path;
	uint64_t inode;
	int fd;
};

static struct made *made_files;
static size_t made_count, made_capacity;

struct maker {
	const struct swz_mapped_file *file;
	FILE *maps;
	int memory, fd;
	uint64_t start; /* of the mapping with the file's first byte; 0: none */
};

static bool is_same_path(const char *a, const char *b)
{
	size_t length = swz_mapped_path_length(a);

	return swz_mapped_path_length(b) == length && memcmp(a, b, length) == 0;
}

static void copy_mapping(const struct maker *m, uint64_t start, uint64_t end,
			 uint64_t offset)
{
	static uint8_t page[4096];

	for (; start < end && offset < MADE_BYTES;
	     start += sizeof(page), offset += sizeof(page))
		/* (what lies behind the file's end cannot be read) */
		if (pread(m->memory, page, sizeof(page), (off_t)start) ==
		    sizeof(page))
			(void)!pwrite(m->fd, page, sizeof(page), (off_t)offset);
}

/* Copies the mappings from the file's first byte on that the known one belongs
 * to: the file may be mapped several times. */
static void copy_mappings(struct maker *m)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t last = 0;
	bool found = false;

	while (getline(&line, &room, m->maps) > 0) {
		unsigned long long start, end, offset, inode;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %*s %llx %*s %llu %n", &start, &end,
			   &offset, &inode, &at) < 4 ||
		    !at || inode != m->file->inode ||
		    !is_same_path(line + at, m->file->path))
			continue;
		/* lld maps the first page twice */
		if (!m->start || offset < last) {
			if (found)
				break;
			m->start = offset ? 0 : start;
		}
		last = offset;
		found |= start <= m->file->start && m->file->start < end;
		if (m->start)
			copy_mapping(m, start, end, offset);
	}
	free(line);
	if (!found)
		m->start = 0;
}

/* The dynamic linker adds the load bias to these pointers (_dl_relocate_ld of
 * glibc 2.36). */
static void take_off_bias(const struct maker *m, const Elf64_Phdr *dynamic,
			  uint64_t bias)
{
	off_t at = (off_t)dynamic->p_offset;
	off_t end = at + (off_t)dynamic->p_filesz;
	Elf64_Dyn entry;

	for (; at < end &&
	       pread(m->fd, &entry, sizeof(entry), at) == sizeof(entry);
	     at += (off_t)sizeof(entry)) {
		if ((entry.d_tag != DT_HASH && entry.d_tag != DT_GNU_HASH &&
		     entry.d_tag != DT_SYMTAB && entry.d_tag != DT_STRTAB) ||
		    entry.d_un.d_ptr < bias)
			continue;
		entry.d_un.d_ptr -= bias;
		(void)!pwrite(m->fd, &entry, sizeof(entry), at);
	}
}

/* Makes a file of it that has no table of sections. */
static bool finish_making(const struct maker *m)
{
	struct swz_elf_copy copy;
	Elf64_Ehdr header;
	uint64_t first;
	bool good = false;

	if (pread(m->fd, &header, sizeof(header), 0) != sizeof(header))
		return false;
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	if (pwrite(m->fd, &header, sizeof(header), 0) != sizeof(header) ||
	    !swz_elf_copy_open(&copy, m->fd))
		return false;
	if (swz_elf_mapped_at(&copy.elf, 0, false, &first)) {
		good = true;
		for (size_t i = 0; i < copy.elf.segment_count; i++)
			if (copy.elf.segments[i].p_type == PT_DYNAMIC)
				take_off_bias(m, &copy.elf.segments[i],
					      m->start - first);
	}
	swz_elf_copy_close(&copy);
	return good;
}

static int make_file(const struct swz_mapped_file *file)
{
	char *maps = swz_print("/proc/%d/maps", (int)file->pid);
	char *memory = swz_print("/proc/%d/mem", (int)file->pid);
	struct maker m = {.file = file,
			  .maps = fopen(maps, "re"),
			  .memory = open(memory, O_RDONLY | O_CLOEXEC),
			  .fd = memfd_create("swizzle-module", MFD_CLOEXEC)};
	bool good = m.maps && m.memory >= 0 && m.fd >= 0;

	if (good) {
		copy_mappings(&m);
		good = m.start && finish_making(&m);
	}
	if (m.maps)
		fclose(m.maps);
	if (m.memory >= 0)
		close(m.memory);
	if (!good && m.fd >= 0)
		close(m.fd);
	free(maps);
	free(memory);
	return good ? m.fd : -1;
}

/* One is made for each file, and kept. */
static int open_made(const struct swz_mapped_file *file, struct stat *st,
		     char **opened)
{
	struct made made = {.inode = file->inode};

	for (size_t i = 0; i < made_count; i++)
		if (made_files[i].inode == file->inode &&
		    is_same_path(made_files[i].path, file->path))
			return try_open(
				swz_print("/proc/self/fd/%d", made_files[i].fd),
				0, st, opened);
	made.fd = make_file(file);
	if (made.fd < 0)
		return -1;
	made.path = swz_duplicate(file->path);
	swz_grow(&made_files, &made_capacity, made_count, sizeof(made));
	made_files[made_count++] = made;
	return open_made(file, st, opened);
}

int swz_mapped_file_open(const struct swz_mapped_file *file, struct stat *st,
			 char **opened)
{
	int fd = -1;

	*opened = NULL;
	if (file->pid)
		fd = try_open(swz_print("/proc/%d/root%s", (int)file->pid,
					file->path),
			      file->inode, st, opened);
	if (fd < 0)
		fd = try_open(swz_duplicate(file->path), file->inode, st,
			      opened);
	if (!file->pid || !file->inode)
		return fd;
	if (fd < 0)
		fd = try_open(swz_print("/proc/%d/exe", (int)file->pid),
			      file->inode, st, opened);
	if (fd < 0)
		fd = try_open(swz_print("/proc/%d/map_files/%llx-%llx",
					(int)file->pid,
					(unsigned long long)file->start,
					(unsigned long long)file->end),
			      file->inode, st, opened);
	return fd < 0 && file->end ? open_made(file, st, opened) : fd;
}

/* ------------------------------------------------------------------ copies */

/* More is no file that code was mapped of. */
#define MOST_BYTES ((off_t)1 << 40)

bool swz_elf_copy_read(struct swz_elf_copy *copy, int fd, uint64_t offset,
		       uint64_t size)
{
	if (offset > copy->size || size > copy->size - offset)
		return false;
	while (size) {
		ssize_t got = pread(fd, copy->bytes + offset, (size_t)size,
				    (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
		copy->copied += (size_t)got;
	}
	return true;
}

static bool read_table(struct swz_elf_copy *copy, int fd, uint64_t offset,
		       uint64_t count, uint64_t size)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(count, size, &bytes) &&
	       swz_elf_copy_read(copy, fd, offset, bytes);
}

/* The table of sections and their names. */
static bool read_sections(struct swz_elf_copy *copy, int fd)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(void *)copy->bytes;
	uint64_t at = header->e_shoff, count = header->e_shnum;
	uint32_t names = header->e_shstrndx;
	Elf64_Shdr section;

	if (!at || header->e_shentsize != sizeof(section) ||
	    !read_table(copy, fd, at, 1, sizeof(section)))
		return false;
	memcpy(&section, copy->bytes + at, sizeof(section));
	if (!count)
		count = section.sh_size;
	if (names == SHN_XINDEX)
		names = section.sh_link;
	if (!read_table(copy, fd, at, count, sizeof(section)) || names >= count)
		return false;
	memcpy(&section, copy->bytes + at + names * sizeof(section),
	       sizeof(section));
	return swz_elf_copy_read(copy, fd, section.sh_offset, section.sh_size);
}

bool swz_elf_copy_open(struct swz_elf_copy *copy, int fd)
{
	const Elf64_Ehdr *header;
	struct stat st;

	memset(copy, 0, sizeof(*copy));
	if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(*header) ||
	    st.st_size > MOST_BYTES)
		return false;
	copy->size = (size_t)st.st_size;
	copy->bytes = mmap(NULL, copy->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy->bytes == MAP_FAILED) {
		copy->bytes = NULL;
		return false;
	}
	header = (const Elf64_Ehdr *)(void *)copy->bytes;
	if (swz_elf_copy_read(copy, fd, 0, sizeof(*header)) &&
	    read_table(copy, fd, header->e_phoff, header->e_phnum,
		       sizeof(Elf64_Phdr))) {
		/* a program runs without them */
		(void)read_sections(copy, fd);
		if (swz_elf_open(&copy->elf,
				 (struct swz_bytes){copy->bytes, copy->size}) ==
		    SWZ_OK)
			return true;
	}
	swz_elf_copy_close(copy);
	return false;
}

void swz_elf_copy_segments(struct swz_elf_copy *copy, int fd)
{
	for (size_t i = 0; i < copy->elf.segment_count; i++) {
		const Elf64_Phdr *s = &copy->elf.segments[i];

		/* (what cannot be read is zeros, and says nothing) */
		if ((s->p_type == PT_LOAD && !(s->p_flags & PF_W)) ||
		    s->p_type == PT_DYNAMIC)
			(void)!swz_elf_copy_read(copy, fd, s->p_offset,
						 s->p_filesz);
	}
}

bool swz_elf_copy_symbols(const struct swz_elf *elf, uint32_t table,
			  struct swz_elf_symbols *it)
{
	if (!elf->section_count && table == SHT_DYNSYM)
		return swz_elf_dynamic_symbols(it, elf) == SWZ_OK;
	return swz_elf_symbols_open(it, elf, table) == SWZ_OK;
}

void swz_elf_copy_close(struct swz_elf_copy *copy)
{
	if (copy->bytes)
		munmap(copy->bytes, copy->size);
	memset(copy, 0, sizeof(*copy));
}
