/* The way past a function's hook, which is found by the function's code. That
 * may change between any two instructions of who looks at it. */

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "thunks/trampoline.h"

#define PAGE 4096
#define STEPS 80

/* Two pages, and one that is not there; the trampoline is in the first. */
static uint8_t *pages, *trampoline;

/* push %r15; push %r14; push %r13: what was there before */
static const uint8_t before[] = {0x41, 0x57, 0x41, 0x56, 0x41};

static void set_up(void)
{
	static const uint8_t head[] = {0x50, 0x48, 0x8d, 0x05, 0x0a,
				       0,    0,    0,    0xff, 0x25};

	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(pages != MAP_FAILED);
	ck_assert_int_eq(mprotect(pages + 2 * PAGE, PAGE, PROT_NONE), 0);
	trampoline = pages + 1024;
	memcpy(trampoline, head, sizeof(head));
}

static void tear_down(void)
{
	munmap(pages, 3 * PAGE);
}

static void put_jump(uint8_t *at, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - at - 5);

	at[0] = 0xe9;
	memcpy(at + 1, &distance, sizeof(distance));
}

static const void *past(const uint8_t *function)
{
	return swz_unhooked(function);
}

START_TEST(a_jump_is_found_wherever_it_lies_in_a_page)
{
	for (unsigned at = PAGE - 40; at <= PAGE + 40; at++) {
		uint8_t *function = pages + at;

		memset(function - 8, 0xcc, 32);
		put_jump(function, trampoline);
		ck_assert_ptr_eq(past(function),
				 trampoline + SWZ_TRAMPOLINE_BODY);
		function[0] = 0xcc;
		ck_assert_ptr_eq(past(function), function);
		/* by an island, and behind an endbr64 */
		memcpy(function, "\xf3\x0f\x1e\xfa\xeb\x06", 6);
		put_jump(function + 12, trampoline);
		ck_assert_ptr_eq(past(function),
				 trampoline + SWZ_TRAMPOLINE_BODY);
	}
}
END_TEST

START_TEST(nothing_behind_a_function_is_read)
{
	for (unsigned bytes = 1; bytes < 10; bytes++) {
		uint8_t *function = pages + 2 * PAGE - bytes;

		memset(function, 0xc3, bytes);
		ck_assert_ptr_eq(past(function), function);
	}
	put_jump(pages + 2 * PAGE - 5, trampoline);
	ck_assert_ptr_eq(past(pages + 2 * PAGE - 5),
			 trampoline + SWZ_TRAMPOLINE_BODY);
	ck_assert_ptr_null(swz_unhooked(NULL));
}
END_TEST

/* ------------------------------------------------- while the code changes */

static const void *volatile *answer; /* the child's */

_Noreturn static void look_for_ever(const uint8_t *function)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (;;) {
		__asm__ volatile("int3");
		*answer = past(function);
	}
}

static void await_trap(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP,
		      "status %x", (unsigned)status);
}

static void step(pid_t child, enum __ptrace_request how)
{
	ptrace(how, child, NULL, NULL);
	await_trap(child);
}

static void put(uint8_t *function, bool hooked)
{
	if (hooked)
		put_jump(function, trampoline);
	else
		memcpy(function, before, sizeof(before));
}

/* At any of its instructions the other bytes come. */
static void change_amid(uint8_t *function, bool to_hooked)
{
	pid_t child;
	int status;

	put(function, !to_hooked);
	child = fork();
	if (child == 0)
		look_for_ever(function);
	await_trap(child);
	for (unsigned steps = 0; steps < STEPS; steps++) {
		put(function, !to_hooked);
		for (unsigned i = 0; i < steps; i++)
			step(child, PTRACE_SINGLESTEP);
		put(function, to_hooked);
		step(child, PTRACE_CONT);
		ck_assert(*answer == function ||
			  *answer == trampoline + SWZ_TRAMPOLINE_BODY);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

START_TEST(code_that_changes_meanwhile_is_the_one_or_the_other)
{
	answer = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned at = PAGE - 8; at <= PAGE - 5; at++) {
		change_amid(pages + at, false);
		change_amid(pages + at, true);
	}
	change_amid(pages + PAGE, false);
	change_amid(pages + PAGE, true);
	munmap((void *)(uintptr_t)answer, PAGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unhooked");
	TCase *all = tcase_create("unhooked");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 60);
	tcase_add_test(all, a_jump_is_found_wherever_it_lies_in_a_page);
	tcase_add_test(all, nothing_behind_a_function_is_read);
	tcase_add_test(all,
		       code_that_changes_meanwhile_is_the_one_or_the_other);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
