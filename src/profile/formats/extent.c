#include "profile/formats/extent.h"

#include "profile/support/arith.h"

void swz_extent_add(struct swz_extent *extent,
		    const struct swz_profile *profile)
{
	uint64_t start = profile->header.start_realtime_ns;
	uint64_t end = swz_add_count(
		start,
		(uint64_t)swz_profile_ns(
			profile, (int64_t)swz_profile_duration_ticks(profile)));

	if (!extent->start_ns || start < extent->start_ns)
		extent->start_ns = start;
	if (end > extent->end_ns)
		extent->end_ns = end;
}

void swz_extent_add_section(struct swz_extent *extent,
			    const struct swz_section *section)
{
	size_t i;

	for (i = 0; i < section->profile_count; i++)
		swz_extent_add(extent, section->profiles[i]);
}
