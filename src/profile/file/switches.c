#include "profile/file/switches.h"

#include <stdlib.h>

#include "profile/support/arith.h"

void swz_switches_open(struct swz_switch_reader *reader,
		       const struct swz_profile_thread *thread)
{
	*reader = (struct swz_switch_reader){.next = thread->switches};
	if (thread->switch_count)
		reader->end = thread->switches + thread->switch_count;
}

/* What was handed out of the next one is not handed out again. */
bool swz_switches_next(struct swz_switch_reader *reader, uint64_t from,
		       uint64_t to, struct swz_off_time *off)
{
	if (from < reader->done)
		from = reader->done;
	for (; reader->next < reader->end && from < to; reader->next++) {
		const struct swz_profile_switch *at = reader->next;

		if (at->off_ticks >= to)
			return false;
		if (at->on_ticks <= from)
			continue;
		off->from = at->off_ticks > from ? at->off_ticks : from;
		off->to = at->on_ticks < to ? at->on_ticks : to;
		off->preempted = at->preempted;
		reader->done = off->to;
		return true;
	}
	return false;
}

uint64_t swz_switches_sum(const struct swz_profile_thread *thread,
			  uint64_t *preempted)
{
	uint64_t sum = 0;
	size_t i;

	*preempted = 0;
	for (i = 0; i < thread->switch_count; i++) {
		const struct swz_profile_switch *at = &thread->switches[i];
		uint64_t ticks = at->on_ticks - at->off_ticks;

		sum += ticks;
		*preempted += at->preempted ? ticks : 0;
	}
	return sum;
}

uint64_t swz_switches_missing(const struct swz_profile_thread *thread)
{
	uint64_t lost = thread->record.switches_lost;

	return swz_add_count(thread->switches_overwritten, lost / 2 + lost % 2);
}

/* ---- for the index ---- */

static int compare_switches(const void *left, const void *right)
{
	const struct swz_profile_switch *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->off_ticks != b->off_ticks)
		return a->off_ticks < b->off_ticks ? -1 : 1;
	return a->on_ticks < b->on_ticks ? -1 : a->on_ticks > b->on_ticks;
}

/* Keeps what is of the thread's life and after the one before. */
static void cut(struct swz_profile_thread *thread,
		struct swz_profile_switch *all, size_t count)
{
	uint64_t from = thread->record.start_ticks, to = thread->last_ticks;
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_switch at = all[i];

		if (at.off_ticks < from)
			at.off_ticks = from;
		/* it has not ended, as far as is known: until the next */
		if (!at.on_ticks)
			at.on_ticks = i + 1 < count ? all[i + 1].off_ticks : to;
		if (at.on_ticks > to)
			at.on_ticks = to;
		if (at.off_ticks >= at.on_ticks)
			continue;
		from = at.on_ticks;
		all[kept++] = at;
	}
	thread->switches = all;
	thread->switch_count = kept;
}

void swz_switches_index(struct swz_profile *profile)
{
	struct swz_profile_switch *all = profile->switches;
	size_t count = profile->switch_count, at = 0, i;

	if (count > 1)
		qsort(all, count, sizeof(*all), compare_switches);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];
		size_t first;

		while (at < count && all[at].owner < thread->index)
			at++;
		first = at;
		while (at < count && all[at].owner == thread->index)
			at++;
		/* (of others the file may be read while it is written) */
		if (profile->header.flags & SWZ_FILE_RING &&
		    thread->record.switches > at - first)
			thread->switches_overwritten = thread->record.switches -
						       (at - first);
		if (at > first && thread->record.switches_from)
			cut(thread, &all[first], at - first);
	}
}
