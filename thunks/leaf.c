/* The bytes are decoded in a row, with lengths as for compiled code. What is
 * not that may be misread; then calls are recorded as their caller's caller's,
 * no more. */

#include "thunks/leaf.h"

#include <string.h>

#include "thunks/encoding.h"
#include "thunks/usual.h"

/* Longer ones are seldom called so often that it matters. */
#define MOST_BYTES 2048u

struct insn {
	const uint8_t *code;
	unsigned length;
	uint8_t rex;
	bool is_vector; /* VEX, EVEX */
	bool in_0f;     /* of the map 0F or one behind it */
	uint8_t opcode;
	uint8_t modrm; /* if it has one */
};

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static unsigned length_of(struct swz_bytes code)
{
	unsigned length = swz_usual_length(code);
	struct swz_encoding e;

	if (length)
		return length;
	if (swz_encoding_read(code, &e) != SWZ_OK)
		return 0;
	length = (unsigned)e.operands_at + e.immediate_bytes;
	return length <= code.size ? length : 0;
}

static bool read_insn(struct swz_bytes code, struct insn *insn)
{
	const uint8_t *at = code.data, *end;

	memset(insn, 0, sizeof(*insn));
	insn->length = length_of(code);
	if (!insn->length)
		return false;
	insn->code = at;
	end = at + insn->length;
	while (at < end && is_prefix(*at))
		at++;
	if (at < end && (*at & 0xf0) == 0x40)
		insn->rex = *at++;
	if (at == end)
		return false;
	insn->is_vector = *at == 0xc4 || *at == 0xc5 || *at == 0x62;
	if (*at == 0x0f && at + 1 < end) {
		insn->in_0f = true;
		at++;
	}
	insn->opcode = *at++;
	insn->modrm = at < end ? *at : 0;
	return true;
}

/* Sets how many bytes its distance has; 0: no direct branch. */
static unsigned branch_bytes(const struct insn *i)
{
	if (i->in_0f)
		return (i->opcode & 0xf0) == 0x80 ? 4 : 0;
	if (i->opcode == 0xe9)
		return 4;
	return (i->opcode & 0xf0) == 0x70 || i->opcode == 0xeb ||
			       (i->opcode & 0xfc) == 0xe0
		       ? 1
		       : 0;
}

static int64_t distance_of(const struct insn *i, unsigned bytes)
{
	const uint8_t *at = i->code + i->length - bytes;
	int32_t distance;

	if (bytes == 1)
		return (int8_t)*at;
	memcpy(&distance, at, sizeof(distance));
	return distance;
}

/* Calls, system calls and indirect jumps. */
static bool leaves(const struct insn *i)
{
	unsigned reg = swz_modrm_reg(i->modrm);

	if (i->in_0f)
		return i->opcode == 0x05 || i->opcode == 0x07 ||
		       i->opcode == 0x34 || i->opcode == 0x35;
	switch (i->opcode) {
	case 0xe8: /* call */
	case 0xca: /* far return */
	case 0xcb:
	case 0xcd: /* int */
	case 0xcf: /* iret */
		return true;
	case 0xc7: /* xbegin */
		return i->modrm == 0xf8;
	case 0xff:
		return reg >= 2 && reg <= 5;
	default:
		return false;
	}
}

/* Whether it sets %rsp, but by a constant, push and pop. */
static bool moves_stack(const struct insn *i)
{
	bool to_reg, reg = swz_modrm_reg(i->modrm) == 4 && !(i->rex & 4);
	bool rm = swz_modrm_mod(i->modrm) == 3 && swz_modrm_rm(i->modrm) == 4 &&
		  !(i->rex & 1);

	if (i->in_0f)
		return false;
	if (i->opcode == 0x5c || i->opcode == 0x94) /* pop, xchg */
		return !(i->rex & 1);
	if (i->opcode == 0xc9) /* leave */
		return true;
	if ((i->opcode & 0xc4) == 0) { /* add, or, ... cmp */
		to_reg = i->opcode & 2;
		return i->opcode < 0x38 && (to_reg ? reg : rm);
	}
	switch (i->opcode) {
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
	case 0x8b: /* mov */
		return reg;
	case 0x8d: /* lea: d(%rsp) is a constant */
		return reg && !(swz_modrm_mod(i->modrm) == 1 &&
				i->code[i->length - 2] == 0x24);
	case 0x87: /* xchg */
		return reg || rm;
	case 0x81: /* add and sub, cmp */
	case 0x83:
		return rm && swz_modrm_reg(i->modrm) != 0 &&
		       swz_modrm_reg(i->modrm) != 5 &&
		       swz_modrm_reg(i->modrm) != 7;
	case 0x89: /* mov */
	case 0x8f: /* pop */
	case 0xc1: /* shifts */
	case 0xc7: /* mov */
	case 0xd1:
	case 0xd3:
	case 0xf7: /* not, neg */
	case 0xff: /* inc, dec */
		return rm;
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
		at += insn.length;
		if (insn.is_vector)
			continue;
		if (leaves(&insn) || moves_stack(&insn))
			return false;
		bytes = branch_bytes(&insn);
		if (bytes) {
			int64_t target = (int64_t)at +
					 distance_of(&insn, bytes);

			if (target <= (int64_t)site ||
			    target >= (int64_t)code.size)
				return false;
		}
	}
	return code.size != 0;
}
