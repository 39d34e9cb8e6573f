/* ELF views over files that the test puts together, whole and damaged, and over
 * this program's own file. */

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf_view.h"
#include "tests/unit/run_suite.h"

/* A shared object with one loaded segment, a build-id and two symbols. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[20];
	} note;
	uint8_t text[64];
	Elf64_Sym symbols[4];
	char strings[16];
	char section_names[40];
	Elf64_Shdr sections[6];
};

enum { TEXT_ADDRESS = 0x11000 };

static struct image image;

static struct swz_bytes image_bytes(void)
{
	return (struct swz_bytes){(const uint8_t *)&image, sizeof(image)};
}

static void put_section(unsigned index, uint32_t name, uint32_t type,
			size_t offset, size_t size)
{
	Elf64_Shdr *section = &image.sections[index];

	section->sh_name = name;
	section->sh_type = type;
	section->sh_offset = offset;
	section->sh_size = size;
}

static void put_header(void)
{
	Elf64_Ehdr *header = &image.header;

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_type = ET_DYN;
	header->e_machine = EM_X86_64;
	header->e_phoff = offsetof(struct image, segments);
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_phnum = 2;
	header->e_shoff = offsetof(struct image, sections);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = 6;
	header->e_shstrndx = 5;
}

static void put_segments(void)
{
	Elf64_Phdr *load = &image.segments[0];
	Elf64_Phdr *note = &image.segments[1];

	load->p_type = PT_LOAD;
	load->p_vaddr = TEXT_ADDRESS;
	load->p_offset = offsetof(struct image, text);
	load->p_filesz = sizeof(image.text);
	load->p_memsz = 4096;
	note->p_type = PT_NOTE;
	note->p_align = 4;
	note->p_offset = offsetof(struct image, note);
	note->p_filesz = sizeof(image.note);
}

static void put_note(void)
{
	uint8_t i;

	image.note.header.n_namesz = 4;
	image.note.header.n_descsz = 20;
	image.note.header.n_type = NT_GNU_BUILD_ID;
	memcpy(image.note.name, "GNU", 4);
	for (i = 0; i < 20; i++)
		image.note.id[i] = i;
}

static void put_symbols(void)
{
	memcpy(image.strings, "\0first\0second", 14);
	image.symbols[1].st_name = 1;
	image.symbols[1].st_value = TEXT_ADDRESS;
	image.symbols[1].st_size = 16;
	image.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	image.symbols[1].st_shndx = 1;
	image.symbols[2].st_name = 7;
	image.symbols[2].st_value = TEXT_ADDRESS + 16;
	image.symbols[2].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
	image.symbols[3].st_name = 99; /* damaged */
}

static void make_image(void)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.bss\0.names";

	memset(&image, 0, sizeof(image));
	put_header();
	put_segments();
	put_note();
	put_symbols();
	memset(image.text, 0x90, sizeof(image.text));
	memcpy(image.section_names, names, sizeof(names));
	put_section(1, 1, SHT_PROGBITS, offsetof(struct image, text),
		    sizeof(image.text));
	put_section(2, 7, SHT_SYMTAB, offsetof(struct image, symbols),
		    sizeof(image.symbols));
	image.sections[2].sh_entsize = sizeof(Elf64_Sym);
	image.sections[2].sh_link = 3;
	put_section(3, 15, SHT_STRTAB, offsetof(struct image, strings),
		    sizeof(image.strings));
	put_section(4, 23, SHT_NOBITS, 0, 1 << 20);
	put_section(5, 28, SHT_STRTAB, offsetof(struct image, section_names),
		    sizeof(image.section_names));
}

static struct swz_elf opened(void)
{
	struct swz_elf elf;

	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_OK);
	return elf;
}

START_TEST(finds_sections_by_name)
{
	struct swz_elf elf = opened();

	ck_assert_uint_eq(elf.section_count, 6);
	ck_assert_ptr_eq(swz_elf_section(&elf, ".text"), &image.sections[1]);
	ck_assert_ptr_eq(swz_elf_section(&elf, ".bss"), &image.sections[4]);
	ck_assert_ptr_null(swz_elf_section(&elf, ".tex"));
	ck_assert_ptr_null(swz_elf_section(&elf, ".text2"));
}
END_TEST

START_TEST(gives_bytes_of_sections_within_the_file)
{
	struct swz_elf elf = opened();
	struct swz_bytes bytes;

	bytes = swz_elf_section_bytes(&elf, &image.sections[1]);
	ck_assert_ptr_eq(bytes.data, image.text);
	ck_assert_uint_eq(bytes.size, sizeof(image.text));
	bytes = swz_elf_section_bytes(&elf, &image.sections[4]);
	ck_assert_uint_eq(bytes.size, 0);
	image.sections[1].sh_offset = sizeof(image) - 1;
	ck_assert_uint_eq(swz_elf_section_bytes(&elf, &image.sections[1]).size,
			  0);
	image.sections[1].sh_offset = UINT64_MAX - 8;
	ck_assert_uint_eq(swz_elf_section_bytes(&elf, &image.sections[1]).size,
			  0);
}
END_TEST

START_TEST(gives_bytes_by_address)
{
	struct swz_elf elf = opened();
	struct swz_bytes bytes = swz_elf_bytes_at(&elf, TEXT_ADDRESS + 4, 8);

	ck_assert_ptr_eq(bytes.data, image.text + 4);
	ck_assert_uint_eq(bytes.size, 8);
	bytes = swz_elf_bytes_from(&elf, TEXT_ADDRESS + 60);
	ck_assert_uint_eq(bytes.size, 4);
	ck_assert_uint_eq(swz_elf_bytes_at(&elf, TEXT_ADDRESS, 64).size, 64);
	ck_assert_uint_eq(swz_elf_bytes_at(&elf, TEXT_ADDRESS, 65).size, 0);
	ck_assert_uint_eq(swz_elf_bytes_at(&elf, TEXT_ADDRESS - 1, 1).size, 0);
	ck_assert_uint_eq(
		swz_elf_bytes_at(&elf, TEXT_ADDRESS + 1, UINT64_MAX).size, 0);
	ck_assert_uint_eq(swz_elf_bytes_from(&elf, TEXT_ADDRESS + 64).size, 0);
}
END_TEST

/* ld --build-id=0xaaaa: the last note of its segment, and no padding. */
/* As lld and mold lay a program out: the page at 0 belongs to two segments,
 * that at 0x2000 to three, two of which are code. */
START_TEST(tells_where_a_page_of_the_file_is_mapped)
{
	static const Elf64_Phdr segments[] = {
		{.p_type = PT_NOTE, .p_filesz = 0x9000, .p_flags = PF_R | PF_X},
		{.p_type = PT_LOAD, .p_filesz = 0x528, .p_flags = PF_R},
		{.p_type = PT_LOAD,
		 .p_offset = 0x530,
		 .p_vaddr = 0x1530,
		 .p_filesz = 0x1c00,
		 .p_flags = PF_R | PF_X},
		{.p_type = PT_LOAD,
		 .p_offset = 0x2130,
		 .p_vaddr = 0x4130,
		 .p_filesz = 0x100,
		 .p_flags = PF_R | PF_X},
		{.p_type = PT_LOAD,
		 .p_offset = 0x2230,
		 .p_vaddr = 0x5230,
		 .p_filesz = 0xdd0,
		 .p_flags = PF_R | PF_W},
	};
	static const struct {
		uint64_t offset;
		bool executed, is_mapped;
		uint64_t address;
	} cases[] = {
		{0, false, true, 0},           {0, true, true, 0x1000},
		{0x1000, true, true, 0x2000},  {0x1000, false, true, 0x2000},
		{0x2000, true, true, 0x4000},  {0x2000, false, true, 0x5000},
		{0x2fff, false, true, 0x5fff}, {0x3000, false, false, 0},
		{0x3000, true, false, 0},      {UINT64_MAX, true, false, 0},
	};
	struct swz_elf elf = {.segments = segments, .segment_count = 5};
	uint64_t address;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		address = 0;
		ck_assert(swz_elf_mapped_at(&elf, cases[i].offset,
					    cases[i].executed,
					    &address) == cases[i].is_mapped);
		ck_assert_uint_eq(address, cases[i].address);
	}
}
END_TEST

START_TEST(takes_a_build_id_of_any_length)
{
	uint8_t note[16 + 33] = {4, 0, 0, 0,   2,   0,   0, 0,    3,
				 0, 0, 0, 'G', 'N', 'U', 0, 0xaa, 0xab};
	struct swz_bytes id = swz_build_id_in((struct swz_bytes){note, 18}, 4);

	ck_assert_uint_eq(id.size, 2);
	ck_assert_mem_eq(id.data, "\xaa\xab", 2);
	note[4] = 32;
	id = swz_build_id_in((struct swz_bytes){note, 48}, 4);
	ck_assert_uint_eq(id.size, 32);
	note[4] = 33;
	id = swz_build_id_in((struct swz_bytes){note, 49}, 4);
	ck_assert_uint_eq(id.size, 0);
	note[4] = 2;
	id = swz_build_id_in((struct swz_bytes){note, 17}, 4);
	ck_assert_uint_eq(id.size, 0);
}
END_TEST

START_TEST(finds_the_build_id_in_segment_or_section)
{
	struct swz_elf elf = opened();
	struct swz_bytes id = swz_elf_build_id(&elf);

	ck_assert_ptr_eq(id.data, image.note.id);
	ck_assert_uint_eq(id.size, 20);
	image.segments[1].p_type = PT_NULL;
	ck_assert_uint_eq(swz_elf_build_id(&elf).size, 0);
	memcpy(image.section_names + 1, ".note.gnu.build-id", 19);
	image.sections[1].sh_offset = offsetof(struct image, note);
	image.sections[1].sh_size = sizeof(image.note);
	elf = opened();
	ck_assert_uint_eq(swz_elf_build_id(&elf).size, 20);
}
END_TEST

START_TEST(survives_damaged_notes)
{
	struct swz_elf elf = opened();

	image.note.header.n_descsz = 21;
	ck_assert_uint_eq(swz_elf_build_id(&elf).size, 0);
	image.note.header.n_descsz = UINT32_MAX;
	image.note.header.n_namesz = UINT32_MAX;
	ck_assert_uint_eq(swz_elf_build_id(&elf).size, 0);
}
END_TEST

START_TEST(iterates_over_symbols_and_skips_damaged_ones)
{
	struct swz_elf elf = opened();
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	ck_assert_int_eq(swz_elf_symbols_open(&it, &elf, SHT_SYMTAB), SWZ_OK);
	ck_assert(swz_elf_symbols_next(&it, &symbol));
	ck_assert_str_eq(symbol.name, "");
	ck_assert(swz_elf_symbols_next(&it, &symbol));
	ck_assert_str_eq(symbol.name, "first");
	ck_assert_uint_eq(symbol.value, TEXT_ADDRESS);
	ck_assert_uint_eq(symbol.size, 16);
	ck_assert_uint_eq(symbol.type, STT_FUNC);
	ck_assert_uint_eq(symbol.binding, STB_GLOBAL);
	ck_assert(swz_elf_symbols_next(&it, &symbol));
	ck_assert_str_eq(symbol.name, "second");
	ck_assert_uint_eq(symbol.type, STT_OBJECT);
	ck_assert(!swz_elf_symbols_next(&it, &symbol));
	ck_assert_int_eq(swz_elf_symbols_open(&it, &elf, SHT_DYNSYM),
			 SWZ_E_NOTFOUND);
}
END_TEST

START_TEST(a_name_without_end_is_no_name)
{
	struct swz_elf elf = opened();
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	int count = 0;

	memset(image.strings + 7, 'x', sizeof(image.strings) - 7);
	ck_assert_int_eq(swz_elf_symbols_open(&it, &elf, SHT_SYMTAB), SWZ_OK);
	while (swz_elf_symbols_next(&it, &symbol))
		count++;
	ck_assert_int_eq(count, 2);
}
END_TEST

START_TEST(refuses_what_is_no_elf64_for_x86_64)
{
	struct swz_elf elf;
	struct swz_bytes file = image_bytes();

	image.header.e_machine = EM_AARCH64;
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_E_UNSUPPORTED);
	make_image();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_E_UNSUPPORTED);
	make_image();
	image.header.e_ident[0] = 'E';
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_E_FORMAT);
	make_image();
	file.size = sizeof(Elf64_Ehdr) - 1;
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_E_FORMAT);
	file.size = 0;
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_E_FORMAT);
}
END_TEST

START_TEST(refuses_damaged_program_headers)
{
	struct swz_elf elf;

	image.header.e_phoff = sizeof(image);
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_E_FORMAT);
	make_image();
	image.header.e_phoff = UINT64_MAX;
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_E_FORMAT);
	make_image();
	image.header.e_phoff++; /* misaligned */
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_E_FORMAT);
	make_image();
	image.header.e_phentsize = 1;
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_E_FORMAT);
}
END_TEST

START_TEST(drops_a_damaged_section_table)
{
	struct swz_elf elf;

	image.header.e_shoff = sizeof(image) - 8;
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_OK);
	ck_assert_uint_eq(elf.section_count, 0);
	ck_assert_ptr_null(swz_elf_section(&elf, ".text"));
	make_image();
	image.header.e_shnum = UINT16_MAX;
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_OK);
	ck_assert_uint_eq(elf.section_count, 0);
	make_image();
	image.header.e_shstrndx = 77; /* sections without names */
	ck_assert_int_eq(swz_elf_open(&elf, image_bytes()), SWZ_OK);
	ck_assert_uint_eq(elf.section_count, 6);
	ck_assert_ptr_null(swz_elf_section(&elf, ".text"));
}
END_TEST

START_TEST(takes_large_counts_from_section_0)
{
	struct swz_elf elf;

	image.header.e_shnum = 0;
	image.header.e_shstrndx = SHN_XINDEX;
	image.sections[0].sh_size = 6;
	image.sections[0].sh_link = 5;
	elf = opened();
	ck_assert_uint_eq(elf.section_count, 6);
	ck_assert_ptr_nonnull(swz_elf_section(&elf, ".text"));
	image.header.e_phnum = PN_XNUM;
	image.sections[0].sh_info = 2;
	elf = opened();
	ck_assert_uint_eq(elf.segment_count, 2);
}
END_TEST

START_TEST(reads_this_program)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	struct swz_bytes file;
	struct swz_elf elf;
	struct stat stat;
	bool found = false;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat), 0);
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(file.data != MAP_FAILED);
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_OK);
	ck_assert_ptr_nonnull(swz_elf_section(&elf, ".text"));
	ck_assert_int_eq(swz_elf_symbols_open(&it, &elf, SHT_SYMTAB), SWZ_OK);
	while (swz_elf_symbols_next(&it, &symbol))
		if (!strcmp(symbol.name, "main"))
			found = symbol.type == STT_FUNC && symbol.size > 0;
	ck_assert(found);
	munmap((void *)(uintptr_t)file.data, file.size);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf_view");
	TCase *tcase = tcase_create("elf_view");

	tcase_add_checked_fixture(tcase, make_image, NULL);
	tcase_add_test(tcase, finds_sections_by_name);
	tcase_add_test(tcase, gives_bytes_of_sections_within_the_file);
	tcase_add_test(tcase, gives_bytes_by_address);
	tcase_add_test(tcase, tells_where_a_page_of_the_file_is_mapped);
	tcase_add_test(tcase, takes_a_build_id_of_any_length);
	tcase_add_test(tcase, finds_the_build_id_in_segment_or_section);
	tcase_add_test(tcase, survives_damaged_notes);
	tcase_add_test(tcase, iterates_over_symbols_and_skips_damaged_ones);
	tcase_add_test(tcase, a_name_without_end_is_no_name);
	tcase_add_test(tcase, refuses_what_is_no_elf64_for_x86_64);
	tcase_add_test(tcase, refuses_damaged_program_headers);
	tcase_add_test(tcase, drops_a_damaged_section_table);
	tcase_add_test(tcase, takes_large_counts_from_section_0);
	tcase_add_test(tcase, reads_this_program);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
