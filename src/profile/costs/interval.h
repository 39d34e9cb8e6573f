#ifndef SWZ_PROFILE_COSTS_INTERVAL_H
#define SWZ_PROFILE_COSTS_INTERVAL_H

/* The part of a profile that was recorded since a snapshot of it. */

#include "base/status.h"
#include "profile/file/reader.h"

/* Changes PROFILE to what it has more than EARLIER, a snapshot of the same
 * process: calls and times since then, of threads that begin then. Nothing is
 * open any more; the shortest and the longest calls stay those of the whole.
 * SWZ_E_FORMAT, and nothing is changed: it is no such snapshot, *error says
 * why. */
enum swz_status swz_interval_take(struct swz_profile *profile,
				  const struct swz_profile *earlier,
				  struct swz_error *error) SWZ_MUST_CHECK;

#endif
