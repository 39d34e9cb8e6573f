/* Parts of the input that are asked for: what came after a snapshot (--since),
 * a part of a trace's time (--from, --to), the callers of a function
 * (--caller). */

#include "tools/dump/reports.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "profile/costs/view.h"
#include "profile/file/events.h"
#include "profile/file/samples.h"
#include "tools/dump/destination.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"

/* --- what came after a snapshot ------------------------------------------ */

/* Events tell what comes later, and figures of a part of a trace are theirs. */
static void begin_range(struct swz_dump_options *options, uint64_t ticks)
{
	options->from.given = true;
	options->since_ticks = ticks;
}

bool swz_dump_take_since(struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	struct swz_profile *earlier, *profile = input->profiles[0];
	enum swz_status status = SWZ_OK;
	struct swz_error error;

	if (input->count != 1) {
		swz_dump_complain("--since is for one profile, not for %zu",
				  input->count);
		return false;
	}
	if (swz_profile_read(options->since, &earlier, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", options->since, error.text);
		return false;
	}
	if (swz_profile_traced(profile) && earlier->header.snapshot_ticks &&
	    earlier->header.start_ticks == profile->header.start_ticks)
		begin_range(options, earlier->header.snapshot_ticks);
	else
		status = swz_interval_take(profile, earlier, &error);
	if (status != SWZ_OK)
		swz_dump_complain("--since %s: %s", options->since, error.text);
	swz_profile_free(earlier);
	return status == SWZ_OK;
}

/* --- a part of a trace's time -------------------------------------------- */

/* Percentages are of the time from the first start to the last end of all. */

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

static bool has_samples(const struct swz_dump_input *input)
{
	for (size_t i = 0; i < input->count; i++)
		if (!swz_profile_has_samples(input->profiles[i]))
			return false;
	return input->count != 0;
}

/* What is left of the profiles is that range: no format knows of it. */
static void keep_samples(const struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	if (options->format->of_samples || !has_samples(input))
		return;
	for (size_t i = 0; i < input->count; i++)
		swz_samples_keep_range(input->profiles[i], options->range.from,
				       options->range.to);
	options->from.given = options->to.given = false;
}

/* Nothing is shown then; so it is said when there was something. */
static void warn_late(const char *option, uint64_t ticks, uint64_t first,
		      uint64_t last, const struct swz_dump_input *input)
{
	if (ticks > last && ticks != UINT64_MAX)
		swz_dump_complain(
			"%s: the run ends before, at %.6f s", option,
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

		if (!swz_profile_traced(profile) &&
		    (options->at.given || !swz_profile_has_samples(profile))) {
			swz_dump_complain(
				options->at.given
					? "%s: not a trace (swizzle-run -m "
					  "trace), which --at needs"
					: "%s: not a trace (swizzle-run -m "
					  "trace) "
					  "nor samples with times (-m sample), "
					  "which --from and --to need",
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
	keep_samples(input, options);
	return true;
}

/* --- callers that the profiles say --------------------------------------- */

static bool has(const struct swz_patterns *patterns, const char *pattern)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (strcmp(patterns->items[i], pattern) == 0)
			return true;
	return false;
}

void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	char *lines = NULL, *rest, *line;

	if (options->view.callers.count ||
	    (!format->section && !format->events))
		return;
	for (size_t i = 0; i < input->count; i++) {
		const char *more = swz_profile_label(input->profiles[i],
						     SWZ_LABEL_CALLER);
		char *joined;

		if (!more)
			continue;
		joined = swz_print("%s\n%s", lines ? lines : "", more);
		free(lines);
		lines = joined;
	}
	options->callers = rest = lines;
	while (rest && (line = strtok_r(NULL, "\n", &rest)))
		if (!has(&options->view.callers, line))
			swz_patterns_add(&options->view.callers, line);
}
