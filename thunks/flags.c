/* The instructions are followed in a row, over direct jumps, up to one that
 * sets all of the flags. Only what is known neither to read nor to set any is
 * passed over: what compilers place between a load and what comes next. */

#include "thunks/flags.h"

#include "thunks/encoding.h"

/* Instructions that are looked at. */
#define MOST 48u

enum effect { SETS_ALL, PASSES, LEAVES, JUMPS, READS_OR_UNKNOWN };

/* add, or, adc, sbb, and, sub, xor, cmp: the third and the fourth read CF. */
static enum effect of_arithmetic(unsigned operation)
{
	return operation == 2 || operation == 3 ? READS_OR_UNKNOWN : SETS_ALL;
}

/* Shifts by a number that is not zero, and no rotations. What they leave
 * undefined nobody reads. */
static enum effect of_shift(unsigned operation, uint8_t count)
{
	return operation >= 4 && count & 0x1f ? SETS_ALL : READS_OR_UNKNOWN;
}

static enum effect of_one_byte(const struct swz_encoding *e,
			       const uint8_t *code)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->opcode < 0x40 && (e->opcode & 7) < 6)
		return of_arithmetic(e->opcode >> 3);
	switch (e->opcode) {
	case 0x50 ... 0x5f: /* push, pop */
	case 0x63:          /* movsxd */
	case 0x68:          /* push */
	case 0x6a:
	case 0x88 ... 0x8b: /* mov */
	case 0x8d:          /* lea */
	case 0x90:
	case 0x98:          /* cdqe */
	case 0x99:          /* cqo */
	case 0xb0 ... 0xbf: /* mov */
	case 0xc6:
	case 0xc9: /* leave */
		return PASSES;
	case 0xc7: /* not xbegin */
		return e->modrm == 0xf8 ? READS_OR_UNKNOWN : PASSES;
	case 0x80:
	case 0x81:
	case 0x83:
		return of_arithmetic(reg);
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		return SETS_ALL;
	case 0x69: /* imul */
	case 0x6b:
		return SETS_ALL;
	case 0xc0:
	case 0xc1:
		return of_shift(reg, code[e->operands_at]);
	case 0xd0:
	case 0xd1:
		return of_shift(reg, 1);
	case 0xf6: /* test, neg, mul, div; not */
	case 0xf7:
		return reg == 2 ? PASSES : SETS_ALL;
	case 0xc2: /* ret */
	case 0xc3:
	case 0xe8: /* call */
		return LEAVES;
	case 0xe9:
	case 0xeb:
		return JUMPS;
	case 0xff:
		if (reg < 2 || reg == 6) /* inc, dec, push */
			return PASSES;
		if (reg == 2 || e->modrm == 0x25) /* call; jmp, as PLTs do */
			return LEAVES;
		return READS_OR_UNKNOWN;
	default:
		return READS_OR_UNKNOWN;
	}
}

static enum effect of_0f(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x10 ... 0x17: /* vectors */
	case 0x1e:          /* endbr64 */
	case 0x1f:
	case 0x28 ... 0x2d:
	case 0x50 ... 0x76:
	case 0x7c ... 0x7f:
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xc6:
	case 0xc8 ... 0xcf: /* bswap */
	case 0xd0 ... 0xfe:
		return PASSES;
	case 0x2e: /* ucomis, comis */
	case 0x2f:
	case 0xaf: /* imul */
		return SETS_ALL;
	default:
		return READS_OR_UNKNOWN;
	}
}

static enum effect effect_of(const struct swz_encoding *e, const uint8_t *code)
{
	switch (e->map) {
	case SWZ_MAP_ONE_BYTE:
		return of_one_byte(e, code);
	case SWZ_MAP_0F:
		return of_0f(e);
	case SWZ_MAP_VECTOR: /* not what APX has promoted */
		return e->vector_map <= 3 ? PASSES : READS_OR_UNKNOWN;
	default:
		return READS_OR_UNKNOWN;
	}
}

bool swz_flags_are_free(struct swz_bytes text, uint64_t at)
{
	for (unsigned i = 0; i < MOST && at < text.size; i++) {
		struct swz_bytes rest = {text.data + at, text.size - at};
		struct swz_encoding e;
		uint64_t length;
		enum effect effect;

		if (swz_encoding_read(rest, &e) != SWZ_OK)
			return false;
		length = (uint64_t)e.operands_at + e.immediate_bytes;
		if (length > rest.size)
			return false;
		at += length;
		effect = effect_of(&e, rest.data);
		if (effect == SETS_ALL || effect == LEAVES)
			return true;
		if (effect == READS_OR_UNKNOWN)
			return false;
		if (effect == JUMPS)
			at += (uint64_t)swz_distance_before(
				text.data + at, swz_encoding_branch_bytes(&e));
	}
	return false;
}
