#ifndef SWZ_PROFILE_FILE_KIND_H
#define SWZ_PROFILE_FILE_KIND_H

/* What the figures of a profile are. Those of two kinds are not added up, and
 * not compared. */

#include "swizzle/format.h"

enum swz_kind {
	SWZ_KIND_CALLS,
	SWZ_KIND_PROCESSOR, /* samples of threads that run */
	SWZ_KIND_WALL       /* --wall: samples of threads that wait, too */
};

static inline enum swz_kind swz_kind_of(const struct swz_file_header *header)
{
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return SWZ_KIND_CALLS;
	return header->sample_flags & SWZ_SAMPLES_OF_WAITING
		       ? SWZ_KIND_WALL
		       : SWZ_KIND_PROCESSOR;
}

#endif
