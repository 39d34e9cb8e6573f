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

#include "runtime/discovery/released_frames.h"

#include "runtime/discovery/operand.h"
#include "runtime/discovery/row_scan.h"
#include "runtime/discovery/scan_depth.h"

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

/* Which registers for arguments point to what is below the stack pointer, as it
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

/* Whether the instruction may use what the register points to, or hand it on.
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

/* What is moved to registers for arguments between the last call and there:
 * %rsp and %rbp for what lea takes from them. */
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
