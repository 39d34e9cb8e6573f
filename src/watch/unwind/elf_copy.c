#include "watch/unwind/elf_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

void swz_elf_copy_close(struct swz_elf_copy *copy)
{
	if (copy->bytes)
		munmap(copy->bytes, copy->size);
	memset(copy, 0, sizeof(*copy));
}
