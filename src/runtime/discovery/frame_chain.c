/* __builtin_return_address(1) and above follow the chain of saved %rbp: in a
 * function with a frame pointer that is a load from (%rbp) to another register
 * than %rbp, which nothing else does, more loads of its kind for each level,
 * and one of the word above the last. */

#include "runtime/discovery/row_scan.h"

/* mov displacement(%base), %to, 64 bits wide, with no or an 8-bit displacement;
 * false if the instruction is something else. */
static bool is_load(const uint8_t *code, unsigned length, unsigned *base,
		    int *displacement, unsigned *to)
{
	uint8_t rex = code[0], modrm = code[2];
	uint8_t mod = modrm >> 6, rm = modrm & 7;

	if (length < 3 || (rex & 0xf8) != 0x48 || code[1] != 0x8b || mod > 1 ||
	    rm == 4 || (mod == 0 && rm == 5) || length != 3u + mod)
		return false;
	*base = rm | (rex & 1u) << 3;
	*to = (modrm >> 3 & 7u) | (rex & 4u) << 1;
	*displacement = mod ? (int8_t)code[3] : 0;
	return true;
}

/* Registers that a call may change. */
static bool is_scratch(unsigned r)
{
	return r != 3 && r != 5 && r < 12;
}

/* Whether it may load 8(%base), to whatever register: an address that is stored
 * more than once goes by way of a vector. */
static bool may_load_above(const uint8_t *code, const struct swz_encoding *e,
			   unsigned base)
{
	unsigned rm = swz_modrm_rm(e->modrm);
	int8_t displacement;

	if (!e->modrm_at || swz_modrm_mod(e->modrm) != 1 ||
	    swz_encoding_has_sib(e) ||
	    (rm | (e->extends_base ? 8u : 0)) != base)
		return false;
	if (e->map == SWZ_MAP_ONE_BYTE &&
	    (e->opcode == 0x8d || e->opcode == 0x89 || e->opcode == 0xc7))
		return false; /* lea, and stores */
	displacement = (int8_t)code[e->displacement_at];
	if (e->scaled_displacement && displacement > 0)
		return 8 % displacement == 0;
	return displacement == 8;
}

/* What the load of %rbp's saved value at `at` leads to: a bit for each level
 * of __builtin_return_address. */
static uint8_t follow_frame_chain(const struct swz_row_scan *s, uint64_t at,
				  uint64_t end)
{
	uint8_t reads = 0;
	unsigned level = 0, frame = 5; /* %rbp */

	for (unsigned i = 0; i < 32 && level <= 8 && at < end; i++) {
		struct swz_bytes code = {swz_module_bytes(s->module, at),
					 end - at};
		struct swz_encoding encoding;
		struct swz_insn insn;
		unsigned base, to;
		int displacement;

		if (swz_decode_encoding(s->decoder, code, at, &insn,
					&encoding) != SWZ_OK)
			break;
		if ((insn.kind == SWZ_INSN_CALL ||
		     insn.kind == SWZ_INSN_CALL_INDIRECT) &&
		    is_scratch(frame))
			break;
		if (level && may_load_above(code.data, &encoding, frame))
			reads |= (uint8_t)(1u << (level - 1));
		if (is_load(code.data, insn.length, &base, &displacement,
			    &to) &&
		    base == frame && displacement == 0) {
			frame = to;
			level++;
		}
		at += insn.length;
	}
	return reads;
}

/* Whether a mov 0(%rbp), %register may begin at one of eight offsets. */
static bool may_be_load(const uint8_t *code, uint64_t i)
{
	uint64_t opcode = *(const swz_word *)(code + i + 1);
	uint64_t displacement = *(const swz_word *)(code + i + 3);

	return swz_has_zero((opcode ^ 0x8b * SWZ_ONES) | displacement);
}

void swz_frame_chain_find(const struct swz_row_scan *s,
			  const struct swz_cfi_row *row)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start;
	uint64_t end = s->function->start + s->function->size;
	uint64_t from = row->start;

	for (uint64_t i = 0; i + 4 <= size; i++) {
		while (i + 12 <= size && !may_be_load(code, i))
			i += 8;
		if (i + 4 > size)
			break;
		if ((code[i] & 0xfb) != 0x48 || code[i + 1] != 0x8b ||
		    (code[i + 2] & 0xc7) != 0x45 || code[i + 3] != 0 ||
		    (code[i] == 0x48 && code[i + 2] == 0x6d) ||
		    !swz_row_accesses(s, row, &from, row->start + i, 5, 0))
			continue;
		s->function->reads_above |= follow_frame_chain(
			s, row->start + i, end);
	}
}
