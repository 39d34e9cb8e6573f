/* Percentages are of the time from the first start to the last end of all. */

#include "tools/dump/range.h"

#include <inttypes.h>

#include "profile/file/events.h"
#include "tools/dump/message.h"

static uint64_t ticks_of(const struct swz_dump_moment *moment,
			 const struct swz_profile *profile, uint64_t first,
			 uint64_t last)
{
	double ticks = moment->percent
			       ? (double)(last - first) * moment->value / 100
			       : moment->value * 1e9 *
					 (double)profile->clock_ticks /
					 (double)profile->clock_ns;

	return ticks < (double)(INT64_MAX - (int64_t)(first >> 1))
		       ? first + (uint64_t)ticks
		       : UINT64_MAX;
}

/* Nothing is shown then; so it is said when there was something. */
static void warn_late(const char *option, uint64_t ticks, uint64_t first,
		      uint64_t last, const struct swz_dump_input *input)
{
	if (ticks > last && ticks != UINT64_MAX)
		swz_dump_complain(
			"%s: the trace ends before, at %.6f s", option,
			(double)swz_profile_ns(input->profiles[0],
					       (int64_t)(last - first)) /
				1e9);
}

bool swz_dump_find_range(const struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		if (!swz_profile_traced(profile)) {
			swz_dump_complain(
				"%s: not a trace (swizzle-run -m trace), which "
				"--from, --to and --at need",
				profile->name);
			return false;
		}
		if (swz_profile_origin(profile) < first)
			first = swz_profile_origin(profile);
		for (j = 0; j < profile->thread_count; j++)
			if (profile->threads[j].last_ticks > last)
				last = profile->threads[j].last_ticks;
	}
	if (last < first)
		last = first;
	options->range = (struct swz_range){first, UINT64_MAX};
	if (options->at.given)
		options->calls.at_ticks = ticks_of(
			&options->at, input->profiles[0], first, last);
	if (options->since_ticks)
		options->range.from = options->since_ticks;
	else if (options->from.given)
		options->range.from = ticks_of(&options->from,
					       input->profiles[0], first, last);
	if (options->to.given)
		options->range.to = ticks_of(&options->to, input->profiles[0],
					     first, last);
	if (options->range.from > options->range.to) {
		swz_dump_complain("--from is later than --to");
		return false;
	}
	if (!options->quiet && options->from.given && !options->since_ticks)
		warn_late("--from", options->range.from, first, last, input);
	if (!options->quiet && options->at.given)
		warn_late("--at", options->calls.at_ticks, first, last, input);
	return true;
}
