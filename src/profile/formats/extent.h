#ifndef SWZ_PROFILE_FORMATS_EXTENT_H
#define SWZ_PROFILE_FORMATS_EXTENT_H

/* The wall-clock time from the first process's start to the end of the last. */

#include "profile/formats/formats.h"

struct swz_extent {
	uint64_t start_ns, end_ns; /* since 1970; 0: nothing yet */
};

void swz_extent_add(struct swz_extent *extent,
		    const struct swz_profile *profile);

/* Of all profiles of a section. */
void swz_extent_add_section(struct swz_extent *extent,
			    const struct swz_section *section);

#endif
