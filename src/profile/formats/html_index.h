#ifndef SWZ_PROFILE_FORMATS_HTML_INDEX_H
#define SWZ_PROFILE_FORMATS_HTML_INDEX_H

/* What makes each block of a trace's events readable by itself: when it begins,
 * and which activations are open then, whole, with their ends (docs/html.md).
 */

#include <stdint.h>
#include <stdio.h>

#include "profile/formats/html_levels.h"

struct swz_html_index;

struct swz_html_index *swz_html_index_begin(void);

/* A block begins at TICKS, with so many ACTIVATIONS behind it. Of those that
 * were open at the block before the outermost KEPT still are. */
void swz_html_index_block(struct swz_html_index *index, uint64_t ticks,
			  uint64_t activations, uint64_t kept);

/* One more is open there than those; its number, to end it by. */
uint32_t swz_html_index_open(struct swz_html_index *index);

/* That has ended. */
void swz_html_index_close(struct swz_html_index *index, uint32_t number,
			  const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees INDEX. ACTIVATIONS is how many there are. */
void swz_html_index_end(struct swz_html_index *index, FILE *stream,
			const char *name, uint64_t origin,
			uint64_t activations);

#endif
