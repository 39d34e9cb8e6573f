#ifndef SWZ_PROFILE_COSTS_IMBALANCE_H
#define SWZ_PROFILE_COSTS_IMBALANCE_H

/* How evenly a time is spread over the ranks of a parallel program. Those that
 * wait for the slowest one lose what it has more than the mean. The ranks come
 * one after the other, as the times of thousands may not have room. */

#include <stddef.h>
#include <stdint.h>

struct swz_imbalance {
	int64_t least_ns;
	int64_t mean_ns; /* rounded down */
	int64_t most_ns;
	size_t most_at; /* the first that has so much */
	int64_t tenths; /* of a percent: most / mean - 1, rounded */
	int64_t sum_ns;
	size_t count; /* of those that were seen: 0 up to the latest */
};

/* The time of number AT, which is none before the latest. What is left out has
 * none. Begins with zeros. */
void swz_imbalance_add(struct swz_imbalance *imbalance, size_t at, int64_t ns);

/* There are COUNT of them, at least one. */
void swz_imbalance_end(struct swz_imbalance *imbalance, size_t count);

#endif
