#ifndef SWZ_PROFILE_COSTS_CALL_TIMES_H
#define SWZ_PROFILE_COSTS_CALL_TIMES_H

/* How the times of a function's calls are distributed, and percentiles: the one
 * place where they are computed. A profile has buckets of ticks
 * (base/time_bucket.h); each becomes its middle, compensated as the shortest
 * and the longest call are, in ns. So a time is within 0.8 % of the real one,
 * or half a ns; in a sum of profiles, which has buckets of these, within 1.6 %.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_call_time {
	int64_t ns;
	uint64_t calls;
};

/* All zeros: no times are known. */
struct swz_call_times {
	struct swz_call_time *items; /* sorted by ns, each of which is there
				      * once */
	size_t count, capacity;
	uint64_t calls; /* of all of them; saturates */
};

/* Rounds NS to ten significant bits: so there are at most 512 in an octave.
 * What is negative becomes 0. */
void swz_call_times_add(struct swz_call_times *times, int64_t ns,
			uint64_t calls);

void swz_call_times_merge(struct swz_call_times *to,
			  const struct swz_call_times *from);

void swz_call_times_free(struct swz_call_times *times);

/* The percentiles that are shown: p50, p90, p99, p99.9. */
enum swz_percentile {
	SWZ_P50,
	SWZ_P90,
	SWZ_P99,
	SWZ_P999,
	SWZ_PERCENTILES_SHOWN
};

/* "p50", "p90", "p99", "p99.9"; for names of fields: "p50_ns" ... "p999_ns". */
const char *swz_percentile_title(enum swz_percentile which);
const char *swz_percentile_name(enum swz_percentile which);

/* The time that so many of the calls do not exceed: of the least number of
 * calls that is that share of all (nearest rank). Between the shortest and the
 * longest one, where these are known (not 0). -1: no times are known. */
int64_t swz_percentile_ns(const struct swz_call_times *times,
			  enum swz_percentile which, int64_t min_ns,
			  int64_t max_ns);

/* Half the width of the range in which the percentile lies with a probability
 * of 95 %, if the calls are independent of each other: from the ranks of the
 * binomial distribution (Conover, Practical Nonparametric Statistics, 3.2). 0
 * where no times are known. */
int64_t swz_percentile_noise(const struct swz_call_times *times,
			     enum swz_percentile which);

/* True if there are calls enough for that range to lie among them: of 10 calls
 * none says anything of the slowest of 100. */
bool swz_percentile_is_sure(const struct swz_call_times *times,
			    enum swz_percentile which);

#endif
