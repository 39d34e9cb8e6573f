#ifndef SWZ_PROFILE_FORMATS_HTML_LEVELS_H
#define SWZ_PROFILE_FORMATS_HTML_LEVELS_H

/* What a trace looks like from afar: its activations with those merged that are
 * narrower than a pixel, for some sizes of pixels. A page draws these where the
 * events themselves would be too many (docs/html.md). */

#include <stdint.h>
#include <stdio.h>

/* Flags of an activation. */
enum swz_html_flag {
	SWZ_HTML_NO_CALL = 1, /* it counts no call */
	SWZ_HTML_UNWOUND = 2,
	SWZ_HTML_CUT = 4 /* it is longer than what is known of it */
};

struct swz_html_activation {
	uint64_t start, end; /* ticks */
	uint32_t context;
	unsigned int flags;
	uint64_t calls; /* made in it, directly or not */
};

struct swz_html_levels;

/* Of a thread that was there from START to END. */
struct swz_html_levels *swz_html_levels_begin(uint64_t start, uint64_t end);

/* An activation with ROW others around it. Those of a row come in the order of
 * time. */
void swz_html_levels_add(struct swz_html_levels *levels, uint64_t row,
			 const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees LEVELS. */
void swz_html_levels_end(struct swz_html_levels *levels, FILE *stream,
			 const char *name, uint64_t origin);

#endif
