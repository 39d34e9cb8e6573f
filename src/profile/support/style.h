#ifndef SWZ_PROFILE_SUPPORT_STYLE_H
#define SWZ_PROFILE_SUPPORT_STYLE_H

/* How tables for people are drawn: colours, columns of a terminal, and cells
 * that line up whatever characters are in them. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* TEXT with '?' for what a terminal cannot show: control characters, bytes that
 * are no UTF-8, and without UTF8 all that is not ASCII. To be freed. */
char *swz_printable(const char *text, bool utf8);

/* How many columns of a terminal a printable text takes. */
unsigned int swz_text_width(const char *text);

/* Writes a printable text in a cell of WIDTH columns: at its right, or for a
 * negative WIDTH at its left. A longer one is written whole. */
void swz_put_cell(FILE *stream, const struct swz_style *style,
		  enum swz_colour colour, const char *text, int width);

#endif
