#include "runtime/filter.h"

#include "base/qualified_name.h"
#include "runtime/config.h"
#include "runtime/function.h"
#include "runtime/location.h"
#include "runtime/pattern.h"
#include "runtime/plan.h"

void swz_filter_by_name(struct swz_function *f)
{
	const char *name = f->name ? f->name : "", *q = NULL;
	char qualified[512];

	if (swz_qualified_name(name, qualified, sizeof(qualified)))
		q = qualified;
	if (swz_patterns_name(swz_config.hide, name, q))
		swz_function_refuse(f, SWZ_REFUSE_FILTERED);
	if (swz_patterns_name(swz_config.filter, name, q))
		f->filter |= SWZ_FILTER_ONLY;
	if (swz_patterns_name(swz_config.notrace, name, q))
		f->filter |= SWZ_FILTER_NOTRACE;
}

void swz_filter_module(struct swz_module *m)
{
	bool by_name = swz_config.filter || swz_config.notrace ||
		       swz_config.hide;

	if (!by_name && !swz_config.min_size && !swz_config.location)
		return;
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->wrapper)
			continue;
		if (f->size < swz_config.min_size)
			swz_function_refuse(f, SWZ_REFUSE_FILTERED);
		if (by_name)
			swz_filter_by_name(f);
	}
	if (swz_config.location)
		swz_location_filter(m);
}
