/* The trampoline of one function. */

#include "runtime/plan/trampoline.h"

#include "image/lsda.h"
#include "runtime/discovery/frame_walker.h"
#include "runtime/discovery/slot_loads.h"
#include "runtime/plan/islands.h"
#include "runtime/record/sampling.h"
#include "thunks/leaf.h"
#include "thunks/trampoline.h"

static unsigned jump_bytes(const struct swz_function *f)
{
	return f->island ? SWZ_SHORT_JUMP_BYTES : SWZ_JUMP_BYTES;
}

/* The bytes from the patch site that the jump may take: the function's own,
 * and padding behind it. */
static struct swz_bytes site_bytes(const struct swz_module *m,
				   const struct swz_function *f)
{
	struct swz_bytes code = {swz_module_bytes(m, f->start + f->site),
				 f->size - f->site};

	if (code.size < jump_bytes(f))
		code.size += swz_padding_of(m, f);
	return code;
}

static struct swz_patch_site patch_site(const struct swz_module *m,
					const struct swz_function *f,
					uint32_t id)
{
	struct swz_patch_site site = {
		.code = site_bytes(m, f),
		.address = m->load_bias + f->start + f->site,
		.wanted = jump_bytes(f),
		.function_id = id,
		.is_leaf = f->flags & SWZ_FUNCTION_LEAF,
		.fde = f->fde,
		.fde_address = f->start + f->site,
		.wrapper = f->wrapper,
		.loads = f->loads,
		.load_count = f->load_count,
	};

	for (unsigned i = 0; i < f->load_count; i++)
		if (swz_slot_load_keeps_flags(m,
					      f->start + f->site + f->loads[i]))
			site.loads_keep_flags |= (uint8_t)(1u << i);
	if (f->displace > site.wanted)
		site.wanted = f->displace;
	return site;
}

/* An instruction that may throw (a load that faults, with
 * -fnon-call-exceptions) is found in the function's exception table by its
 * place. */
static bool lands_if_it_throws(const struct swz_module *m,
			       const struct swz_function *f, uint32_t offset,
			       uint32_t bytes)
{
	struct swz_bytes lsda = {0};

	if (!f->fde || !f->fde->has_lsda)
		return false;
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD &&
		    f->fde->lsda - s->p_vaddr < s->p_filesz) {
			lsda.data = swz_module_bytes(m, f->fde->lsda);
			lsda.size = s->p_vaddr + s->p_filesz - f->fde->lsda;
		}
	}
	return swz_lsda_lands(lsda, offset, bytes);
}

enum swz_refusal swz_plan_trampoline(struct swz_module *m,
				     struct swz_trampolines *region,
				     struct swz_decoder *decoder,
				     struct swz_function *f, uint32_t id)
{
	struct swz_bytes module = {(const uint8_t *)(uintptr_t)m->start,
				   m->end - m->start};
	struct swz_bytes code = {swz_module_bytes(m, f->start), f->size};
	struct swz_patch_site site;
	enum swz_refusal refusal;

	if (swz_sampling && swz_is_leaf(code, f->site, module))
		f->flags |= SWZ_FUNCTION_LEAF;
	site = patch_site(m, f, id);
	f->trampoline = swz_trampoline_write(region, decoder, &site, &f->moved,
					     &refusal);
	if (f->trampoline && lands_if_it_throws(m, f, f->site, f->moved)) {
		f->trampoline = NULL;
		refusal = SWZ_REFUSE_UNRELOCATABLE;
	}
	/* a shorter jump is no way out */
	if ((f->load_count || f->load_site_count) && refusal != SWZ_PATCHED &&
	    refusal != SWZ_REFUSE_OUT_OF_REACH)
		refusal = SWZ_REFUSE_READS_RETURN_SLOT;
	return refusal;
}

const uint8_t *swz_plan_copy_of(const struct swz_module *m,
				struct swz_decoder *decoder,
				const struct swz_function *f, unsigned offset)
{
	struct swz_patch_site site = patch_site(m, f, 0);

	return swz_trampoline_copy_of(&m->trampolines, decoder, &site,
				      f->trampoline, offset);
}

/* Whether what a jump takes that lies on a load of the return address may throw
 * where that is caught in this function. The load itself does not: a call has
 * written there. Nor does a call, which pushes its own return address. */
static bool throws_beside_load(const struct swz_module *m,
			       const struct swz_function *f, uint32_t offset)
{
	uint32_t at = offset;

	while (at < f->size && at < offset + SWZ_JUMP_BYTES) {
		struct swz_bytes code = {swz_module_bytes(m, f->start + at),
					 f->size - at};
		bool own = at == offset && !swz_is_frame_walker(f);
		struct swz_encoding e;
		uint32_t length;

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return true;
		length = (uint32_t)e.operands_at + e.immediate_bytes;
		if (!own && !swz_only_moves(&e) && code.data[0] != 0xe8 &&
		    lands_if_it_throws(m, f, at, length))
			return true;
		at += length;
	}
	return false;
}

/* What is taken at most where a load is not as long as a jump. */
#define MOST_BESIDE_LOAD (SWZ_JUMP_BYTES + SWZ_MAX_INSN)

const uint8_t *swz_plan_load(struct swz_module *m, struct swz_decoder *decoder,
			     const struct swz_function *f, uint32_t offset,
			     uint32_t end)
{
	uint64_t at = f->start + offset;
	struct swz_patch_site site = {
		.code = {swz_module_bytes(m, at), end - offset},
		.address = m->load_bias + at,
		.wanted = SWZ_JUMP_BYTES,
		.fde = f->fde,
		.fde_address = at,
	};

	if (offset < f->site + (uint32_t)f->moved ||
	    throws_beside_load(m, f, offset))
		return NULL;
	site.loads_keep_flags = swz_slot_load_keeps_flags(m, at);
	if (site.code.size > MOST_BESIDE_LOAD)
		site.code.size = MOST_BESIDE_LOAD;
	return swz_trampoline_write_load(&m->trampolines, decoder, &site);
}
