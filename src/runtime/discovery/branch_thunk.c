/* In place of `jmp *%rax` compilers make, against attacks on what processors
 * foresee, a call to this (-mindirect-branch=thunk, -mretpoline):
 *
 *	call	1f		a return that is foreseen leads
 * 0:	pause			behind the call, and stays there
 *	lfence
 *	jmp	0b
 * 1:	mov	%rax, (%rsp)	or lea 8(%rsp), %rsp: to what lay above
 *	ret
 *
 * It looks like a function, and its unwind table describes a call. But it is
 * jumped to wherever there was a jump before, that of a switch in the midst of
 * a function, say: then what is on top of the stack is the function's, and no
 * return address.
 */

#include "runtime/discovery/branch_thunk.h"

#include <string.h>

/* Between the call and what it calls there is the loop, and padding. */
#define CALL_BYTES 5u
#define MOST_BYTES 64u

static bool begins_with(struct swz_bytes code, const char *bytes, size_t count)
{
	return code.size >= count && memcmp(code.data, bytes, count) == 0;
}

static struct swz_bytes behind(struct swz_bytes code, size_t count)
{
	return (struct swz_bytes){code.data + count, code.size - count};
}

static bool is_ret(struct swz_bytes code)
{
	if (code.size && (code.data[0] | 1) == 0xf3) /* bnd, or rep */
		code = behind(code, 1);
	return begins_with(code, "\xc3", 1);
}

/* mov %reg, (%rsp) */
static bool stores_at_top(struct swz_bytes code)
{
	return code.size >= 4 && (code.data[0] & 0xfb) == 0x48 &&
	       code.data[1] == 0x89 && (code.data[2] & 0xc7) == 0x04 &&
	       code.data[3] == 0x24;
}

bool swz_is_branch_thunk(struct swz_bytes code)
{
	uint32_t distance;

	if (begins_with(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		code = behind(code, 4);
	if (!begins_with(code, "\xe8", 1) || code.size <= CALL_BYTES)
		return false;
	memcpy(&distance, code.data + 1, sizeof(distance));
	code = behind(code, CALL_BYTES);
	if (distance > MOST_BYTES || distance >= code.size)
		return false;
	code = behind(code, distance);
	if (stores_at_top(code))
		return is_ret(behind(code, 4));
	return (begins_with(code, "\x48\x8d\x64\x24\x08", 5) &&
		is_ret(behind(code, 5))) || /* lea 8(%rsp), %rsp */
	       (begins_with(code, "\x48\x83\xc4\x08", 4) &&
		is_ret(behind(code, 4))); /* add $8, %rsp */
}
