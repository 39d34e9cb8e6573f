/* Welch's test takes the two sides' variances apart, since a change may well
 * alter how even the runs are. 99% and not 95%: a table has hundreds of
 * functions, and 5% of them would seem changed where nothing is. */

#include "profile/costs/spread.h"

#include <math.h>

/* By degrees of freedom, from 1. */
static const double factors[] = {
	63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
	3.106,  3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
	2.831,  2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
};

enum { FACTORS = sizeof(factors) / sizeof(factors[0]) };

#define NORMAL 2.576 /* of endlessly many */

struct swz_spread swz_spread_of(const double *values, size_t count)
{
	struct swz_spread spread = {.runs = count, .exact = true};
	double squares = 0;
	size_t i;

	if (!count)
		return spread;
	for (i = 0; i < count; i++) {
		spread.mean += values[i] / (double)count;
		spread.exact &= values[i] == values[0];
	}
	if (spread.exact) {
		spread.mean = values[0]; /* not rounded */
		return spread;
	}
	for (i = 0; i < count; i++)
		squares += (values[i] - spread.mean) *
			   (values[i] - spread.mean);
	spread.variance = squares / (double)(count - 1);
	return spread;
}

double swz_spread_deviation(const struct swz_spread *spread)
{
	return sqrt(spread->variance);
}

bool swz_spread_is_known(const struct swz_spread *a, const struct swz_spread *b)
{
	return a->runs > 1 && b->runs > 1;
}

/* The factor's logarithm is almost linear in the reciprocal of the degrees.
 * What this gives is never too small, and too large by less than 4% below 2
 * degrees, and 1% from there on. */
double swz_student_factor(double degrees)
{
	double from, to = 0, high = NORMAL, share;
	size_t whole;

	if (!(degrees > 1))
		return factors[0];
	whole = degrees < FACTORS ? (size_t)degrees : FACTORS;
	if (whole < FACTORS) {
		to = 1 / (double)(whole + 1);
		high = factors[whole];
	}
	from = 1 / (double)whole;
	share = (from - 1 / degrees) / (from - to);
	return factors[whole - 1] * pow(high / factors[whole - 1], share);
}

double swz_spread_noise(const struct swz_spread *a, const struct swz_spread *b)
{
	double x = a->variance / (double)a->runs;
	double y = b->variance / (double)b->runs;
	double both = x + y, degrees;

	if (!(both > 0))
		return 0;
	/* (as shares of the sum: squares of large variances are no numbers) */
	x /= both;
	y /= both;
	degrees = 1 / (x * x / (double)(a->runs - 1) +
		       y * y / (double)(b->runs - 1));
	return swz_student_factor(degrees) * sqrt(both);
}
