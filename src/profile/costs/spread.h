#ifndef SWZ_PROFILE_COSTS_SPREAD_H
#define SWZ_PROFILE_COSTS_SPREAD_H

/* What several runs say of one figure: its mean, how far the runs lie apart,
 * and how large a difference between two programs could be chance. */

#include <stdbool.h>
#include <stddef.h>

struct swz_spread {
	size_t runs;
	double mean;
	double variance; /* of the runs, by n - 1; 0 for a single one */
	bool exact;      /* all runs have the same value */
};

struct swz_spread swz_spread_of(const double *values, size_t count);

/* The standard deviation of the runs. */
double swz_spread_deviation(const struct swz_spread *spread);

/* Whether both sides have the two runs that it takes to know a spread. */
bool swz_spread_is_known(const struct swz_spread *a,
			 const struct swz_spread *b);

/* Welch's test at 99%: means of the same program differ by no more than this in
 * 99 of 100 comparisons. 0 if both are exact. To be asked only of spreads that
 * are known. */
double swz_spread_noise(const struct swz_spread *a, const struct swz_spread *b);

/* How many standard errors the noise is, for so many degrees of freedom: the
 * 99.5% quantile of Student's distribution, or a little more. 1 or more. */
double swz_student_factor(double degrees);

#endif
