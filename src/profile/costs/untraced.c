#include "profile/costs/untraced.h"

#include "profile/file/event_extent.h"
#include "profile/file/events.h"
#include "profile/support/arith.h"

static bool is_own_work(const struct swz_profile *profile, uint32_t unit)
{
	return swz_profile_node(profile, unit)->function ==
	       SWZ_FUNCTION_OURSELVES;
}

static void add_nodes(struct swz_untraced *untraced,
		      const struct swz_profile *profile,
		      const struct swz_profile_thread *thread)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			uint32_t unit = thread->spans[i].unit + j;
			const struct swz_node *node = swz_profile_node(profile,
								       unit);

			if (node->function == SWZ_FUNCTION_NONE)
				continue;
			untraced->calls = swz_add_count(untraced->calls,
							node->calls);
			if (is_own_work(profile, unit) && node->ticks > 0)
				untraced->own_ticks = swz_add(
					untraced->own_ticks, node->ticks);
		}
}

/* (work of ours is not nested) */
static void take_events(struct swz_untraced *untraced,
			const struct swz_profile *profile,
			const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_events_open(profile, thread);
	uint64_t calls = thread->record.short_calls, since = 0;
	struct swz_event event;
	int64_t own = 0;

	swz_events_show_hidden(events);
	while (swz_events_next(events, &event)) {
		if (event.untraced)
			continue;
		if (event.begins && !event.cut && event.how != SWZ_EVENT_RESUME)
			calls = swz_add_count(calls, 1);
		if (!is_own_work(profile, event.node))
			continue;
		if (event.begins)
			since = event.ticks;
		else
			own = swz_add(own, (int64_t)(event.ticks - since));
	}
	swz_events_close(events);
	untraced->calls -= calls < untraced->calls ? calls : untraced->calls;
	untraced->own_ticks -= own < untraced->own_ticks ? own
							 : untraced->own_ticks;
}

struct swz_untraced swz_untraced(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = swz_event_extent(profile, thread);
	struct swz_untraced untraced = {
		.ticks = (int64_t)(extent.from - thread->record.start_ticks +
				   thread->last_ticks - extent.to),
	};

	if (!untraced.ticks)
		return untraced;
	add_nodes(&untraced, profile, thread);
	take_events(&untraced, profile, thread);
	if (untraced.own_ticks > untraced.ticks)
		untraced.own_ticks = untraced.ticks;
	return untraced;
}
