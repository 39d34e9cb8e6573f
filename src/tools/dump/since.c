#include "tools/dump/since.h"

#include <stdint.h>

#include "profile/costs/interval.h"
#include "profile/file/events.h"
#include "tools/dump/message.h"

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
