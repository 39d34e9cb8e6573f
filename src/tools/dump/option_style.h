#ifndef SWZ_TOOLS_DUMP_OPTION_STYLE_H
#define SWZ_TOOLS_DUMP_OPTION_STYLE_H

/* How tables look, and what their options are taken from. */

#include "tools/dump/options.h"

/* When the format is known. */
void swz_dump_set_style(struct swz_dump_options *options);

#endif
