#include "runtime/discovery/frame_register.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, NO_REGISTER = 16 };

/* In whose place the row finds the return slot; NO_REGISTER: none, or it lies
 * elsewhere. */
static unsigned slot_register(const struct swz_cfi_row *row)
{
	static const uint8_t of_column[] = {RAX, RDX, RCX, RBX,
					    RSI, RDI, RBP, RSP};

	if (row->cfa_offset != 8 || !row->return_at_cfa_minus_8)
		return NO_REGISTER;
	if (row->cfa_base != SWZ_CFA_OTHER)
		return row->cfa_base == SWZ_CFA_RSP ? RSP : RBP;
	if (row->cfa_column < sizeof(of_column))
		return of_column[row->cfa_column];
	return row->cfa_column < NO_REGISTER ? row->cfa_column : NO_REGISTER;
}

static bool finds_frame_at(const struct swz_row_scan *s, uint64_t pc,
			   unsigned reg)
{
	struct swz_cfi_row row = {0};

	return s->function->fde && swz_cfi_row_at(s->function->fde, pc, &row) &&
	       slot_register(&row) == reg;
}

static bool is_lea(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0x8d && e->rex_w &&
	       !e->address_size_32;
}

bool swz_frame_moves(const struct swz_row_scan *s, uint64_t pc,
		     const struct swz_encoding *e)
{
	return is_lea(e) &&
	       finds_frame_at(s, pc + e->operands_at, swz_encoding_reg(e));
}

/* Which of an instruction's operands are general registers, if they are
 * registers. */
struct general {
	bool reg;
	bool rm;
};

static struct general of_one_byte(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x80 ... 0x83: /* the reg field says which instruction it is */
	case 0x8f:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return (struct general){.rm = true};
	case 0xd8 ... 0xdf: /* x87 */
		return (struct general){.rm = false};
	default:
		return (struct general){.reg = true, .rm = true};
	}
}

static struct general of_0f(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x2c: /* cvttss2si and its like */
	case 0x2d:
	case 0x50: /* movmskps */
	case 0xc5: /* pextrw */
	case 0xd7: /* pmovmskb */
		return (struct general){.reg = true};
	case 0x2a: /* cvtsi2ss */
	case 0x6e: /* movd, movq */
	case 0x7e:
	case 0x90 ... 0x9f: /* setcc */
	case 0xc4:          /* pinsrw */
	case 0xba:
		return (struct general){.rm = true};
	case 0x40 ... 0x4f: /* cmovcc */
	case 0xa3 ... 0xa5:
	case 0xab ... 0xad:
	case 0xaf ... 0xb9:
	case 0xbb ... 0xc1:
	case 0xc3: /* movnti */
		return (struct general){.reg = true, .rm = true};
	default:
		return (struct general){.rm = false};
	}
}

static struct general of_0f38(const struct swz_encoding *e)
{
	if (e->opcode >= 0xf0) /* movbe, crc32, adcx; BMI's */
		return (struct general){.reg = true, .rm = true};
	return (struct general){.rm = e->opcode >= 0x7a && e->opcode <= 0x7c};
}

static struct general of_0f3a(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x14 ... 0x17: /* pextr */
	case 0x20:          /* pinsr */
	case 0x22:
		return (struct general){.rm = true};
	default: /* rorx */
		return (struct general){.reg = e->opcode == 0xf0,
					.rm = e->opcode == 0xf0};
	}
}

static struct general general_operands(const struct swz_encoding *e)
{
	static const enum swz_opcode_map of_vectors[] = {
		[1] = SWZ_MAP_0F, [2] = SWZ_MAP_0F38, [3] = SWZ_MAP_0F3A};
	enum swz_opcode_map map = e->map;

	if (map == SWZ_MAP_VECTOR && e->vector_map >= 1 && e->vector_map <= 3)
		map = of_vectors[e->vector_map];
	switch (map) {
	case SWZ_MAP_ONE_BYTE:
		return of_one_byte(e);
	case SWZ_MAP_0F:
		return of_0f(e);
	case SWZ_MAP_0F38:
		return of_0f38(e);
	case SWZ_MAP_0F3A:
		return of_0f3a(e);
	default:
		return (struct general){.reg = true, .rm = true};
	}
}

/* Its reg field names the register, or may: of VEX and its like the highest bit
 * is not known. */
static bool reg_may_be(const struct swz_encoding *e, unsigned reg)
{
	return e->map == SWZ_MAP_VECTOR ? swz_modrm_reg(e->modrm) == (reg & 7)
					: swz_encoding_reg(e) == reg;
}

/* Whether one of its opcode's lower bits' registers is `reg`. */
static bool opcode_names(const struct swz_encoding *e, unsigned reg)
{
	unsigned named = (e->opcode & 7u) | (e->extends_base ? 8u : 0);

	if (e->map == SWZ_MAP_0F)
		return e->opcode >= 0xc8 && e->opcode < 0xd0 && named == reg;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0x50 ... 0x5f: /* push, pop */
	case 0xb8 ... 0xbf: /* mov of an immediate */
		return named == reg;
	case 0x90 ... 0x97: /* xchg with %rax; nop */
		return named && (named == reg || reg == RAX);
	default:
		return false;
	}
}

/* Whether it uses registers that are named nowhere in it: all of the first
 * eight may be among them. */
static bool has_silent_operands(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);

	if (e->map == SWZ_MAP_0F) /* shld, cpuid, cmpxchg and their like */
		return e->opcode < 0x10 || (e->opcode & 0xf0) == 0x30 ||
		       e->opcode == 0xa2 || e->opcode == 0xb0 ||
		       e->opcode == 0xb1 || e->opcode == 0xc7;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0x98: /* cdqe, cqo */
	case 0x99:
	case 0x9b ... 0xaf: /* lahf, mov of absolute addresses, strings */
	case 0xc8:          /* enter */
	case 0xcd:
	case 0xd7: /* xlat */
	case 0xe0 ... 0xe7:
	case 0xec ... 0xef: /* in, out */
		return true;
	case 0xf6: /* mul, div */
	case 0xf7:
		return operation >= 4;
	default:
		return e->opcode < 0x40 && (e->opcode & 6) == 4;
	}
}

static bool passes_arguments(const struct swz_insn *insn, unsigned reg)
{
	return (insn->kind == SWZ_INSN_CALL ||
		insn->kind == SWZ_INSN_CALL_INDIRECT ||
		insn->kind == SWZ_INSN_SYSCALL) &&
	       (reg == RDI || reg == RSI || reg == RDX || reg == RCX ||
		reg == R8 || reg == R9);
}

static int64_t displacement_of(const uint8_t *code,
			       const struct swz_encoding *e)
{
	if (!e->displacement_bytes)
		return 0;
	return swz_distance_before(code + e->displacement_at +
					   e->displacement_bytes,
				   e->displacement_bytes);
}

/* A copy of the register's value, mov or lea: to where, or NO_REGISTER. */
static unsigned copies_to(const uint8_t *code, const struct swz_encoding *e,
			  unsigned reg)
{
	bool in_register = swz_modrm_mod(e->modrm) == 3;

	if (is_lea(e) && !swz_encoding_has_sib(e) &&
	    swz_encoding_rm(e) == reg && displacement_of(code, e) == 0)
		return swz_encoding_reg(e);
	if (e->map != SWZ_MAP_ONE_BYTE || !e->rex_w || !in_register)
		return NO_REGISTER;
	if (e->opcode == 0x8b && swz_encoding_rm(e) == reg)
		return swz_encoding_reg(e);
	if (e->opcode == 0x89 && swz_encoding_reg(e) == reg)
		return swz_encoding_rm(e);
	return NO_REGISTER;
}

/* A store of the register to the function's own stack, from where an expression
 * of the unwind table takes it then. */
static bool keeps_in_frame(const struct swz_encoding *e, unsigned reg)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0x89 && e->rex_w &&
	       swz_encoding_reg(e) == reg && swz_encoding_has_sib(e) &&
	       !e->extends_base && (e->sib & 7) == RSP;
}

/* Its memory operand is the slot, or may be: by an index. */
static bool refers_to_slot(const uint8_t *code, const struct swz_encoding *e,
			   unsigned reg)
{
	unsigned base = swz_modrm_rm(e->modrm), index = 4;
	int64_t displacement = displacement_of(code, e);

	if (swz_encoding_rip_relative(e))
		return false;
	if (swz_encoding_has_sib(e)) {
		base = e->sib & 7;
		index = (e->sib >> 3 & 7u) | (e->extends_index ? 8u : 0);
		if (base == 5 && swz_modrm_mod(e->modrm) == 0)
			return index == reg;
	}
	base |= e->extends_base ? 8u : 0;
	if (index == reg)
		return true;
	return base == reg &&
	       (index != 4 || (displacement >= 0 && displacement < 8));
}

static bool strays(const struct swz_row_scan *s, const struct swz_insn *insn,
		   const struct swz_encoding *e, unsigned reg)
{
	const uint8_t *code = swz_module_bytes(s->module, insn->address);
	unsigned to = e->modrm_at ? copies_to(code, e, reg) : NO_REGISTER;
	struct general general;

	if (to != NO_REGISTER)
		return !finds_frame_at(s, insn->address + insn->length, to);
	if (opcode_names(e, reg) || passes_arguments(insn, reg) ||
	    (reg <= RDI && has_silent_operands(e)))
		return true;
	if (!e->modrm_at || keeps_in_frame(e, reg))
		return false;
	general = general_operands(e);
	if (general.reg && reg_may_be(e, reg))
		return true;
	if (swz_modrm_mod(e->modrm) == 3)
		return general.rm && swz_encoding_rm(e) == reg;
	return refers_to_slot(code, e, reg);
}

bool swz_frame_register_strays(const struct swz_row_scan *s,
			       const struct swz_cfi_row *row)
{
	unsigned reg = slot_register(row);

	if (row->cfa_base != SWZ_CFA_OTHER || reg == NO_REGISTER)
		return false;
	for (uint64_t pc = row->start; pc < row->end;) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 row->end - pc};
		struct swz_encoding e;
		struct swz_insn insn;

		if (swz_decode_encoding(s->decoder, code, pc, &insn, &e) !=
			    SWZ_OK ||
		    strays(s, &insn, &e, reg))
			return true;
		pc += insn.length;
	}
	return false;
}
