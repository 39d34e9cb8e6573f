/* A sorted list of times with their numbers of calls. */

#include "profile/costs/call_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "util/memory.h"

#define KEPT_BITS 10u

static int64_t rounded(int64_t ns)
{
	unsigned bits, drop;

	if (ns <= 0)
		return 0;
	bits = 64u - (unsigned)__builtin_clzll((uint64_t)ns);
	drop = bits > KEPT_BITS ? bits - KEPT_BITS : 0;
	if (!drop)
		return ns;
	if (ns > INT64_MAX - (INT64_C(1) << (drop - 1)))
		return INT64_MAX >> drop << drop;
	return (ns + (INT64_C(1) << (drop - 1))) >> drop << drop;
}

/* The place of the first time that is not less. */
static size_t place_of(const struct swz_call_times *times, int64_t ns)
{
	size_t low;

	SWZ_PARTITION(low, times->count, times->items[low].ns < ns);
	return low;
}

void swz_call_times_add(struct swz_call_times *times, int64_t ns,
			uint64_t calls)
{
	struct swz_call_time *item;
	size_t at;

	if (!calls)
		return;
	ns = rounded(ns);
	at = place_of(times, ns);
	times->calls = swz_add_count(times->calls, calls);
	if (at == times->count || times->items[at].ns != ns) {
		swz_grow(&times->items, &times->capacity, times->count,
			 sizeof(*times->items));
		memmove(&times->items[at + 1], &times->items[at],
			(times->count - at) * sizeof(*times->items));
		times->items[at] = (struct swz_call_time){.ns = ns};
		times->count++;
	}
	item = &times->items[at];
	item->calls = swz_add_count(item->calls, calls);
}

void swz_call_times_merge(struct swz_call_times *to,
			  const struct swz_call_times *from)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		swz_call_times_add(to, from->items[i].ns, from->items[i].calls);
}

void swz_call_times_free(struct swz_call_times *times)
{
	free(times->items);
	*times = (struct swz_call_times){0};
}

/* --- percentiles --------------------------------------------------------- */

static const struct {
	const char *title, *name;
	double share;
} percentiles[SWZ_PERCENTILES_SHOWN] = {
	[SWZ_P50] = {"p50", "p50_ns", 0.5},
	[SWZ_P90] = {"p90", "p90_ns", 0.9},
	[SWZ_P99] = {"p99", "p99_ns", 0.99},
	[SWZ_P999] = {"p99.9", "p999_ns", 0.999},
};

const char *swz_percentile_title(enum swz_percentile which)
{
	return percentiles[which].title;
}

const char *swz_percentile_name(enum swz_percentile which)
{
	return percentiles[which].name;
}

/* The time of the call with that number, from 1, in the order of time. */
static int64_t time_of_rank(const struct swz_call_times *times, double rank)
{
	double passed = 0;
	size_t i;

	for (i = 0; i + 1 < times->count; i++) {
		passed += (double)times->items[i].calls;
		if (passed >= rank)
			break;
	}
	return times->items[i].ns;
}

/* (The product may be a little more than the whole number that it should be.)
 */
static double rank_of(const struct swz_call_times *times, double share)
{
	return ceil((double)times->calls * share * (1 - 1e-12));
}

int64_t swz_percentile_ns(const struct swz_call_times *times,
			  enum swz_percentile which, int64_t min_ns,
			  int64_t max_ns)
{
	int64_t ns;

	if (!times->count)
		return -1;
	ns = time_of_rank(times, rank_of(times, percentiles[which].share));
	if (max_ns && ns > max_ns)
		ns = max_ns;
	return ns < min_ns ? min_ns : ns;
}

int64_t swz_percentile_noise(const struct swz_call_times *times,
			     enum swz_percentile which)
{
	const double p = percentiles[which].share;
	const double n = (double)times->calls,
		     width = 1.96 * sqrt(n * p * (1 - p));

	if (!times->count)
		return 0;
	return (time_of_rank(times, ceil(n * p + width)) -
		time_of_rank(times, fmax(1, floor(n * p - width))) + 1) /
	       2;
}

bool swz_percentile_is_sure(const struct swz_call_times *times,
			    enum swz_percentile which)
{
	const double p = percentiles[which].share;
	const double n = (double)times->calls,
		     width = 1.96 * sqrt(n * p * (1 - p));

	return ceil(n * p + width) <= n && floor(n * p - width) >= 1;
}
