/* Which functions are leaves, by their bytes. */

#include <check.h>
#include <stdlib.h>

#include "thunks/leaf.h"

struct function {
	const char *what;
	uint8_t bytes[24];
	uint8_t size;
	uint8_t site;
};

static const struct function leaves[] = {
	{"ret", {0xc3}, 1, 0},
	{"mov, add, ret", {0x48, 0x89, 0xf8, 0x48, 0x01, 0xf0, 0xc3}, 7, 0},
	{"endbr64, vector code",
	 {0xf3, 0x0f, 0x1e, 0xfa, 0xc5, 0xf8, 0x58, 0xc1, 0xc3},
	 9,
	 4},
	{"push, mov %rsp, %rbp, sub, lea, pop",
	 {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8d, 0x64,
	  0x24, 0x10, 0x5d, 0xc3},
	 15,
	 0},
	{"mov %r12, %r8; mov $4, %ah", {0x4d, 0x89, 0xe0, 0xb4, 4, 0xc3}, 6, 0},
	{"mov %rax, %r12", {0x49, 0x89, 0xc4, 0xc3}, 4, 0},
	{"mov (%rsi), %r12", {0x4c, 0x8b, 0x26, 0xc3}, 4, 0},
	{"loop behind the site",
	 {0x31, 0xc0, 0x90, 0x90, 0x90, 0xff, 0xc0, 0x39, 0xf8, 0x75, 0xfa,
	  0xc3},
	 12,
	 0},
	{"jae32 ahead", {0x0f, 0x83, 1, 0, 0, 0, 0x90, 0xc3}, 8, 0},
	{"e8 as a ModRM byte", {0x48, 0x89, 0xe8, 0xc3}, 4, 0},
};

static const struct function others[] = {
	{"nothing", {0}, 0, 0},
	{"call to where it is", {0xe8, 0, 0, 0, 0, 0xc3}, 6, 0},
	{"call elsewhere", {0xe8, 0, 1, 0, 0, 0xc3}, 6, 0},
	{"what may be a call, in an instruction",
	 {0x48, 0xb8, 0xe8, 0, 0, 0, 0, 0, 0, 0, 0xc3},
	 11,
	 0},
	{"call *%rax", {0xff, 0xd0, 0xc3}, 3, 0},
	{"call *%r8", {0x41, 0xff, 0xd0, 0xc3}, 4, 0},
	{"call *d(%rip)", {0xff, 0x15, 1, 2, 3, 0, 0xc3}, 7, 0},
	{"jmp *%rax", {0x3e, 0xff, 0xe0}, 3, 0},
	{"jmp *d(%rip)", {0xff, 0x25, 1, 2, 3, 0}, 6, 0},
	{"jmp elsewhere", {0xe9, 0, 1, 0, 0}, 5, 0},
	{"jmp16 ahead", {0x66, 0xe9, 1, 0, 0x90, 0xc3}, 6, 0},
	{"jmp before", {0xe9, 0, 0xff, 0xff, 0xff}, 5, 0},
	{"jne elsewhere", {0x85, 0xc0, 0x0f, 0x85, 0, 1, 0, 0, 0xc3}, 9, 0},
	{"jne to its end", {0x75, 0x01, 0xc3}, 3, 0},
	{"jmp to its beginning", {0xff, 0xc0, 0xeb, 0xfc, 0xc3}, 5, 0},
	{"jmp behind endbr64",
	 {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0xc0, 0x75, 0xfc, 0xc3},
	 9,
	 4},
	{"loop to its beginning", {0x90, 0x90, 0xe2, 0xfc, 0xc3}, 5, 0},
	{"syscall", {0x0f, 0x05, 0xc3}, 3, 0},
	{"int", {0xcd, 0x80, 0xc3}, 3, 0},
	{"xbegin", {0xc7, 0xf8, 0, 0, 0, 0, 0xc3}, 7, 0},
	{"mov %rsi, %rsp", {0x48, 0x89, 0xf4, 0xc3}, 4, 0},
	{"mov (%rsi), %rsp", {0x48, 0x8b, 0x26, 0xc3}, 4, 0},
	{"lea (%rdi), %rsp", {0x48, 0x8d, 0x27, 0xc3}, 4, 0},
	{"lea 8(%rdi), %rsp", {0x48, 0x8d, 0x67, 0x08, 0xc3}, 5, 0},
	{"xchg %rsp, (%rdi)", {0x48, 0x87, 0x27, 0xc3}, 4, 0},
	{"xchg %rax, %rsp", {0x48, 0x94, 0xc3}, 3, 0},
	{"add %rax, %rsp", {0x48, 0x01, 0xc4, 0xc3}, 4, 0},
	{"and $-64, %rsp", {0x48, 0x83, 0xe4, 0xc0, 0xc3}, 5, 0},
	{"pop %rsp", {0x5c, 0xc3}, 2, 0},
	{"leave", {0xc9, 0xc3}, 2, 0},
	{"far return", {0xcb}, 1, 0},
	{"an instruction that is cut off", {0x90, 0x48, 0x8b}, 3, 0},
};

static bool is_leaf(const struct function *f)
{
	struct swz_bytes code = {f->bytes, f->size};

	return swz_is_leaf(code, f->site, code);
}

START_TEST(leaves_are_told)
{
	ck_assert_msg(is_leaf(&leaves[_i]), "%s", leaves[_i].what);
}
END_TEST

START_TEST(others_are_told)
{
	ck_assert_msg(!is_leaf(&others[_i]), "%s", others[_i].what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("leaf");
	TCase *tests = tcase_create("leaf");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, leaves_are_told, 0,
			    sizeof(leaves) / sizeof(*leaves));
	tcase_add_loop_test(tests, others_are_told, 0,
			    sizeof(others) / sizeof(*others));
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
