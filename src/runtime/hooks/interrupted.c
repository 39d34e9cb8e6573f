/* The kernel has put the place that was interrupted onto the stack on which the
 * handler runs, two words before the code segment. (An address in our text
 * alone may be what earlier hooks have left there.) */

#include "runtime/hooks/interrupted.h"

#include "runtime/record/frames.h"
#include "runtime/record/home_stack.h"

#define LOOKED_AT_WORDS (32u << 10)
/* Of the main thread's stack, behind whose end nothing can be read. */
#define MAIN_LOOKED_AT_WORDS (2u << 20)

extern const char swz_text_start[], swz_text_end[];

static bool is_ours(uint64_t address)
{
	return address - (uintptr_t)swz_text_start <
	       (uintptr_t)swz_text_end - (uintptr_t)swz_text_start;
}

/* Of a 64-bit program, in the low half of a word (gregs[REG_CSGSFS]). */
#define CODE_SEGMENT 0x33u
/* The whole word, with that of the stack: what else there is may look like the
 * half. */
#define SEGMENTS (UINT64_C(0x2b) << 48 | CODE_SEGMENT)

/* A handler that was itself interrupted by one on another stack: there is more
 * to be looked at where the interrupted stack pointer, three words before the
 * code segment, leads. */
#define MOST_STACKS 4u

struct stacks {
	uint64_t starts[MOST_STACKS];
	unsigned count;
};

static void add_stack(struct stacks *stacks, uint64_t start)
{
	if (stacks->count == MOST_STACKS || start % sizeof(uint64_t))
		return;
	for (unsigned i = 0; i < stacks->count; i++)
		if (start - stacks->starts[i] <
		    LOOKED_AT_WORDS * sizeof(uint64_t))
			return;
	stacks->starts[stacks->count++] = start;
}

static bool is_interrupted_above(const uint64_t *at, struct stacks *stacks)
{
	uint64_t before[3] = {0, 0, 0}, words[SWZ_PAGE_WORDS] = {0};
	const uint64_t *end = at + (swz_on_main_stack(at) ? MAIN_LOOKED_AT_WORDS
							  : LOOKED_AT_WORDS);
	unsigned count;

	for (; at < end && (count = swz_stack_words(at, words)); at += count)
		for (unsigned i = 0; i < count; i++) {
			if ((uint16_t)words[i] == CODE_SEGMENT) {
				if (is_ours(before[1]))
					return true;
				if (words[i] == SEGMENTS)
					add_stack(stacks, before[0]);
			}
			before[0] = before[1];
			before[1] = before[2];
			before[2] = words[i];
		}
	return false;
}

bool swz_interrupted_hook(const uint64_t *slot)
{
	struct stacks stacks = {{(uintptr_t)(slot + 1)}, 1};

	for (unsigned i = 0; i < stacks.count; i++)
		if (is_interrupted_above(
			    (const uint64_t *)(uintptr_t)stacks.starts[i],
			    &stacks))
			return true;
	return false;
}
