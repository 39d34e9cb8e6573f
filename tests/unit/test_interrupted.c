/* Whether a signal handler that has interrupted one of our hooks runs above a
 * slot: told from words on the stack, which the test lays out. */

#include <check.h>
#include <string.h>

#include "runtime/hooks/hooks.h"
#include "runtime/record/thread.h"
#include "tests/unit/run_suite.h"

enum {
	WORDS = 40000,
	LOOKED_AT = 32 << 10,
	CODE_SEGMENT = 0x33,
	SLOT = 8 /* its index */
};

#define SEGMENTS (UINT64_C(0x2b) << 48 | CODE_SEGMENT)

static uint64_t stack[WORDS], second[64], third[64];
static bool on_main_stack;

/* What is ours: 64 bytes. */
extern const char swz_text_start[], swz_text_end[];

__asm__(".section .rodata\n"
	".globl swz_text_start, swz_text_end\n"
	"swz_text_start: .space 64\n"
	"swz_text_end: .byte 0\n"
	".text");

static uint64_t our_address(void)
{
	return (uintptr_t)swz_text_start + 63;
}

bool swz_on_main_stack(const uint64_t *slot)
{
	(void)slot;
	return on_main_stack;
}

/* Up to the end of the page, or of what there is. */
unsigned swz_stack_words(const uint64_t *from, uint64_t words[SWZ_PAGE_WORDS])
{
	static const struct {
		const uint64_t *start;
		size_t count;
	} stacks[] = {{stack, WORDS}, {second, 64}, {third, 64}};

	for (unsigned i = 0; i < 3; i++) {
		const uint64_t *end = stacks[i].start + stacks[i].count;
		size_t count = SWZ_PAGE_WORDS -
			       (uintptr_t)from / 8 % SWZ_PAGE_WORDS;

		if (from < stacks[i].start || from >= end)
			continue;
		if (count > (size_t)(end - from))
			count = (size_t)(end - from);
		memcpy(words, from, count * sizeof(*words));
		return (unsigned)count;
	}
	return 0;
}

static void set_up(void)
{
	memset(stack, 0, sizeof(stack));
	memset(second, 0, sizeof(second));
	memset(third, 0, sizeof(third));
	on_main_stack = false;
}

/* What the kernel writes, in its order: stack pointer, instruction pointer,
 * flags, segments. */
static void interrupt(uint64_t *at, uint64_t sp, uint64_t pc, uint64_t segments)
{
	at[0] = sp;
	at[1] = pc;
	at[2] = 0x246;
	at[3] = segments;
}

static bool is_interrupted(void)
{
	return swz_interrupted_hook(&stack[SLOT]);
}

START_TEST(a_hook_that_was_interrupted_is_found)
{
	for (unsigned at = SLOT; at < SLOT + 1200; at++) {
		set_up();
		interrupt(&stack[at], 0, our_address(), SEGMENTS);
		/* from the word behind the slot on: its flags may be the last
		 * that is before it */
		ck_assert_int_eq(is_interrupted(), at >= SLOT);
	}
}
END_TEST

START_TEST(what_lies_at_the_slot_and_beneath_is_not_looked_at)
{
	for (unsigned at = 0; at < SLOT; at++) {
		set_up();
		interrupt(&stack[at], 0, our_address(), SEGMENTS);
		ck_assert(!is_interrupted());
	}
}
END_TEST

START_TEST(other_code_that_was_interrupted_is_none)
{
	interrupt(&stack[20], 0, our_address() + 1, SEGMENTS);
	ck_assert(!is_interrupted());
	interrupt(&stack[20], 0, our_address() - 64, SEGMENTS);
	ck_assert(!is_interrupted());
	interrupt(&stack[20], 0, our_address() - 63, SEGMENTS);
	ck_assert(is_interrupted());
	interrupt(&stack[20], 0, our_address(), SEGMENTS + 1);
	ck_assert(!is_interrupted());
	/* without the stack's segment it is one all the same */
	interrupt(&stack[20], 0, our_address(), CODE_SEGMENT);
	ck_assert(is_interrupted());
}
END_TEST

START_TEST(an_address_of_ours_alone_is_none)
{
	for (unsigned i = 0; i < 100; i++)
		stack[SLOT + i] = our_address();
	ck_assert(!is_interrupted());
}
END_TEST

START_TEST(what_is_far_away_is_not_found)
{
	interrupt(&stack[LOOKED_AT - 600], 0, our_address(), SEGMENTS);
	ck_assert(is_interrupted());
	set_up();
	interrupt(&stack[LOOKED_AT + 600], 0, our_address(), SEGMENTS);
	ck_assert(!is_interrupted());
	on_main_stack = true;
	ck_assert(is_interrupted());
}
END_TEST

/* The handler was itself interrupted, by one on another stack. */
START_TEST(stacks_that_were_left_are_looked_at)
{
	interrupt(&stack[20], (uintptr_t)second, (uintptr_t)stack, SEGMENTS);
	ck_assert(!is_interrupted());
	interrupt(&second[20], (uintptr_t)third, (uintptr_t)stack, SEGMENTS);
	interrupt(&third[20], 0, our_address(), SEGMENTS);
	ck_assert(is_interrupted());
	/* what only looks like a segment leads nowhere */
	second[23] = CODE_SEGMENT;
	ck_assert(!is_interrupted());
	/* nor does what is no stack pointer */
	interrupt(&second[20], (uintptr_t)third + 1, (uintptr_t)stack,
		  SEGMENTS);
	ck_assert(!is_interrupted());
}
END_TEST

/* Back to a stack that was looked at: once is enough. */
START_TEST(stacks_in_a_circle_end)
{
	interrupt(&stack[20], (uintptr_t)second, (uintptr_t)stack, SEGMENTS);
	interrupt(&second[20], (uintptr_t)&stack[30], (uintptr_t)stack,
		  SEGMENTS);
	interrupt(&second[30], (uintptr_t)second, (uintptr_t)stack, SEGMENTS);
	ck_assert(!is_interrupted());
	for (size_t i = 0; i < 8; i++)
		interrupt(&third[8 * i], 0x1000000 * (i + 1), (uintptr_t)stack,
			  SEGMENTS);
	interrupt(&second[40], (uintptr_t)third, (uintptr_t)stack, SEGMENTS);
	ck_assert(!is_interrupted());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupted");
	TCase *t = tcase_create("interrupted");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_hook_that_was_interrupted_is_found);
	tcase_add_test(t, what_lies_at_the_slot_and_beneath_is_not_looked_at);
	tcase_add_test(t, other_code_that_was_interrupted_is_none);
	tcase_add_test(t, an_address_of_ours_alone_is_none);
	tcase_add_test(t, what_is_far_away_is_not_found);
	tcase_add_test(t, stacks_that_were_left_are_looked_at);
	tcase_add_test(t, stacks_in_a_circle_end);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
