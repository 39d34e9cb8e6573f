#include "profile/flows/find.h"

#include <stdlib.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

static void list_places(struct swz_flows *flows)
{
	size_t i;

	flows->places = swz_allocate(2 * flows->count + 1,
				     sizeof(*flows->places));
	for (i = 0; i < flows->count; i++) {
		const struct swz_flow *f = &flows->of[i];

		flows->places[2 * i] = (struct swz_flow_place){
			f->from.process, f->from.thread, f->from.ticks,
			(uint32_t)i, false};
		flows->places[2 * i + 1] = (struct swz_flow_place){
			f->to.process, f->to.thread, f->to.ticks, (uint32_t)i,
			true};
	}
	if (flows->count)
		qsort(flows->places, 2 * flows->count, sizeof(*flows->places),
		      swz_flow_places_compare);
}

struct swz_flows *swz_flows_find(struct swz_profile *const *profiles,
				 size_t count)
{
	struct swz_flow_calls calls;
	struct swz_flows *flows;
	bool any = false;
	size_t i;

	for (i = 0; i < count; i++)
		any |= profiles[i]->header.flags & SWZ_FILE_FLOWS;
	if (!any)
		return NULL;
	flows = swz_allocate(1, sizeof(*flows));
	swz_flow_calls_read(&calls, profiles, count);
	swz_flow_match_tasks(flows, &calls);
	swz_flow_match_locks(flows, &calls);
	swz_flow_match_conditions(flows, &calls);
	swz_flow_match_signals(flows, &calls);
	swz_flow_match_data(flows, &calls);
	swz_flow_calls_free(&calls);
	list_places(flows);
	return flows;
}
