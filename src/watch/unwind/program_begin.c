#include "watch/unwind/program_begin.h"

#include <elf.h>

/* What execve() takes at most (the kernel's MAX_ARG_STRINGS), as far as there
 * is room on a stack. */
#define MOST_ARGUMENTS ((uint64_t)1 << 24)
#define MOST_TEXTS ((uint64_t)1 << 14) /* that are looked at one by one */
#define MOST_PAIRS 64u
#define NEAR_BYTES 2048u /* musl: some 500 */
#define PAGE 4096u

static bool load(const struct swz_stack *stack, uint64_t at, uint64_t *word)
{
	return swz_stack_load(stack, at, word) == SWZ_STEP_DONE;
}

bool swz_has_arguments(const struct swz_stack *stack, uint64_t at)
{
	uint64_t argc, first, last;

	return load(stack, at, &argc) && argc && argc <= MOST_ARGUMENTS &&
	       load(stack, at + 8, &first) && first > at &&
	       load(stack, at + 8 + argc * 8, &last) && !last;
}

/* Past texts that lie above, and the NULL behind them; 0: there are others. */
static uint64_t past_texts(const struct swz_stack *stack, uint64_t at,
			   uint64_t most)
{
	uint64_t text;

	for (; most && load(stack, at, &text); most--, at += 8) {
		if (!text)
			return at + 8;
		if (text <= at)
			return 0;
	}
	return 0;
}

/* One of the pairs that the kernel puts there says how large a page is. */
static bool has_pairs(const struct swz_stack *stack, uint64_t at)
{
	uint64_t kind, value;

	for (unsigned i = 0; i < MOST_PAIRS; i++, at += 16) {
		if (!load(stack, at, &kind) || kind == AT_NULL ||
		    !load(stack, at + 8, &value))
			return false;
		if (kind == AT_PAGESZ)
			return value == PAGE;
	}
	return false;
}

static bool begins_at(const struct swz_stack *stack, uint64_t at)
{
	if (!swz_has_arguments(stack, at))
		return false;
	at = past_texts(stack, at + 8, MOST_TEXTS);
	if (at)
		at = past_texts(stack, at, MOST_TEXTS);
	return at && has_pairs(stack, at);
}

bool swz_program_begins_near(const struct swz_stack *stack, uint64_t sp)
{
	uint64_t at = (sp + 15) & ~15ull; /* there it is aligned */

	for (uint64_t end = at + NEAR_BYTES; at < end; at += 16)
		if (begins_at(stack, at))
			return true;
	return false;
}
