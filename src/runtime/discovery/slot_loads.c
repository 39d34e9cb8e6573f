#include "runtime/discovery/slot_loads.h"

#include "runtime/discovery/branch_thunk.h"
#include "runtime/discovery/operand.h"
#include "runtime/discovery/readers.h"
#include "thunks/flags.h"

enum { RSP = 4, RBP = 5 };

static bool is_locked_add(const struct swz_encoding *e)
{
	return e->locked && (e->opcode == 0x81 || e->opcode == 0x83) &&
	       swz_modrm_reg(e->modrm) <= 1;
}

/* Of 64 bits: if the count is 0 not even the flags change. */
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

/* Whether %rsp is set from %rbp, by which the frame is found here: leave, mov,
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

/* What the function branches to is what does so in its place, or a part of it
 * that lies elsewhere and does. */
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

/* Whether it jumps to where a register or memory says, or may: to a label of
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

/* mov, to and from memory. */
static bool is_move(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE &&
	       ((e->opcode & 0xfc) == 0x88 ||
		((e->opcode & 0xfe) == 0xc6 && !swz_modrm_reg(e->modrm)));
}

/* What is between the load and the call that gets what it loads. */
#define MOST_BEFORE_CALL 4

/* Whether the load is followed by nothing but moves and a call that a compiler
 * has added for -finstrument-functions: each of these has a load of its own, so
 * nothing leads to what is between the two. */
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
		if (!swz_only_moves(&e) && !is_move(&e))
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
