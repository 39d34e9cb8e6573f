/* A thread's times off the processor, from context switches and from what its
 * record says of its end. */

#include "profile/file/switches.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/arith.h"
#include "profile/file/reader.h"

/* --- context switches ---------------------------------------------------- */

void swz_switches_open(struct swz_switch_reader *reader,
		       const struct swz_profile_thread *thread)
{
	*reader = (struct swz_switch_reader){.next = thread->switches};
	if (thread->switch_count)
		reader->end = thread->switches + thread->switch_count;
}

/* The part of the next one that was handed out is not handed out again. */
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

uint64_t swz_switches_unseen(const struct swz_profile_thread *thread,
			     uint64_t from, uint64_t to)
{
	uint64_t until = thread->record.switches_until;

	if (until > from)
		from = until;
	return to > from ? to - from : 0;
}

bool swz_switches_tell(const struct swz_profile_thread *thread, uint64_t from,
		       uint64_t to)
{
	return thread->record.switches_from &&
	       (to <= from ||
		swz_switches_unseen(thread, from, to) <= (to - from) / 100);
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

/* --- times of threads ---------------------------------------------------- */

/* A share of the wall time; a thread's end comes some moments after its last
 * hook. */
#define UNKNOWN_SHARE 100
#define UNKNOWN_LEAST_NS 20000

static int64_t ns_between(const struct swz_profile *profile, uint64_t from,
			  uint64_t to)
{
	if (to <= from || to - from > INT64_MAX)
		return 0;
	return swz_profile_ns(profile, (int64_t)(to - from));
}

struct swz_thread_times swz_thread_times(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	const struct swz_thread_record *record = &thread->record;
	struct swz_thread_times times = {
		.wall_ns = ns_between(profile, record->start_ticks,
				      thread->last_ticks)};
	int64_t seen, ran;

	if (!record->processor_ticks ||
	    record->processor_ns < record->processor_start_ns)
		return times;
	times.known = true;
	seen = ns_between(profile, record->start_ticks,
			  record->processor_ticks);
	if (seen > times.wall_ns ||
	    times.wall_ns - seen <= times.wall_ns / UNKNOWN_SHARE ||
	    times.wall_ns - seen <= UNKNOWN_LEAST_NS)
		seen = times.wall_ns;
	/* what the kernel counts in larger steps may be more */
	ran = record->processor_ns - record->processor_start_ns > (uint64_t)seen
		      ? seen
		      : (int64_t)(record->processor_ns -
				  record->processor_start_ns);
	times.processor_ns = ran;
	times.waiting_ns = seen - ran;
	times.unknown_ns = times.wall_ns - seen;
	return times;
}

void swz_thread_times_add(struct swz_thread_times *sum,
			  const struct swz_thread_times *other)
{
	sum->wall_ns = swz_add(sum->wall_ns, other->wall_ns);
	sum->processor_ns = swz_add(sum->processor_ns, other->processor_ns);
	sum->waiting_ns = swz_add(sum->waiting_ns, other->waiting_ns);
	sum->unknown_ns = swz_add(sum->unknown_ns, other->known
							   ? other->unknown_ns
							   : other->wall_ns);
	sum->known |= other->known;
}

int64_t swz_profile_wall_ns(const struct swz_profile *profile)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];

		if (thread->record.start_ticks < first)
			first = thread->record.start_ticks;
		if (thread->last_ticks > last)
			last = thread->last_ticks;
	}
	return ns_between(profile, first, last);
}
