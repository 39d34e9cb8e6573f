/* The bytes are decoded in a row. What is no instruction may be misread; then
 * calls are recorded as their caller's caller's, no more. */

#include "thunks/leaf.h"

#include <string.h>

#include "thunks/encoding.h"

/* Longer ones are seldom called so often that it matters. */
#define MOST_BYTES 2048u

struct insn {
	const uint8_t *end;
	struct swz_encoding e;
};

static bool read_insn(struct swz_bytes code, struct insn *insn)
{
	size_t length;

	if (swz_encoding_read(code, &insn->e) != SWZ_OK)
		return false;
	length = (size_t)insn->e.operands_at + insn->e.immediate_bytes;
	insn->end = code.data + length;
	return length <= code.size;
}

/* Calls, system calls and indirect jumps. */
static bool leaves(const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->map == SWZ_MAP_0F)
		return e->opcode == 0x05 || e->opcode == 0x07 ||
		       e->opcode == 0x34 || e->opcode == 0x35;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0xe8: /* call */
	case 0xca: /* far return */
	case 0xcb:
	case 0xcd: /* int */
	case 0xcf: /* iret */
		return true;
	case 0xc7: /* xbegin */
		return e->modrm == 0xf8;
	case 0xff:
		return reg >= 2 && reg <= 5;
	default:
		return false;
	}
}

/* Whether any byte of the function may begin a call: most have one early. */
static bool seems_to_call(struct swz_bytes code, struct swz_bytes module)
{
	for (size_t at = 0; at + 5 <= code.size; at++) {
		int32_t distance;
		uintptr_t target;

		if (code.data[at] != 0xe8)
			continue;
		memcpy(&distance, code.data + at + 1, sizeof(distance));
		target = (uintptr_t)code.data + at + 5 +
			 (uintptr_t)(int64_t)distance;
		if (target - (uintptr_t)module.data < module.size)
			return true;
	}
	return false;
}

bool swz_is_leaf(struct swz_bytes code, unsigned site, struct swz_bytes module)
{
	size_t at = 0;

	if (code.size > MOST_BYTES || seems_to_call(code, module))
		return false;
	while (at < code.size) {
		struct swz_bytes rest = {code.data + at, code.size - at};
		struct insn insn;
		unsigned bytes;

		if (!read_insn(rest, &insn))
			return false;
		at = (size_t)(insn.end - code.data);
		if (leaves(&insn.e) || swz_encoding_replaces_stack(&insn.e))
			return false;
		bytes = swz_encoding_branch_bytes(&insn.e);
		if (bytes == 2)
			return false;
		if (bytes) {
			int64_t target = (int64_t)at +
					 swz_distance_before(insn.end, bytes);

			if (target <= (int64_t)site ||
			    target >= (int64_t)code.size)
				return false;
		}
	}
	return code.size != 0;
}
