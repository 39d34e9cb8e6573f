/* The kernel has put the place that was interrupted onto the stack on which the
 * handler runs, two words before the code segment. (An address in our text
 * alone may be what earlier hooks have left there.) */

#include "runtime/hooks/interrupted.h"

#include "runtime/record/frames.h"

#define LOOKED_AT_WORDS (32u << 10)

extern const char swz_text_start[], swz_text_end[];

static bool is_ours(uint64_t address)
{
	return address - (uintptr_t)swz_text_start <
	       (uintptr_t)swz_text_end - (uintptr_t)swz_text_start;
}

/* Of a 64-bit program, in the low half of a word (gregs[REG_CSGSFS]). */
#define CODE_SEGMENT 0x33u

bool swz_interrupted_hook(const uint64_t *slot)
{
	uint64_t before[2] = {0, 0}, words[SWZ_PAGE_WORDS] = {0};
	const uint64_t *at = slot + 1, *end = at + LOOKED_AT_WORDS;
	unsigned count;

	for (; at < end && (count = swz_stack_words(at, words)); at += count)
		for (unsigned i = 0; i < count; i++) {
			if ((uint16_t)words[i] == CODE_SEGMENT &&
			    is_ours(before[0]))
				return true;
			before[0] = before[1];
			before[1] = words[i];
		}
	return false;
}
