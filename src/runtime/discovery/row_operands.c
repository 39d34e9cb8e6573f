/* An operand with a displacement is a ModRM byte (and SIB) with just that
 * displacement (scaled, in EVEX instructions): the bytes are searched for it,
 * and where they match, the row's instructions are decoded to see whether they
 * are one. */

#include "runtime/discovery/row_scan.h"

#include <string.h>

#include "runtime/discovery/scan_depth.h"

bool swz_row_accesses(const struct swz_row_scan *s,
		      const struct swz_cfi_row *row, uint64_t *from,
		      uint64_t at, unsigned base, int64_t displacement)
{
	uint64_t pc = *from;

	while (pc <= at) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 row->end - pc};
		unsigned length = swz_decode_length(s->decoder, code);
		struct swz_insn insn;

		if (!length) {
			*from = pc;
			return true;
		}
		if (at >= pc + length) {
			pc += length;
			continue;
		}
		*from = pc;
		return swz_decode(s->decoder, code, pc, &insn) != SWZ_OK ||
		       (insn.memory_base == base &&
			insn.memory_displacement == displacement &&
			!(insn.memory_is_lea && swz_gives_frame_up(code.data)));
	}
	return false;
}

/* Whether the bytes at `code + i` are its ModRM, SIB and displacement. */
static bool is_operand(const struct swz_operand *o, const uint8_t *code,
		       uint64_t i, uint64_t size)
{
	uint8_t mod = code[i] >> 6, rm = code[i] & 7;
	int32_t wide = (int32_t)o->displacement;
	uint64_t at = i + 1;

	if (mod == 3 || rm != (o->rsp ? 4 : 5))
		return false;
	if (o->rsp && code[at++] != 0x24)
		return false;
	if (mod == 0)
		return o->rsp && o->displacement == 0;
	if (mod == 1)
		return at < size && o->displacement == (int8_t)wide &&
		       code[at] == (uint8_t)wide;
	return at + 4 <= size && memcmp(code + at, &wide, 4) == 0;
}

/* Two bytes that is_operand asks for, to be looked at in eight places at once:
 * `at` bytes behind the ModRM byte, under a mask. The displacement's first byte
 * is one of them, except where there may be none. */
struct pattern {
	struct {
		unsigned at;
		uint64_t mask;
		uint64_t value;
	} byte[2];
};

static struct pattern pattern_of(const struct swz_operand *o)
{
	uint64_t all = 0xff * SWZ_ONES, rm = 7 * SWZ_ONES,
		 sib = 0x24 * SWZ_ONES;
	uint64_t low = (uint8_t)o->displacement * SWZ_ONES;

	if (!o->rsp)
		return (struct pattern){{{0, rm, 5 * SWZ_ONES}, {1, all, low}}};
	if (o->displacement == 0)
		return (struct pattern){{{0, rm, 4 * SWZ_ONES}, {1, all, sib}}};
	return (struct pattern){{{1, all, sib}, {2, all, low}}};
}

/* Whether is_operand may be true for one of the eight offsets. */
static bool may_be_here(const struct pattern *p, const uint8_t *code)
{
	uint64_t first = *(const swz_word *)(code + p->byte[0].at);
	uint64_t second = *(const swz_word *)(code + p->byte[1].at);

	return swz_has_zero(((first & p->byte[0].mask) ^ p->byte[0].value) |
			    ((second & p->byte[1].mask) ^ p->byte[1].value));
}

/* Whether an instruction begins at `at`, or decoding loses its way before. From
 * *from on, which is left where the last one before or at it begins. */
static bool begins_at(const struct swz_row_scan *s,
		      const struct swz_cfi_row *row, uint64_t *from,
		      uint64_t at)
{
	while (*from < at) {
		struct swz_bytes code = {swz_module_bytes(s->module, *from),
					 row->end - *from};
		unsigned length = swz_decode_length(s->decoder, code);

		if (!length)
			return true;
		if (*from + length > at)
			return false;
		*from += length;
	}
	return *from == at;
}

enum { EVEX_BYTES = 7 }; /* at least: four, opcode, ModRM, displacement */

/* Moves of whole vectors: their displacement counts these. Of others it depends
 * on the instruction. */
static bool moves_vector(const uint8_t *evex)
{
	if ((evex[1] & 7) != 1)
		return false;
	switch (evex[4]) {
	case 0x10: /* not vmovss and vmovsd */
	case 0x11:
		return (evex[2] & 3) < 2;
	case 0x28:
	case 0x29:
	case 0x2b:
	case 0x6f:
	case 0x7f:
	case 0xe7:
		return true;
	default:
		return false;
	}
}

/* Whether the bytes are an EVEX instruction whose displacement of 8 bits comes
 * to the operand's by some scale that it may have (vpbroadcastq of the slot
 * does). */
static bool is_scaled_operand(const struct swz_operand *o, const uint8_t *evex,
			      uint64_t size)
{
	unsigned at = 6;
	int64_t scale;
	int8_t counted;

	if (evex[0] != 0x62 || (evex[5] & 0xc7) != (o->rsp ? 0x44 : 0x45) ||
	    (evex[1] & 0x60) != 0x60) /* %r12, %r13; an index */
		return false;
	if (o->rsp && (evex[at++] != 0x24 || at >= size))
		return false;
	counted = (int8_t)evex[at];
	if (!counted || o->displacement % counted)
		return false;
	scale = o->displacement / counted;
	if (moves_vector(evex))
		return scale == 16 << (evex[3] >> 5 & 3);
	return scale > 0 && scale <= 64 && !(scale & (scale - 1));
}

bool swz_row_has_scaled_operand(const struct swz_row_scan *s,
				const struct swz_cfi_row *row,
				const struct swz_operand *o)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start, from = row->start;

	for (uint64_t i = 0; i + EVEX_BYTES <= size; i++) {
		while (i + 8 <= size &&
		       !swz_has_zero(*(const swz_word *)(code + i) ^
				     0x62 * SWZ_ONES))
			i += 8;
		if (i + EVEX_BYTES <= size &&
		    is_scaled_operand(o, code + i, size - i) &&
		    begins_at(s, row, &from, row->start + i))
			return true;
	}
	return false;
}

bool swz_row_has_operand(struct swz_row_scan *s, const struct swz_cfi_row *row,
			 const struct swz_operand *o,
			 swz_row_matters *does_matter)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start;
	const struct pattern pattern = pattern_of(o);
	bool whole = row->end + 16 <= s->readable_end;
	uint64_t from = row->start;

	for (uint64_t i = 1; i + 1 < size;) {
		uint64_t end = i + 8;

		/* eight places, and up to nine bytes behind the row */
		if ((whole || end + 2 <= size) &&
		    !may_be_here(&pattern, code + i)) {
			i = end;
			continue;
		}
		for (; i + 1 < size && i < end; i++)
			if (is_operand(o, code, i, size) &&
			    swz_row_accesses(s, row, &from, row->start + i,
					     o->rsp ? 4 : 5, o->displacement) &&
			    does_matter(s, from))
				return true;
	}
	return false;
}
