#include "runtime/cache/plan.h"

#include <string.h>

#include "runtime/compat/foreign.h"
#include "runtime/compat/stack_walkers.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/support/scratch.h"
#include "thunks/fixups.h"

static bool are_told_apart(const struct swz_saved_header *h)
{
	bool wrapped = h->facts & SWZ_SAVED_WRAPPED;

	return !(h->facts & SWZ_SAVED_OFFERS) ||
	       wrapped == swz_wrapped_is_expected();
}

static void restore_functions(struct swz_module *m, struct swz_function *all,
			      const uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->functions; i++) {
		const struct swz_saved_function *from = &plan->functions[i];
		struct swz_function *f = &all[i];

		f->start = from->start;
		f->size = from->size;
		f->status = from->status;
		f->island = from->island;
		f->flags = from->flags;
		f->site = from->site;
		if (from->name)
			f->name = (const char *)m->file.file.data + from->name;
		if (from->trampoline)
			f->trampoline = region + from->trampoline;
	}
}

static bool restore_inner_sites(struct swz_module *m)
{
	const struct swz_saved_plan *plan = m->saved;
	uint32_t count = plan->header->inners;

	m->inner_sites = swz_scratch_alloc((count + 1) *
					   sizeof(*m->inner_sites));
	for (uint32_t i = 0; m->inner_sites && i < count; i++) {
		m->inner_sites[i].at = plan->inners[i].at;
		m->inner_sites[i].copy = plan->inners[i].copy;
		m->inner_sites[i].keeps_opcode = plan->inners[i].keeps_opcode;
	}
	m->inner_site_count = count;
	return m->inner_sites;
}

static const struct swz_wrapper *restore_wrapper(
	const struct swz_module *m, const struct swz_saved_wrapper *saved)
{
	if (saved->kind == SWZ_SAVED_WALKER)
		return swz_stack_walkers_restore(m, saved);
	return saved->kind == SWZ_SAVED_WATCH ? swz_wrapped_restore(saved)
					      : NULL;
}

static bool restore_wrappers(struct swz_module *m, struct swz_function *all,
			     uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->wrappers; i++) {
		const struct swz_saved_wrapper *saved = &plan->wrappers[i];
		struct swz_function *f = &all[saved->function];

		f->wrapper = restore_wrapper(m, saved);
		if (!f->wrapper)
			return false;
		swz_trampoline_wrap(
			region + plan->functions[saved->function].trampoline,
			f->wrapper);
	}
	return true;
}

/* The id lies at the end of the head. */
static void number(const struct swz_saved_plan *plan, uint8_t *region,
		   uint32_t id)
{
	for (uint32_t i = 0; i < plan->header->functions; i++, id++) {
		const struct swz_saved_function *f = &plan->functions[i];

		if (f->status == SWZ_PATCHED)
			memcpy(region + f->trampoline + SWZ_TRAMPOLINE_BODY - 4,
			       &id, sizeof(id));
	}
}

/* Islands are in the module: their distances from the region. */
static bool move_islands(const struct swz_saved_plan *plan,
			 struct swz_trampolines *region, int64_t by)
{
	const struct swz_saved_header *h = plan->header;
	int32_t *islands = swz_scratch_alloc(h->islands * sizeof(*islands));

	for (uint32_t i = 0; i < h->islands; i++) {
		int64_t distance = plan->islands[i] + by;

		if (!islands || distance != (int32_t)distance ||
		    (uint64_t)distance < region->bytes)
			return false;
		islands[i] = (int32_t)distance;
	}
	region->islands = islands;
	region->island_count = h->islands;
	return true;
}

/* Makes the trampolines what they must be for these places. */
static bool fit_region(const struct swz_module *m,
		       struct swz_trampolines *region,
		       const struct swz_hooks *hooks)
{
	const struct swz_saved_plan *plan = m->saved;
	const struct swz_saved_header *h = plan->header;
	uint64_t module_by = m->load_bias - h->load_bias;
	int64_t by = (int64_t)(module_by -
			       ((uintptr_t)region->start - h->region));

	memcpy(region->start, hooks, sizeof(*hooks));
	region->used = h->trampoline_bytes;
	region->unwind = (struct swz_unwind_table){
		.frame = (uint8_t *)(uintptr_t)plan->frame,
		.room = h->frame_bytes,
		.used = h->frame_bytes,
		.entries = (struct swz_unwind_entry *)(uintptr_t)plan->entries,
		.count = h->entries,
	};
	if (swz_fixups_apply_relative(region->start, plan->relative,
				      h->relative, by) != SWZ_OK ||
	    !move_islands(plan, region, by))
		return false;
	swz_fixups_apply_absolute(region->start, plan->absolute, h->absolute,
				  module_by);
	number(plan, region->start, m->first_id);
	return true;
}

bool swz_cache_restore(struct swz_module *m, const struct swz_hooks *hooks,
		       uint32_t ids)
{
	const struct swz_saved_header *h = m->saved->header;
	struct swz_trampolines *region = &m->trampolines;
	struct swz_function *all;

	if (!are_told_apart(h) || (m->in_scope && h->functions > ids))
		return false;
	all = swz_scratch_alloc((h->functions + 1ull) * sizeof(*all));
	if (!all)
		return false;
	restore_functions(m, all, region->start);
	if (region->start &&
	    (!fit_region(m, region, hooks) ||
	     !restore_wrappers(m, all, region->start) ||
	     !restore_inner_sites(m) || swz_trampolines_seal(region) != SWZ_OK))
		return false;
	if (h->facts & SWZ_SAVED_OWN_UNWINDER && !swz_foreign_serve_unwinder(m))
		return false;
	m->functions = all;
	m->function_count = h->functions;
	m->hookable_count = h->functions;
	m->resolver = h->resolver;
	m->generated.start = h->generated_start;
	m->generated.end = h->generated_end;
	m->looks_at_callers = h->facts & SWZ_SAVED_LOOKS_AT_CALLERS;
	m->tableless = h->facts & SWZ_SAVED_TABLELESS;
	if (m->in_scope && swz_filter_by_name(m, false) != SWZ_OK)
		return false;
	swz_filter_flows(m);
	return true;
}
