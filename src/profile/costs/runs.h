#ifndef SWZ_PROFILE_COSTS_RUNS_H
#define SWZ_PROFILE_COSTS_RUNS_H

/* Several runs give one figure's mean, how far the runs lie apart, and how
 * large a difference between two programs could be chance. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/contexts.h"
#include "profile/costs/report.h"

struct swz_spread {
	size_t runs;
	double mean;
	double variance; /* of the runs, by n - 1; 0 for a single one */
	bool exact;      /* all runs have the same value */
};

struct swz_spread swz_spread_of(const double *values, size_t count);

/* How many standard errors a difference of means exceeds, up or down, in only
 * CHANCE of all comparisons of a program with itself: two-sided, above 0 and
 * below 1. */
double swz_student_limit(double degrees, double chance);

/* Welch's test with a chance of one's own: means of the same program differ by
 * more than this in CHANCE of all comparisons. */
double swz_spread_noise_at(const struct swz_spread *a,
			   const struct swz_spread *b, double chance);

/* The standard deviation of the runs. */
double swz_spread_deviation(const struct swz_spread *spread);

/* Welch's test at 99%: means of the same program differ by no more than this in
 * 99 of 100 comparisons. 0 if both are exact. To be asked only of spreads that
 * are known. */
double swz_spread_noise(const struct swz_spread *a, const struct swz_spread *b);

/* How many standard errors the noise is, for so many degrees of freedom: the
 * 99.5% quantile of Student's distribution, or a little more. 1 or more. */
double swz_student_factor(double degrees);

/* --- runs ---------------------------------------------------------------- */

/* Several runs of one program in one report: what each of them has added, and
 * their mean.
 *
 * Each time of a run is made a multiple of the number of runs when it is
 * converted to ns (report.unit_ns). So all sums of times can be divided without
 * a remainder, and the means add up as the times do. */

/* A function's costs in one run, or in all so far. */
struct swz_run_costs {
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns;
};

struct swz_run {
	struct swz_run_costs *functions; /* by the catalog's index */
	size_t function_count;
	int64_t total_ns;
	size_t thread_count;
};

/* Zero-initialised before the first run. */
struct swz_runs {
	struct swz_run *items;
	size_t count;
	size_t capacity;
};

struct swz_function_spread {
	struct swz_spread calls, self_ns, inclusive_ns;
};

/* To be called when all threads of a run were added to REPORT: notes what is
 * there now and was not after the run before. */
void swz_runs_note(struct swz_runs *runs, const struct swz_report *report);
void swz_runs_free(struct swz_runs *runs);

struct swz_function_spread swz_runs_function(const struct swz_runs *runs,
					     uint32_t function);
struct swz_spread swz_runs_total(const struct swz_runs *runs);
struct swz_spread swz_runs_total_calls(const struct swz_runs *runs);

/* Make the sums over COUNT runs means. Of the counts that differ from run to
 * run the means are rounded, so that those of a function's contexts, or of the
 * edges that lead to it, still add up to the function's. The shortest and the
 * longest call stay what they are: those of all runs. */
void swz_report_average(struct swz_report *report, size_t count);
void swz_contexts_average(struct swz_contexts *contexts, size_t count);

#endif
