/* The header's samples of the clock say how fast it is: the two that are
 * farthest apart, the most exactly. But what lies between them may be more than
 * the program: a machine that is suspended stops CLOCK_MONOTONIC and not the
 * TSC, a virtual one that is stopped or moved either of them, and a child in a
 * time namespace of its own has another CLOCK_MONOTONIC. The two of the start
 * know nothing of that. Samples that say what no clock can be are not believed.
 */

#include "profile/file/ticks.h"

#include "profile/support/arith.h"

/* No clock runs slower than 10 MHz or faster than 100 GHz. */
#define MAX_NS_PER_TICK 100u
#define MAX_TICKS_PER_NS 100u

/* A sample may be off by so much, if its thread had to wait amid it. */
#define SAMPLE_ERROR_NS 20000u
/* CLOCK_MONOTONIC is adjusted, by much less. */
#define EVEN_WITHIN 100u

struct rate {
	uint64_t ticks;
	uint64_t ns;
};

static bool usable_sample(const struct swz_clock_sample *sample)
{
	return sample->ticks != 0 && sample->monotonic_ns != 0;
}

/* Zeros, if the two are of no use. */
static struct rate rate_between(const struct swz_clock_sample *from,
				const struct swz_clock_sample *to)
{
	if (!usable_sample(from) || !usable_sample(to) ||
	    to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns)
		return (struct rate){0};
	return (struct rate){
		.ticks = to->ticks - from->ticks,
		.ns = to->monotonic_ns - from->monotonic_ns,
	};
}

static bool is_a_clock(const struct rate *rate)
{
	return rate->ticks && rate->ns / MAX_NS_PER_TICK <= rate->ticks &&
	       rate->ticks / MAX_TICKS_PER_NS <= rate->ns;
}

/* Whether what the clock did over all fits the rate that it had at the start.
 */
static bool is_even(const struct rate *start, const struct rate *all)
{
	double expected = (double)all->ticks * (double)start->ns /
			  (double)start->ticks;
	double off = (double)all->ns - expected;
	double error = expected / EVEN_WITHIN +
		       SAMPLE_ERROR_NS * (1 + expected / (double)start->ns);

	return off < error && -off < error;
}

void swz_profile_calibrate(struct swz_profile *profile)
{
	const struct swz_clock_sample *clock = profile->header.clock;
	struct rate start = rate_between(&clock[0], &clock[1]), rate = {0};
	bool start_is_known = is_a_clock(&start);

	profile->clock_uneven = false;
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 3; j++) {
			struct rate other = rate_between(&clock[i], &clock[j]);

			if (start_is_known && other.ticks &&
			    !is_even(&start, &other))
				profile->clock_uneven = true;
			if (other.ticks > rate.ticks && is_a_clock(&other))
				rate = other;
		}
	}
	if (profile->clock_uneven)
		rate = start;
	profile->clock_known = rate.ticks != 0;
	profile->clock_ticks = profile->clock_known ? rate.ticks : 1;
	profile->clock_ns = profile->clock_known ? rate.ns : 1;
}

uint64_t swz_profile_duration_ticks(const struct swz_profile *profile)
{
	uint64_t last = profile->header.start_ticks;
	size_t i;

	if (profile->header.end_ticks > last)
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
