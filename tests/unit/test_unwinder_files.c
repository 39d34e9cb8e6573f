/* The file that code comes from: copies of this program with a part missing,
 * changed or cut, and files that are none. */

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/walked_stack.h"

START_TEST(a_file_that_is_another_has_no_rows)
{
	walk.words[2] = AT(t_root_at);
	walk_map_page("/proc/self/exe", 0, 1234567890123);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

/* A file that is no more than a header, a directory, nothing. */
START_TEST(files_that_cannot_be_read)
{
	static const char *const paths[] = {"/proc/self/cut", "/", "/dev/zero",
					    "/dev/null", "/etc/passwd"};
	char name[] = "/tmp/swizzle-unwinder-XXXXXX";
	int fd = mkstemp(name);
	size_t i;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "\177ELF\2\1\1", 7), 7);
	ck_assert_int_eq(ftruncate(fd, 70), 0);
	for (i = 0; i < 6; i++) {
		walk_map_page(i < 5 ? paths[i] : name, 0, 0);
		ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
		ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	}
	close(fd);
	unlink(name);
}
END_TEST

static const char copy_pattern[] = "/tmp/swizzle-unwinder-XXXXXX";
static char copy_name[sizeof(copy_pattern)];
static uint8_t *copy;
static size_t copy_size;

static void open_copy(void)
{
	int from = open("/proc/self/exe", O_RDONLY), to;
	struct stat st;

	walk_set_up();
	memcpy(copy_name, copy_pattern, sizeof(copy_pattern));
	to = mkstemp(copy_name);
	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	ck_assert_int_eq(fstat(from, &st), 0);
	copy_size = (size_t)st.st_size;
	ck_assert_int_eq(sendfile(to, from, NULL, copy_size), st.st_size);
	copy = mmap(NULL, copy_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	ck_assert_ptr_ne(copy, MAP_FAILED);
	close(from);
	close(to);
}

static void close_copy(void)
{
	munmap(copy, copy_size);
	unlink(copy_name);
	walk_tear_down();
}

static Elf64_Phdr *segment_of(uint32_t type)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)copy;
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(copy + header->e_phoff);

	while (segment->p_type != type)
		segment++;
	return segment;
}

/* The offset in the file of the page that has the labels. */
static uint64_t offset_of_code(void)
{
	extern const char __executable_start[];
	uint64_t at = AT(t_by_rsp_at) - AT(__executable_start);
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)copy;
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(copy + header->e_phoff);

	while (segment->p_type != PT_LOAD || at < segment->p_vaddr ||
	       at - segment->p_vaddr >= segment->p_filesz)
		segment++;
	return (at - segment->p_vaddr + segment->p_offset) & ~UINT64_C(4095);
}

static void expect_rows(void)
{
	walk_map_page(copy_name, offset_of_code(), 0);
	walk.words[1] = walk_address(10);
	walk.words[2] = AT(t_by_rbp_at) + 1;
	walk.words[11] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}

START_TEST(a_file_as_it_is)
{
	expect_rows();
}
END_TEST

START_TEST(a_file_without_a_table_of_entries)
{
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	expect_rows();
}
END_TEST

START_TEST(a_file_whose_table_is_of_another_form)
{
	copy[segment_of(PT_GNU_EH_FRAME)->p_offset] = 2;
	expect_rows();
}
END_TEST

START_TEST(a_file_without_sections)
{
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	expect_rows();
}
END_TEST

START_TEST(a_file_without_both_has_no_rows)
{
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	walk_map_page(copy_name, offset_of_code(), 0);
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

/* Who maps a file must not be killed when somebody cuts it. */
START_TEST(a_file_that_is_cut_later_keeps_its_rows)
{
	expect_rows();
	ck_assert_int_eq(truncate(copy_name, 0), 0);
	walk.words[2] = AT(t_root_at); /* a pc that is new */
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	walk.words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_plt_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* code without an entry is read when it is first seen */
	walk.registers.bp = walk_address(8);
	walk.words[8] = 0;
	walk.words[9] = AT(t_root_at);
	walk.words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_bare_begin), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
}
END_TEST

START_TEST(a_file_that_is_written_anew_is_read_anew)
{
	static const struct timespec then[] = {{1, 0}, {1, 0}};

	expect_rows();
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	ck_assert_int_eq(utimensat(AT_FDCWD, copy_name, then, 0), 0);
	walk_map_page(copy_name, offset_of_code(), 0);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder files");
	TCase *tcase = tcase_create("files");

	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, a_file_that_is_another_has_no_rows);
	tcase_add_test(tcase, files_that_cannot_be_read);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("copies");
	tcase_add_checked_fixture(tcase, open_copy, close_copy);
	tcase_add_test(tcase, a_file_as_it_is);
	tcase_add_test(tcase, a_file_without_a_table_of_entries);
	tcase_add_test(tcase, a_file_whose_table_is_of_another_form);
	tcase_add_test(tcase, a_file_without_sections);
	tcase_add_test(tcase, a_file_without_both_has_no_rows);
	tcase_add_test(tcase, a_file_that_is_cut_later_keeps_its_rows);
	tcase_add_test(tcase, a_file_that_is_written_anew_is_read_anew);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
