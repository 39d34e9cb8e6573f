#ifndef SWZ_UTIL_ARITH_H
#define SWZ_UTIL_ARITH_H

/* Arithmetic that saturates. Costs come from a file that may be torn or
 * forged: a sum that does not fit becomes the largest value, never a small or
 * negative one, and no operation here is undefined. */

#include <math.h>
#include <stdint.h>

static inline int64_t swz_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static inline int64_t swz_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return difference;
}

static inline uint64_t swz_add_count(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline int64_t swz_signed(uint64_t count)
{
	return count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

/* value * numerator / denominator, rounded down; 0 for a negative value or a
 * denominator of 0. */
static inline int64_t swz_scale(int64_t value, uint64_t numerator,
				uint64_t denominator)
{
	unsigned __int128 product;

	if (value <= 0 || denominator == 0)
		return 0;
	product = (unsigned __int128)(uint64_t)value * numerator / denominator;
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

/* count * cost / 1024: what COUNT calls cost in ticks, rounded to nearest. */
static inline int64_t swz_call_cost(uint64_t count, uint64_t cost)
{
	unsigned __int128 product = (unsigned __int128)count * cost;

	product = product / 1024 + (product % 1024 >= 512);
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

/* The least that is PERCENT of TOTAL, or more; 0 of a negative total. */
static inline int64_t swz_least_share(double percent, int64_t total)
{
	double share = percent * (double)total / 100;

	if (!(share > 0))
		return 0;
	return share < 0x1p63 ? (int64_t)ceil(share) : INT64_MAX;
}

#endif
