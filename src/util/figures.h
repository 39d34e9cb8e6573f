#ifndef SWZ_UTIL_FIGURES_H
#define SWZ_UTIL_FIGURES_H

/* How tables for people are drawn: colours, columns of a terminal, and cells
 * that line up whatever characters are in them. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* --- colours and widths -------------------------------------------------- */

struct swz_style {
	unsigned int width; /* columns of the terminal; 0: lines are not cut */
	bool colour;
	bool utf8; /* otherwise only ASCII is written */
};

enum swz_colour {
	SWZ_COLOUR_NONE,
	SWZ_COLOUR_BOLD,
	SWZ_COLOUR_DIM,
	SWZ_COLOUR_HOT,  /* much of the total, or more than before */
	SWZ_COLOUR_WARM, /* some of it */
	SWZ_COLOUR_GOOD, /* less than before */
	/* by name, in the order of swz_config_colour_at() */
	SWZ_COLOUR_FIRST_NAMED,
	SWZ_COLOUR_LAST_NAMED = SWZ_COLOUR_FIRST_NAMED + 7
};

/* The colour for PART of a total: hot from 10%, warm from 1%, dim below 0.1%.
 */
enum swz_colour swz_colour_of_share(int64_t part, int64_t whole);

/* TEXT with '?' for what is not shown (base/printable.h), and without UTF8 for
 * all that is not ASCII. To be freed. */
char *swz_printable(const char *text, bool utf8);

/* How many columns of a terminal a printable text takes. */
unsigned int swz_text_width(const char *text);

/* Writes a printable text in a cell of WIDTH columns: at its right, or for a
 * negative WIDTH at its left. A longer one is written whole. */
void swz_put_cell(FILE *stream, const struct swz_style *style,
		  enum swz_colour colour, const char *text, int width);

/* --- figures as they are shown ------------------------------------------- */

/* Figures as people read them: 1,234,567 calls, 12.3 ms, 4.5%. They are
 * rounded; formats for programs print plain digits instead. Each function
 * writes at most SWZ_FIGURE_BYTES to OUT, its end included, and returns OUT. */

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

/* True if samples that were due and not taken matter for the figures: they are
 * more than one in fifty, and more than what chance does to those that were
 * TAKEN, the square root of their number. */
bool swz_missed_matter(uint64_t taken, uint64_t missed);

#endif
