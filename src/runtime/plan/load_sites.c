#include "runtime/plan/load_sites.h"

#include "runtime/discovery/function.h"
#include "runtime/plan/inner_sites.h"
#include "runtime/plan/trampoline.h"

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

static bool write_copies(struct swz_module *m, const struct swz_function *f,
			 struct swz_decoder *decoder)
{
	struct swz_inner_site sites[SWZ_MOST_LOAD_SITES];

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->load_site_count; i++) {
		uint32_t end = i + 1 < f->load_site_count ? f->load_sites[i + 1]
							  : f->size;
		const uint8_t *copy = swz_plan_load(m, decoder, f,
						    f->load_sites[i], end);

		if (!copy)
			return false;
		sites[i] = (struct swz_inner_site){
			.at = (uint32_t)f->start + f->load_sites[i],
			.copy = (uint32_t)(copy - m->trampolines.start),
		};
	}
	for (unsigned i = 0; i < f->load_site_count; i++)
		if (!swz_inner_sites_add(m, sites[i]))
			return false;
	return true;
}

void swz_plan_load_sites(struct swz_module *m,
			 const struct swz_decoders *decoders)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (!has_load_sites(f) || write_copies(m, f, decoders->of[0]))
			continue;
		swz_function_refuse_reader(f);
		f->trampoline = NULL;
	}
}
