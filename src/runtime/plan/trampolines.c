/* All functions get a trampoline for the long jump first; then those for which
 * that does not fit get one for a short jump to an island, which another
 * function may have to make room for: its trampoline is written anew. */

#include "runtime/plan/trampolines.h"

#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/function.h"
#include "runtime/hooks/hook_choice.h"
#include "runtime/plan/inner_sites.h"
#include "runtime/plan/islands.h"
#include "runtime/plan/led_branches.h"
#include "runtime/plan/load_sites.h"
#include "runtime/plan/trampoline.h"
#include "runtime/plan/trampoline_parts.h"
#include "runtime/support/config.h"
#include "runtime/support/progress.h"
#include "runtime/support/scratch.h"
#include "thunks/trampoline.h"

/* Leads the function to its wrapper, and not to the hook before. */
static void bypass_hook(struct swz_function *f)
{
	f->trampoline += SWZ_TRAMPOLINE_BODY;
	swz_function_refuse(f, swz_wrapped_has(f->wrapper)
				       ? SWZ_REFUSE_WRAPPED
				       : SWZ_REFUSE_WALKS_STACK);
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
	return swz_plan_trampoline(m, &m->trampolines, islands->decoders->of[0],
				   host,
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
	if (swz_plan_trampoline(m, &m->trampolines, decoder, f, id) ==
		    SWZ_PATCHED &&
	    swz_branches_lead(m, decoder, f)) {
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
	    swz_plan_trampoline(m, &m->trampolines, islands->decoders->of[0], f,
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
	for (int tested = 0; tested < (swz_config.test_tactic ? 2 : 1);
	     tested++)
		for (uint32_t i = 0; i < m->function_count; i++) {
			struct swz_function *f = &m->functions[i];

			if (swz_island_is_wanted(m, f) &&
			    (f->status == SWZ_PATCHED) == tested &&
			    !f->island && !write_with_island(&islands, f, ids))
				write_and_lead(&islands, f, ids[i]);
		}
}

/* Some are written anew: they get an island, or make room for one. */
static uint32_t most_trampolines(const struct swz_module *m)
{
	uint32_t loads = swz_load_sites_wanted(m);

	if (swz_config.test_tactic)
		return 3 * m->hookable_count + loads;
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
				refusal = swz_plan_trampoline(
					m, &m->trampolines, decoder, f, id);
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
		swz_plan_trampoline_parts(m, decoders);
	write_each(m, decoders->of[0], open);
	if (open) {
		swz_inner_sites_begin(m);
		swz_plan_load_sites(m, decoders);
		write_with_islands(m, decoders);
	}
	if (open && swz_trampolines_seal(&m->trampolines) != SWZ_OK) {
		swz_trampolines_close(&m->trampolines);
		for (uint32_t i = 0; i < m->function_count; i++)
			m->functions[i].trampoline = NULL;
		swz_functions_refuse(m, SWZ_REFUSE_UNWRITABLE);
	}
}
