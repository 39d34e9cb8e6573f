/* All functions get a trampoline for the long jump first; then those for which
 * that does not fit get one for a short jump to an island, which another
 * function may have to make room for: its trampoline is written anew. */

#include "runtime/plan_trampolines.h"

#include "base/lsda.h"
#include "runtime/config.h"
#include "runtime/confinement.h"
#include "runtime/function.h"
#include "runtime/islands.h"
#include "runtime/plan.h"
#include "runtime/progress.h"
#include "runtime/sampling.h"
#include "runtime/scratch.h"
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
	};

	if (f->displace > site.wanted)
		site.wanted = f->displace;
	return site;
}

/* An instruction that may throw (a load that faults, with
 * -fnon-call-exceptions) is found in the function's exception table by its
 * place. */
static bool lands_if_it_throws(const struct swz_module *m,
			       const struct swz_function *f)
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
	return swz_lsda_lands(lsda, f->site, f->moved);
}

/* Leads the function to its wrapper, and not to the hook before. */
static void bypass_hook(struct swz_function *f)
{
	f->trampoline += SWZ_TRAMPOLINE_BODY;
	swz_function_refuse(f, swz_confinement_has(f->wrapper)
				       ? SWZ_REFUSE_WATCHED_CONFINEMENT
				       : SWZ_REFUSE_WALKS_STACK);
}

/* Writes the function's trampoline; returns SWZ_PATCHED, or why not. */
static enum swz_refusal write_one(struct swz_module *m,
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
	if (f->trampoline && lands_if_it_throws(m, f)) {
		f->trampoline = NULL;
		refusal = SWZ_REFUSE_UNRELOCATABLE;
	}
	return refusal;
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
	return write_one(m, &m->trampolines, islands->decoders->of[0], host,
			 ids[host - m->functions]) == SWZ_PATCHED;
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

/* Tries a short jump; all is as before if that is not possible. */
static void write_with_island(struct swz_islands *islands,
			      struct swz_function *f, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_function before = *f;
	struct swz_island island;

	f->displace = 0;
	f->island = SWZ_SHORT_JUMP_BYTES; /* to be decided */
	if (swz_island_may_serve(islands, f) &&
	    write_one(m, &m->trampolines, islands->decoders->of[0], f,
		      ids[f - m->functions]) == SWZ_PATCHED)
		for (unsigned i = 0; swz_island_find(islands, f, i, &island);
		     i++)
			if (settle(islands, f, &island, ids))
				return;
	*f = before;
	m->trampolines = region;
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
	for (int tested = 0; tested < (swz_config.test_tactic ? 2 : 1);
	     tested++)
		for (uint32_t i = 0; i < m->function_count; i++) {
			struct swz_function *f = &m->functions[i];

			if (swz_island_is_wanted(m, f) &&
			    (f->status == SWZ_PATCHED) == tested && !f->island)
				write_with_island(&islands, f, ids);
		}
}

/* -------------------------------------------------------------- in parts */

/* What a thread writes at least. */
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
			refusal = write_one(m, &p->region, decoder, f, id);
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

static void write_in_parts(struct swz_module *m,
			   const struct swz_decoders *decoders)
{
	struct parts parts = {.module = m, .decoders = decoders};

	parts.count = m->function_count / swz_team_portion(PORTION);
	if (parts.count > swz_team_members())
		parts.count = swz_team_members();
	if (parts.count < 2 || !divide(&parts))
		return;
	swz_team_run(write_parts, &parts, parts.count, 1);
	join(&parts);
}

/* Some are written anew: they get an island, or make room for one. */
static uint32_t most_trampolines(const struct swz_module *m)
{
	if (swz_config.test_tactic)
		return 3 * m->hookable_count;
	return m->hookable_count + m->hookable_count / 32 + 64;
}

static bool open_region(struct swz_module *m)
{
	uint32_t most = most_trampolines(m);

	/* what the relocated code refers to lies anywhere in the module */
	return swz_trampolines_open(
		       &m->trampolines, m->start, m->end, most,
		       swz_scratch_alloc_brief(swz_unwind_table_bytes(most)),
		       swz_plan_hooks()) == SWZ_OK;
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
				refusal = write_one(m, &m->trampolines, decoder,
						    f, id);
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
		write_in_parts(m, decoders);
	write_each(m, decoders->of[0], open);
	if (open)
		write_with_islands(m, decoders);
	if (open && swz_trampolines_seal(&m->trampolines) != SWZ_OK) {
		swz_trampolines_close(&m->trampolines);
		for (uint32_t i = 0; i < m->function_count; i++)
			m->functions[i].trampoline = NULL;
		swz_functions_refuse(m, SWZ_REFUSE_UNWRITABLE);
	}
}
