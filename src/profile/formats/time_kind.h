#ifndef SWZ_PROFILE_FORMATS_TIME_KIND_H
#define SWZ_PROFILE_FORMATS_TIME_KIND_H

/* What the times of a section are. */

#include "profile/formats/formats.h"

enum swz_time_kind {
	SWZ_WALL_TIME,
	SWZ_PROCESSOR_TIME,
	SWZ_THREAD_TIME /* in which the threads ran or waited, by samples */
};

static inline enum swz_time_kind swz_time_kind(
	const struct swz_section *section)
{
	if (section->report->joined)
		return SWZ_PROCESSOR_TIME;
	if (!section->report->samples)
		return SWZ_WALL_TIME;
	return section->profile->header.sample_flags & SWZ_SAMPLES_OF_WAITING
		       ? SWZ_THREAD_TIME
		       : SWZ_PROCESSOR_TIME;
}

/* As pprof and OpenTelemetry call it. */
static inline const char *swz_time_type(const struct swz_section *section)
{
	return swz_time_kind(section) == SWZ_PROCESSOR_TIME ? "cpu" : "wall";
}

#endif
