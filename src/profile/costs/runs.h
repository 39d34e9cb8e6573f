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

/* --- counts and times of two runs ---------------------------------------- */

/* Two runs of one command in one report: the counts of a run whose calls were
 * recorded, and the times of a run that was sampled.
 *
 * A function has the time of the samples that hit it. The stacks of the samples
 * tell in which of its contexts that was spent, if there are enough of them
 * (SWZ_JOINED_ENOUGH); otherwise the recorded run's times say in which
 * proportion. All inclusive times are sums of these self times, so all times
 * add up to the sampled run's processor time.
 *
 * Where recursion was folded, some calls go on in a context further up, and
 * what they call is not below all of their callers. The functions in between
 * have the inclusive time that their samples' stacks say; the report calls them
 * split, and trees have less of it.
 *
 * With counts of edges (-m count) the contexts and all times are the samples'.
 * Those that hit what counts are no time of the program, but for calls as short
 * as an empty function's: the processor does most of their work beside the
 * counting, so counting costs less there than the samples say. What it does
 * cost such a call was measured.
 *
 * What was sampled in functions of which the other run has recorded no call
 * (in libraries that were left alone, refused, the kernel) keeps rows of its
 * own, below the nearest recorded caller. What such a function calls back stays
 * where the other run has it: below that caller, not below the function. */

/* Samples of a function, from which on their stacks say how its time is divided
 * among its contexts. One is enough: a single stack says little of its own
 * function, but the many of all functions say truly what lies below their
 * callers. The recorded run's proportions are wrong in one direction: with a
 * limit of 20 a caller in python had a share of 0.55 in place of 0.38. */
#define SWZ_JOINED_ENOUGH 1u

struct swz_joined {
	/* Functions that several contexts share and samples hit: where the
	 * samples' stacks divide the time, and where proportions do. */
	size_t by_stacks;
	size_t by_proportion;
	size_t without; /* functions with calls and no sample */
	uint64_t samples;
	int64_t bound_ns;    /* what one sample stands for */
	int64_t left_out_ns; /* that went into counting calls */
	int64_t unsure_ns;   /* of the times: counting may have taken it, too */
};

/* A call of an empty function, and what it takes more if it is counted: as
 * swz_file_header has them, in 1/1024 ns. */
struct swz_call_costs {
	uint32_t plain, counted;
};

/* Per function: its samples in what counts its calls, and how much of these is
 * its own time. */
struct swz_counting;

/* For all samples of a run: COUNTS is the report of all of its threads, SAMPLED
 * their contexts, not yet joined. To be freed by swz_counting_free(). */
struct swz_counting *swz_counting_find(const struct swz_report *counts,
				       const struct swz_contexts *sampled,
				       struct swz_call_costs costs);
void swz_counting_free(struct swz_counting *counting);

/* The same samples will be joined a second time. COUNTING may be NULL. */
void swz_counting_again(struct swz_counting *counting);

/* COUNTS and COUNTED, a report and its contexts, get the times of SAMPLED, the
 * contexts of another run. All are of one catalog, not yet sorted and summed,
 * with contexts told apart by place. Afterwards the contexts are summed, and
 * COUNTS is sorted. PERIOD_NS is from one sample to the next, if there is none.
 * COUNTING is needed where calls were counted. The same one serves for all
 * threads together, or for one after the other: what the latter get adds up to
 * what the former do. Where contexts were recorded, time in which sampled
 * threads waited is left out. */
struct swz_joined swz_join_times(struct swz_report *counts,
				 struct swz_contexts *counted,
				 struct swz_contexts *sampled,
				 int64_t period_ns,
				 struct swz_counting *counting);

/* Makes contexts of different places one, as swz_contexts_begin() says it of
 * contexts that are not told apart by place. Summed. */
void swz_contexts_forget_places(struct swz_contexts *contexts);

#endif
