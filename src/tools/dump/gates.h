#ifndef SWZ_TOOLS_DUMP_GATES_H
#define SWZ_TOOLS_DUMP_GATES_H

/* Gates of continuous integration: --fail-above, --fail-calls-above and
 * --budget look at each section that is written, and decide on the program's
 * exit status. */

#include <stdbool.h>

#include "profile/formats/common/section.h"
#include "tools/dump/dump_options.h"

/* True if there is a gate. */
bool swz_gates_any(const struct swz_dump_options *options);

/* Reads the limits; ends the program where one is wrong. */
void swz_gates_read_budget(const char *path);

/* Notes what SECTION breaks, and says so on standard error. */
void swz_gates_look(const struct swz_section *section,
		    const struct swz_dump_options *options);

/* EXIT_OK, EXIT_FAILED, or EXIT_UNDECIDED if nothing failed and something
 * cannot be told. */
int swz_gates_end(const struct swz_dump_options *options);

#endif
