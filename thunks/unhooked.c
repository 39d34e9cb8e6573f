/* A thread may be stopped between any two of its instructions, and find other
 * bytes then: so a jump is read by one instruction. It lies in one page, as
 * what spans two is not changed while the program runs (base/control.h). */

#include "thunks/unhooked.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "thunks/trampoline.h"

#define PAGE 4096u
#define WORD_BYTES 8u
#define JUMP 0xe9
#define SHORT_JUMP 0xeb

static bool is_trampoline(const uint8_t *code)
{
	static const uint8_t lea[] = {0x50, 0x48, 0x8d, 0x05, 0x0a,
				      0,    0,    0,    0xff, 0x25};

	return memcmp(code, lea, sizeof(lea)) == 0;
}

static unsigned jump_bytes(uint64_t code)
{
	switch (code & 0xff) {
	case JUMP:
		return SWZ_JUMP_BYTES;
	case SHORT_JUMP:
		return SWZ_SHORT_JUMP_BYTES;
	default:
		return 0;
	}
}

/* The first bytes there, as many as a jump has, and nothing of the next page
 * unless the jump has. */
static uint64_t read_jump(const uint8_t *code)
{
	unsigned at = (uintptr_t)code % PAGE, before = 0;
	uint64_t word;

	if (at > PAGE - WORD_BYTES)
		before = at - (PAGE - WORD_BYTES);
	__asm__ volatile(
		"movq %1, %0"
		: "=r"(word)
		: "m"(*(const uint64_t(*))(const void *)(code - before)));
	word >>= 8 * before;
	if (before + jump_bytes(word) > WORD_BYTES)
		memcpy(&word, code, jump_bytes(word));
	return word;
}

/* Where a function's first instruction jumps to, or NULL. */
static const uint8_t *jumps_to(const uint8_t *code)
{
	uint64_t jump;

	if (!code)
		return NULL;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e)
		code += 4; /* endbr64 */
	jump = read_jump(code);
	if ((jump & 0xff) == SHORT_JUMP) {
		code += SWZ_SHORT_JUMP_BYTES + (int8_t)(jump >> 8);
		jump = read_jump(code);
	}
	if ((jump & 0xff) != JUMP)
		return NULL;
	return code + SWZ_JUMP_BYTES + (int32_t)(jump >> 8);
}

const void *swz_unhooked(const void *function)
{
	const uint8_t *to = jumps_to(function);

	return to && is_trampoline(to) ? to + SWZ_TRAMPOLINE_BODY : function;
}

const void *swz_unwrapped(const void *function, void (*entry)(void))
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x05};
	const uint8_t *to = jumps_to(function);
	uint64_t leads_to;

	if (!to || memcmp(to, lea, sizeof(lea)) != 0)
		return NULL;
	memcpy(&leads_to, to + SWZ_TRAMPOLINE_WRAPPING - sizeof(leads_to),
	       sizeof(leads_to));
	return leads_to == (uintptr_t)entry ? to + SWZ_TRAMPOLINE_WRAPPING
					    : NULL;
}
