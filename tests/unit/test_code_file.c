/* Which function an address of a file is in: symbols, unwind entries, what is
 * between them, and parts that the compiler has moved away. */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "util/memory.h"
#include "watch/code_file.h"

/* Made by the assembler at the beginning: no code of it ever runs. */
static const char source[] = "	.text\n"
			     "	.globl whole, sized, twice_a, twice_b\n"
			     "	.type whole, @function\n"
			     "whole:	.cfi_startproc\n"
			     "	.skip 32, 0x90\n"
			     "	.cfi_endproc\n"
			     "	.size whole, 32\n"
			     "	.skip 16, 0x90\n" /* nobody's */
			     "	.cfi_startproc\n" /* no symbol: 48 */
			     "	.skip 16, 0x90\n"
			     "	.cfi_endproc\n"
			     "	.type sized, @function\n" /* 64 */
			     "sized:	.skip 16, 0x90\n"
			     "	.size sized, 16\n"
			     "	.type bare, @function\n" /* 80: no size */
			     "bare:	.skip 16, 0x90\n"
			     "	.type whole.cold, @function\n" /* 96 */
			     "whole.cold: .cfi_startproc\n"
			     "	.skip 16, 0x90\n"
			     "	.cfi_endproc\n"
			     "	.size whole.cold, 16\n"
			     "	.type twice_a, @function\n" /* 112: two names */
			     "	.type twice_b, @function\n"
			     "twice_a: twice_b: .skip 16, 0x90\n"
			     "	.size twice_a, 16\n"
			     "	.size twice_b, 16\n";

static char directory[32];
static char library[64];

static void build(void)
{
	char command[512];
	FILE *to;

	strcpy(directory, "/tmp/swizzle-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(library, sizeof(library), "%s/code.so", directory);
	snprintf(command, sizeof(command),
		 "cc -shared -nostdlib -o %s -x assembler -", library);
	to = popen(command, "w");
	ck_assert_ptr_nonnull(to);
	fputs(source, to);
	ck_assert_int_eq(pclose(to), 0);
}

static void clean(void)
{
	swz_code_files_close();
	unlink(library);
	rmdir(directory);
}

static struct swz_code_file *file_of(const char *path, uint64_t inode)
{
	return swz_code_file_of(&(struct swz_mapped_file){
		.pid = getpid(), .inode = inode, .path = path});
}

static struct swz_code_file *open_it(uint64_t *text)
{
	struct swz_code_file *file;
	struct stat st;

	ck_assert_int_eq(stat(library, &st), 0);
	file = file_of(library, st.st_ino);
	ck_assert(file->readable);
	/* code begins at a page of its own */
	ck_assert(swz_code_file_address(file, 4096, text));
	return file;
}

static const struct {
	uint64_t at, start, size;
} places[] = {
	{0, 0, 32},     {31, 0, 32},  {32, 32, 16}, {47, 32, 16},
	{48, 48, 16},   {63, 48, 16}, {64, 64, 16}, {80, 80, 16},
	{95, 80, 16},   {96, 0, 32},  {111, 0, 32}, {112, 112, 16},
	{127, 112, 16},
};

START_TEST(finds_the_function_of_an_address)
{
	uint64_t text;
	struct swz_code_file *file = open_it(&text);
	struct swz_code_function found = swz_code_file_function(
		file, text + places[_i].at);

	ck_assert_uint_eq(found.start - text, places[_i].start);
	ck_assert_uint_eq(found.size, places[_i].size);
}
END_TEST

START_TEST(a_file_is_opened_once)
{
	uint64_t text;

	ck_assert_ptr_eq(open_it(&text), open_it(&text));
}
END_TEST

START_TEST(another_file_of_that_name_is_not_it)
{
	struct swz_code_file *file = file_of(library, 1);

	ck_assert(!file->readable);
	ck_assert_uint_eq(swz_code_file_function(file, 5).start, 0);
	ck_assert(!file_of("/nowhere/at/all", 0)->readable);
	ck_assert(!file_of(__FILE__, 0)->readable);
}
END_TEST

/* Whoever looked at a mapping of it would get SIGBUS. */
START_TEST(a_file_that_is_cut_off_tells_less)
{
	uint64_t text, address;
	struct swz_code_file *file = open_it(&text);
	struct swz_code_function found;
	char word[8];

	ck_assert_int_eq(truncate(library, 4096), 0);
	found = swz_code_file_function(file, text + 5);
	ck_assert_uint_le(found.start, text + 5);
	ck_assert(!swz_code_file_symbol(file, "bare", &address));
	ck_assert(!swz_code_file_needs(file, "libc"));
	ck_assert(!swz_code_file_bytes(file, text, word, sizeof(word)));
}
END_TEST

START_TEST(a_file_that_is_cut_off_later_is_known)
{
	uint64_t text, address;
	struct swz_code_file *file = open_it(&text);

	ck_assert(swz_code_file_symbol(file, "sized", &address));
	ck_assert_uint_eq(address, text + 64);
	ck_assert_int_eq(truncate(library, 64), 0);
	ck_assert_uint_eq(swz_code_file_function(file, text + 70).start,
			  text + 64);
}
END_TEST

START_TEST(a_file_that_was_removed_keeps_its_names)
{
	uint64_t text, addresses[3];
	struct swz_code_file *file = open_it(&text);
	const char *names[3];
	char *path;

	ck_assert(!swz_code_file_is_gone(file));
	(void)swz_code_file_function(file, text);
	ck_assert_int_eq(unlink(library), 0);
	ck_assert(swz_code_file_is_gone(file));
	addresses[0] = text;
	addresses[1] = text + 48;
	addresses[2] = text + 64;
	swz_code_file_names(file, addresses, names, 3);
	ck_assert_str_eq(names[0], "whole");
	ck_assert_ptr_null(names[1]);
	ck_assert_str_eq(names[2], "sized");
	/* /proc/PID/maps names it so from now on */
	path = swz_print("%s (deleted)", library);
	ck_assert_ptr_eq(file_of(path, file->inode), file);
	free(path);
}
END_TEST

/* As one has that is made of a process's memory. */
START_TEST(a_file_without_a_table_of_sections)
{
	static const char *const styles[] = {"gnu", "sysv"};
	uint64_t text, addresses[2];
	struct swz_code_file *file;
	Elf64_Ehdr header;
	const char *names[2];
	char command[256];
	FILE *to;

	snprintf(
		command, sizeof(command),
		"cc -shared -nostdlib -Wl,--hash-style=%s -o %s -x assembler -",
		styles[_i], library);
	to = popen(command, "w");
	ck_assert_ptr_nonnull(to);
	fputs(source, to);
	ck_assert_int_eq(pclose(to), 0);
	to = fopen(library, "r+");
	ck_assert_uint_eq(fread(&header, sizeof(header), 1, to), 1);
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	rewind(to);
	ck_assert_uint_eq(fwrite(&header, sizeof(header), 1, to), 1);
	ck_assert_int_eq(fclose(to), 0);
	file = open_it(&text);
	ck_assert_uint_eq(swz_code_file_function(file, text + 31).start, text);
	ck_assert_uint_eq(swz_code_file_function(file, text + 63).start,
			  text + 48);
	addresses[0] = text;
	addresses[1] = text + 64;
	swz_code_file_names(file, addresses, names, 2);
	ck_assert_str_eq(names[0], "whole");
	ck_assert_str_eq(names[1], "sized");
}
END_TEST

START_TEST(a_name_may_end_as_those_of_removed_files_do)
{
	uint64_t text;
	struct swz_code_file *file = open_it(&text);
	char *path = swz_print("%s (deleted)", library);

	ck_assert_int_eq(rename(library, path), 0);
	ck_assert_str_eq(file_of(path, file->inode + 1)->path, library);
	swz_code_files_close();
	file = file_of(path, 0);
	ck_assert(file->readable);
	ck_assert_str_eq(file->path, path);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(the_vdso_has_names)
{
	struct swz_code_file *file = file_of(SWZ_VDSO, 0);
	bool any = false;

	if (!file->readable)
		return; /* there is none */
	for (uint64_t at = file->first; at < file->past; at += 16) {
		const char *name;

		swz_code_file_names(file, &at, &name, 1);
		any |= name && strncmp(name, "__vdso_", 7) == 0;
	}
	ck_assert(any);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_file");
	TCase *tcase = tcase_create("code_file");

	tcase_add_unchecked_fixture(tcase, build, clean);
	tcase_add_loop_test(tcase, finds_the_function_of_an_address, 0,
			    sizeof(places) / sizeof(places[0]));
	tcase_add_test(tcase, a_file_is_opened_once);
	tcase_add_test(tcase, another_file_of_that_name_is_not_it);
	tcase_add_test(tcase, the_vdso_has_names);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("changed");
	tcase_add_checked_fixture(tcase, build, clean);
	tcase_add_test(tcase, a_file_that_was_removed_keeps_its_names);
	tcase_add_loop_test(tcase, a_file_without_a_table_of_sections, 0, 2);
	tcase_add_test(tcase, a_name_may_end_as_those_of_removed_files_do);
	tcase_add_test(tcase, a_file_that_is_cut_off_tells_less);
	tcase_add_test(tcase, a_file_that_is_cut_off_later_is_known);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
