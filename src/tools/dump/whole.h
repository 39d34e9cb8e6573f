#ifndef SWZ_TOOLS_DUMP_WHOLE_H
#define SWZ_TOOLS_DUMP_WHOLE_H

/* Formats that show a profile, or a file, as it is. */

#include "tools/dump/input.h"

/* Each of the profiles. Returns an exit status. */
int swz_dump_profiles(struct swz_dump_input *input,
		      const struct swz_dump_options *options);

/* What is in the files, whether they are profiles or not. Returns an exit
 * status.
 */
int swz_dump_files(const struct swz_dump_options *options);

#endif
