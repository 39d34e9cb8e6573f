#ifndef SWZ_WATCH_RUN_LINE_H
#define SWZ_WATCH_RUN_LINE_H

/* The line that ends a sampled run: how many samples of which time, in which
 * files, what is missing, and the next command. */

#include "base/run_summary.h"
#include "watch/profile_file.h"
#include "watch/tasks.h"

/* To be freed; NULL: there is nothing to be said, as no file was written. */
char *swz_run_line(const struct swz_sample_run *sampled,
		   const struct swz_run *run,
		   const struct swz_sample_totals *totals);

/* What to do where much of the time is that of threads which ended before their
 * first sample: take more. A line without its newline, to be freed; NULL: it is
 * less than a tenth, or there are no more to be had. */
char *swz_rate_advice(const struct swz_sample_run *sampled,
		      const struct swz_sample_totals *totals);

#endif
