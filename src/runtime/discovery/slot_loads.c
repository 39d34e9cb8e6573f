#include "runtime/discovery/slot_loads.h"

#include "runtime/discovery/branch_thunk.h"
#include "runtime/discovery/readers.h"
#include "thunks/flags.h"

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

/* Code that is not called but returned to (what makecontext begins with) has
 * its stack elsewhere, and no return address. */
static bool stays_on_stack(const struct swz_module *m,
			   const struct swz_function *f, uint64_t pc)
{
	for (uint64_t at = f->start; at < pc;) {
		struct swz_bytes code = {swz_module_bytes(m, at),
					 f->start + f->size - at};
		struct swz_encoding e;

		if (swz_encoding_read(code, &e) != SWZ_OK ||
		    swz_encoding_replaces_stack(&e))
			return false;
		at += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return true;
}

static bool flags_are_free(const struct swz_module *m, uint64_t at)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		struct swz_bytes code = {swz_module_bytes(m, text->start),
					 text->end - text->start};

		if (at >= text->start && at < text->end)
			return swz_flags_are_free(code, at - text->start);
	}
	return false;
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

/* By a jump of its own, which takes more than a load of 4 bytes. */
static bool patch_there(const struct swz_module *m, struct swz_function *f,
			uint64_t offset, unsigned bytes)
{
	if (f->load_site_count == SWZ_MOST_LOAD_SITES ||
	    (bytes < SWZ_JUMP_BYTES && jumps_indirectly(m, f)))
		return false;
	f->load_sites[f->load_site_count++] = (uint32_t)offset;
	return true;
}

bool swz_slot_load_note(const struct swz_module *m, struct swz_function *f,
			uint64_t pc, const struct swz_encoding *e)
{
	uint64_t offset = pc - f->start - f->site;

	if (f->status != SWZ_PATCHED || f->is_piece || f->is_cold_part ||
	    !f->fde || (f->name && swz_is_reader_name(f->name)) ||
	    !is_load(e) || pc < f->start + f->site ||
	    !stays_on_stack(m, f, pc) ||
	    !flags_are_free(m, pc + e->operands_at))
		return false;
	return offset >= SWZ_JUMP_BYTES
		       ? patch_there(m, f, pc - f->start, e->operands_at)
		       : displace(f, offset, offset + e->operands_at);
}
