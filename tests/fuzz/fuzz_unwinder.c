/* Any bytes as registers, a stack and the unwind entries of a file: the walk
 * ends, stays within what it was given, and says how it ended.
 *
 * What the bytes are: the registers as in struct swz_registers (17 * 8), a byte
 * of flags, the size of the stack in words, the stack, .eh_frame; or, by a
 * flag, the whole file. */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "watch/unwind/unwind_row.h"
#include "watch/unwind/unwinder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

enum { WHOLE_FILE = 1, WITH_HEADER = 2, READABLE = 4, AS_THEY_ARE = 8 };
enum { MOST = 64, CODE = 0x10000, CODE_BYTES = 0x10000 };
#define ANONYMOUS UINT64_C(0x40000000)
#define STACK UINT64_C(0x7ffc00000000)

/* An ELF file, whose section's bytes follow. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[3];
	char names[24];
};

static void write_file(int fd, uint8_t flags, const uint8_t *data, size_t size)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	struct file f = {0};

	if (flags & WHOLE_FILE) {
		REQUIRE(write(fd, data, size) == (ssize_t)size);
		return;
	}
	memcpy(f.header.e_ident, ELFMAG, SELFMAG);
	f.header.e_ident[EI_CLASS] = ELFCLASS64;
	f.header.e_ident[EI_DATA] = ELFDATA2LSB;
	f.header.e_machine = EM_X86_64;
	f.header.e_phoff = offsetof(struct file, segments);
	f.header.e_phentsize = sizeof(Elf64_Phdr);
	f.header.e_phnum = flags & WITH_HEADER ? 2 : 1;
	f.segments[0].p_type = PT_LOAD;
	f.segments[0].p_filesz = CODE_BYTES;
	f.segments[1].p_type = PT_GNU_EH_FRAME;
	f.segments[1].p_offset = f.segments[1].p_vaddr = sizeof(f);
	f.segments[1].p_filesz = size;
	if (!(flags & WITH_HEADER)) {
		f.header.e_shoff = offsetof(struct file, sections);
		f.header.e_shentsize = sizeof(Elf64_Shdr);
		f.header.e_shnum = 3;
		f.header.e_shstrndx = 2;
	}
	f.sections[1].sh_name = 1;
	f.sections[1].sh_type = SHT_PROGBITS;
	f.sections[1].sh_offset = f.sections[1].sh_addr = sizeof(f);
	f.sections[1].sh_size = size;
	f.sections[2].sh_name = 11;
	f.sections[2].sh_type = SHT_STRTAB;
	f.sections[2].sh_offset = offsetof(struct file, names);
	f.sections[2].sh_size = sizeof(names);
	memcpy(f.names, names, sizeof(names));
	REQUIRE(write(fd, &f, sizeof(f)) == sizeof(f) &&
		write(fd, data, size) == (ssize_t)size);
	/* its code is zeros */
	REQUIRE(sizeof(f) + size > CODE_BYTES ||
		ftruncate(fd, CODE_BYTES) == 0);
}

static bool read_zeros(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	memset(into, (int)address & 0xff, size);
	return address < STACK * 2;
}

static uint64_t resolve(void *context, uint64_t return_address)
{
	(void)context;
	return return_address & 1 ? 0 : CODE + (return_address & 0xffff);
}

static void look_at_code(const uint8_t *data, size_t size)
{
	struct swz_unwind_row row = swz_code_row(data, size, false);
	int64_t to = swz_code_branch(data, size, size);

	REQUIRE(row.kind == SWZ_ROW_RSP || row.kind == SWZ_ROW_NONE ||
		row.kind == SWZ_ROW_BRANCH);
	REQUIRE(row.kind != SWZ_ROW_RSP || row.cfa_offset >= 8);
	REQUIRE(!to || row.kind == SWZ_ROW_BRANCH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_unwinder *unwinder, *child;
	enum swz_walk_end end = (enum swz_walk_end)99;
	struct swz_registers registers;
	struct swz_stack stack = {.start = STACK};
	uint64_t pcs[MOST];
	size_t count, words, i;
	char path[64];
	uint8_t flags;
	int fd;

	look_at_code(data, size);
	if (size < sizeof(registers) + 2)
		return 0;
	memcpy(&registers, data, sizeof(registers));
	flags = data[sizeof(registers)];
	words = data[sizeof(registers) + 1];
	data += sizeof(registers) + 2;
	size -= sizeof(registers) + 2;
	if (words > size / 8)
		words = size / 8;
	stack.bytes = data;
	stack.size = words * 8;
	if (flags & READABLE)
		stack.read = read_zeros;
	/* so that they lead somewhere */
	if (!(flags & AS_THEY_ARE)) {
		registers.ip = CODE + registers.ip % CODE_BYTES;
		registers.sp = STACK;
		registers.bp = STACK + registers.bp % 4096 / 8 * 8;
	}
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	write_file(fd, flags, data + stack.size, size - stack.size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unwinder = swz_unwinder_create();
	swz_unwinder_map(
		unwinder,
		&(struct swz_unwinder_mapping){
			.start = CODE, .end = CODE + CODE_BYTES, .path = path});
	swz_unwinder_map(unwinder,
			 &(struct swz_unwinder_mapping){.start = ANONYMOUS,
							.end = ANONYMOUS * 2,
							.path = "//anon"});
	swz_unwinder_resolve(unwinder, resolve, NULL);
	child = swz_unwinder_fork(unwinder);
	swz_unwinder_destroy(unwinder);
	/* once with rows that are new, once with those that are known */
	for (i = 0; i < 2; i++) {
		count = swz_unwinder_walk(child, &registers, &stack, pcs, MOST,
					  &end);
		REQUIRE(count >= 1 && count <= MOST && end <= SWZ_WALK_FULL);
		REQUIRE(pcs[0] == registers.ip);
		REQUIRE(end != SWZ_WALK_FULL || count == MOST);
	}
	swz_unwinder_destroy(child);
	swz_unwind_files_trim();
	close(fd);
	return 0;
}
