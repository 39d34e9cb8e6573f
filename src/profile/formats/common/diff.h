#ifndef SWZ_PROFILE_FORMATS_COMMON_DIFF_H
#define SWZ_PROFILE_FORMATS_COMMON_DIFF_H

/* Two reports of one catalog, side by side: the new one, and the old one that
 * it is compared with. */

#include "profile/costs/contexts.h"
#include "profile/costs/report.h"
#include "profile/costs/runs.h"
#include "profile/formats/common/section.h"

/* Gives both the same functions and the same edges, each at the same index:
 * zeros where there was nothing. An edge's place is that in the new program's
 * source, if it has the call. Both are sorted, by caller and callee after that,
 * too. */
void swz_diff_align_reports(const struct swz_catalog *catalog,
			    struct swz_report *new, struct swz_report *old);

/* The same for contexts, which are summed after that. */
void swz_diff_align_contexts(struct swz_contexts *new,
			     struct swz_contexts *old);

/* The costs of a row of a table. */
struct swz_costs {
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns;
	uint64_t jumps; /* of the calls, through a jump */
	int64_t self_waiting_ns, inclusive_waiting_ns; /* not compared */
	int64_t bound_ns; /* of a comparison: a time of 0 is less than this; 0:
			   * it is 0 */
};

struct swz_costs_diff {
	struct swz_costs new;
	struct swz_costs old;
	bool uncounted; /* calls are not known, neither here nor there */
};

/* Differences up to these are noise: 99 of 100 comparisons of a program with
 * itself have no larger one (see runs.h), and times besides up to 0.1% of the
 * total. Rounded up. */
struct swz_diff_noise {
	bool known;       /* there are two runs a side; otherwise zeros */
	uint64_t calls;   /* 0: they were the same in all runs */
	uint64_t self_ns; /* a bound of either side, at least */
	uint64_t inclusive_ns;
};

enum swz_diff_kind {
	SWZ_DIFF_UNKNOWN, /* the noise is not known */
	SWZ_DIFF_NOISE,   /* nothing beyond it */
	SWZ_DIFF_SLOWER,  /* more self time */
	SWZ_DIFF_FASTER,  /* less of it */
	SWZ_DIFF_OTHER    /* other calls, or those that it calls */
};

/* A function in a comparison. */
struct swz_diff_function {
	struct swz_costs_diff costs;
	struct swz_diff_noise noise;
	enum swz_diff_kind kind;
	bool present; /* on either side */
	/* Where the noise is known, of a function: the runs. */
	struct swz_function_spread new_runs, old_runs;
};

struct swz_diff_function swz_diff_function(const struct swz_section *section,
					   uint32_t function);

/* The times of both totals, and their noise, as that of a function's self time.
 */
struct swz_diff_function swz_diff_of_total(const struct swz_section *section);

/* A percentile of the times of a function's calls, on both sides. */
struct swz_percentile_diff {
	bool known; /* both sides have calls enough (--percentiles) */
	int64_t new_ns, old_ns;
	/* The difference is up to this by chance in 95 of 100 comparisons, if
	 * the calls are independent of each other: by the ranks of both sides
	 * (swz_percentile_noise()), and by the width of the buckets. */
	int64_t noise_ns;
	bool changed; /* it is more */
};

struct swz_percentile_diff swz_diff_percentile(
	const struct swz_section *section, uint32_t function,
	enum swz_percentile which);

/* How many functions there are of each kind, and by how much their self times
 * differ, added up. */
struct swz_diff_counts {
	size_t functions[SWZ_DIFF_OTHER + 1];
	uint64_t self_ns[SWZ_DIFF_OTHER + 1];
};

struct swz_diff_counts swz_diff_count(const struct swz_section *section);

/* "slower", "faster" or "no change beyond the noise", if that is known. */
const char *swz_diff_verdict(const struct swz_diff_function *total);

/* "slower", "faster", "other", "noise" or, of what is on one side only, "new"
 * and "gone"; NULL where the noise is not known and it is on both. */
const char *swz_diff_kind_name(const struct swz_diff_function *function);

/* The bound of a side that has no self time, or no inclusive time; 0: that is
 * known. */
int64_t swz_self_bound(const struct swz_costs *costs);
int64_t swz_inclusive_bound(const struct swz_costs *costs);

/* Where a side of a comparison has a bound: the difference is less than what is
 * returned, whatever its sign. 0: the difference is known, or larger. */
int64_t swz_diff_self_bound(const struct swz_costs_diff *costs);
int64_t swz_diff_inclusive_bound(const struct swz_costs_diff *costs);

/* The bounds of a function, or a context of it, whose costs COSTS has: a side
 * has one if it was called there, or if calls are not known. */
void swz_diff_find_bounds(struct swz_costs_diff *costs,
			  const struct swz_section *section, uint32_t function);

/* True if a side of a comparison has bounds. */
bool swz_diff_has_bounds(const struct swz_section *section);

/* new - old, without its sign. */
uint64_t swz_diff_self(const struct swz_costs_diff *costs);
uint64_t swz_diff_inclusive(const struct swz_costs_diff *costs);
uint64_t swz_diff_calls(const struct swz_costs_diff *costs);

/* How wide the columns of a table are. */
struct swz_diff_widths {
	int calls;
	int ns;
	bool without_times; /* -m count */
	bool bounds; /* are shown: where columns are digits, of joined runs */
};

/* To be called with all that is in the table, or at least with the largest. */
void swz_diff_widen(struct swz_diff_widths *widths,
		    const struct swz_costs *costs);

/* The larger of the two totals, of which limits are percentages. */
int64_t swz_diff_total(const struct swz_section *section);

/* The lines, beginning with '#', that say what is compared, and with what
 * result: what is within the noise is not counted as a change. */
void swz_diff_put_heading(FILE *stream, const struct swz_section *section);

/* The columns' names, and a row of them: old, new, the difference and, of
 * times, how many percent of the old one that is. With SAMPLED there is a
 * column for the standard error, 13 wide; with NOISE those of
 * swz_diff_put_noise(). */
void swz_diff_put_columns(FILE *stream, const struct swz_diff_widths *widths,
			  const char *counted, bool sampled, bool noise);
void swz_diff_put_noise(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_diff_noise *noise);
void swz_diff_put_costs(FILE *stream, const struct swz_diff_widths *widths,
			const struct swz_costs_diff *costs);

/* A remark behind the names of something that is in one of them only: "
 * (new)", "  (gone)" or nothing. */
const char *swz_diff_remark(const struct swz_costs_diff *costs);

#endif
