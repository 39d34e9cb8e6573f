#ifndef SWZ_PROFILE_COSTS_IMBALANCE_H
#define SWZ_PROFILE_COSTS_IMBALANCE_H

/* How evenly a time is spread over the ranks of a parallel program. Those that
 * wait for the slowest one lose what it has more than the mean. */

#include <stddef.h>
#include <stdint.h>

struct swz_imbalance {
	int64_t least_ns;
	int64_t mean_ns; /* rounded down */
	int64_t most_ns;
	size_t most_at; /* the first that has so much */
	int64_t tenths; /* of a percent: most / mean - 1, rounded */
};

/* Of COUNT times, at least one. */
struct swz_imbalance swz_imbalance_of(const int64_t *ns, size_t count);

#endif
