/* In each row of a function's unwind table the return address lies at a known
 * distance from %rsp or %rbp: an access to it is an operand with just that.
 *
 * A function that takes its caller's stack pointer besides (lea of the CFA)
 * will go on where it was called from by other ways than a return: setjmp and
 * its like, switches of stacks, unwinders.
 *
 * Functions that go on elsewhere and never return (__longjmp, setcontext)
 * describe at last the frame that they go to, by a register that points to
 * where it was saved. They do not look at their own return address either, if
 * nothing there refers to the stack, and nothing pops it before. */

#include "runtime/discovery/scan_bytes.h"

#include <string.h>

#include "image/eh_frame.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* The operand to look for in a row: [base + displacement]. */
struct operand {
	bool rsp;
	int64_t displacement;
};

/* True if an instruction with the operand is one that matters. */
typedef bool row_matters(struct swz_row_scan *scan, uint64_t pc);

/* --- operands in a row --------------------------------------------------- */

/* An operand with a displacement is a ModRM byte (and SIB) with just that
 * displacement (scaled, in EVEX instructions): the bytes are searched for it,
 * and where they match, the row's instructions are decoded to see whether they
 * are one. */

/* Decodes on from *from, at first the row's start, and leaves there where the
 * instruction that covers `at` begins; true if it has the operand
 * [base + displacement], or if decoding loses its way: there, then. */
static bool row_accesses(const struct swz_row_scan *s,
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

/* True if the bytes at `code + i` are its ModRM, SIB and displacement. */
static bool is_operand(const struct operand *o, const uint8_t *code, uint64_t i,
		       uint64_t size)
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

static struct pattern pattern_of(const struct operand *o)
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

/* True if is_operand may be true for one of the eight offsets. */
static bool may_be_here(const struct pattern *p, const uint8_t *code)
{
	uint64_t first = *(const swz_word *)(code + p->byte[0].at);
	uint64_t second = *(const swz_word *)(code + p->byte[1].at);

	return swz_has_zero(((first & p->byte[0].mask) ^ p->byte[0].value) |
			    ((second & p->byte[1].mask) ^ p->byte[1].value));
}

/* True if an instruction begins at `at`, or decoding loses its way before. From
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

/* True if the bytes are an EVEX instruction whose displacement of 8 bits comes
 * to the operand's by some scale that it may have (vpbroadcastq of the slot
 * does). */
static bool is_scaled_operand(const struct operand *o, const uint8_t *evex,
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

/* True if it may have an EVEX instruction whose displacement comes to the
 * operand's by some scale. */
static bool row_has_scaled_operand(const struct swz_row_scan *s,
				   const struct swz_cfi_row *row,
				   const struct operand *o)
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

/* True if the row has one. */
static bool row_has_operand(struct swz_row_scan *s,
			    const struct swz_cfi_row *row,
			    const struct operand *o, row_matters *does_matter)
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
			    row_accesses(s, row, &from, row->start + i,
					 o->rsp ? 4 : 5, o->displacement) &&
			    does_matter(s, from))
				return true;
	}
	return false;
}

/* --- cold parts ---------------------------------------------------------- */

/* A compiler moves what is seldom needed of a function to another place. Where
 * the function has no frame, nothing in the unwind table of this part says that
 * it is none. If its symbol is stripped, what it does tells:
 *
 * - it uses what lies below the stack pointer before it has put anything there
 *   (thunks/liveness.c);
 * - it jumps back into the midst of a function that uses that;
 * - it jumps to the beginning of what uses that so, and has put nothing there
 *   itself (parts may be single blocks).
 *
 * Other parts may as well be hooked: a jump to them is as good as a tail call.
 */

static struct swz_bytes bytes_of(const struct swz_module *m,
				 const struct swz_function *f)
{
	return (struct swz_bytes){swz_module_bytes(m, f->start), f->size};
}

static uint64_t target_of(const uint8_t *end, uint64_t address, unsigned bytes)
{
	return address + (uint64_t)swz_distance_before(end, bytes);
}

/* True if a jump from the function to there, which is outside of it, says that
 * it is a part. */
static bool tells(const struct swz_module *m, const struct swz_function *f,
		  uint64_t to)
{
	const struct swz_function *other = swz_function_at(m, to);

	if (!other)
		return false;
	if (other->start != to)
		return swz_uses_red_zone(bytes_of(m, other));
	return swz_may_be_cold_part(other) &&
	       swz_inherits_red_zone(bytes_of(m, other)) &&
	       !swz_uses_red_zone(bytes_of(m, f));
}

/* The same of what the bytes at `i` look like, if that is a direct jump. */
static bool may_tell(const struct swz_module *m, const struct swz_function *f,
		     const uint8_t *code, uint32_t i)
{
	unsigned length, bytes = 4;
	uint64_t to;

	if (code[i] == 0xe9) {
		length = 5;
	} else if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80) {
		length = 6;
	} else if (code[i] == 0xeb || (code[i] & 0xf0) == 0x70) {
		length = 2;
		bytes = 1;
	} else {
		return false;
	}
	if (length > f->size - i)
		return false;
	to = target_of(code + i + length, f->start + i + length, bytes);
	return to - f->start >= f->size && tells(m, f, to);
}

/* True if an instruction is that jump. */
static bool jumps_tell(const struct swz_module *m, const struct swz_function *f)
{
	struct swz_bytes code = bytes_of(m, f);

	while (code.size) {
		struct swz_encoding e;
		unsigned bytes;
		size_t length;
		uint64_t to;

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return false;
		length = (size_t)e.operands_at + e.immediate_bytes;
		if (!length || length > code.size)
			return false;
		code.data += length;
		code.size -= length;
		bytes = swz_encoding_branch_bytes(&e);
		if (bytes != 1 && bytes != 4)
			continue;
		to = target_of(code.data, f->start + f->size - code.size,
			       bytes);
		if (to - f->start >= f->size && tells(m, f, to))
			return true;
	}
	return false;
}

/* Most functions have no bytes that look like such a jump, and need not be
 * decoded. */
static bool is_part(const struct swz_module *m, const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (swz_inherits_red_zone(bytes_of(m, f)))
		return true;
	for (uint32_t i = 0; i + 2 <= f->size; i++)
		if (may_tell(m, f, code, i))
			return jumps_tell(m, f);
	return false;
}

bool swz_is_cold_part(const struct swz_module *m, const struct swz_function *f,
		      const struct swz_cfi_row *first)
{
	/* what has a frame further on keeps nothing below the stack pointer */
	return swz_may_be_cold_part(f) && first->start == f->start &&
	       first->end == f->start + f->size && is_part(m, f);
}

/* --- chains of frame pointers -------------------------------------------- */

/* __builtin_return_address(1) and above follow the chain of saved %rbp: in a
 * function with a frame pointer that is a load from (%rbp) to another register
 * than %rbp, which nothing else does, more loads of its kind for each level,
 * and one of the word above the last. */

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

/* True if it may load 8(%base), to whatever register: an address that is stored
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

/* Follows the load of %rbp's saved value at `at`; returns a bit for each level
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

/* True if a mov 0(%rbp), %register may begin at one of eight offsets. */
static bool may_be_load(const uint8_t *code, uint64_t i)
{
	uint64_t opcode = *(const swz_word *)(code + i + 1);
	uint64_t displacement = *(const swz_word *)(code + i + 3);

	return swz_has_zero((opcode ^ 0x8b * SWZ_ONES) | displacement);
}

/* Sets reads_above where the row, whose saved %rbp is at (%rbp), follows the
 * chain of frames. */
static void frame_chain_find(const struct swz_row_scan *s,
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
		    !row_accesses(s, row, &from, row->start + i, 5, 0))
			continue;
		s->function->reads_above |= follow_frame_chain(
			s, row->start + i, end);
	}
}

/* --- the scan ------------------------------------------------------------ */

/* False where decoding has lost its way: what is there has no such operand. */
static bool decode_at(const struct swz_row_scan *s, uint64_t pc,
		      struct swz_insn *insn, struct swz_encoding *e)
{
	struct swz_bytes code = {swz_module_bytes(s->module, pc),
				 s->function->start + s->function->size - pc};

	return swz_decode_encoding(s->decoder, code, pc, insn, e) == SWZ_OK &&
	       insn->memory_base;
}

static bool hinders_hook(struct swz_row_scan *s, uint64_t pc)
{
	struct swz_function *f = s->function;
	struct swz_encoding e;
	struct swz_insn insn;

	if (!decode_at(s, pc, &insn, &e))
		return true;
	if (swz_is_fence(swz_module_bytes(s->module, pc), &e))
		return false;
	if (swz_frame_moves(s, pc, &e)) {
		s->moves_frame = true;
		return false;
	}
	if (!swz_slot_load_note(s->module, f, &s->loader, pc, &e)) {
		f->reads_own = true;
		return true;
	}
	/* what jumps to a piece is a function whose frame the piece has */
	f->reads_own |= !f->is_piece && !f->is_cold_part;
	return false;
}

static bool is_address(struct swz_row_scan *s, uint64_t pc)
{
	struct swz_encoding e;
	struct swz_insn insn;

	return !decode_at(s, pc, &insn, &e) || insn.memory_is_lea;
}

enum { RSP = 4, VECTOR_BYTES = 16 };

/* True if it is a store of a vector register to the `taken` bytes above (%rsp).
 */
static bool saves_vector(const uint8_t *code, const struct swz_encoding *e,
			 int64_t taken)
{
	int64_t above = 0;

	if ((e->opcode != 0x29 && e->opcode != 0x11) || /* movaps, movups */
	    (e->map != SWZ_MAP_0F &&
	     (e->map != SWZ_MAP_VECTOR || e->vector_map != 1)) ||
	    !swz_operand_is_memory(e) || swz_operand_base(e) != RSP ||
	    swz_operand_index(e) != SWZ_NO_REGISTER)
		return false;
	if (e->displacement_bytes)
		above = swz_distance_before(code + e->displacement_at +
						    e->displacement_bytes,
					    e->displacement_bytes);
	if (e->scaled_displacement && e->displacement_bytes == 1)
		above *= 64; /* or less */
	return above >= 0 && above + VECTOR_BYTES <= taken;
}

/* True if the row begins where the frame is taken, and goes on behind that with
 * stores of vector registers to it, no others: clang counts a frame only behind
 * those that its conventions (ms_abi, regcall, preserve_all) have it keep. */
static bool keeps_vectors(const struct swz_row_scan *s,
			  const struct swz_cfi_row *row)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start, at;
	int64_t taken;

	if (size < 8 || code[0] != 0x48 || code[2] != 0xec)
		return false;
	if (code[1] == 0x83) { /* sub $taken, %rsp */
		taken = swz_distance_before(code + 4, 1);
		at = 4;
	} else if (code[1] == 0x81) {
		taken = swz_distance_before(code + 7, 4);
		at = 7;
	} else {
		return false;
	}
	while (at < size) {
		struct swz_encoding e;

		if (swz_encoding_read((struct swz_bytes){code + at, size - at},
				      &e) != SWZ_OK ||
		    !saves_vector(code + at, &e, taken))
			return false;
		at += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return at == size;
}

static bool row_accesses_slot(struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	const struct operand o = {row->cfa_base == SWZ_CFA_RSP,
				  row->cfa_offset - 8};

	if (o.rsp && keeps_vectors(s, row))
		return false;
	return row_has_operand(s, row, &o, hinders_hook) ||
	       row_has_scaled_operand(s, row, &o);
}

/* GCC's push of the return address below an aligned frame, whose unaligned one
 * is in %r10 or %r13: push -8(%r10); push %rbp; mov %rsp, %rbp. */
static bool copies_slot(const struct swz_module *m,
			const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	for (uint32_t i = 0; i + 4 <= f->size; i++)
		if (code[i] == 0x41 && code[i + 1] == 0xff &&
		    (code[i + 2] == 0x72 || code[i + 2] == 0x75) &&
		    code[i + 3] == 0xf8)
			return true;
	return false;
}

static bool any_matters(struct swz_row_scan *s, uint64_t pc)
{
	(void)s;
	(void)pc;
	return true;
}

/* In such a frame __builtin_return_address takes the copy. */
static bool row_accesses_copy(struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	const struct operand o = {false, 8};

	return (row_has_operand(s, row, &o, any_matters) ||
		row_has_scaled_operand(s, row, &o)) &&
	       copies_slot(s->module, s->function);
}

/* Visits the rows of a function that loads its return address. */
static bool visit_for_cfa(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;
	const struct operand o = {row->cfa_base == SWZ_CFA_RSP,
				  row->cfa_offset};

	if (row->cfa_base == SWZ_CFA_OTHER ||
	    row_has_operand(s, row, &o, is_address))
		swz_function_refuse(s->function, SWZ_REFUSE_READS_RETURN_SLOT);
	return s->function->status == SWZ_PATCHED;
}

static bool describes_another_frame(const struct swz_cfi_row *row)
{
	return row->cfa_base == SWZ_CFA_OTHER && !row->return_at_cfa_minus_8;
}

static bool is_pop(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return (e->opcode & 0xf8) == 0x58 || e->opcode == 0x8f ||
	       e->opcode == 0x9d /* popf */ || e->opcode == 0xc9 /* leave */;
}

/* True if %rsp or %rbp is the base of its memory operand. */
static bool refers_to_stack(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (!e->modrm_at || swz_modrm_mod(e->modrm) == 3 || e->extends_base)
		return false;
	if (swz_encoding_has_sib(e))
		base = e->sib & 7;
	return base == 4 || (base == 5 && swz_modrm_mod(e->modrm) != 0);
}

/* True if an instruction of the row may take the return address off the stack,
 * or, where one does not know how far it is, refers to the stack at all. */
static bool may_take_slot(const struct swz_row_scan *s,
			  const struct swz_cfi_row *row)
{
	bool elsewhere = describes_another_frame(row);
	int64_t words = row->cfa_base == SWZ_CFA_RSP ? row->cfa_offset / 8 - 1
						     : 0;

	for (uint64_t pc = row->start; pc < row->end;) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 row->end - pc};
		struct swz_encoding encoding;
		struct swz_insn insn;

		if (swz_decode_encoding(s->decoder, code, pc, &insn,
					&encoding) != SWZ_OK ||
		    (is_pop(&encoding) && --words < 0) ||
		    (elsewhere && refers_to_stack(&encoding)))
			return true;
		pc += insn.length;
	}
	return false;
}

static bool visit_strictly(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;

	if (s->function->status == SWZ_PATCHED && may_take_slot(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	return s->function->status == SWZ_PATCHED;
}

/* True if the function begins by taking another amount of stack than this row
 * counts, which starts just behind: it is returned to, not called (by what has
 * put its address in place of a return address), and there is no return address
 * on top of the stack then, but a word of the function that will go on. */
static bool contradicts_entry(const struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	static const uint8_t sub_byte[] = {0x48, 0x83, 0xec};
	static const uint8_t sub_wide[] = {0x48, 0x81, 0xec};
	const struct swz_function *f = s->function;
	const uint8_t *code = swz_module_bytes(s->module, f->start);
	int64_t taken;

	if (row->cfa_base != SWZ_CFA_RSP)
		return false;
	if (row->start == f->start + 4 && f->size > 4 &&
	    memcmp(code, sub_byte, sizeof(sub_byte)) == 0) {
		taken = code[3] < 0x80 ? code[3] : code[3] - 0x100;
	} else if (row->start == f->start + 7 && f->size > 7 &&
		   memcmp(code, sub_wide, sizeof(sub_wide)) == 0) {
		int32_t wide;

		memcpy(&wide, code + 3, sizeof(wide));
		taken = wide;
	} else {
		return false;
	}
	return row->cfa_offset != 8 + taken;
}

/* Such as where the unwinder goes on in the frame that catches. */
static bool has_other_return(const struct swz_cfi_row *row)
{
	return !row->return_at_cfa_minus_8 ||
	       (row->cfa_base == SWZ_CFA_RSP && row->cfa_offset < 8);
}

static bool visit(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;
	uint64_t end = s->function->start + s->function->size;

	if (row->start < s->function->start || row->end > end)
		return true;
	if ((row->cfa_base == SWZ_CFA_RBP && row->cfa_offset == 16) ||
	    (row->cfa_base == SWZ_CFA_OTHER &&
	     copies_slot(s->module, s->function)))
		frame_chain_find(s, row);
	if (s->function->status != SWZ_PATCHED &&
	    (s->function->status != SWZ_REFUSE_FILTERED ||
	     !s->module->in_scope))
		return true;
	if (row->start == s->function->start &&
	    swz_is_cold_part(s->module, s->function, row))
		s->function->is_cold_part = true;
	if (describes_another_frame(row))
		s->leaves = true;
	else if ((has_other_return(row) &&
		  (!swz_config.count || row->start == s->function->start)) ||
		 contradicts_entry(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	else if (row->cfa_base == SWZ_CFA_OTHER
			 ? row_accesses_copy(s, row) ||
				   (s->moves_frame &&
				    swz_frame_register_strays(s, row))
			 : row_accesses_slot(s, row))
		swz_function_refuse_reader(s->function);
	return true;
}

/* Scans a function without an unwind table: the code behind the beginning of
 * its frame counts as a row. */
static void scan_without_table(struct swz_row_scan *s)
{
	struct swz_function *f = s->function;
	struct swz_cfi_row row = {.start = swz_scan_depth(s->module, f),
				  .end = f->start + f->size,
				  .cfa_base = SWZ_CFA_RBP,
				  .cfa_offset = 16,
				  .return_at_cfa_minus_8 = true};

	if (row.start)
		visit(s, &row);
}

static uint64_t end_of_text(const struct swz_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (address - m->text[i].start <
		    m->text[i].end - m->text[i].start)
			return m->text[i].end;
	return 0;
}

static void scan_one(struct swz_module *module, struct swz_function *function,
		     struct swz_decoder *decoder,
		     const struct swz_profile_calls *calls)
{
	struct swz_row_scan s = {
		.module = module,
		.decoder = decoder,
		.function = function,
		.loader = {.calls = calls},
		.readable_end = end_of_text(module, function->start),
	};

	if (function->wrapper) /* its caller will be one of ours */
		return;
	if (!function->fde) {
		if (!function->is_piece)
			scan_without_table(&s);
		return;
	}
	if (swz_cfi_rows(function->fde, visit, &s) != SWZ_OK) {
		swz_function_refuse(function, SWZ_REFUSE_NO_STANDARD_FRAME);
		return;
	}
	swz_frame_walker_note(module, function, decoder);
	if (((function->load_count || function->load_site_count) &&
	     swz_cfi_rows(function->fde, visit_for_cfa, &s) != SWZ_OK) ||
	    (s.leaves && !swz_config.count &&
	     swz_cfi_rows(function->fde, visit_strictly, &s) != SWZ_OK))
		swz_function_refuse(function, SWZ_REFUSE_NO_STANDARD_FRAME);
}

void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder)
{
	scan_one(module, function, decoder, NULL);
}

/* Functions are looked at each for itself. */
#define PORTION 512u

struct slots_scan {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct swz_profile_calls calls;
};

static void scan_functions(void *context, uint32_t begin, uint32_t end,
			   unsigned member)
{
	const struct slots_scan *s = context;

	for (uint32_t i = begin; i < end; i++) {
		scan_one(s->module, &s->module->functions[i],
			 s->decoders->of[member], &s->calls);
		swz_released_frame_find(s->module, &s->module->functions[i]);
	}
}

/* Memory is not taken while several threads look: so those few that have such
 * loads are looked at once more. */
static void list_load_sites(const struct slots_scan *s, struct swz_function *f)
{
	uint32_t bytes = f->load_site_count * (uint32_t)sizeof(*f->load_sites);

	f->load_sites = swz_scratch_alloc_brief(bytes);
	if (!f->load_sites) {
		f->load_site_count = 0;
		swz_function_refuse_reader(f);
		return;
	}
	f->load_site_count = 0;
	f->load_count = 0;
	scan_one(s->module, f, s->decoders->of[0], &s->calls);
}

void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders)
{
	struct slots_scan s = {.module = module, .decoders = decoders};

	swz_profile_calls_find(&s.calls, module);
	swz_workers_run(scan_functions, &s, module->function_count,
			swz_workers_portion(PORTION));
	/* when all have been looked at: what tells is in others, too */
	for (uint32_t i = 0; i < module->function_count; i++) {
		struct swz_function *f = &module->functions[i];

		if (f->finds_below)
			swz_function_refuse(f, SWZ_REFUSE_NO_STANDARD_FRAME);
		if (f->is_cold_part && !f->is_piece &&
		    (f->status == SWZ_PATCHED ||
		     f->status == SWZ_REFUSE_READS_RETURN_SLOT)) {
			f->is_piece = true;
			module->hookable_count--;
		}
		if (swz_config.count) /* they see what they always saw */
			f->load_count = 0;
		if (f->status != SWZ_PATCHED || swz_config.count)
			f->load_site_count = 0;
		else if (f->load_site_count)
			list_load_sites(&s, f);
	}
}
