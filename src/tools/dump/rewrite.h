#ifndef SWZ_TOOLS_DUMP_REWRITE_H
#define SWZ_TOOLS_DUMP_REWRITE_H

/* --merge-into FILE: adds profiles to a sum of profiles. */

#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"

/* --- sums of profiles ---------------------------------------------------- */

/* Returns the exit status. */
int swz_dump_merge_into(const struct swz_dump_options *options);

/* --- profiles as they are ------------------------------------------------ */

/* Formats that show a profile, or a file, as it is. */

/* Each of the profiles. Returns an exit status. */
int swz_dump_profiles(struct swz_dump_input *input,
		      const struct swz_dump_options *options);

/* What is in the files, whether they are profiles or not. Returns an exit
 * status.
 */
int swz_dump_files(const struct swz_dump_options *options);

/* --- names put into profiles --------------------------------------------- */

/* Names that a profile holds itself. */

/* Adds them to the files that were read, in their place. Returns an exit
 * status. */
int swz_dump_embed(struct swz_dump_input *input,
		   const struct swz_dump_options *options);

#endif
