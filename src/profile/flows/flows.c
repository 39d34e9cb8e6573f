#include "profile/flows/flows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

struct swz_flow_end swz_flow_at_begin(const struct swz_flow_call *call)
{
	/* within the call, whose begin is an event at this tick */
	return (struct swz_flow_end){call->process, call->thread,
				     call->begin + 1, swz_flow_call_name(call)};
}

struct swz_flow_end swz_flow_at_end(const struct swz_flow_call *call)
{
	return (struct swz_flow_end){call->process, call->thread, call->end,
				     swz_flow_call_name(call)};
}

void swz_flow_add(struct swz_flows *flows, struct swz_flow_end from,
		  struct swz_flow_end to)
{
	if (from.ticks > to.ticks)
		from.ticks = to.ticks;
	swz_grow(&flows->of, &flows->capacity, flows->count,
		 sizeof(*flows->of));
	flows->of[flows->count++] = (struct swz_flow){from, to};
}

void swz_flow_between(struct swz_flows *flows, const struct swz_flow_call *from,
		      const struct swz_flow_call *to)
{
	swz_flow_add(flows, swz_flow_at_begin(from), swz_flow_at_end(to));
}

int swz_flow_places_compare(const void *left, const void *right)
{
	const struct swz_flow_place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

void swz_flows_free(struct swz_flows *flows)
{
	if (!flows)
		return;
	free(flows->of);
	free(flows->places);
	free(flows);
}

/* ------------------------------------------------------------------ reading */

static size_t first_place(const struct swz_flows *flows, uint32_t process,
			  uint32_t thread, uint64_t ticks)
{
	const struct swz_flow_place key = {process, thread, ticks, 0, false};
	size_t low = 0, high = 2 * flows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (swz_flow_places_compare(&flows->places[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void swz_flow_reader_begin(struct swz_flow_reader *reader,
			   const struct swz_flows *flows, size_t process,
			   size_t thread, uint64_t from)
{
	*reader = (struct swz_flow_reader){.flows = flows};
	if (!flows)
		return;
	reader->next = first_place(flows, (uint32_t)process, (uint32_t)thread,
				   from);
	reader->end = first_place(flows, (uint32_t)process,
				  (uint32_t)thread + 1, 0);
}

const struct swz_flow *swz_flow_reader_next(struct swz_flow_reader *reader,
					    uint64_t until, bool *is_to)
{
	const struct swz_flow_place *place;

	if (reader->next >= reader->end)
		return NULL;
	place = &reader->flows->places[reader->next];
	if (place->ticks > until)
		return NULL;
	reader->next++;
	*is_to = place->is_to;
	return &reader->flows->of[place->flow];
}

char *swz_flows_doubts(const struct swz_flows *flows)
{
	static const char *const why[SWZ_FLOW_DOUBTS] = {
		[SWZ_FLOW_OUTSIDE] = "the other end was not recorded",
		[SWZ_FLOW_ORDER] = "calls overlap",
		[SWZ_FLOW_LOST] = "calls are missing in the traces"};
	char *text = NULL, *more;
	size_t i;

	for (i = 0; i < SWZ_FLOW_DOUBTS; i++) {
		if (!flows->doubts[i])
			continue;
		more = swz_print("%s%" PRIu64 " flow%s not matched, as %s",
				 text ? text : "", flows->doubts[i],
				 flows->doubts[i] == 1 ? "" : "s", why[i]);
		free(text);
		text = swz_print("%s; ", more);
		free(more);
	}
	if (text)
		text[strlen(text) - 2] = '\0';
	return text;
}
