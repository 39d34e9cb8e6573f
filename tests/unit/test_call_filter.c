#include <check.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/syscall.h"
#include "tests/unit/run_suite.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define FIELD(name) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
/* what follows is for equality only */
#define UNLESS_EQUAL_SKIP(value, n) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))

static const struct seccomp_data madvise_call = {
	.nr = SYS_madvise,
	.arch = AUDIT_ARCH_X86_64,
	.instruction_pointer = 0x401000,
	.args = {0x7fff12345000, 0x100002000, 4},
};

#define EXPECT(expected, ...) \
	do { \
		const struct sock_filter code[] = {__VA_ARGS__}; \
		ck_assert_int_eq(swz_call_filter_allows(code, LENGTH(code), \
							&madvise_call), \
				 (expected)); \
	} while (0)

START_TEST(passes_what_is_allowed_alone)
{
	EXPECT(true, ALLOW);
	EXPECT(false, DENY);
	EXPECT(false, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG));
	EXPECT(false, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
	EXPECT(false, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO));
	EXPECT(true, BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_ALLOW),
	       BPF_STMT(BPF_RET | BPF_A, 0));
	EXPECT(false, BPF_STMT(BPF_RET | BPF_A, 0));
}
END_TEST

START_TEST(loads_fields)
{
	EXPECT(true, FIELD(nr), UNLESS_EQUAL_SKIP(SYS_madvise, 1), ALLOW, DENY);
	EXPECT(true, FIELD(arch), UNLESS_EQUAL_SKIP(AUDIT_ARCH_X86_64, 1),
	       ALLOW, DENY);
	EXPECT(true, FIELD(args[0]), UNLESS_EQUAL_SKIP(0x12345000, 1), ALLOW,
	       DENY);
	EXPECT(true,
	       BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, args[1]) + 4),
	       UNLESS_EQUAL_SKIP(1, 1), ALLOW, DENY);
	EXPECT(true, FIELD(args[5]), UNLESS_EQUAL_SKIP(0, 1), ALLOW, DENY);
	EXPECT(true, BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
	       UNLESS_EQUAL_SKIP(sizeof(madvise_call), 1), ALLOW, DENY);
}
END_TEST

START_TEST(does_not_know_where_a_call_comes_from)
{
	EXPECT(false, FIELD(instruction_pointer), ALLOW);
	EXPECT(false,
	       BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, instruction_pointer) + 4),
	       ALLOW);
	/* unless it is not asked for */
	EXPECT(true, BPF_STMT(BPF_JMP | BPF_JA, 1), FIELD(instruction_pointer),
	       ALLOW);
}
END_TEST

START_TEST(jumps)
{
	static const struct {
		uint32_t operand;
		uint16_t operation;
		bool holds;
	} cases[] = {
		{7, BPF_JEQ, true},    {6, BPF_JEQ, false},
		{6, BPF_JGT, true},    {7, BPF_JGT, false},
		{7, BPF_JGE, true},    {8, BPF_JGE, false},
		{4, BPF_JSET, true},   {8, BPF_JSET, false},
		{~0u, BPF_JGT, false}, {~0u, BPF_JSET, true},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint16_t operation = BPF_JMP | cases[i].operation;

		EXPECT(cases[i].holds, BPF_STMT(BPF_LD | BPF_IMM, 7),
		       BPF_JUMP(operation | BPF_K, cases[i].operand, 1, 0),
		       DENY, ALLOW);
		EXPECT(cases[i].holds, BPF_STMT(BPF_LD | BPF_IMM, 7),
		       BPF_STMT(BPF_LDX | BPF_IMM, cases[i].operand),
		       BPF_JUMP(operation | BPF_X, 0, 0, 1), ALLOW, DENY);
	}
}
END_TEST

START_TEST(calculates)
{
	static const struct {
		uint16_t operation;
		uint32_t operand, result;
	} cases[] = {
		{BPF_ADD, 5, 17},
		{BPF_SUB, 13, ~0u},
		{BPF_MUL, 3, 36},
		{BPF_DIV, 5, 2},
		{BPF_AND, 10, 8},
		{BPF_OR, 3, 15},
		{BPF_XOR, 5, 9},
		{BPF_LSH, 30, 0},
		{BPF_LSH, 2, 48},
		{BPF_RSH, 2, 3},
		{BPF_NEG, 0, (uint32_t)-12},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint16_t operation = BPF_ALU | cases[i].operation;

		EXPECT(true, BPF_STMT(BPF_LD | BPF_IMM, 12),
		       BPF_STMT(operation | BPF_K, cases[i].operand),
		       UNLESS_EQUAL_SKIP(cases[i].result, 1), ALLOW, DENY);
		EXPECT(true, BPF_STMT(BPF_LD | BPF_IMM, 12),
		       BPF_STMT(BPF_LDX | BPF_IMM, cases[i].operand),
		       BPF_STMT(operation | BPF_X, 0),
		       UNLESS_EQUAL_SKIP(cases[i].result, 1), ALLOW, DENY);
	}
	EXPECT(false, BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), ALLOW);
	EXPECT(false, BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), ALLOW);
	EXPECT(false, BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 32), ALLOW);
}
END_TEST

START_TEST(remembers)
{
	EXPECT(true, FIELD(nr), BPF_STMT(BPF_ST, 15),
	       BPF_STMT(BPF_LDX | BPF_IMM, 1), BPF_STMT(BPF_STX, 0),
	       BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_LD | BPF_MEM, 0),
	       BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_MEM, 15),
	       BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	       UNLESS_EQUAL_SKIP(SYS_madvise + 1, 2),
	       BPF_STMT(BPF_MISC | BPF_TXA, 0), ALLOW, DENY);
	EXPECT(false, BPF_STMT(BPF_ST, BPF_MEMWORDS), ALLOW);
	EXPECT(false, BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS), ALLOW);
}
END_TEST

/* The kernel would not take them. */
START_TEST(takes_no_other_programs)
{
	EXPECT(false, FIELD(nr));
	EXPECT(false, BPF_STMT(BPF_JMP | BPF_JA, 1), ALLOW);
	EXPECT(false, BPF_STMT(BPF_JMP | BPF_JA, ~0u), ALLOW);
	EXPECT(false, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 255), ALLOW);
	EXPECT(false, BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), ALLOW);
	EXPECT(false, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), ALLOW);
	EXPECT(false, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ALLOW);
	EXPECT(false, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ~3u), ALLOW);
	EXPECT(false, BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 3), ALLOW);
	EXPECT(false, BPF_STMT(0xffff, 0), ALLOW);
	ck_assert(!swz_call_filter_allows(NULL, 0, &madvise_call));
}
END_TEST

/* All of the filters have to agree; and what is no matter of memory is not
 * done, whatever they say. */
START_TEST(makes_calls_that_all_filters_pass)
{
	static const struct sock_filter all[] = {ALLOW};
	static const struct sock_filter no_madvise[] = {
		FIELD(nr), UNLESS_EQUAL_SKIP(SYS_madvise, 1), DENY, ALLOW};
	long pid = SWZ_SYSCALL(SYS_getpid);

	swz_system_calls_end = true;
	ck_assert_int_eq(SWZ_SYSCALL(SYS_getpid), -EPERM);
	swz_sys_add_filter(all, LENGTH(all));
	ck_assert_int_eq(SWZ_SYSCALL(SYS_getpid), pid);
	ck_assert_int_eq(SWZ_SYSCALL(SYS_getppid), -EPERM);
	ck_assert_int_eq(SWZ_SYSCALL(SYS_madvise, NULL, 0, MADV_DONTNEED), 0);
	swz_sys_add_filter(no_madvise, LENGTH(no_madvise));
	ck_assert_int_eq(SWZ_SYSCALL(SYS_getpid), pid);
	ck_assert_int_eq(SWZ_SYSCALL(SYS_madvise, NULL, 0, MADV_DONTNEED),
			 -EPERM);
	swz_sys_end_all();
	ck_assert_int_eq(SWZ_SYSCALL(SYS_getpid), -EPERM);
	swz_system_calls_end = false;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("filters of system calls");
	TCase *c = tcase_create("filters");

	tcase_add_test(c, passes_what_is_allowed_alone);
	tcase_add_test(c, loads_fields);
	tcase_add_test(c, does_not_know_where_a_call_comes_from);
	tcase_add_test(c, jumps);
	tcase_add_test(c, calculates);
	tcase_add_test(c, remembers);
	tcase_add_test(c, takes_no_other_programs);
	tcase_add_test(c, makes_calls_that_all_filters_pass);
	suite_add_tcase(s, c);
	return run_suite(s);
}
