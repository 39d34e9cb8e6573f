#include "runtime/discovery/filter.h"

#include "image/qualified_name.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/location.h"
#include "runtime/record/function_ids.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/pattern.h"

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

static bool any_is_recorded(void)
{
	for (uint32_t id = 0; id < swz_ids_next(); id++)
		if (swz_ids_filter(id) & SWZ_FILTER_ONLY)
			return true;
	return false;
}

void swz_filter_tell(const struct swz_modules *modules)
{
	bool any_is_hooked = swz_config.imports;

	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope &&
		    modules->of[i].counts[SWZ_PATCHED])
			any_is_hooked = true;
	if (swz_config.location && !swz_location_any_known())
		return; /* this has been said */
	if (!any_is_hooked && (swz_config.module || swz_config.hide ||
			       swz_config.min_size || swz_config.location))
		swz_say("the options leave no function to hook (of what is "
			"loaded at the start)",
			NULL, NULL);
	else if (swz_config.filter && !any_is_recorded())
		swz_say("no function has a name that -F asks for (of what is "
			"loaded at the start)",
			NULL, NULL);
}
