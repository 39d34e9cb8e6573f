/* Which programs can have our library preloaded, by the first of their bytes.
 */

#include <check.h>
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/program_kind.h"
#include "tests/unit/run_suite.h"

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	char interpreter[32];
};

static struct image usual(void)
{
	struct image i;

	memset(&i, 0, sizeof(i));
	memcpy(i.header.e_ident, ELFMAG, SELFMAG);
	i.header.e_ident[EI_CLASS] = ELFCLASS64;
	i.header.e_ident[EI_DATA] = ELFDATA2LSB;
	i.header.e_type = ET_DYN;
	i.header.e_machine = EM_X86_64;
	i.header.e_phoff = offsetof(struct image, segments);
	i.header.e_phnum = 2;
	i.segments[0].p_type = PT_PHDR;
	i.segments[1].p_type = PT_INTERP;
	i.segments[1].p_offset = offsetof(struct image, interpreter);
	strcpy(i.interpreter, "/lib64/ld-linux-x86-64.so.2");
	return i;
}

static enum swz_program kind_of_file(FILE *f)
{
	enum swz_program kind;
	long at = ftell(f);

	ck_assert_int_eq(fflush(f), 0);
	kind = swz_program_of(fileno(f));
	ck_assert_int_eq(lseek(fileno(f), 0, SEEK_CUR), at);
	fclose(f);
	return kind;
}

static enum swz_program kind_of(const struct image *image, size_t bytes)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(image, 1, bytes, f), bytes);
	return kind_of_file(f);
}

static enum swz_program kind_with(const struct image *image,
				  const Elf64_Dyn *dynamic, size_t bytes)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(image, sizeof(*image), 1, f), 1);
	ck_assert_uint_eq(fwrite(dynamic, 1, bytes, f), bytes);
	return kind_of_file(f);
}

static enum swz_program kind_of_all(const struct image *image)
{
	return kind_of(image, sizeof(*image));
}

START_TEST(program_of_glibc_fits)
{
	struct image i = usual();

	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_FITS);
	i.header.e_type = ET_EXEC;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_FITS);
}
END_TEST

START_TEST(another_dynamic_linker)
{
	struct image i = usual();

	strcpy(i.interpreter, "/lib/ld-musl-x86_64.so.1");
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_MUSL);
	i.segments[1].p_type = PT_LOAD;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_STATIC);
	/* with more program headers than there are */
	i.header.e_phnum = UINT16_MAX;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_STATIC);
	i.header.e_phoff = UINT64_MAX - sizeof(Elf64_Phdr);
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_STATIC);
}
END_TEST

/* It is executed itself: no PT_INTERP, but a name. */
START_TEST(the_dynamic_linker)
{
	struct image i = usual();
	Elf64_Dyn dynamic[3] = {{.d_tag = DT_SONAME, .d_un.d_val = 4},
				{.d_tag = DT_STRTAB, .d_un.d_ptr = 0x5000},
				{.d_tag = DT_NULL}};

	i.segments[0].p_type = PT_DYNAMIC;
	i.segments[0].p_offset = sizeof(i);
	i.segments[0].p_filesz = sizeof(dynamic);
	i.segments[1].p_type = PT_LOAD;
	i.segments[1].p_offset = offsetof(struct image, interpreter);
	i.segments[1].p_vaddr = 0x5000;
	i.segments[1].p_filesz = sizeof(i.interpreter);
	strcpy(i.interpreter, "xxxxld-linux-x86-64.so.2");
	ck_assert_int_eq(kind_with(&i, dynamic, sizeof(dynamic)),
			 SWZ_PROGRAM_IS_LINKER);
	/* a static program that is relocated has no name; others are others */
	dynamic[0].d_tag = DT_DEBUG;
	ck_assert_int_eq(kind_with(&i, dynamic, sizeof(dynamic)),
			 SWZ_PROGRAM_IS_STATIC);
	dynamic[0].d_tag = DT_SONAME;
	dynamic[0].d_un.d_val = 5;
	ck_assert_int_eq(kind_with(&i, dynamic, sizeof(dynamic)),
			 SWZ_PROGRAM_IS_STATIC);
	dynamic[0].d_un.d_val = UINT64_MAX;
	ck_assert_int_eq(kind_with(&i, dynamic, sizeof(dynamic)),
			 SWZ_PROGRAM_IS_STATIC);
	/* and the table is cut */
	dynamic[0].d_un.d_val = 4;
	ck_assert_int_eq(kind_with(&i, dynamic, sizeof(dynamic[0])),
			 SWZ_PROGRAM_IS_STATIC);
}
END_TEST

START_TEST(another_architecture)
{
	struct image i = usual();

	i.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(kind_of(&i, sizeof(Elf32_Ehdr)),
			 SWZ_PROGRAM_IS_32_BIT);
	i = usual();
	i.header.e_ident[EI_DATA] = ELFDATA2MSB;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_FOREIGN);
	i = usual();
	i.header.e_machine = EM_AARCH64;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_FOREIGN);
}
END_TEST

START_TEST(no_program)
{
	struct image i = usual();

	ck_assert_int_eq(kind_of(&i, 0), SWZ_PROGRAM_IS_NO_ELF);
	ck_assert_int_eq(kind_of(&i, 3), SWZ_PROGRAM_IS_NO_ELF);
	ck_assert_int_eq(kind_of(&i, 4), SWZ_PROGRAM_IS_SHORT);
	ck_assert_int_eq(kind_of(&i, sizeof(Elf64_Ehdr) - 1),
			 SWZ_PROGRAM_IS_SHORT);
	ck_assert_int_eq(kind_of(&i, sizeof(Elf64_Ehdr)),
			 SWZ_PROGRAM_IS_STATIC);
	i.header.e_type = ET_CORE;
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_NONE);
	i.header.e_ident[EI_MAG3] = 'G';
	ck_assert_int_eq(kind_of_all(&i), SWZ_PROGRAM_IS_NO_ELF);
	ck_assert_int_eq(swz_program_of(-1), SWZ_PROGRAM_IS_NO_ELF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *tests = tcase_create("program");

	tcase_add_test(tests, program_of_glibc_fits);
	tcase_add_test(tests, another_dynamic_linker);
	tcase_add_test(tests, the_dynamic_linker);
	tcase_add_test(tests, another_architecture);
	tcase_add_test(tests, no_program);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
