#ifndef SWZ_TOOLS_DUMP_PAIRS_H
#define SWZ_TOOLS_DUMP_PAIRS_H

/* The two profiles of a run with -m both: that with the samples is beside the
 * other and called like it, with ".samples", and its header names the other. */

#include "tools/dump/input.h"

/* Takes profiles with samples out of the input, whose other half is there. */
void swz_dump_take_pairs(struct swz_dump_input *input);

/* Reads the samples that belong to the input, unless they were taken out of it.
 */
void swz_dump_find_pairs(struct swz_dump_input *input,
			 const struct swz_dump_options *options);

#endif
