/* The two of the header's samples that are farthest apart say how fast the
 * clock is; those that say what no clock can be are not believed. */

#include "profile/file/ticks.h"

#include "profile/support/arith.h"

/* No clock runs slower than 10 MHz or faster than 100 GHz. */
#define MAX_NS_PER_TICK 100u
#define MAX_TICKS_PER_NS 100u

static bool usable_sample(const struct swz_clock_sample *sample)
{
	return sample->ticks != 0 && sample->monotonic_ns != 0;
}

void swz_profile_calibrate(struct swz_profile *profile)
{
	const struct swz_clock_sample *clock = profile->header.clock;
	size_t i, j;

	profile->clock_ns = 1;
	profile->clock_ticks = 1;
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			uint64_t ticks, ns;

			if (!usable_sample(&clock[i]) ||
			    !usable_sample(&clock[j]) ||
			    clock[j].ticks <= clock[i].ticks ||
			    clock[j].monotonic_ns <= clock[i].monotonic_ns)
				continue;
			ticks = clock[j].ticks - clock[i].ticks;
			ns = clock[j].monotonic_ns - clock[i].monotonic_ns;
			if (ns / MAX_NS_PER_TICK > ticks ||
			    ticks / MAX_TICKS_PER_NS > ns)
				continue;
			if (profile->clock_known &&
			    ticks < profile->clock_ticks)
				continue;
			profile->clock_ticks = ticks;
			profile->clock_ns = ns;
			profile->clock_known = true;
		}
	}
}

uint64_t swz_profile_duration_ticks(const struct swz_profile *profile)
{
	uint64_t last = profile->header.start_ticks;
	size_t i;

	if (profile->header.flags & SWZ_FILE_ENDED &&
	    profile->header.end_ticks > last)
		last = profile->header.end_ticks;
	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].last_ticks > last)
			last = profile->threads[i].last_ticks;
	last -= profile->header.start_ticks;
	return last > SWZ_MAX_TICKS ? 0 : last;
}

int64_t swz_profile_ns(const struct swz_profile *profile, int64_t ticks)
{
	return swz_scale(ticks, profile->clock_ns, profile->clock_ticks);
}
