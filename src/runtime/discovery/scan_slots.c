/* In each row of a function's unwind table the return address lies at a known
 * distance from %rsp or %rbp. An access to it is a ModRM byte (and SIB) with
 * just that displacement (scaled, in EVEX instructions); where the bytes match,
 * the row's instructions are decoded to see whether they are one.
 *
 * __builtin_return_address(1) and above follow the chain of saved %rbp: in a
 * function with a frame pointer that is a load from (%rbp) to another register
 * than %rbp, which nothing else does, more loads of its kind for each level,
 * and one of the word above the last.
 *
 * A function that takes its caller's stack pointer besides (lea of the CFA)
 * will go on where it was called from by other ways than a return: setjmp and
 * its like, switches of stacks, unwinders.
 *
 * Functions that go on elsewhere and never return (__longjmp, setcontext)
 * describe at last the frame that they go to, by a register that points to
 * where it was saved. They do not look at their own return address either, if
 * nothing there refers to the stack, and nothing pops it before. */

#include "runtime/discovery/scan.h"

#include <string.h>

#include "runtime/discovery/cold_parts.h"
#include "runtime/discovery/scan_depth.h"
#include "runtime/discovery/slot_loads.h"
#include "thunks/decoder.h"

struct row_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_function *function;
	uint64_t readable_end; /* of the text that the function is in */
	bool leaves;           /* for another frame */
};

/* Decodes on from *from, at first the row's start, and leaves there where the
 * instruction that covers `at` begins; true if it has the operand
 * [base + displacement], or if decoding loses its way: there, then. */
static bool accesses(const struct row_scan *s, const struct swz_cfi_row *row,
		     uint64_t *from, uint64_t at, unsigned base,
		     int64_t displacement)
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

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

#define ONES UINT64_C(0x0101010101010101)

/* Not zero if any byte of `x` is zero. */
static uint64_t has_zero(uint64_t x)
{
	return (x - ONES) & ~x & (ONES << 7);
}

/* What to look for in a row: the operand [base + displacement]. */
struct operand {
	bool rsp;
	int64_t displacement;
};

/* Whether the bytes at `code + i` are its ModRM, SIB and displacement. */
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
	uint64_t all = 0xff * ONES, rm = 7 * ONES, sib = 0x24 * ONES;
	uint64_t low = (uint8_t)o->displacement * ONES;

	if (!o->rsp)
		return (struct pattern){{{0, rm, 5 * ONES}, {1, all, low}}};
	if (o->displacement == 0)
		return (struct pattern){{{0, rm, 4 * ONES}, {1, all, sib}}};
	return (struct pattern){{{1, all, sib}, {2, all, low}}};
}

/* Whether is_operand may be true for one of the eight offsets. */
static bool may_be_here(const struct pattern *p, const uint8_t *code)
{
	uint64_t first = *(const word *)(code + p->byte[0].at);
	uint64_t second = *(const word *)(code + p->byte[1].at);

	return has_zero(((first & p->byte[0].mask) ^ p->byte[0].value) |
			((second & p->byte[1].mask) ^ p->byte[1].value));
}

/* Whether an instruction begins at `at`, or decoding loses its way before. From
 * *from on, which is left where the last one before or at it begins. */
static bool begins_at(const struct row_scan *s, const struct swz_cfi_row *row,
		      uint64_t *from, uint64_t at)
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

static bool row_accesses_scaled(const struct row_scan *s,
				const struct swz_cfi_row *row,
				const struct operand *o)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start, from = row->start;

	for (uint64_t i = 0; i + EVEX_BYTES <= size; i++) {
		while (i + 8 <= size &&
		       !has_zero(*(const word *)(code + i) ^ 0x62 * ONES))
			i += 8;
		if (i + EVEX_BYTES <= size &&
		    is_scaled_operand(o, code + i, size - i) &&
		    begins_at(s, row, &from, row->start + i))
			return true;
	}
	return false;
}

/* Whether an instruction with the operand is one that matters. */
typedef bool matters(const struct row_scan *scan, uint64_t pc);

static bool row_has_operand(const struct row_scan *s,
			    const struct swz_cfi_row *row,
			    const struct operand *o, matters *does_matter)
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
			    accesses(s, row, &from, row->start + i,
				     o->rsp ? 4 : 5, o->displacement) &&
			    does_matter(s, from))
				return true;
	}
	return false;
}

/* What is not its own instruction's operand is an accident that decoding has
 * lost its way for. */
static bool decode_at(const struct row_scan *s, uint64_t pc,
		      struct swz_insn *insn, struct swz_encoding *e)
{
	struct swz_bytes code = {swz_module_bytes(s->module, pc),
				 s->function->start + s->function->size - pc};

	return swz_decode_encoding(s->decoder, code, pc, insn, e) == SWZ_OK &&
	       insn->memory_base;
}

static bool hinders_hook(const struct row_scan *s, uint64_t pc)
{
	struct swz_encoding e;
	struct swz_insn insn;

	if (!decode_at(s, pc, &insn, &e))
		return true;
	if (swz_is_fence(swz_module_bytes(s->module, pc), &e))
		return false;
	s->function->reads_own = true;
	return !swz_slot_load_note(s->module, s->function, pc, &e);
}

static bool is_address(const struct row_scan *s, uint64_t pc)
{
	struct swz_encoding e;
	struct swz_insn insn;

	return !decode_at(s, pc, &insn, &e) || insn.memory_is_lea;
}

static bool row_accesses_slot(const struct row_scan *s,
			      const struct swz_cfi_row *row)
{
	const struct operand o = {row->cfa_base == SWZ_CFA_RSP,
				  row->cfa_offset - 8};

	return row_has_operand(s, row, &o, hinders_hook) ||
	       row_accesses_scaled(s, row, &o);
}

/* Of a function that loads its return address. */
static bool visit_for_cfa(void *context, const struct swz_cfi_row *row)
{
	struct row_scan *s = context;
	const struct operand o = {row->cfa_base == SWZ_CFA_RSP,
				  row->cfa_offset};

	if (row->cfa_base == SWZ_CFA_OTHER ||
	    row_has_operand(s, row, &o, is_address))
		swz_function_refuse(s->function, SWZ_REFUSE_READS_RETURN_SLOT);
	return s->function->status == SWZ_PATCHED;
}

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
static uint8_t follow_frame_chain(const struct row_scan *s, uint64_t at,
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
	uint64_t opcode = *(const word *)(code + i + 1);
	uint64_t displacement = *(const word *)(code + i + 3);

	return has_zero((opcode ^ 0x8b * ONES) | displacement);
}

/* Sets reads_above where the row, whose saved %rbp is at (%rbp), follows it. */
static void find_frame_chain(const struct row_scan *s,
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
		    !accesses(s, row, &from, row->start + i, 5, 0))
			continue;
		s->function->reads_above |= follow_frame_chain(
			s, row->start + i, end);
	}
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

/* Whether %rsp or %rbp is the base of its memory operand. */
static bool refers_to_stack(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (!e->modrm_at || swz_modrm_mod(e->modrm) == 3 || e->extends_base)
		return false;
	if (swz_encoding_has_sib(e))
		base = e->sib & 7;
	return base == 4 || (base == 5 && swz_modrm_mod(e->modrm) != 0);
}

/* Whether an instruction of the row may take the return address off the stack,
 * or, where one does not know how far it is, refers to the stack at all. */
static bool may_take_slot(const struct row_scan *s,
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
	struct row_scan *s = context;

	if (s->function->status == SWZ_PATCHED && may_take_slot(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	return s->function->status == SWZ_PATCHED;
}

/* Whether the function begins by taking another amount of stack than this row
 * counts, which starts just behind: it is returned to, not called (by what has
 * put its address in place of a return address), and there is no return address
 * on top of the stack then, but a word of the function that will go on. */
static bool contradicts_entry(const struct row_scan *s,
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

static bool visit(void *context, const struct swz_cfi_row *row)
{
	struct row_scan *s = context;
	uint64_t end = s->function->start + s->function->size;

	if (row->start < s->function->start || row->end > end)
		return true;
	if (row->cfa_base == SWZ_CFA_RBP && row->cfa_offset == 16)
		find_frame_chain(s, row);
	if (s->function->status != SWZ_PATCHED &&
	    (s->function->status != SWZ_REFUSE_FILTERED ||
	     !s->module->in_scope))
		return true;
	if (describes_another_frame(row))
		s->leaves = true;
	else if (!row->return_at_cfa_minus_8 ||
		 (row->cfa_base == SWZ_CFA_RSP && row->cfa_offset < 8) ||
		 contradicts_entry(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	else if (row->start == s->function->start &&
		 swz_is_cold_part(s->module, s->function, row))
		s->function->is_cold_part = true;
	else if (row->cfa_base != SWZ_CFA_OTHER && row_accesses_slot(s, row))
		swz_function_refuse_reader(s->function);
	return true;
}

/* Of a function without an unwind table what lies behind the beginning of a
 * frame is a row like others. */
static void scan_without_table(struct row_scan *s)
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

void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder)
{
	struct row_scan s = {
		.module = module,
		.decoder = decoder,
		.function = function,
		.readable_end = end_of_text(module, function->start),
	};

	if (function->wrapper) /* its caller will be one of ours */
		return;
	if (!function->fde) {
		if (!function->is_piece)
			scan_without_table(&s);
		return;
	}
	if (swz_cfi_rows(function->fde, visit, &s) != SWZ_OK ||
	    (function->load_count &&
	     swz_cfi_rows(function->fde, visit_for_cfa, &s) != SWZ_OK) ||
	    (s.leaves &&
	     swz_cfi_rows(function->fde, visit_strictly, &s) != SWZ_OK))
		swz_function_refuse(function, SWZ_REFUSE_NO_STANDARD_FRAME);
}

/* Functions are looked at each for itself. */
#define PORTION 512u

struct slots_scan {
	struct swz_module *module;
	const struct swz_decoders *decoders;
};

static void scan_functions(void *context, uint32_t begin, uint32_t end,
			   unsigned member)
{
	const struct slots_scan *s = context;

	for (uint32_t i = begin; i < end; i++)
		swz_scan_return_slot(s->module, &s->module->functions[i],
				     s->decoders->of[member]);
}

void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders)
{
	struct slots_scan s = {module, decoders};

	swz_team_run(scan_functions, &s, module->function_count,
		     swz_team_portion(PORTION));
	/* when all have been looked at: what tells is in others, too */
	for (uint32_t i = 0; i < module->function_count; i++) {
		struct swz_function *f = &module->functions[i];

		if (f->is_cold_part && f->status == SWZ_PATCHED) {
			f->is_piece = true;
			module->hookable_count--;
		}
	}
}
