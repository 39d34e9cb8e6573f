#include "profile/file/thread_times.h"

#include "profile/support/arith.h"

/* Of the wall time; a thread's end comes some moments after its last hook. */
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
