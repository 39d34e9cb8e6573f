/* Several runs of one program are one report, whose means are compared. What a
 * run has added is the difference of the report's sums before and after it. */

#include "profile/costs/runs.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/memory.h"
#include "profile/costs/contexts.h"
#include "profile/costs/report.h"

/* --- spread -------------------------------------------------------------- */

/* Welch's test takes the two sides' variances apart, since a change may well
 * alter how even the runs are. 99% and not 95%: a table has hundreds of
 * functions, and 5% of them would seem changed where nothing is. */

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

/* The standard error of the difference of both means, and its degrees of
 * freedom. */
static double welch(const struct swz_spread *a, const struct swz_spread *b,
		    double *degrees)
{
	double x = a->variance / (double)a->runs;
	double y = b->variance / (double)b->runs;
	double both = x + y;

	*degrees = 1;
	if (!(both > 0))
		return 0;
	/* (as shares of the sum: squares of large variances are no numbers) */
	x /= both;
	y /= both;
	*degrees = 1 / (x * x / (double)(a->runs - 1) +
			y * y / (double)(b->runs - 1));
	return sqrt(both);
}

double swz_spread_noise(const struct swz_spread *a, const struct swz_spread *b)
{
	double degrees, error = welch(a, b, &degrees);

	return error > 0 ? swz_student_factor(degrees) * error : 0;
}

double swz_spread_noise_at(const struct swz_spread *a,
			   const struct swz_spread *b, double chance)
{
	double degrees, error = welch(a, b, &degrees);

	return error > 0 ? swz_student_limit(degrees, chance) * error : 0;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;
	int i;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	value = d;
	for (i = 1; i <= 300; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x /
			     ((a + 2 * i) * (a + 2 * i + 1));
		double step;

		d = 1 + even * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + even / c;
		value *= d * (fabs(c) < tiny ? tiny : c);
		d = 1 + odd * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + odd / c;
		step = d * (fabs(c) < tiny ? tiny : c);
		value *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return value;
}

/* How often Student's distribution lies beyond T, on both sides. */
static double student_tails(double t, double degrees)
{
	double x = degrees / (degrees + t * t), a = degrees / 2, b = 0.5;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
			   b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double swz_student_limit(double degrees, double chance)
{
	double low = 1e-6, high = 1e15;
	int i;

	if (!(degrees > 1))
		degrees = 1;
	for (i = 0; i < 100 && high / low > 1 + 1e-9; i++) {
		double middle = sqrt(low * high);

		if (student_tails(middle, degrees) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- runs ---------------------------------------------------------------- */

/* A run has added the difference of the report's sums before and after it. */

/* ---- what each has added ---- */

static struct swz_run_costs costs_of(const struct swz_run *run, size_t function)
{
	if (function >= run->function_count)
		return (struct swz_run_costs){0};
	return run->functions[function];
}

void swz_runs_note(struct swz_runs *runs, const struct swz_report *report)
{
	struct swz_run run = {
		.function_count = report->function_capacity,
		.total_ns = report->total_ns,
		.thread_count = report->thread_count,
	};
	size_t i, j;

	run.functions = swz_allocate(run.function_count,
				     sizeof(*run.functions));
	for (i = 0; i < run.function_count; i++) {
		const struct swz_report_function *all = &report->functions[i];
		struct swz_run_costs *costs = &run.functions[i];

		*costs = (struct swz_run_costs){all->calls, all->self_ns,
						all->inclusive_ns};
		for (j = 0; j < runs->count; j++) {
			struct swz_run_costs one = costs_of(&runs->items[j], i);

			costs->calls -= one.calls;
			costs->self_ns = swz_sub(costs->self_ns, one.self_ns);
			costs->inclusive_ns = swz_sub(costs->inclusive_ns,
						      one.inclusive_ns);
		}
	}
	for (j = 0; j < runs->count; j++) {
		run.total_ns = swz_sub(run.total_ns, runs->items[j].total_ns);
		run.thread_count -= runs->items[j].thread_count;
	}
	swz_grow(&runs->items, &runs->capacity, runs->count,
		 sizeof(*runs->items));
	runs->items[runs->count++] = run;
}

void swz_runs_free(struct swz_runs *runs)
{
	size_t i;

	for (i = 0; i < runs->count; i++)
		free(runs->items[i].functions);
	free(runs->items);
	*runs = (struct swz_runs){0};
}

struct swz_function_spread swz_runs_function(const struct swz_runs *runs,
					     uint32_t function)
{
	double *values = swz_allocate(3 * runs->count, sizeof(*values));
	double *self = values + runs->count, *inclusive = self + runs->count;
	struct swz_function_spread spread;
	size_t i;

	for (i = 0; i < runs->count; i++) {
		struct swz_run_costs costs = costs_of(&runs->items[i],
						      function);

		values[i] = (double)costs.calls;
		self[i] = (double)costs.self_ns;
		inclusive[i] = (double)costs.inclusive_ns;
	}
	spread.calls = swz_spread_of(values, runs->count);
	spread.self_ns = swz_spread_of(self, runs->count);
	spread.inclusive_ns = swz_spread_of(inclusive, runs->count);
	free(values);
	return spread;
}

struct swz_spread swz_runs_total(const struct swz_runs *runs)
{
	double *values = swz_allocate(runs->count, sizeof(*values));
	struct swz_spread spread;
	size_t i;

	for (i = 0; i < runs->count; i++)
		values[i] = (double)runs->items[i].total_ns;
	spread = swz_spread_of(values, runs->count);
	free(values);
	return spread;
}

struct swz_spread swz_runs_total_calls(const struct swz_runs *runs)
{
	double *values = swz_allocate(runs->count, sizeof(*values));
	struct swz_spread spread;
	size_t i, j;

	for (i = 0; i < runs->count; i++)
		for (j = 0; j < runs->items[i].function_count; j++)
			values[i] += (double)runs->items[i].functions[j].calls;
	spread = swz_spread_of(values, runs->count);
	free(values);
	return spread;
}

/* ---- means ---- */

/* A function's counts so far: what is added, and what was given out. */
struct counts {
	uint64_t calls, calls_done;
	uint64_t unwound, unwound_done;
};

static uint64_t mean_count(uint64_t sum, size_t count)
{
	return sum / count + (sum % count >= (count + 1) / 2);
}

/* As differences of rounded running sums: what is the same in all runs stays
 * what it is. */
static uint64_t mean_part(uint64_t *sum, uint64_t *done, uint64_t part,
			  size_t count)
{
	uint64_t mean, before = *done;

	*sum = swz_add_count(*sum, part);
	mean = mean_count(*sum, count);
	*done = mean;
	return mean - before;
}

static void average_edges(struct swz_report *report, size_t count)
{
	struct counts *counts = swz_allocate(report->function_capacity,
					     sizeof(*counts));
	size_t i;

	for (i = 0; i < report->edge_count; i++) {
		struct swz_report_edge *edge = &report->edges[i];
		struct counts *to = &counts[edge->callee];

		edge->calls = mean_part(&to->calls, &to->calls_done,
					edge->calls, count);
		edge->inclusive_ns /= (int64_t)count;
		edge->waiting_ns /= (int64_t)count;
		edge->jumps = mean_count(edge->jumps, count);
	}
	free(counts);
}

void swz_report_average(struct swz_report *report, size_t count)
{
	size_t i;

	if (count < 2)
		return;
	for (i = 0; i < report->function_capacity; i++) {
		struct swz_report_function *function = &report->functions[i];

		function->calls = mean_count(function->calls, count);
		function->unwound = mean_count(function->unwound, count);
		function->self_ns /= (int64_t)count;
		function->inclusive_ns /= (int64_t)count;
		function->self_waiting_ns /= (int64_t)count;
		function->inclusive_waiting_ns /= (int64_t)count;
		function->variance_ns /= (double)count * (double)count;
	}
	average_edges(report, count);
	report->thread_count = mean_count(report->thread_count, count);
	report->total_ns /= (int64_t)count;
	report->waiting_ns /= (int64_t)count;
	report->unplaced_ns /= (int64_t)count;
	report->unknown_ns /= (int64_t)count;
	report->raw_ns /= (int64_t)count;
	/* one sample in all runs is so much of each */
	if (report->bound_ns)
		report->bound_ns = (report->bound_ns + (int64_t)count - 1) /
				   (int64_t)count;
	report->folded_recursion = mean_count(report->folded_recursion, count);
	report->not_shown = mean_count(report->not_shown, count);
}

void swz_contexts_average(struct swz_contexts *contexts, size_t count)
{
	struct counts *counts;
	uint32_t functions = 0;
	size_t i;

	if (count < 2)
		return;
	for (i = 0; i < contexts->count; i++)
		if (contexts->items[i].function >= functions)
			functions = contexts->items[i].function + 1;
	counts = swz_allocate(functions, sizeof(*counts));
	for (i = 0; i < contexts->count; i++) {
		struct swz_context *context = &contexts->items[i];
		struct counts *to = &counts[context->function];

		context->calls = mean_part(&to->calls, &to->calls_done,
					   context->calls, count);
		context->unwound = mean_part(&to->unwound, &to->unwound_done,
					     context->unwound, count);
		context->jumps = mean_count(context->jumps, count);
		context->self_ns /= (int64_t)count;
		context->self_waiting_ns /= (int64_t)count;
	}
	free(counts);
	swz_contexts_sum(contexts);
}
