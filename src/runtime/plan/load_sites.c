#include "runtime/plan/load_sites.h"

#include "runtime/discovery/function.h"
#include "runtime/plan/trampoline.h"
#include "runtime/support/scratch.h"

static bool has_load_sites(const struct swz_function *f)
{
	return !f->is_piece && f->status == SWZ_PATCHED && f->load_site_count;
}

uint32_t swz_load_sites_wanted(const struct swz_module *m)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		if (has_load_sites(&m->functions[i]))
			wanted += m->functions[i].load_site_count;
	return wanted;
}

/* By address, as the rows of the function's unwind table are. */
static bool write_copies(struct swz_module *m, const struct swz_function *f,
			 struct swz_decoder *decoder)
{
	struct swz_load_site *to = m->load_sites + m->load_site_count;

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->load_site_count; i++) {
		uint32_t end = i + 1 < f->load_site_count ? f->load_sites[i + 1]
							  : f->size;
		const uint8_t *copy = swz_plan_load(m, decoder, f,
						    f->load_sites[i], end);

		if (!copy)
			return false;
		to[i].at = (uint32_t)f->start + f->load_sites[i];
		to[i].copy = (uint32_t)(copy - m->trampolines.start);
	}
	m->load_site_count += f->load_site_count;
	return true;
}

void swz_plan_load_sites(struct swz_module *m,
			 const struct swz_decoders *decoders)
{
	uint32_t wanted = swz_load_sites_wanted(m);

	if (!wanted)
		return;
	m->load_sites = swz_scratch_alloc(wanted * sizeof(*m->load_sites));
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (!has_load_sites(f) ||
		    (m->load_sites && write_copies(m, f, decoders->of[0])))
			continue;
		swz_function_refuse_reader(f);
		f->trampoline = NULL;
	}
}
