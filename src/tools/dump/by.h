#ifndef SWZ_TOOLS_DUMP_BY_H
#define SWZ_TOOLS_DUMP_BY_H

/* Tables by another key than functions: --by. */

#include "tools/dump/input.h"

/* Returns an exit status. */
int swz_dump_by(struct swz_dump_input *input, struct swz_catalog *catalog,
		const struct swz_dump_options *options);

#endif
