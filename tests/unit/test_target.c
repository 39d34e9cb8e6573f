/* What is read of another process, from this one: its own dynamic linker and
 * libc say the same by other means. */

#include <check.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/target.h"
#include "tests/unit/run_suite.h"

static struct swz_target target;

static void begin(void)
{
	ck_assert(swz_target_open(&target, getpid()));
	ck_assert(swz_target_read_mappings(&target));
}

static void end(void)
{
	swz_target_close(&target);
}

/* Code is where the dynamic linker has it, with its rights, and of its file. */
static int compare_module(struct dl_phdr_info *info, size_t size, void *seen)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + s->p_vaddr;
		const struct swz_target_mapping *m;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) ||
		    !s->p_filesz)
			continue;
		m = swz_target_mapping_at(&target, at);
		ck_assert_ptr_nonnull(m);
		ck_assert(m->executable && m->readable);
		ck_assert(!m->writable == !(s->p_flags & PF_W));
		ck_assert_uint_le(at + s->p_filesz, m->end);
		if (info->dlpi_name[0] == '/') {
			struct stat a, b;

			ck_assert_int_eq(stat(info->dlpi_name, &a), 0);
			ck_assert_int_eq(stat(m->path, &b), 0);
			ck_assert_uint_eq(a.st_ino, b.st_ino);
			ck_assert_uint_eq(m->offset, s->p_offset & -4096ull);
		}
		++*(unsigned *)seen;
	}
	return 0;
}

START_TEST(finds_each_modules_code)
{
	unsigned seen = 0;

	dl_iterate_phdr(compare_module, &seen);
	ck_assert_uint_ge(seen, 3); /* us, libc, its linker */
}
END_TEST

START_TEST(between_mappings_there_is_none)
{
	char *at = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	const struct swz_target_mapping *m;

	ck_assert_ptr_ne(at, MAP_FAILED);
	munmap(at + 4096, 4096);
	ck_assert(swz_target_read_mappings(&target));
	m = swz_target_mapping_at(&target, (uintptr_t)at + 4095);
	ck_assert_ptr_nonnull(m);
	ck_assert(!m->readable && !m->executable);
	ck_assert_uint_eq(m->end, (uintptr_t)at + 4096);
	ck_assert_ptr_null(
		swz_target_mapping_at(&target, (uintptr_t)at + 4096));
	ck_assert_ptr_null(swz_target_mapping_at(&target, 0));
	ck_assert_ptr_null(swz_target_mapping_at(&target, UINT64_MAX));
}
END_TEST

START_TEST(finds_libcs_functions)
{
	static const char *const names[] = {"dlopen", "dlclose", "dlerror",
					    "__errno_location", "malloc"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
		void *expected = dlsym(libc, names[i]);

		if (expected) /* dlopen is in libdl.so before glibc 2.34 */
			ck_assert_uint_eq(swz_target_symbol(&target, names[i]),
					  (uintptr_t)expected);
	}
	ck_assert_uint_eq(swz_target_symbol(&target, "no_such_function"), 0);
}
END_TEST

START_TEST(reads_and_writes_all_or_nothing)
{
	char *at = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char bytes[16];

	ck_assert_ptr_ne(at, MAP_FAILED);
	munmap(at + 4096, 4096);
	memcpy(at + 4080, "0123456789abcdef", 16);
	ck_assert(swz_target_read(&target, (uintptr_t)at + 4080, bytes, 16));
	ck_assert_mem_eq(bytes, "0123456789abcdef", 16);
	ck_assert(!swz_target_read(&target, (uintptr_t)at + 4081, bytes, 16));
	/* where the process may not write itself */
	mprotect(at, 4096, PROT_READ);
	ck_assert(swz_target_write(&target, (uintptr_t)at + 4080, "XY", 2));
	ck_assert_mem_eq(at + 4080, "XY23", 4);
	ck_assert(!swz_target_write(&target, (uintptr_t)at + 4096, "XY", 2));
}
END_TEST

START_TEST(there_is_no_such_process)
{
	struct swz_target none;

	ck_assert(!swz_target_open(&none, 0x7ffffffe));
	swz_target_close(&none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control/target");
	TCase *self = tcase_create("self");

	tcase_add_checked_fixture(self, begin, end);
	tcase_add_test(self, finds_each_modules_code);
	tcase_add_test(self, between_mappings_there_is_none);
	tcase_add_test(self, finds_libcs_functions);
	tcase_add_test(self, reads_and_writes_all_or_nothing);
	tcase_add_test(self, there_is_no_such_process);
	suite_add_tcase(suite, self);
	return run_suite(suite);
}
