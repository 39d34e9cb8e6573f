#include "base/program_kind.h"

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

static bool read_segment(int fd, const Elf64_Ehdr *e, unsigned i,
			 Elf64_Phdr *segment)
{
	uint64_t at;

	return i < e->e_phnum &&
	       !__builtin_add_overflow(e->e_phoff, i * sizeof(*segment), &at) &&
	       read_at(fd, segment, sizeof(*segment), at);
}

static bool find_segment(int fd, const Elf64_Ehdr *e, uint32_t type,
			 Elf64_Phdr *segment)
{
	for (unsigned i = 0; read_segment(fd, e, i, segment); i++)
		if (segment->p_type == type)
			return true;
	return false;
}

/* Where the file has the byte for an ELF address. */
static bool find_offset(int fd, const Elf64_Ehdr *e, uint64_t address,
			uint64_t *offset)
{
	Elf64_Phdr h;

	for (unsigned i = 0; read_segment(fd, e, i, &h); i++)
		if (h.p_type == PT_LOAD && address - h.p_vaddr < h.p_filesz) {
			*offset = h.p_offset + address - h.p_vaddr;
			return true;
		}
	return false;
}

/* glibc's dynamic linker, which may be executed itself, with the program as its
 * argument. It is known by its name in the ABI (SysV ABI for x86-64, 5.2.1). */
static bool is_linker(int fd, const Elf64_Ehdr *e)
{
	static const char wanted[] = "ld-linux-x86-64.so";
	char name[sizeof(wanted) - 1];
	uint64_t soname = 0, strings = 0, at;
	Elf64_Phdr dynamic;
	Elf64_Dyn entry = {.d_tag = DT_NEEDED};

	if (!find_segment(fd, e, PT_DYNAMIC, &dynamic))
		return false;
	for (uint64_t i = 0;
	     entry.d_tag != DT_NULL && i + sizeof(entry) <= dynamic.p_filesz;
	     i += sizeof(entry)) {
		if (!read_at(fd, &entry, sizeof(entry), dynamic.p_offset + i))
			return false;
		if (entry.d_tag == DT_SONAME)
			soname = entry.d_un.d_val;
		else if (entry.d_tag == DT_STRTAB)
			strings = entry.d_un.d_ptr;
	}
	return soname && find_offset(fd, e, strings + soname, &at) &&
	       read_at(fd, name, sizeof(name), at) &&
	       memcmp(name, wanted, sizeof(name)) == 0;
}

static enum swz_program by_linker(int fd, const Elf64_Ehdr *e)
{
	Elf64_Phdr h;

	if (find_segment(fd, e, PT_INTERP, &h))
		return is_of_musl(fd, &h) ? SWZ_PROGRAM_IS_MUSL
					  : SWZ_PROGRAM_FITS;
	return is_linker(fd, e) ? SWZ_PROGRAM_IS_LINKER : SWZ_PROGRAM_IS_STATIC;
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
