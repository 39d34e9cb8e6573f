#ifndef SWZ_TOOLS_DUMP_EMBED_H
#define SWZ_TOOLS_DUMP_EMBED_H

/* Names that a profile holds itself. */

#include "tools/dump/input.h"
#include "tools/dump/options.h"

/* Adds them to the files that were read, in their place. Returns an exit
 * status. */
int swz_dump_embed(struct swz_dump_input *input,
		   const struct swz_dump_options *options);

/* Adds them to what an archive of the profile will hold. Says so where that
 * cannot be done; the archive is as good as the profile then. */
void swz_dump_add_names(struct swz_profile *profile,
			const struct swz_dump_options *options);

#endif
