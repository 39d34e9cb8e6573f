#ifndef SWZ_PROFILE_SUPPORT_FIGURES_H
#define SWZ_PROFILE_SUPPORT_FIGURES_H

/* Figures as people read them: 1,234,567 calls, 12.3 ms, 4.5%. They are
 * rounded; formats for programs print plain digits instead. Each function
 * writes at most SWZ_FIGURE_BYTES to OUT, its end included, and returns OUT. */

#include <stdbool.h>
#include <stdint.h>

#define SWZ_FIGURE_BYTES 40

/* "1,234,567" */
char *swz_figure_count(char *out, uint64_t count);

/* Three digits and a unit: "999 ns", "1.23 us", "45.6 ms", "789 s". From 1000 s
 * on whole seconds: "12,345 s". With UTF8 the micro sign instead of "u"; both
 * take one column. */
char *swz_figure_time(char *out, int64_t ns, bool utf8);

/* PART in percent of WHOLE: "12.3%". What is there but less than 0.05% is
 * "<0.1%"; of nothing "-". */
char *swz_figure_share(char *out, int64_t part, int64_t whole);

/* The same with a sign, which "0" has not: what NEW is more or less than OLD.
 * The change in percent of OLD is "-" where OLD is 0 and NEW is not. */
char *swz_figure_count_change(char *out, uint64_t old, uint64_t new);
char *swz_figure_time_change(char *out, int64_t old, int64_t new, bool utf8);
char *swz_figure_percent_change(char *out, int64_t old, int64_t new);

#endif
