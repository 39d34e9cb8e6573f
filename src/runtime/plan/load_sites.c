#include "runtime/plan/load_sites.h"

#include "runtime/discovery/function.h"
#include "runtime/discovery/scan.h"
#include "runtime/plan/inner_sites.h"
#include "runtime/plan/trampoline.h"

static bool has_load_sites(const struct swz_function *f)
{
	return f->status == SWZ_PATCHED && f->load_site_count;
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
	uint32_t first = m->inner_site_count;

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->load_site_count; i++) {
		uint32_t end = i + 1 < f->load_site_count ? f->load_sites[i + 1]
							  : f->size;
		const uint8_t *copy = swz_plan_load(m, decoder, f,
						    f->load_sites[i], end);
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

void swz_plan_load_sites(struct swz_module *m,
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
