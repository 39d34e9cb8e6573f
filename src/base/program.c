#include "base/program.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/syscall.h"

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return at <= INT64_MAX &&
	       SWZ_SYSCALL(SYS_pread64, fd, to, bytes, at) == (long)bytes;
}

/* Debian's name, and that of a musl which was built from its source. */
static bool is_of_musl(int fd, const Elf64_Phdr *interpreter)
{
	static const char musl[] = "/lib/ld-musl";
	char name[sizeof(musl) - 1];

	return read_at(fd, name, sizeof(name), interpreter->p_offset) &&
	       memcmp(name, musl, sizeof(name)) == 0;
}

static enum swz_program by_linker(int fd, const Elf64_Ehdr *e)
{
	Elf64_Phdr h;

	for (unsigned i = 0; i < e->e_phnum; i++) {
		uint64_t at;

		if (__builtin_add_overflow(e->e_phoff, i * sizeof(h), &at) ||
		    !read_at(fd, &h, sizeof(h), at))
			break;
		if (h.p_type == PT_INTERP)
			return is_of_musl(fd, &h) ? SWZ_PROGRAM_IS_MUSL
						  : SWZ_PROGRAM_FITS;
	}
	return SWZ_PROGRAM_IS_STATIC;
}

enum swz_program swz_program_of(int fd)
{
	Elf64_Ehdr e;

	if (!read_at(fd, e.e_ident, SELFMAG, 0) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return SWZ_PROGRAM_IS_NO_ELF;
	if (!read_at(fd, &e, sizeof(Elf32_Ehdr), 0))
		return SWZ_PROGRAM_IS_SHORT;
	if (e.e_ident[EI_CLASS] != ELFCLASS64)
		return SWZ_PROGRAM_IS_32_BIT;
	if (!read_at(fd, &e, sizeof(e), 0))
		return SWZ_PROGRAM_IS_SHORT;
	if (e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != EM_X86_64)
		return SWZ_PROGRAM_IS_FOREIGN;
	if (e.e_type != ET_EXEC && e.e_type != ET_DYN)
		return SWZ_PROGRAM_IS_NONE;
	return by_linker(fd, &e);
}
