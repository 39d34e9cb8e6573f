/* Instructions that touch the stack: which registers they take and set, how
 * deep the stack is behind them, and whether one is the function's own return
 * address. A load of it can be lived with, as a copy of the load takes the real
 * address in place of the thunk's; any other use cannot. */

#include "runtime/discovery/return_slot.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "image/elf_view.h"
#include "runtime/discovery/function.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- calls of a profiler ------------------------------------------------- */

static const char *const names[] = {"__cyg_profile_func_enter",
				    "__cyg_profile_func_exit"};

static bool is_name(const char *name)
{
	return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

static void find_slots(struct swz_profile_calls *c, const Elf64_Rela *table,
		       uint64_t count, const struct swz_dynamic *d)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t type = ELF64_R_TYPE(table[i].r_info);
		const Elf64_Sym *symbol =
			&d->symbols[ELF64_R_SYM(table[i].r_info)];

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		    c->slot_count < sizeof(c->slots) / sizeof(c->slots[0]) &&
		    is_name(d->strings + symbol->st_name))
			c->slots[c->slot_count++] = table[i].r_offset;
	}
}

void swz_profile_calls_find(struct swz_profile_calls *c,
			    const struct swz_module *m)
{
	struct swz_dynamic d;

	*c = (struct swz_profile_calls){.function_count = 0};
	for (unsigned i = 0; i < 2; i++) {
		struct swz_elf_symbol symbol;

		if (swz_module_symbol(m, names[i], &symbol))
			c->functions[c->function_count++] = symbol.value;
	}
	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return;
	find_slots(c, d.jmprel, d.jmprel_count, &d);
	find_slots(c, d.rela, d.rela_count, &d);
}

static bool is_slot(const struct swz_profile_calls *c, uint64_t address)
{
	for (unsigned i = 0; i < c->slot_count; i++)
		if (c->slots[i] == address)
			return true;
	return false;
}

/* call and jmp through memory, with or without a prefix (bnd, notrack). */
enum { CALL = 2, JUMP = 4 };

static bool goes_by_slot(const struct swz_profile_calls *c,
			 const struct swz_module *m, uint64_t pc, uint64_t end,
			 unsigned how)
{
	struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
	struct swz_encoding e;

	return swz_encoding_read(code, &e) == SWZ_OK &&
	       e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0xff &&
	       swz_modrm_reg(e.modrm) == how && swz_encoding_rip_relative(&e) &&
	       is_slot(c, swz_module_relative(m, pc + e.displacement_at));
}

/* endbr64 and the number of a relocation may come before the jump. */
static bool is_stub(const struct swz_profile_calls *c,
		    const struct swz_module *m, uint64_t pc, uint64_t end)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t mov[] = {0x41, 0xbb}; /* $number, %r11d */

	if (end - pc > sizeof(endbr) &&
	    memcmp(swz_module_bytes(m, pc), endbr, sizeof(endbr)) == 0)
		pc += sizeof(endbr);
	if (end - pc > 6 &&
	    memcmp(swz_module_bytes(m, pc), mov, sizeof(mov)) == 0)
		pc += 6;
	return goes_by_slot(c, m, pc, end, JUMP);
}

bool swz_profile_calls_has(const struct swz_profile_calls *c,
			   const struct swz_module *m, uint64_t pc,
			   uint64_t end)
{
	uint64_t to;

	if (!c->function_count && !c->slot_count)
		return false;
	if (end - pc < 5 || *swz_module_bytes(m, pc) != 0xe8)
		return goes_by_slot(c, m, pc, end, CALL);
	to = swz_module_relative(m, pc + 1);
	for (unsigned i = 0; i < c->function_count; i++)
		if (c->functions[i] == to)
			return true;
	for (unsigned i = 0; i < m->plt_count; i++)
		if (to >= m->plt[i].start && to < m->plt[i].end)
			return is_stub(c, m, to, m->plt[i].end);
	return false;
}

/* --- operands ------------------------------------------------------------ */

static unsigned destination_in_map_0f(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x40 ... 0x4f: /* cmov */
	case 0xaf:          /* imul */
	case 0xb6 ... 0xb7: /* movzx, bsf, bsr, movsx */
	case 0xbc ... 0xbf:
		return swz_encoding_reg(e);
	default:
		return SWZ_NO_REGISTER;
	}
}

unsigned swz_operand_set(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);
	unsigned rm = swz_operand_is_memory(e) ? SWZ_NO_REGISTER
					       : swz_encoding_rm(e);

	if (e->map == SWZ_MAP_0F)
		return destination_in_map_0f(e);
	if (e->map != SWZ_MAP_ONE_BYTE)
		return SWZ_NO_REGISTER;
	switch (e->opcode) {
	case 0x01: /* add, or, adc, sbb, and, sub, xor, mov to what ModRM says
		    */
	case 0x09:
	case 0x11:
	case 0x19:
	case 0x21:
	case 0x29:
	case 0x31:
	case 0x89:
	case 0x8f: /* pop */
	case 0xc1: /* shifts, mov of a constant */
	case 0xc7:
	case 0xd1:
	case 0xd3:
		return rm;
	case 0x03: /* the other way round */
	case 0x0b:
	case 0x13:
	case 0x1b:
	case 0x23:
	case 0x2b:
	case 0x33:
	case 0x8b:
	case 0x63: /* movslq, imul, lea */
	case 0x69:
	case 0x6b:
	case 0x8d:
		return swz_encoding_reg(e);
	case 0x81: /* all but cmp */
	case 0x83:
		return operation == 7 ? SWZ_NO_REGISTER : rm;
	case 0xf7: /* not, neg */
		return operation == 2 || operation == 3 ? rm : SWZ_NO_REGISTER;
	case 0xff: /* inc, dec */
		return operation < 2 ? rm : SWZ_NO_REGISTER;
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		return (e->opcode & 7u) | (e->extends_base ? 8u : 0);
	default:
		return SWZ_NO_REGISTER;
	}
}

/* --- kept registers ------------------------------------------------------ */

#define KEPT 0xf028u

static bool has(uint32_t bits, unsigned reg)
{
	return reg < SWZ_NO_REGISTER && bits >> reg & 1;
}

static bool is_pop(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && (e->opcode & 0xf8) == 0x58;
}

/* The one that it puts into the stack. */
static unsigned saved_by(const struct swz_encoding *e, bool in_stack)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return SWZ_NO_REGISTER;
	if ((e->opcode & 0xf8) == 0x50)
		return (e->opcode & 7u) | (e->extends_base ? 8u : 0);
	return e->opcode == 0x89 && in_stack ? swz_encoding_reg(e)
					     : SWZ_NO_REGISTER;
}

bool swz_kept_registers_follow(struct swz_kept_registers *r,
			       const struct swz_encoding *e, bool in_stack)
{
	uint32_t callers = KEPT & ~(uint32_t)r->set;
	unsigned to = swz_operand_set(e), saved = saved_by(e, in_stack);

	if (swz_operand_is_memory(e) && (has(callers, swz_operand_base(e)) ||
					 has(callers, swz_operand_index(e))))
		return false;
	if (saved < SWZ_NO_REGISTER)
		r->saved |= (uint16_t)(1u << saved);
	if (!has(KEPT, to))
		return true;
	if (!has(r->saved, to))
		return false;
	if (!is_pop(e)) /* that gives it back */
		r->set |= (uint16_t)(1u << to);
	return true;
}

/* --- branch thunks ------------------------------------------------------- */

/* In place of `jmp *%rax` compilers make, against attacks on what processors
 * foresee, a call to this (-mindirect-branch=thunk, -mretpoline):
 *
 *	call	1f		a return that is foreseen leads
 * 0:	pause			behind the call, and stays there
 *	lfence
 *	jmp	0b
 * 1:	mov	%rax, (%rsp)	or lea 8(%rsp), %rsp: to what lay above
 *	ret
 *
 * It looks like a function, and its unwind table describes a call. But it is
 * jumped to wherever there was a jump before, that of a switch in the midst of
 * a function, say: then what is on top of the stack is the function's, and no
 * return address.
 */

/* Between the call and what it calls there is the loop, and padding. */
#define CALL_BYTES 5u
#define MOST_BYTES 64u

static bool begins_with(struct swz_bytes code, const char *bytes, size_t count)
{
	return code.size >= count && memcmp(code.data, bytes, count) == 0;
}

static struct swz_bytes behind(struct swz_bytes code, size_t count)
{
	return (struct swz_bytes){code.data + count, code.size - count};
}

static bool is_ret(struct swz_bytes code)
{
	if (code.size && (code.data[0] | 1) == 0xf3) /* bnd, or rep */
		code = behind(code, 1);
	return begins_with(code, "\xc3", 1);
}

/* mov %reg, (%rsp) */
static bool stores_at_top(struct swz_bytes code)
{
	return code.size >= 4 && (code.data[0] & 0xfb) == 0x48 &&
	       code.data[1] == 0x89 && (code.data[2] & 0xc7) == 0x04 &&
	       code.data[3] == 0x24;
}

bool swz_is_branch_thunk(struct swz_bytes code)
{
	uint32_t distance;

	if (begins_with(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		code = behind(code, 4);
	if (!begins_with(code, "\xe8", 1) || code.size <= CALL_BYTES)
		return false;
	memcpy(&distance, code.data + 1, sizeof(distance));
	code = behind(code, CALL_BYTES);
	if (distance > MOST_BYTES || distance >= code.size)
		return false;
	code = behind(code, distance);
	if (stores_at_top(code))
		return is_ret(behind(code, 4));
	return (begins_with(code, "\x48\x8d\x64\x24\x08", 5) &&
		is_ret(behind(code, 5))) || /* lea 8(%rsp), %rsp */
	       (begins_with(code, "\x48\x83\xc4\x08", 4) &&
		is_ret(behind(code, 4))); /* add $8, %rsp */
}

/* --- loads of the return address ----------------------------------------- */

enum { RSP = 4, RBP = 5 };

static bool is_locked_add(const struct swz_encoding *e)
{
	return e->locked && (e->opcode == 0x81 || e->opcode == 0x83) &&
	       swz_modrm_reg(e->modrm) <= 1;
}

/* A shift of 64 bits: with a count of 0 not even the flags change. */
static bool is_shift(const struct swz_encoding *e)
{
	return !e->locked && e->rex_w && e->opcode == 0xc1 &&
	       swz_modrm_reg(e->modrm) == 4;
}

bool swz_is_fence(const uint8_t *code, const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE || (!is_locked_add(e) && !is_shift(e)))
		return false;
	for (unsigned i = 0; i < e->immediate_bytes; i++)
		if (code[e->operands_at + i])
			return false;
	return true;
}

/* mov to a 64-bit register, not %rsp. */
static bool is_load(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0x8b && e->rex_w &&
	       !e->address_size_32 && e->prefix_bytes == 1 &&
	       (swz_modrm_reg(e->modrm) != 4 || e->extends_reg);
}

/* True if %rsp is set from %rbp, by which the frame is found here: leave, mov,
 * lea; or some are subtracted from it, as for an array whose size varies. */
static bool stays_in_frame(const struct swz_function *f, uint64_t pc,
			   const struct swz_encoding *e)
{
	struct swz_cfi_row row;
	bool from_rbp, takes;

	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	from_rbp = e->opcode == 0xc9 ||
		   (e->opcode == 0x89 && e->modrm == 0xec && !e->extends_reg) ||
		   (e->opcode == 0x8b && e->modrm == 0xe5) ||
		   (e->opcode == 0x8d && swz_modrm_rm(e->modrm) == 5 &&
		    e->displacement_bytes && !swz_encoding_rip_relative(e));
	takes = e->opcode == 0x29 || e->opcode == 0x2b;
	return (from_rbp || takes) && !e->extends_base &&
	       swz_cfi_row_at(f->fde, pc, &row) && row.cfa_base == SWZ_CFA_RBP;
}

/* Code that is not called but returned to (what makecontext begins with) has
 * its stack elsewhere, and no return address. */
static bool stays_on_stack(const struct swz_module *m,
			   const struct swz_function *f,
			   struct swz_slot_loader *loader, uint64_t pc)
{
	uint64_t *at = &loader->on_stack_to;

	if (*at < f->start)
		*at = f->start;
	while (!loader->left_stack && *at < pc) {
		struct swz_bytes code = {swz_module_bytes(m, *at),
					 f->start + f->size - *at};
		struct swz_encoding e = {0};

		loader->left_stack = swz_encoding_read(code, &e) != SWZ_OK ||
				     (swz_encoding_replaces_stack(&e) &&
				      !stays_in_frame(f, *at, &e));
		*at += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return !loader->left_stack;
}

bool swz_slot_load_keeps_flags(const struct swz_module *m, uint64_t load)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		struct swz_bytes code = {swz_module_bytes(m, text->start),
					 text->end - text->start};
		struct swz_bytes rest = {swz_module_bytes(m, load),
					 text->end - load};
		struct swz_encoding e;

		if (load >= text->start && load < text->end &&
		    swz_encoding_read(rest, &e) == SWZ_OK)
			return !swz_flags_are_free(code, load + e.operands_at -
								 text->start);
	}
	return true;
}

static bool displace(struct swz_function *f, uint64_t offset, uint64_t end)
{
	if (f->load_count == SWZ_MOST_LOADS)
		return false;
	f->loads[f->load_count++] = (uint8_t)offset;
	if (end > f->displace)
		f->displace = (uint8_t)end;
	return true;
}

static bool is_indirect_jump(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0xff &&
	       swz_modrm_reg(e->modrm) == 4 && !swz_encoding_rip_relative(e);
}

static bool jumps_indirectly(const struct swz_module *m,
			     const struct swz_function *f);

/* True if the function branches to one that goes on in its place, or to a part
 * of it that lies elsewhere and jumps indirectly. */
static bool leads_on_indirectly(const struct swz_module *m,
				const struct swz_function *f, uint64_t to)
{
	const struct swz_function *part = swz_function_at(m, to);

	if (!part || part == f || !part->is_piece)
		return false;
	return swz_is_branch_thunk((struct swz_bytes){
		       swz_module_bytes(m, part->start), part->size}) ||
	       (!f->is_piece && jumps_indirectly(m, part));
}

/* True if it jumps to where a register or memory says, or may: to a label of
 * its own, out of a table that need not be one of those that are known (of 16
 * bits, or of 64 as the large code model has them). */
static bool jumps_indirectly(const struct swz_module *m,
			     const struct swz_function *f)
{
	for (uint64_t at = f->start; at < f->start + f->size;) {
		struct swz_bytes code = {swz_module_bytes(m, at),
					 f->start + f->size - at};
		struct swz_encoding e;
		unsigned distance;
		uint64_t length;

		if (swz_encoding_read(code, &e) != SWZ_OK ||
		    is_indirect_jump(&e))
			return true;
		length = (uint64_t)e.operands_at + e.immediate_bytes;
		distance = swz_encoding_branch_bytes(&e);
		at += length;
		if ((distance == 1 || distance == 4) && length <= code.size &&
		    leads_on_indirectly(
			    m, f,
			    at + (uint64_t)swz_distance_before(
					 code.data + length, distance)))
			return true;
	}
	return false;
}

/* From (%rsp), (%rbp) or (%rip). */
static bool has_place(const struct swz_encoding *e)
{
	unsigned base = swz_operand_base(e);

	return swz_encoding_rip_relative(e) ||
	       ((base == RSP || base == RBP) &&
		swz_operand_index(e) == SWZ_NO_REGISTER);
}

bool swz_only_moves(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	if (e->opcode == 0x8d || (e->opcode >= 0xb8 && e->opcode <= 0xbf))
		return true; /* lea; mov of a constant */
	if (!e->modrm_at)
		return false;
	if (swz_modrm_mod(e->modrm) != 3)
		return e->opcode == 0x8b && has_place(e);
	return (e->opcode < 0x40 && (e->opcode & 7) < 4) ||
	       (e->opcode >= 0x80 && e->opcode <= 0x8b);
}

/* mov, add, or, adc, sbb, and, sub, xor, cmp, to and from memory. */
static bool is_on_memory(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE || !e->modrm_at)
		return false;
	return (e->opcode & 0xfc) == 0x88 || (e->opcode & 0xfc) == 0x80 ||
	       ((e->opcode & 0xfe) == 0xc6 && !swz_modrm_reg(e->modrm)) ||
	       (e->opcode < 0x40 && (e->opcode & 7) < 4);
}

/* Most instructions between the load and the call that gets its value. */
#define MOST_BEFORE_CALL 4

/* True if moves and arithmetic alone stand between the load and a call that a
 * compiler has added for -finstrument-functions. Each such call has a load of
 * its own, so nothing leads to what is between the two. */
static bool hands_on(const struct swz_module *m, const struct swz_function *f,
		     const struct swz_profile_calls *calls, uint64_t behind)
{
	for (unsigned i = 0; i <= MOST_BEFORE_CALL && behind < f->size; i++) {
		struct swz_bytes code = {swz_module_bytes(m, f->start + behind),
					 f->size - behind};
		struct swz_encoding e;

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return false;
		if (calls && swz_profile_calls_has(calls, m, f->start + behind,
						   f->start + f->size))
			return true;
		if (!swz_only_moves(&e) && !is_on_memory(&e))
			return false;
		behind += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return false;
}

static bool may_jump_indirectly(const struct swz_module *m,
				const struct swz_function *f,
				struct swz_slot_loader *loader)
{
	if (!loader->looked_for_jumps) {
		loader->looked_for_jumps = true;
		/* of a piece, the jump may be in any function */
		loader->jumps_indirectly = f->is_piece || f->is_cold_part ||
					   jumps_indirectly(m, f);
	}
	return loader->jumps_indirectly;
}

/* By a jump of its own, which takes more than a load of 4 bytes. */
static bool patch_there(const struct swz_module *m, struct swz_function *f,
			struct swz_slot_loader *loader, uint64_t offset,
			unsigned bytes)
{
	if (f->load_site_count && offset == loader->latest)
		return true; /* its bytes look like two operands */
	if (f->load_site_count == SWZ_MOST_LOAD_SITES ||
	    (f->load_site_count && offset < loader->latest) ||
	    (bytes < SWZ_JUMP_BYTES &&
	     !hands_on(m, f, loader->calls, offset + bytes) &&
	     may_jump_indirectly(m, f, loader)))
		return false;
	loader->latest = (uint32_t)offset;
	if (f->load_sites)
		f->load_sites[f->load_site_count] = (uint32_t)offset;
	f->load_site_count++;
	return true;
}

bool swz_slot_load_note(const struct swz_module *m, struct swz_function *f,
			struct swz_slot_loader *loader, uint64_t pc,
			const struct swz_encoding *e)
{
	uint64_t offset = pc - f->start - f->site;

	if (f->status != SWZ_PATCHED || !f->fde ||
	    (f->name && swz_is_reader_name(f->name)) || !is_load(e) ||
	    pc < f->start + f->site || !stays_on_stack(m, f, loader, pc))
		return false;
	if (f->is_piece || f->is_cold_part)
		return patch_there(m, f, loader, pc - f->start, e->operands_at);
	return offset >= SWZ_JUMP_BYTES
		       ? patch_there(m, f, loader, pc - f->start,
				     e->operands_at)
		       : displace(f, offset, offset + e->operands_at);
}

/* --- depth of the stack -------------------------------------------------- */

/* The instructions are gone through as they stand, and the depth of the stack
 * is counted: right for what compilers make. Where it cannot be followed, what
 * is behind is not looked at. */

static bool is_rsp(unsigned number, bool extended)
{
	return number == 4 && !extended;
}

static int64_t signed_at(const uint8_t *code, unsigned bytes)
{
	int32_t wide;

	if (bytes == 1)
		return (int8_t)code[0];
	if (bytes != 4)
		return 0;
	memcpy(&wide, code, 4);
	return wide;
}

/* lea to %rsp, and moves to it: from %rsp, or %rbp as the frame pointer. */
static void set_rsp(struct swz_depth *d, bool of_rsp, bool of_rbp, int64_t add)
{
	if (of_rsp)
		d->now -= add;
	else if (of_rbp && d->frame)
		d->now = 16 - add;
	else
		d->lost = true;
}

static void follow_arithmetic(struct swz_depth *d, const struct swz_encoding *e,
			      const uint8_t *code)
{
	int64_t operand = signed_at(code + e->operands_at, e->immediate_bytes);

	switch (e->modrm >> 3 & 7) {
	case 0:
		d->now -= operand;
		break;
	case 5:
		d->now += operand;
		break;
	case 7: /* cmp */
		break;
	default:
		d->lost = true;
	}
}

void swz_depth_follow(struct swz_depth *d, const struct swz_encoding *e,
		      const uint8_t *code, uint64_t next)
{
	unsigned reg = e->modrm >> 3 & 7, rm = swz_modrm_rm(e->modrm);
	bool memory = e->modrm_at && swz_modrm_mod(e->modrm) != 3;
	int64_t add = signed_at(code + e->displacement_at,
				e->displacement_at ? e->displacement_bytes : 0);

	if (e->map != SWZ_MAP_ONE_BYTE)
		return;
	switch (e->opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		d->now += 8;
		break;
	case 0x58 ... 0x5f:
	case 0x8f:
	case 0x9d:
		d->now -= 8;
		break;
	case 0xc9: /* leave */
		set_rsp(d, false, true, 8);
		break;
	case 0x81:
	case 0x83:
		if (!memory && is_rsp(rm, e->extends_base))
			follow_arithmetic(d, e, code);
		break;
	case 0x01:
	case 0x21:
	case 0x29:
		if (!memory && is_rsp(rm, e->extends_base))
			d->lost = true;
		break;
	case 0x89:
		if (!memory && is_rsp(rm, e->extends_base))
			set_rsp(d, false, reg == 5 && !e->extends_reg, 0);
		if (!memory && rm == 5 && !e->extends_base &&
		    is_rsp(reg, e->extends_reg) && d->now == 16 && !d->guessed)
			d->frame = next;
		break;
	case 0x8b:
		if (is_rsp(reg, e->extends_reg))
			set_rsp(d, false,
				!memory && rm == 5 && !e->extends_base, 0);
		break;
	case 0x8d:
		if (is_rsp(reg, e->extends_reg))
			set_rsp(d, rm == 4 && e->sib == 0x24, rm == 5, add);
		break;
	case 0xff:
		if (reg == 6) /* push */
			d->now += 8;
		break;
	default:
		break;
	}
}

bool swz_ends_flow(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return e->opcode == 0xc3 || e->opcode == 0xc2 || e->opcode == 0xeb ||
	       e->opcode == 0xe9 ||
	       (e->opcode == 0xff && (e->modrm >> 3 & 7) == 4);
}

/* True if the instruction, which ends at `next`, jumps to another function. */
static bool jumps_to_another(const struct swz_module *m,
			     const struct swz_function *f,
			     const struct swz_encoding *e, const uint8_t *code,
			     uint64_t next)
{
	const struct swz_function *to;
	unsigned bytes = swz_encoding_branch_bytes(e);
	uint64_t target;

	if (!swz_ends_flow(e) || !bytes)
		return false;
	target = next +
		 (uint64_t)swz_distance_before(
			 code + e->operands_at + e->immediate_bytes, bytes);
	to = swz_function_at(m, target);
	return to && to != f && to->start == target;
}

bool swz_depth_is_slot(const struct swz_depth *d, const struct swz_encoding *e,
		       const uint8_t *code)
{
	unsigned bytes = e->displacement_at ? e->displacement_bytes : 0;

	return e->modrm_at && swz_modrm_mod(e->modrm) != 3 &&
	       swz_modrm_rm(e->modrm) == 4 && e->sib == 0x24 &&
	       !e->extends_base && !e->extends_index &&
	       signed_at(code + e->displacement_at, bytes) == d->now - 8 &&
	       !swz_gives_frame_up(code) && !swz_is_fence(code, e);
}

uint64_t swz_scan_depth(const struct swz_module *m, struct swz_function *f)
{
	struct swz_depth d = SWZ_DEPTH_AT_ENTRY;
	uint64_t end = f->start + f->size;

	for (uint64_t pc = f->start; pc < end && !d.lost;) {
		const uint8_t *code = swz_module_bytes(m, pc);
		struct swz_encoding e;

		if (swz_encoding_read((struct swz_bytes){code, end - pc}, &e) !=
		    SWZ_OK)
			break;
		if (swz_depth_is_slot(&d, &e, code)) {
			swz_function_refuse_reader(f);
			break;
		}
		pc += e.operands_at + e.immediate_bytes;
		swz_depth_follow(&d, &e, code, pc);
		if (d.now < 8 && !d.lost) {
			/* the return address is popped */
			if (!d.guessed)
				swz_function_refuse(
					f, SWZ_REFUSE_NO_STANDARD_FRAME);
			break;
		}
		/* A call with what was pushed as its return address. Free
		 * Pascal's signal handlers go on so, in the midst of whatever
		 * function, whose variable is on top of the stack then. */
		if (d.now > 8 && !d.guessed && !d.lost &&
		    jumps_to_another(m, f, &e, code, pc)) {
			swz_function_refuse(f, SWZ_REFUSE_NO_STANDARD_FRAME);
			break;
		}
		if (d.now > d.most)
			d.most = d.now;
		if (swz_ends_flow(&e)) {
			d.guessed = true;
			d.now = d.most;
		}
	}
	return d.frame;
}

/* --- walkers of frames --------------------------------------------------- */

/* The loop is compiled from
 *
 *	uptr pc1 = frame[1];
 *	...
 *	frame = (uptr *)frame[0];
 *
 * so there is one load from 8(%base) to a register, and one from (%base). */

bool swz_is_frame_walker(const struct swz_function *f)
{
	static const char class[] = "_ZN11__sanitizer18BufferedStackTrace";
	const char *method;

	if (!f->name || strncmp(f->name, class, sizeof(class) - 1) != 0)
		return false;
	method = f->name + sizeof(class) - 1;
	return strncmp(method, "10UnwindFastE", 13) == 0 ||
	       strncmp(method, "15FastUnwindStackE", 18) == 0;
}

/* mov displacement(%base), %r64; the base is not %rsp. */
static bool is_load_from(const uint8_t *code, const struct swz_encoding *e,
			 int displacement, unsigned *base)
{
	int8_t found = 0;

	if (e->map != SWZ_MAP_ONE_BYTE || e->opcode != 0x8b || !e->rex_w ||
	    e->address_size_32 || swz_modrm_mod(e->modrm) > 1 ||
	    swz_encoding_has_sib(e) || swz_encoding_rip_relative(e))
		return false;
	if (swz_modrm_mod(e->modrm) == 1)
		found = (int8_t)code[e->displacement_at];
	*base = swz_modrm_rm(e->modrm) | (e->extends_base ? 8u : 0u);
	return found == displacement;
}

struct loads {
	unsigned count;  /* from 8(%base) */
	uint64_t at;     /* the first of them */
	unsigned base;   /* of that one */
	unsigned follow; /* a bit for each %base of (%base) */
	struct swz_encoding encoding;
};

static bool find_loads(const struct swz_module *m, const struct swz_function *f,
		       struct swz_decoder *decoder, struct loads *loads)
{
	uint64_t end = f->start + f->size;

	for (uint64_t at = f->start; at < end;) {
		struct swz_bytes code = {swz_module_bytes(m, at), end - at};
		struct swz_encoding e;
		struct swz_insn insn;
		unsigned base;

		if (swz_decode_encoding(decoder, code, at, &insn, &e) != SWZ_OK)
			return false;
		if (is_load_from(code.data, &e, 0, &base))
			loads->follow |= 1u << base;
		if (is_load_from(code.data, &e, 8, &base) && !loads->count++) {
			loads->at = at;
			loads->base = base;
			loads->encoding = e;
		}
		at += insn.length;
	}
	return loads->count == 1 && loads->follow >> loads->base & 1;
}

void swz_frame_walker_note(const struct swz_module *m, struct swz_function *f,
			   struct swz_decoder *decoder)
{
	struct swz_slot_loader loader = {0};
	struct loads loads = {0};

	if (!f->load_count && !f->load_site_count && swz_is_frame_walker(f) &&
	    find_loads(m, f, decoder, &loads))
		(void)swz_slot_load_note(m, f, &loader, loads.at,
					 &loads.encoding);
}
