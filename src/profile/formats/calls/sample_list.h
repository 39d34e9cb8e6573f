#ifndef SWZ_PROFILE_FORMATS_CALLS_SAMPLE_LIST_H
#define SWZ_PROFILE_FORMATS_CALLS_SAMPLE_LIST_H

#include <stdio.h>

#include "profile/costs/trace.h"
#include "profile/file/samples.h"

/* The frames of a sample that are shown, as units, the innermost first; their
 * number. SHOWN: the units of the thread that a view leaves. *PATH grows as it
 * needs to, and is the caller's to free. */
size_t swz_sample_frames(const struct swz_profile *profile,
			 const struct swz_profile_thread *thread,
			 const struct swz_unit_set *shown,
			 const struct swz_profile_sample *sample,
			 uint32_t **path, size_t *capacity);

/* The catalog's function of a unit. */
uint32_t swz_sample_function(struct swz_binding *binding, uint32_t unit);

/* Lists samples one by one. */
void swz_write_samples(FILE *stream, struct swz_trace *trace);

#endif
