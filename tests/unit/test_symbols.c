/* Names and lines of this very program. */

#include <check.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/names/symbols.h"
#include "tests/unit/run_suite.h"

static struct swz_symbols *symbols;
static uint64_t bias;

static volatile int sink;

static inline __attribute__((always_inline)) void inlined_helper(int value)
{
	sink = value;
	__asm__ volatile("here_in_helper: .globl here_in_helper" ::: "memory");
	sink = value + 1;
}

extern char here_in_helper[];

__attribute__((noinline, used)) static void plain_function(void)
{
	inlined_helper(3);
}
enum { PLAIN_CALL_LINE = __LINE__ - 2 };

static int first_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1; /* the first is the program */
}

static uint64_t vaddr(const void *address)
{
	return (uintptr_t)address - bias;
}

static enum swz_status open_at(const char *path, const uint8_t *build_id,
			       size_t build_id_bytes,
			       struct swz_symbols **opened)
{
	struct swz_symbols_source source = {.path = path,
					    .build_id = build_id,
					    .build_id_bytes = build_id_bytes,
					    .files = &swz_debug_files_usual};

	return swz_symbols_open(&source, opened);
}

static void setup(void)
{
	dl_iterate_phdr(first_bias, &bias);
	ck_assert_int_eq(open_at("/proc/self/exe", NULL, 0, &symbols), SWZ_OK);
}

static void teardown(void)
{
	swz_symbols_close(symbols);
}

START_TEST(finds_a_local_function)
{
	uint64_t address = vaddr((void *)plain_function);
	uint64_t offset = 99;

	ck_assert_str_eq(swz_symbols_name(symbols, address, &offset),
			 "plain_function");
	ck_assert_uint_eq(offset, 0);
	ck_assert_str_eq(swz_symbols_name(symbols, address + 1, &offset),
			 "plain_function");
	ck_assert_uint_eq(offset, 1);
	ck_assert_ptr_null(swz_symbols_name(symbols, 1, &offset));
}
END_TEST

START_TEST(finds_the_line_of_a_function)
{
	struct swz_source source = swz_symbols_line(
		symbols, vaddr((void *)plain_function));

	ck_assert_ptr_nonnull(source.file);
	ck_assert_int_eq(source.file[0], '/');
	ck_assert_ptr_nonnull(strstr(source.file, "test_symbols.c"));
	ck_assert_int_gt(source.line, 0);
	ck_assert_int_le(source.line, PLAIN_CALL_LINE + 1);
}
END_TEST

START_TEST(finds_inlined_code)
{
	struct swz_inline inlined = swz_symbols_inline(symbols,
						       vaddr(here_in_helper));

	ck_assert_ptr_nonnull(inlined.name);
	ck_assert_str_eq(inlined.name, "inlined_helper");
	ck_assert_int_eq(inlined.line, PLAIN_CALL_LINE);
}
END_TEST

START_TEST(plain_code_is_not_inlined)
{
	struct swz_inline inlined = swz_symbols_inline(
		symbols, vaddr((void *)first_bias));

	ck_assert_ptr_null(inlined.name);
}
END_TEST

START_TEST(refuses_another_build_id)
{
	static const uint8_t other[20] = {1, 2, 3};
	struct swz_symbols *opened;

	ck_assert_int_eq(
		open_at("/proc/self/exe", other, sizeof(other), &opened),
		SWZ_E_UNSUPPORTED);
	ck_assert_ptr_null(opened);
}
END_TEST

START_TEST(refuses_what_is_no_module)
{
	struct swz_symbols *opened;

	ck_assert_int_eq(open_at("/nonexistent", NULL, 0, &opened),
			 SWZ_E_NOTFOUND);
	ck_assert_int_eq(open_at("/dev/zero", NULL, 0, &opened),
			 SWZ_E_NOTFOUND);
	ck_assert_int_eq(open_at("/etc/passwd", NULL, 0, &opened),
			 SWZ_E_FORMAT);
}
END_TEST

static void demangles(const char *name, enum swz_demangle style,
		      const char *expected)
{
	char *result = swz_demangle(name, 0, style);

	ck_assert_str_eq(result, expected);
	free(result);
}

/* f(P<P<...>, P<...> >*), DEPTH deep: each level refers twice to the last. To
 * be freed. */
static char *nested_name(unsigned int depth)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&name, &size);
	unsigned int i;

	ck_assert_ptr_nonnull(stream);
	fputs("_Z1fP1P", stream);
	for (i = 1; i < depth; i++)
		fputs("IS_", stream);
	fputs("I1TS0_E", stream);
	for (i = 1; i < depth; i++)
		fprintf(stream, "S%c_E", digits[i]);
	ck_assert_int_eq(fclose(stream), 0);
	return name;
}

START_TEST(what_would_be_too_long_stays_mangled)
{
	char *name = nested_name(10);
	char *result = swz_demangle(name, 0, SWZ_DEMANGLE_FULL);

	ck_assert_int_eq(strncmp(result, "f(P<P<", 6), 0);
	ck_assert_uint_gt(strlen(result), 2000);
	free(result);
	free(name);
	name = nested_name(34);
	demangles(name, SWZ_DEMANGLE_FULL, name);
	demangles(name, SWZ_DEMANGLE_SIMPLE, "f");
	free(name);
}
END_TEST

START_TEST(demangles_in_three_styles)
{
	demangles("_ZN3foo3barEi", SWZ_DEMANGLE_NO, "_ZN3foo3barEi");
	demangles("_ZN3foo3barEi", SWZ_DEMANGLE_SIMPLE, "foo::bar");
	demangles("_ZN3foo3barEi", SWZ_DEMANGLE_FULL, "foo::bar(int)");
	demangles("_ZN4core3fmt5write17h0123456789abcdefE", SWZ_DEMANGLE_SIMPLE,
		  "core::fmt::write");
	demangles("_RNvC6_123foo3bar", SWZ_DEMANGLE_SIMPLE, "123foo::bar");
	/* a part of it without a name (libiberty writes NULL) */
	demangles("_RNvC0_1f", SWZ_DEMANGLE_SIMPLE, "::f");
	demangles("main", SWZ_DEMANGLE_FULL, "main");
	demangles("_init", SWZ_DEMANGLE_FULL, "_init");
	demangles("_Znwm", SWZ_DEMANGLE_SIMPLE, "operator new");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tests = tcase_create("symbols");

	plain_function();
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, finds_a_local_function);
	tcase_add_test(tests, finds_the_line_of_a_function);
	tcase_add_test(tests, finds_inlined_code);
	tcase_add_test(tests, plain_code_is_not_inlined);
	tcase_add_test(tests, refuses_another_build_id);
	tcase_add_test(tests, refuses_what_is_no_module);
	tcase_add_test(tests, demangles_in_three_styles);
	tcase_add_test(tests, what_would_be_too_long_stays_mangled);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
