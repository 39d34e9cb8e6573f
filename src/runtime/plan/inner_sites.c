#include "runtime/plan/inner_sites.h"

#include "runtime/discovery/function.h"
#include "runtime/support/scratch.h"

void swz_inner_sites_begin(struct swz_module *m)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		wanted += (uint32_t)m->functions[i].load_site_count +
			  m->functions[i].branch_count;
	m->inner_site_count = 0;
	m->inner_site_room = 0;
	if (!wanted)
		return;
	m->inner_sites = swz_scratch_alloc(wanted * sizeof(*m->inner_sites));
	if (m->inner_sites)
		m->inner_site_room = wanted;
}

bool swz_inner_sites_add(struct swz_module *m, struct swz_inner_site site)
{
	uint32_t i = m->inner_site_count;

	if (i == m->inner_site_room)
		return false;
	for (; i && m->inner_sites[i - 1].at > site.at; i--)
		m->inner_sites[i] = m->inner_sites[i - 1];
	m->inner_sites[i] = site;
	m->inner_site_count++;
	return true;
}
