#include "runtime/plan/led_branches.h"

#include "runtime/plan/inner_sites.h"
#include "runtime/plan/trampoline.h"

bool swz_branches_lead(struct swz_module *m, struct swz_decoder *decoder,
		       const struct swz_function *f)
{
	struct swz_inner_site sites[SWZ_MOST_BRANCHES];

	if (f->start + f->size > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < f->branch_count; i++) {
		uint64_t at = f->start + f->branches[i];
		uint64_t to = swz_module_relative(m, at + 1);
		const uint8_t *copy = swz_plan_copy_of(
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
