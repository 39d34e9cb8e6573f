#ifndef SWZ_TOOLS_DUMP_SLOWER_H
#define SWZ_TOOLS_DUMP_SLOWER_H

/* --fail-above: whether a comparison is to fail. */

#include <stdbool.h>

#include "profile/formats/formats.h"
#include "tools/dump/options.h"

/* Whether the total or a function's self time has become more by more than
 * options->fail_above percent, and by more than the noise, if that is known;
 * says so in one line. Of functions that filters of rows leave out, and then of
 * the total, nothing is asked. */
bool swz_dump_is_slower(const struct swz_section *section,
			const struct swz_dump_options *options);

#endif
