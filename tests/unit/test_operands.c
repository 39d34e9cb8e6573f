/* What is asked of single instructions: which registers their operands name,
 * which they set, and whether a function keeps those of its caller. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/return_slot.h"
#include "tests/unit/run_suite.h"

#define CODE(text) text, sizeof(text) - 1

enum { NONE = SWZ_NO_REGISTER };

static struct swz_encoding read_code(const char *code, size_t size)
{
	struct swz_bytes bytes = {(const uint8_t *)code, size};
	struct swz_encoding e;

	ck_assert_int_eq(swz_encoding_read(bytes, &e), SWZ_OK);
	ck_assert_uint_eq(e.operands_at + e.immediate_bytes, size);
	return e;
}

/* ------------------------------------------------------------------ operands
 */

static const struct {
	const char *what, *code;
	size_t size;
	bool is_memory;
	unsigned base, index;
} operands[] = {
	{"mov (%rax), %rcx", CODE("\x48\x8b\x08"), true, 0, NONE},
	{"mov %rcx, %rax", CODE("\x48\x89\xc8"), false, 0, NONE},
	{"mov %rcx, %r8", CODE("\x49\x89\xc8"), false, 8, NONE},
	{"mov (%r9), %rcx", CODE("\x49\x8b\x09"), true, 9, NONE},
	{"mov (%rsp), %rcx", CODE("\x48\x8b\x0c\x24"), true, 4, NONE},
	{"mov (%r12), %rcx", CODE("\x49\x8b\x0c\x24"), true, 12, NONE},
	{"mov (%rax,%rdx,8), %rcx", CODE("\x48\x8b\x0c\xd0"), true, 0, 2},
	{"mov (%rax,%r12), %rcx", CODE("\x4a\x8b\x0c\x20"), true, 0, 12},
	{"mov 8(%rbp), %rcx", CODE("\x48\x8b\x4d\x08"), true, 5, NONE},
	{"mov 8(%rbp,%rcx), %rcx", CODE("\x48\x8b\x4c\x0d\x08"), true, 5, 1},
	{"mov 0x100(,%rdx,8), %rcx", CODE("\x48\x8b\x0c\xd5\0\1\0\0"), true,
	 NONE, 2},
	{"mov 0x100, %rcx", CODE("\x48\x8b\x0c\x25\0\1\0\0"), true, NONE, NONE},
	{"mov 0x100(%rip), %rcx", CODE("\x48\x8b\x0d\0\1\0\0"), true, NONE,
	 NONE},
	{"mov 0x100(%r13), %rcx", CODE("\x49\x8b\x8d\0\1\0\0"), true, 13, NONE},
	{"cltq", CODE("\x48\x98"), false, 0, NONE},
};

START_TEST(base_and_index_are_told)
{
	struct swz_encoding e = read_code(operands[_i].code, operands[_i].size);

	ck_assert_int_eq(swz_operand_is_memory(&e), operands[_i].is_memory);
	ck_assert_msg(swz_operand_base(&e) == operands[_i].base &&
			      swz_operand_index(&e) == operands[_i].index,
		      "%s", operands[_i].what);
}
END_TEST

static const struct {
	const char *what, *code;
	size_t size;
	unsigned reg;
} sets[] = {
	{"add %rcx, %rbx", CODE("\x48\x01\xcb"), 3},
	{"or %rcx, %rbx", CODE("\x48\x09\xcb"), 3},
	{"adc %rcx, %rbx", CODE("\x48\x11\xcb"), 3},
	{"sbb %rcx, %rbx", CODE("\x48\x19\xcb"), 3},
	{"and %rcx, %rbx", CODE("\x48\x21\xcb"), 3},
	{"sub %rcx, %r15", CODE("\x49\x29\xcf"), 15},
	{"xor %rcx, %rbx", CODE("\x48\x31\xcb"), 3},
	{"cmp %rcx, %rbx", CODE("\x48\x39\xcb"), NONE},
	{"mov %rcx, %rbx", CODE("\x48\x89\xcb"), 3},
	{"mov %rcx, (%rbx)", CODE("\x48\x89\x0b"), NONE},
	{"mov %cl, %bl", CODE("\x88\xcb"), NONE},
	{"pop %rbx, long", CODE("\x8f\xc3"), 3},
	{"pop (%rbx)", CODE("\x8f\x03"), NONE},
	{"shl $3, %rbx", CODE("\x48\xc1\xe3\x03"), 3},
	{"mov $1, %rbx", CODE("\x48\xc7\xc3\1\0\0\0"), 3},
	{"shl %rbx", CODE("\x48\xd1\xe3"), 3},
	{"shl %cl, %rbx", CODE("\x48\xd3\xe3"), 3},
	{"add %rbx, %rcx, from", CODE("\x48\x03\xcb"), 1},
	{"or", CODE("\x48\x0b\xcb"), 1},
	{"adc", CODE("\x48\x13\xcb"), 1},
	{"sbb", CODE("\x48\x1b\xcb"), 1},
	{"and", CODE("\x48\x23\xcb"), 1},
	{"sub", CODE("\x48\x2b\xcb"), 1},
	{"xor", CODE("\x48\x33\xcb"), 1},
	{"cmp", CODE("\x48\x3b\xcb"), NONE},
	{"mov (%rbx), %r9", CODE("\x4c\x8b\x0b"), 9},
	{"movslq", CODE("\x48\x63\xcb"), 1},
	{"imul $1000", CODE("\x48\x69\xcb\xe8\3\0\0"), 1},
	{"imul $10", CODE("\x48\x6b\xcb\x0a"), 1},
	{"lea (%rbx), %rcx", CODE("\x48\x8d\x0b"), 1},
	{"add $1000, %rbx", CODE("\x48\x81\xc3\xe8\3\0\0"), 3},
	{"cmp $1000, %rbx", CODE("\x48\x81\xfb\xe8\3\0\0"), NONE},
	{"sub $1, %rbx", CODE("\x48\x83\xeb\1"), 3},
	{"cmp $1, %rbx", CODE("\x48\x83\xfb\1"), NONE},
	{"add $1, (%rbx)", CODE("\x48\x83\x03\1"), NONE},
	{"test $1, %rbx", CODE("\x48\xf7\xc3\1\0\0\0"), NONE},
	{"not %rbx", CODE("\x48\xf7\xd3"), 3},
	{"neg %rbx", CODE("\x48\xf7\xdb"), 3},
	{"mul %rbx", CODE("\x48\xf7\xe3"), NONE},
	{"neg (%rbx)", CODE("\x48\xf7\x1b"), NONE},
	{"inc %rbx", CODE("\x48\xff\xc3"), 3},
	{"dec %rbx", CODE("\x48\xff\xcb"), 3},
	{"call *%rbx", CODE("\xff\xd3"), NONE},
	{"push %rbx, long", CODE("\xff\xf3"), NONE},
	{"pop %rax", CODE("\x58"), 0},
	{"pop %rdi", CODE("\x5f"), 7},
	{"pop %r15", CODE("\x41\x5f"), 15},
	{"push %rdi", CODE("\x57"), NONE},
	{"mov $1, %eax", CODE("\xb8\1\0\0\0"), 0},
	{"mov $1, %r15d", CODE("\x41\xbf\1\0\0\0"), 15},
	{"mov $1, %bh", CODE("\xb7\1"), NONE},
	{"cmove %rbx, %rcx", CODE("\x48\x0f\x44\xcb"), 1},
	{"cmovo", CODE("\x48\x0f\x40\xcb"), 1},
	{"cmovg", CODE("\x48\x0f\x4f\xcb"), 1},
	{"movmskps", CODE("\x0f\x50\xcb"), NONE},
	{"imul %rbx, %rcx", CODE("\x48\x0f\xaf\xcb"), 1},
	{"cmpxchg", CODE("\x48\x0f\xb1\xcb"), NONE},
	{"btr %rcx, %rbx", CODE("\x48\x0f\xb3\xcb"), NONE},
	{"movzb %bl, %ecx", CODE("\x0f\xb6\xcb"), 1},
	{"movzw", CODE("\x0f\xb7\xcb"), 1},
	{"bsf", CODE("\x48\x0f\xbc\xcb"), 1},
	{"movsw", CODE("\x48\x0f\xbf\xcb"), 1},
	{"xadd", CODE("\x48\x0f\xc1\xcb"), NONE},
	{"movbe (%rbx), %rcx", CODE("\x48\x0f\x38\xf0\x0b"), NONE},
	{"ret", CODE("\xc3"), NONE},
};

START_TEST(the_register_that_is_set_is_told)
{
	struct swz_encoding e = read_code(sets[_i].code, sets[_i].size);

	ck_assert_msg(swz_operand_set(&e) == sets[_i].reg, "%s: %u",
		      sets[_i].what, swz_operand_set(&e));
}
END_TEST

/* ------------------------------------------------------------ kept registers
 */

static struct swz_kept_registers kept;

static bool keeps(const char *code, size_t size, bool in_stack)
{
	struct swz_encoding e = read_code(code, size);

	return swz_kept_registers_follow(&kept, &e, in_stack);
}

#define KEEPS(text) keeps(CODE(text), false)

START_TEST(registers_are_saved_before_they_are_set)
{
	memset(&kept, 0, sizeof(kept));
	ck_assert(KEEPS("\x53"));          /* push %rbx */
	ck_assert(KEEPS("\x48\x89\xfb"));  /* mov %rdi, %rbx */
	ck_assert(KEEPS("\x48\x8b\x03"));  /* mov (%rbx), %rax */
	ck_assert(!KEEPS("\x49\x89\xfc")); /* mov %rdi, %r12 */
	ck_assert(KEEPS("\x41\x54"));      /* push %r12 */
	ck_assert(KEEPS("\x49\x89\xfc"));
	ck_assert(KEEPS("\x5b"));         /* pop %rbx: the caller's again */
	ck_assert(KEEPS("\x48\x89\xc8")); /* mov %rcx, %rax */
	ck_assert(KEEPS("\x49\x89\xf8")); /* mov %rdi, %r8 */
}
END_TEST

START_TEST(all_that_are_the_callers_are_known)
{
	static const struct {
		const char *code;
		bool is_free;
	} moves[] = {
		{"\x48\x89\xf8", true},  /* mov %rdi, %rax */
		{"\x48\x89\xf9", true},  /* %rcx */
		{"\x48\x89\xfa", true},  /* %rdx */
		{"\x48\x89\xfb", false}, /* %rbx */
		{"\x48\x89\xfd", false}, /* %rbp */
		{"\x48\x89\xfe", true},  /* %rsi */
		{"\x49\x89\xfb", true},  /* %r11 */
		{"\x49\x89\xfc", false}, /* %r12 */
		{"\x49\x89\xfd", false}, /* %r13 */
		{"\x49\x89\xfe", false}, /* %r14 */
		{"\x49\x89\xff", false}, /* %r15 */
	};

	memset(&kept, 0, sizeof(kept));
	ck_assert_int_eq(keeps(moves[_i].code, 3, false), moves[_i].is_free);
}
END_TEST

START_TEST(a_store_to_the_stack_saves)
{
	memset(&kept, 0, sizeof(kept));
	ck_assert(KEEPS("\x48\x89\x5c\x24\x08"));
	ck_assert(!KEEPS("\x31\xdb")); /* not there, to be sure */
	ck_assert(keeps(CODE("\x48\x89\x5c\x24\x08"), true));
	ck_assert(KEEPS("\x31\xdb")); /* xor %ebx, %ebx */
}
END_TEST

START_TEST(memory_is_not_found_by_what_the_caller_has)
{
	memset(&kept, 0, sizeof(kept));
	ck_assert(!KEEPS("\x48\x8b\x03"));     /* mov (%rbx), %rax */
	ck_assert(!KEEPS("\x4a\x8b\x04\x28")); /* mov (%rax,%r13), %rax */
	ck_assert(KEEPS("\x48\x8b\x04\x08"));  /* mov (%rax,%rcx), %rax */
	ck_assert(KEEPS("\x48\x89\xd8"));      /* mov %rbx, %rax: no memory */
	ck_assert(KEEPS("\x53"));
	ck_assert(!KEEPS("\x48\x8b\x03")); /* saved, and not set */
	ck_assert(KEEPS("\x5b"));
	ck_assert(!KEEPS("\x48\x8b\x03"));
	ck_assert(KEEPS("\x31\xdb"));
	ck_assert(KEEPS("\x48\x8b\x03"));
}
END_TEST

/* ------------------------------------------------------------- branch thunks
 */

static const struct {
	const char *what, *code;
	size_t size;
	bool is_thunk;
} thunks[] = {
	{"GCC's, by mov",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24\xc3"),
	 true},
	{"by lea",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x8d\x64\x24\x08"
	      "\xc3"),
	 true},
	{"of %r11",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x4c\x89\x1c\x24\xc3"),
	 true},
	{"behind endbr64",
	 CODE("\xf3\x0f\x1e\xfa\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48"
	      "\x89\x04\x24\xc3"),
	 true},
	{"with bnd ret",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24\xf2"
	      "\xc3"),
	 true},
	{"with rep ret",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24\xf3"
	      "\xc3"),
	 true},
	{"nothing", CODE(""), false},
	{"a call alone", CODE("\xe8\0\0\0\0"), false},
	{"a call to its end", CODE("\xe8\1\0\0\0\x90"), false},
	{"a jump",
	 CODE("\xe9\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24\xc3"),
	 false},
	{"without a return",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24\x90"),
	 false},
	{"cut off before the return",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x24"),
	 false},
	{"a store elsewhere",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x44\x24\x08"
	      "\xc3"),
	 false},
	{"a load",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x8b\x04\x24\xc3"),
	 false},
	{"of 32 bits",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x40\x89\x04\x24\xc3"),
	 false},
	{"a store by another register",
	 CODE("\xe8\7\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\x48\x89\x04\x20\xc3"),
	 false},
};

START_TEST(branch_thunks_are_told)
{
	struct swz_bytes code = {(const uint8_t *)thunks[_i].code,
				 thunks[_i].size};

	ck_assert_msg(swz_is_branch_thunk(code) == thunks[_i].is_thunk, "%s",
		      thunks[_i].what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operands");
	TCase *t = tcase_create("operands");

	tcase_add_loop_test(t, base_and_index_are_told, 0,
			    sizeof(operands) / sizeof(*operands));
	tcase_add_loop_test(t, the_register_that_is_set_is_told, 0,
			    sizeof(sets) / sizeof(*sets));
	tcase_add_test(t, registers_are_saved_before_they_are_set);
	tcase_add_loop_test(t, all_that_are_the_callers_are_known, 0, 11);
	tcase_add_test(t, a_store_to_the_stack_saves);
	tcase_add_test(t, memory_is_not_found_by_what_the_caller_has);
	tcase_add_loop_test(t, branch_thunks_are_told, 0,
			    sizeof(thunks) / sizeof(*thunks));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
