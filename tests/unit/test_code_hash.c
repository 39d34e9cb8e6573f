/* Hashes of functions of this very program: twins do the same with copies of
 * the same data, at other places; the others differ in one thing each. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/names/rebuilt.h"
#include "tests/unit/run_suite.h"

/* One form for all: what is called, the text, the constant that is read, the
 * table that has a name, and the number that it returns. */
#define FUNCTION(name, callee, text, constant, table, number) \
	".globl " #name "; .type " #name ", @function\n" #name ":\n" \
	"lea " text "(%rip), %rdi; movsd " constant "(%rip), %xmm0\n" \
	"mov " table "+8(%rip), %rax; call " callee "\n" \
	"test %eax, %eax; jne 1f; mov $" #number ", %eax; 1: ret\n" \
	".size " #name ", . - " #name "\n"
#define TABLE(name, text, value) \
	".type " name ", @object\n" name ": .quad " text ", " value "\n" \
	".size " name ", . - " name "\n"

__asm__(".text\n"
	".type callee_1, @function; callee_1: ret; .size callee_1, 1\n"
	".type callee_2, @function; callee_2: nop; ret; .size callee_2, 2\n"
	/* clang-format off */
	FUNCTION(twin_1, "callee_1", ".Ltext_1", ".Lnumber_1", "table.1", 5)
	FUNCTION(twin_2, "callee_1", ".Ltext_2", ".Lnumber_2", "table.2", 5)
	FUNCTION(by_callee, "callee_2", ".Ltext_1", ".Lnumber_1", "table.1", 5)
	FUNCTION(by_text, "callee_1", ".Ltext_3", ".Lnumber_1", "table.1", 5)
	FUNCTION(by_constant, "callee_1", ".Ltext_1", ".Lnumber_3", "table.1", 5)
	FUNCTION(by_table, "callee_1", ".Ltext_1", ".Lnumber_1", "table.3", 5)
	FUNCTION(by_text_of_table, "callee_1", ".Ltext_1", ".Lnumber_1",
		 "table.4", 5)
	FUNCTION(by_number, "callee_1", ".Ltext_1", ".Lnumber_1", "table.1", 6)
	".section .rodata; .balign 8\n"
	".Lnumber_1: .double 1.5\n.Lnumber_3: .double 2.5\n"
	".Ltext_1: .string \"a text\"\n.Ltext_3: .string \"a test\"\n"
	".Ltext_2: .string \"a text\"\n.balign 8\n.Lnumber_2: .double 1.5\n"
	".section .data.rel.ro, \"aw\"; .balign 8\n"
	TABLE("table.1", ".Ltext_1", "7")
	TABLE("table.2", ".Ltext_2", "7")
	TABLE("table.3", ".Ltext_1", "8")
	TABLE("table.4", ".Ltext_3", "7")
	".text\n");
/* clang-format on */
extern char twin_1[], twin_2[], by_callee[], by_text[], by_constant[],
	by_table[], by_text_of_table[], by_number[];

static struct swz_intern strings;
static struct swz_build build;
static struct swz_code_function *functions;
static size_t count;

static void setup(void)
{
	const char *kept[] = {twin_1,    twin_2,          by_callee,
			      by_text,   by_constant,     by_table,
			      by_number, by_text_of_table};

	/* (the linker drops what nothing refers to) */
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		ck_assert_ptr_nonnull(kept[i]);
	ck_assert_int_eq(swz_code_read("/proc/self/exe", &swz_debug_files_usual,
				       &strings, &build, &functions, &count),
			 SWZ_OK);
}

static void teardown(void)
{
	free(build.path);
	free(functions);
	swz_intern_free(&strings);
}

static const struct swz_code_function *find(const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (functions[i].name && strcmp(functions[i].name, name) == 0)
			return &functions[i];
	ck_abort_msg("no function %s", name);
}

START_TEST(places_do_not_count)
{
	ck_assert_uint_ne(find("twin_1")->address, find("twin_2")->address);
	ck_assert_uint_eq(find("twin_1")->hash, find("twin_2")->hash);
}
END_TEST

START_TEST(all_else_counts)
{
	static const char *const others[] = {"by_callee",   "by_text",
					     "by_constant", "by_table",
					     "by_number",   "by_text_of_table"};

	ck_assert_uint_eq(find(others[_i])->size, find("twin_1")->size);
	ck_assert_uint_ne(find(others[_i])->hash, find("twin_1")->hash);
}
END_TEST

START_TEST(a_build_is_the_same_as_itself)
{
	struct swz_rebuilt rebuilt;
	const struct swz_old_function *old;
	const char *failed;

	ck_assert_int_eq(swz_rebuilt_compare(&rebuilt, "/proc/self/exe",
					     "/proc/self/exe",
					     &swz_debug_files_usual, &failed),
			 SWZ_OK);
	ck_assert_uint_gt(rebuilt.count, 8);
	ck_assert_uint_eq(rebuilt.other_count, 0);
	for (size_t i = 0; i < rebuilt.count; i++) {
		ck_assert_int_eq(rebuilt.functions[i].change, SWZ_CODE_SAME);
		ck_assert_uint_eq(rebuilt.functions[i].new_address,
				  rebuilt.functions[i].address);
	}
	old = swz_rebuilt_find(&rebuilt, find("twin_2")->address + 1);
	ck_assert_ptr_nonnull(old);
	ck_assert_str_eq(old->name, "twin_2");
	ck_assert_ptr_null(swz_rebuilt_find(&rebuilt, 1));
	swz_rebuilt_free(&rebuilt);
}
END_TEST

START_TEST(what_cannot_be_read_is_named)
{
	struct swz_rebuilt rebuilt;
	const char *failed;

	ck_assert_int_eq(swz_rebuilt_compare(&rebuilt, "/proc/self/exe",
					     "/dev/null/none",
					     &swz_debug_files_usual, &failed),
			 SWZ_E_NOTFOUND);
	ck_assert_str_eq(failed, "/dev/null/none");
	ck_assert_int_eq(swz_rebuilt_compare(&rebuilt, "/proc/self/status",
					     "/proc/self/exe",
					     &swz_debug_files_usual, &failed),
			 SWZ_E_NOTFOUND);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_hash");
	TCase *cases = tcase_create("code_hash");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, places_do_not_count);
	tcase_add_loop_test(cases, all_else_counts, 0, 6);
	tcase_add_test(cases, a_build_is_the_same_as_itself);
	tcase_add_test(cases, what_cannot_be_read_is_named);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
