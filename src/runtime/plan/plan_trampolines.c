/* Writes the trampolines of a module. Nothing leads to them yet, so whatever
 * fails here only refuses one function. Large modules are divided among the
 * worker threads; the parts are then moved together. */

#include "runtime/plan/plan.h"

#include "image/eh_frame.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/hooks/hooks.h"
#include "runtime/module/module.h"
#include "runtime/record/sampling.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/relocate.h"
#include "thunks/trampoline.h"

/* ------------------------------------------------------------ one function */

/* The trampoline of one function. */

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

/* True if a call begins behind the bytes of a short jump and within those of a
 * long one. Its copy pushes the old return address and jumps, so the return
 * from it, and each one further up, goes to where the processor does not expect
 * it (Intel optimization manual, 3.4.1.4: unpaired calls). That takes as long
 * as ten counted calls, and samples would show it as the function's own time.
 */
static bool displaces_call(const struct swz_module *m,
			   struct swz_decoder *decoder,
			   const struct swz_function *f)
{
	uint64_t site = f->start + f->site, pc = site;
	struct swz_insn insn;

	for (; pc < site + SWZ_JUMP_BYTES; pc += insn.length) {
		struct swz_bytes code = {swz_module_bytes(m, pc),
					 f->start + f->size - pc};

		if (swz_decode(decoder, code, pc, &insn) != SWZ_OK)
			return false;
		if (insn.kind == SWZ_INSN_CALL ||
		    insn.kind == SWZ_INSN_CALL_INDIRECT)
			return pc >= site + SWZ_SHORT_JUMP_BYTES;
	}
	return false;
}

/* Writes the function's trampoline into the region (the module's, or a part of
 * it), for calls that are recorded with this id; returns SWZ_PATCHED, or why
 * not. Of the function it changes what is about the trampoline, and a flag. */
static enum swz_refusal plan_trampoline(struct swz_module *m,
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
	if (swz_config.count && f->trampoline && !f->displace && !f->island)
		f->displaces_call = displaces_call(m, decoder, f);
	/* a shorter jump is no way out */
	if ((f->load_count || f->load_site_count) && refusal != SWZ_PATCHED &&
	    refusal != SWZ_REFUSE_OUT_OF_REACH)
		refusal = SWZ_REFUSE_READS_RETURN_SLOT;
	return refusal;
}

/* The copy of the instruction at this offset from the function's site, in the
 * trampoline that has just been written; NULL: no displaced instruction begins
 * there. */
static const uint8_t *plan_copy_of(const struct swz_module *m,
				   struct swz_decoder *decoder,
				   const struct swz_function *f,
				   unsigned offset)
{
	struct swz_patch_site site = patch_site(m, f, 0);

	return swz_trampoline_copy_of(&m->trampolines, decoder, &site,
				      f->trampoline, offset);
}

/* True if what a jump takes that lies on a load of the return address may
 * throw where that is caught in this function. The load itself does not: a
 * call has written there. Nor does a call, which pushes its own return
 * address. */
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

/* Bytes taken at most where a load is not as long as a jump. */
#define MOST_BESIDE_LOAD (SWZ_JUMP_BYTES + SWZ_MAX_INSN)

/* Does for a load of the return address what plan_trampoline does for a
 * beginning: writes, in the module's region and before `end`, a copy of that
 * instruction and of what else a jump takes. The load is at this offset of a
 * function that has its trampoline. NULL if that does not go. */
static const uint8_t *plan_load(struct swz_module *m,
				struct swz_decoder *decoder,
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

/* ------------------------------------------------ parts, by worker threads */

/* Each thread writes trampolines into a part of the module's region, which has
 * room for those of as many functions; then the parts are moved together. */

/* Functions that a thread takes at a time, at least. */
#define PORTION 1024u

struct part {
	uint32_t begin, end; /* functions */
	uint32_t id;         /* of the first */
	struct swz_trampolines region;
};

struct parts {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct part part[SWZ_MOST_MEMBERS];
	unsigned count;
};

/* Wrapped functions, and those that there is no room or no reach for, are left
 * for later. */
static void write_part(struct swz_module *m, struct part *p,
		       struct swz_decoder *decoder)
{
	uint32_t id = p->id;

	for (uint32_t i = p->begin; i < p->end; i++) {
		struct swz_function *f = &m->functions[i];
		enum swz_refusal refusal;

		if (f->is_piece)
			continue;
		if (f->status == SWZ_PATCHED && !f->wrapper) {
			refusal = plan_trampoline(m, &p->region, decoder, f,
						  id);
			if (refusal != SWZ_REFUSE_OUT_OF_REACH)
				swz_function_refuse(f, refusal);
		}
		id++;
	}
}

static void write_parts(void *context, uint32_t begin, uint32_t end,
			unsigned member)
{
	struct parts *parts = context;

	for (uint32_t i = begin; i < end; i++)
		write_part(parts->module, &parts->part[i],
			   parts->decoders->of[member]);
}

/* As many functions for each. */
static bool divide(struct parts *parts)
{
	const struct swz_module *m = parts->module;
	uint32_t each = m->function_count / parts->count + 1, id = m->first_id;

	for (unsigned n = 0; n < parts->count; n++) {
		struct part *p = &parts->part[n];
		void *scratch;

		p->begin = n ? p[-1].end : 0;
		p->end = m->function_count - p->begin > each
				 ? p->begin + each
				 : m->function_count;
		p->id = id;
		for (uint32_t i = p->begin; i < p->end; i++)
			id += !m->functions[i].is_piece;
		scratch = swz_scratch_alloc_brief(
			swz_trampolines_part_bytes(id - p->id));
		if (!scratch)
			return false;
		swz_trampolines_divide(&m->trampolines, &p->region,
				       p->id - m->first_id, id - p->id,
				       scratch);
	}
	return true;
}

static void join(struct parts *parts)
{
	struct swz_module *m = parts->module;

	for (unsigned n = 0; n < parts->count; n++) {
		struct part *p = &parts->part[n];
		uint32_t down = swz_trampolines_join(&m->trampolines,
						     &p->region);

		for (uint32_t i = p->begin; down && i < p->end; i++)
			if (m->functions[i].trampoline)
				m->functions[i].trampoline -= down;
	}
}

/* Has the worker threads write trampolines of the module, whose region is open
 * and empty, if that is worth while. It leaves out wrapped functions, and may
 * any other.
 */
static void plan_trampoline_parts(struct swz_module *m,
				  const struct swz_decoders *decoders)
{
	struct parts parts = {.module = m, .decoders = decoders};

	parts.count = m->function_count / swz_workers_portion(PORTION);
	if (parts.count > swz_workers_members())
		parts.count = swz_workers_members();
	if (parts.count < 2 || !divide(&parts))
		return;
	swz_workers_run(write_parts, &parts, parts.count, 1);
	join(&parts);
}

/* --------------------------------------------- branches back into the site */

/* A loop that goes back into the patch site, and is too long to be displaced as
 * a whole: its branch is led to the copy of the instruction that it goes to, if
 * it has a distance of 32 bits. */

/* Leads the function's branches, all of those into its site, to where its
 * trampoline, which has been written, has the copies: adds to the module's
 * inner sites. False: they do not go to instructions that were displaced. */
static bool branches_lead(struct swz_module *m, struct swz_decoder *decoder,
			  const struct swz_function *f)
{
	struct swz_inner_site sites[SWZ_MOST_BRANCHES];

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->branch_count; i++) {
		uint64_t at = f->start + f->branches[i];
		uint64_t to = swz_module_relative(m, at + 1);
		const uint8_t *copy = plan_copy_of(
			m, decoder, f, (unsigned)(to - f->start - f->site));

		if (!copy)
			return false;
		sites[i] = (struct swz_inner_site){
			.at = (uint32_t)at,
			.copy = (uint32_t)(copy - m->trampolines.start),
			.keeps_opcode = true,
		};
	}
	for (unsigned i = 0; i < f->branch_count; i++)
		if (!swz_inner_sites_add(m, sites[i]))
			return false;
	return true;
}

/* --------------------------------------------- loads of the return address */

/* A function that loads its own return address somewhere behind its beginning
 * (QEMU's helpers do behind a call) has a second jump, in place of that
 * instruction and the next if it is shorter, to a copy behind which a thunk's
 * address becomes the return address that the thunk has (thunks/relocate.h). */

static bool has_load_sites(const struct swz_function *f)
{
	return f->status == SWZ_PATCHED && f->load_site_count;
}

/* How many copies there will be at most. */
static uint32_t load_sites_wanted(const struct swz_module *m)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		if (has_load_sites(&m->functions[i]))
			wanted += m->functions[i].load_site_count;
	return wanted;
}

static bool write_copies(struct swz_module *m, const struct swz_function *f,
			 struct swz_decoder *decoder)
{
	uint32_t first = m->inner_site_count;

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->load_site_count; i++) {
		uint32_t end = i + 1 < f->load_site_count ? f->load_sites[i + 1]
							  : f->size;
		const uint8_t *copy = plan_load(m, decoder, f, f->load_sites[i],
						end);
		struct swz_inner_site site = {.at = (uint32_t)f->start +
						    f->load_sites[i]};

		if (copy)
			site.copy = (uint32_t)(copy - m->trampolines.start);
		/* it is the last of all, as they come in their order */
		if (!copy || !swz_inner_sites_add(m, site)) {
			m->inner_site_count = first;
			return false;
		}
	}
	return true;
}

/* Writes the copies of the functions that have a trampoline, and adds to the
 * module's inner sites. A function for which that does not go is refused. */
static void plan_load_sites(struct swz_module *m,
			    const struct swz_decoders *decoders)
{
	bool pieces = false;

	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (!has_load_sites(f) || write_copies(m, f, decoders->of[0]))
			continue;
		swz_function_refuse_reader(f);
		f->trampoline = NULL;
		f->leads_to_reader |= f->is_piece;
		pieces |= f->is_piece;
	}
	if (!pieces)
		return;
	if (swz_scan_jumpers(m, decoders) != SWZ_OK)
		swz_functions_refuse(m, SWZ_REFUSE_READS_RETURN_SLOT);
	for (uint32_t i = 0; i < m->function_count; i++)
		if (m->functions[i].status != SWZ_PATCHED &&
		    !m->functions[i].wrapper)
			m->functions[i].trampoline = NULL;
}

/* ---------------------------------------------------------------- a module */

/* All functions get a trampoline for the long jump first; then those for which
 * that does not fit get one for a short jump to an island, which another
 * function may have to make room for: its trampoline is written anew. */

/* Why a function that leads to a wrapper has no hook. */
static enum swz_refusal reason_of(const struct swz_function *f)
{
	if (swz_wrapped_has(f->wrapper))
		return SWZ_REFUSE_WRAPPED;
	if (f->wrapper->entry != swz_wrap_reader)
		return SWZ_REFUSE_WALKS_STACK;
	return f->name && swz_function_returns_twice(f->name)
		       ? SWZ_REFUSE_RETURNS_TWICE
		       : SWZ_REFUSE_READS_RETURN_SLOT;
}

/* Leads the function to its wrapper, and not to the hook before. */
static void bypass_hook(struct swz_function *f)
{
	f->trampoline += SWZ_TRAMPOLINE_BODY;
	swz_function_refuse(f, reason_of(f));
}

/* Makes the island's bytes free. */
static bool make_room(struct swz_islands *islands,
		      const struct swz_island *island, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_function *host = island->host;

	if (!host)
		return true;
	host->displace = island->host_bytes;
	return plan_trampoline(m, &m->trampolines, islands->decoders->of[0],
			       host, ids[host - m->functions]) == SWZ_PATCHED;
}

/* Gives the function, whose trampoline is written, the island. */
static bool settle(struct swz_islands *islands, struct swz_function *f,
		   const struct swz_island *island, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_function host = {0};

	if (island->host)
		host = *island->host;
	if (make_room(islands, island, ids) &&
	    swz_trampolines_add_island(&m->trampolines,
				       m->load_bias + island->at)) {
		f->status = SWZ_PATCHED;
		f->island = (int16_t)(int64_t)(island->at - f->start - f->site);
		swz_island_take(islands, f, island);
		return true;
	}
	if (island->host)
		*island->host = host;
	m->trampolines = region;
	return false;
}

/* Tries the long jump, and leads the function's branches to the copies; all is
 * as before if that is not possible. */
static void write_and_lead(struct swz_islands *islands, struct swz_function *f,
			   uint32_t id)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_decoder *decoder = islands->decoders->of[0];
	struct swz_function before = *f;

	if (!swz_branches_may_be_led(islands, f))
		return;
	if (plan_trampoline(m, &m->trampolines, decoder, f, id) ==
		    SWZ_PATCHED &&
	    branches_lead(m, decoder, f)) {
		f->status = SWZ_PATCHED;
		return;
	}
	*f = before;
	m->trampolines = region;
}

/* Tries a short jump; all is as before if that is not possible. */
static bool write_with_island(struct swz_islands *islands,
			      struct swz_function *f, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_function before = *f;
	struct swz_island island;

	f->displace = 0;
	f->island = SWZ_SHORT_JUMP_BYTES; /* to be decided */
	if (swz_island_may_serve(islands, f) &&
	    plan_trampoline(m, &m->trampolines, islands->decoders->of[0], f,
			    ids[f - m->functions]) == SWZ_PATCHED)
		for (unsigned i = 0; swz_island_find(islands, f, i, &island);
		     i++)
			if (settle(islands, f, &island, ids))
				return true;
	*f = before;
	m->trampolines = region;
	return false;
}

static void write_with_islands(struct swz_module *m,
			       const struct swz_decoders *decoders)
{
	struct swz_islands islands;
	uint32_t id = m->first_id, wanted = 0, *ids;
	int32_t *places;

	for (uint32_t i = 0; i < m->function_count; i++)
		wanted += swz_island_is_wanted(m, &m->functions[i]);
	if (!wanted)
		return;
	ids = swz_scratch_alloc_brief(m->function_count * sizeof(*ids));
	places = swz_scratch_alloc_brief(wanted * sizeof(*places));
	if (!ids || !places ||
	    swz_islands_begin(&islands, m, decoders) != SWZ_OK)
		return;
	swz_trampolines_hold_islands(&m->trampolines, places, wanted);
	for (uint32_t i = 0; i < m->function_count; i++) {
		ids[i] = id;
		id += !m->functions[i].is_piece;
	}
	/* those first that would have no hook */
	for (int hooked = 0; hooked < 2; hooked++)
		for (uint32_t i = 0; i < m->function_count; i++) {
			struct swz_function *f = &m->functions[i];

			if (swz_island_is_wanted(m, f) &&
			    (f->status == SWZ_PATCHED) == hooked &&
			    !f->island && !write_with_island(&islands, f, ids))
				write_and_lead(&islands, f, ids[i]);
		}
}

/* Some are written anew: they get an island, or make room for one. */
static uint32_t most_trampolines(const struct swz_module *m)
{
	uint32_t loads = load_sites_wanted(m);

	if (swz_config.test_tactic)
		return 3 * m->hookable_count + loads;
	if (swz_config.count) /* see displaces_call() */
		return m->hookable_count + m->hookable_count / 8 + 64 + loads;
	return m->hookable_count + m->hookable_count / 32 + 64 + loads;
}

static bool open_region(struct swz_module *m)
{
	uint32_t most = most_trampolines(m);

	/* what the relocated code refers to lies anywhere in the module */
	return swz_trampolines_open(
		       &m->trampolines, m->near.start, m->near.end, most,
		       swz_scratch_alloc_brief(swz_unwind_table_bytes(most)),
		       swz_hooks_choose()) == SWZ_OK;
}

/* All that have none yet. */
static void write_each(struct swz_module *m, struct swz_decoder *decoder,
		       bool open)
{
	uint32_t id = m->first_id;

	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];
		enum swz_refusal refusal = SWZ_REFUSE_OUT_OF_REACH;

		if (i % 1024 == 0)
			swz_progress_percent(
				(unsigned)(50 + 50ull * i / m->function_count));
		if (f->is_piece)
			continue;
		if (f->status == SWZ_PATCHED && !f->trampoline) {
			if (open)
				refusal = plan_trampoline(m, &m->trampolines,
							  decoder, f, id);
			if (!f->trampoline)
				swz_function_refuse(f, refusal);
			else if (f->wrapper)
				bypass_hook(f);
		}
		id++;
	}
}

void swz_plan_write_trampolines(struct swz_module *m,
				const struct swz_decoders *decoders)
{
	bool open = open_region(m);

	if (open)
		plan_trampoline_parts(m, decoders);
	write_each(m, decoders->of[0], open);
	if (open) {
		swz_inner_sites_begin(m);
		plan_load_sites(m, decoders);
		write_with_islands(m, decoders);
	}
	if (open && swz_trampolines_seal(&m->trampolines) != SWZ_OK) {
		swz_trampolines_close(&m->trampolines);
		for (uint32_t i = 0; i < m->function_count; i++)
			m->functions[i].trampoline = NULL;
		swz_functions_refuse(m, SWZ_REFUSE_UNWRITABLE);
	}
}
