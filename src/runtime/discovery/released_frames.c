/* Where inline assembly writes through a pointer, and does not say so, a
 * compiler may think that nobody needs the frame that it points into any more,
 * and make a jump of the last call (libtheora's encoder). The bytes are below
 * the stack pointer then, where hooks write. The ABI says that they are
 * nobody's, but without hooks they are still there.
 *
 * The instructions are gone through as they stand, and it is noted which
 * registers point into the frame. What a call leaves in registers for arguments
 * is not what was there before; others may stay as they are, even if the ABI
 * does not say so (GCC's -fipa-ra). */

#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/discovery/scan_bytes.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- released frames ----------------------------------------------------- */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11 };

/* As the System V ABI hands them on, 3.2.3; and what a call gives back. */
#define ARGUMENTS \
	(1u << RDI | 1u << RSI | 1u << RDX | 1u << RCX | 1u << R8 | 1u << R9)
#define NOT_KEPT (ARGUMENTS | 1u << RAX)

struct registers {
	unsigned known;    /* one bit each */
	int64_t above[16]; /* where they point to, from the CFA on */
	struct swz_depth depth;
};

static void forget(struct registers *r, unsigned number)
{
	r->known &= ~(1u << number);
}

static void set(struct registers *r, unsigned number, bool known, int64_t above)
{
	if (!known) {
		forget(r, number);
		return;
	}
	r->known |= 1u << number;
	r->above[number] = above;
}

static bool value_of(const struct registers *r, unsigned number, int64_t *above)
{
	if (number == RSP && !r->depth.lost) {
		*above = -r->depth.now;
		return true;
	}
	if (number == RBP && r->depth.frame) {
		*above = -16;
		return true;
	}
	*above = r->above[number];
	return r->known >> number & 1;
}

static void move(struct registers *r, unsigned to, unsigned from)
{
	int64_t above;
	bool known = value_of(r, from, &above);

	set(r, to, known, above);
}

static void load_address(struct registers *r, const struct swz_encoding *e,
			 const uint8_t *code)
{
	unsigned base = swz_operand_base(e);
	int64_t above = 0;
	bool known = e->rex_w && base != SWZ_NO_REGISTER &&
		     swz_operand_index(e) == SWZ_NO_REGISTER &&
		     value_of(r, base, &above);

	if (e->displacement_bytes)
		above += swz_distance_before(code + e->displacement_at +
						     e->displacement_bytes,
					     e->displacement_bytes);
	set(r, swz_encoding_reg(e), known, above);
}

/* add and sub of a constant. */
static bool count_on(struct registers *r, const struct swz_encoding *e,
		     const uint8_t *code)
{
	unsigned how = swz_modrm_reg(e->modrm);
	int64_t number;

	if (!e->rex_w || swz_operand_is_memory(e) || (how != 0 && how != 5))
		return false;
	number = swz_distance_before(code + e->operands_at + e->immediate_bytes,
				     e->immediate_bytes);
	r->above[swz_encoding_rm(e)] += how == 0 ? number : -number;
	return true;
}

static bool is_call(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE &&
	       (e->opcode == 0xe8 ||
		(e->opcode == 0xff && swz_modrm_reg(e->modrm) == 2));
}

static void follow(struct registers *r, const struct swz_encoding *e,
		   const uint8_t *code)
{
	bool is_move = e->map == SWZ_MAP_ONE_BYTE && e->rex_w &&
		       !swz_operand_is_memory(e);
	unsigned to = swz_operand_set(e);

	if (is_call(e))
		r->known &= ~NOT_KEPT;
	else if (is_move && e->opcode == 0x89)
		move(r, to, swz_encoding_reg(e));
	else if (is_move && e->opcode == 0x8b)
		move(r, to, swz_encoding_rm(e));
	else if (e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0x8d)
		load_address(r, e, code);
	else if (e->map == SWZ_MAP_ONE_BYTE &&
		 (e->opcode == 0x81 || e->opcode == 0x83) &&
		 count_on(r, e, code))
		return;
	else if (to != SWZ_NO_REGISTER)
		forget(r, to);
}

/* The argument registers that point to what is below the stack pointer, as it
 * is at a call. */
static unsigned handed_on(const struct registers *r)
{
	unsigned which = 0;

	if (r->depth.now != 8 || r->depth.lost)
		return 0;
	for (unsigned i = 0; i < 16; i++)
		if (ARGUMENTS & r->known & 1u << i && r->above[i] < -8)
			which |= 1u << i;
	return which;
}

/* True if the instruction may use what the register points to, or hand it on.
 */
static bool may_use(const struct swz_encoding *e, unsigned number)
{
	if (swz_operand_is_memory(e) &&
	    (swz_operand_base(e) == number || swz_operand_index(e) == number))
		return true;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return swz_encoding_branch_bytes(e) != 0;
	if (e->opcode == 0x89 || e->opcode == 0x39 || e->opcode == 0x85)
		return swz_encoding_reg(e) == number;
	if (e->opcode == 0x8b || e->opcode == 0x3b)
		return swz_encoding_rm(e) == number;
	if ((e->opcode & 0xf8) == 0x50)
		return ((e->opcode & 7u) | (e->extends_base ? 8u : 0)) ==
		       number;
	return swz_encoding_branch_bytes(e) || e->opcode == 0xe8 ||
	       e->opcode == 0xff;
}

/* Compilers also make such a jump where they know that the function needs no
 * such argument (a destructor of what has no members): it returns, or puts
 * something else into the register. */
static bool uses(const struct swz_module *m, const struct swz_function *f,
		 unsigned number)
{
	struct registers r = {.depth = SWZ_DEPTH_AT_ENTRY,
			      .known = 1u << number};
	const uint8_t *code = swz_module_bytes(m, f->start);
	struct swz_encoding e;

	for (uint64_t at = 0; at < f->size && r.known;
	     at += (uint64_t)e.operands_at + e.immediate_bytes) {
		if (swz_encoding_read(
			    (struct swz_bytes){code + at, f->size - at}, &e) !=
			    SWZ_OK ||
		    may_use(&e, number))
			return true;
		if (swz_ends_flow(&e))
			return false;
		follow(&r, &e, code + at);
	}
	return r.known != 0;
}

static void note(const struct swz_module *m, const struct swz_function *from,
		 uint64_t target, unsigned registers)
{
	struct swz_function *to = swz_function_at(m, target);

	if (!to || to == from || to->start != target || to->is_piece ||
	    !swz_module_is_text(m, to->start, to->size))
		return;
	for (unsigned i = 0; i < 16; i++)
		if (registers >> i & 1 && uses(m, to, i))
			__atomic_store_n(&to->finds_below, true,
					 __ATOMIC_RELAXED);
}

static void follow_all(const struct swz_module *m, const struct swz_function *f)
{
	struct registers r = {.depth = SWZ_DEPTH_AT_ENTRY};
	const uint8_t *start = swz_module_bytes(m, f->start);
	struct swz_encoding e;

	for (uint64_t at = 0, length; at < f->size; at += length) {
		const uint8_t *code = start + at;
		unsigned branch, registers;

		if (swz_encoding_read((struct swz_bytes){code, f->size - at},
				      &e) != SWZ_OK)
			return;
		length = (uint64_t)e.operands_at + e.immediate_bytes;
		branch = swz_encoding_branch_bytes(&e);
		registers = branch ? handed_on(&r) : 0;
		if (registers)
			note(m, f,
			     f->start + at + length +
				     (uint64_t)swz_distance_before(
					     code + length, branch),
			     registers);
		follow(&r, &e, code);
		swz_depth_follow(&r.depth, &e, code, f->start + at + length);
		if (r.depth.now > r.depth.most)
			r.depth.most = r.depth.now;
		if (swz_ends_flow(&e)) { /* another way comes in behind */
			r.known &= ~NOT_KEPT;
			r.depth.guessed = true;
			r.depth.now = r.depth.most;
		}
	}
}

/* ------------------------------------------- whether it is worth the while */

/* Longer ones have their assembly in them, and need no such jump: to look at
 * all would take a tenth of what planning takes. */
#define MOST_BYTES 256u
/* Arguments are made ready in so many bytes before the jump. */
#define WINDOW 64u

/* mov between two registers, or lea of something at a distance from %rsp or
 * %rbp: which registers. */
static inline bool may_be_move(const uint8_t *code, unsigned *from,
			       unsigned *to)
{
	unsigned reg, rm;

	if ((code[0] & 0xf8) != 0x48)
		return false;
	reg = swz_modrm_reg(code[2]) | (code[0] & 4 ? 8u : 0);
	rm = swz_modrm_rm(code[2]) | (code[0] & 1 ? 8u : 0);
	*from = code[1] == 0x89 ? reg : rm;
	*to = code[1] == 0x89 ? rm : reg;
	if (code[1] == 0x89 || code[1] == 0x8b)
		return code[2] >= 0xc0;
	return code[1] == 0x8d && code[2] < 0xc0 && (rm == RSP || rm == RBP);
}

static bool may_be_call(const struct swz_module *m, const uint8_t *code,
			uint64_t address)
{
	return code[0] == 0xe8 &&
	       swz_module_is_text(m, swz_module_relative(m, address + 1), 1);
}

/* Returns the registers moved to argument registers since the last call; %rsp
 * and %rbp where lea takes an address from them. */
static unsigned sources_before(const struct swz_module *m,
			       const struct swz_function *f, uint64_t jump)
{
	const uint8_t *code = swz_module_bytes(m, f->start);
	unsigned sources = 0, from, to;

	for (uint64_t at = jump > WINDOW ? jump - WINDOW : 0; at + 3 <= jump;
	     at++) {
		if (at + 5 <= jump && may_be_call(m, code + at, f->start + at))
			sources = 0;
		else if (may_be_move(code + at, &from, &to) &&
			 ARGUMENTS >> to & 1)
			sources |= 1u << from;
	}
	return sources;
}

/* mov %rsp, %rbp */
static bool has_frame_pointer(const uint8_t *code, uint64_t size)
{
	for (uint64_t at = 0; at + 3 <= size && at < 32; at++)
		if (code[at] == 0x48 && code[at + 1] == 0x89 &&
		    code[at + 2] == 0xe5)
			return true;
	return false;
}

/* The registers that ever point to the frame. */
static unsigned pointers_to_frame(const uint8_t *code, uint64_t size)
{
	unsigned frame = 1u << RSP, pointers = 0, from, to;

	if (has_frame_pointer(code, size))
		frame |= 1u << RBP;
	for (uint64_t at = 0; at + 3 <= size; at++)
		if (may_be_move(code + at, &from, &to) && frame >> from & 1)
			pointers |= 1u << to;
	return frame | pointers;
}

/* Where the first byte from there on may be that of a jump to another function;
 * the function's size: nowhere. */
static uint64_t next_jump(const struct swz_function *f, const uint8_t *code,
			  uint64_t at)
{
	for (; at + 2 <= f->size; at++) {
		bool is_wide;
		uint64_t next;

		while (at + 10 <= f->size &&
		       !swz_has_zero((*(const swz_word *)(code + at) &
				      SWZ_ONES * 0xfd) ^
				     SWZ_ONES * 0xe9))
			at += 8;
		is_wide = code[at] == 0xe9;
		next = at + (is_wide ? 5 : 2);
		if ((code[at] & 0xfd) == 0xe9 && next <= f->size &&
		    next + (uint64_t)swz_distance_before(code + next,
							 is_wide ? 4 : 1) >=
			    f->size)
			return at;
	}
	return f->size;
}

void swz_released_frame_find(const struct swz_module *m,
			     const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);
	unsigned sources, pointers = 0;

	if (f->is_piece || f->size > MOST_BYTES ||
	    !swz_module_is_text(m, f->start, f->size))
		return;
	for (uint64_t at = next_jump(f, code, 0); at < f->size;
	     at = next_jump(f, code, at + 1)) {
		sources = sources_before(m, f, at);
		if (sources && !pointers)
			pointers = pointers_to_frame(code, f->size);
		if (sources & pointers) {
			follow_all(m, f);
			return;
		}
	}
}

/* --- frames found by any register ---------------------------------------- */

/* In whose place the row finds the return slot; SWZ_NO_REGISTER: none, or it
 * lies elsewhere. */
static unsigned slot_register(const struct swz_cfi_row *row)
{
	static const uint8_t of_column[] = {RAX, RDX, RCX, RBX,
					    RSI, RDI, RBP, RSP};

	if (row->cfa_offset != 8 || !row->return_at_cfa_minus_8)
		return SWZ_NO_REGISTER;
	if (row->cfa_base != SWZ_CFA_OTHER)
		return row->cfa_base == SWZ_CFA_RSP ? RSP : RBP;
	if (row->cfa_column < sizeof(of_column))
		return of_column[row->cfa_column];
	return row->cfa_column < SWZ_NO_REGISTER ? row->cfa_column
						 : SWZ_NO_REGISTER;
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

/* The general registers among an instruction's operands. */
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

/* True if one of its opcode's lower bits' registers is `reg`. */
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

/* True if it uses registers that are named nowhere in it: all of the first
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

/* A copy of the register's value, mov or lea: to where, or SWZ_NO_REGISTER. */
static unsigned copies_to(const uint8_t *code, const struct swz_encoding *e,
			  unsigned reg)
{
	bool in_register = swz_modrm_mod(e->modrm) == 3;

	if (is_lea(e) && !swz_encoding_has_sib(e) &&
	    swz_encoding_rm(e) == reg && displacement_of(code, e) == 0)
		return swz_encoding_reg(e);
	if (e->map != SWZ_MAP_ONE_BYTE || !e->rex_w || !in_register)
		return SWZ_NO_REGISTER;
	if (e->opcode == 0x8b && swz_encoding_rm(e) == reg)
		return swz_encoding_reg(e);
	if (e->opcode == 0x89 && swz_encoding_reg(e) == reg)
		return swz_encoding_rm(e);
	return SWZ_NO_REGISTER;
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
	unsigned to = e->modrm_at ? copies_to(code, e, reg) : SWZ_NO_REGISTER;
	struct general general;

	if (to != SWZ_NO_REGISTER)
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

	if (row->cfa_base != SWZ_CFA_OTHER || reg == SWZ_NO_REGISTER)
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
