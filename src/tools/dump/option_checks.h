#ifndef SWZ_TOOLS_DUMP_OPTION_CHECKS_H
#define SWZ_TOOLS_DUMP_OPTION_CHECKS_H

/* Which options go together; what does not ends the program. */

#include "tools/dump/options.h"

/* All are known, the format too. */
void swz_dump_check_options(struct swz_dump_options *options);

/* --merge-into: the sum is of all that is in the profiles. */
void swz_dump_check_merge(const struct swz_dump_options *options);

/* --push: the server says which format. */
void swz_dump_choose_pushed(struct swz_dump_options *options);

#endif
