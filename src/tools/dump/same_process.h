#ifndef SWZ_TOOLS_DUMP_SAME_PROCESS_H
#define SWZ_TOOLS_DUMP_SAME_PROCESS_H

/* A process is to count once, though several of the files that were given have
 * it: a file that is given twice, a copy, a snapshot beside the profile, a sum
 * (--merge-into) beside what it is of. */

#include "tools/dump/input.h"

/* Leaves out of INPUT what others in it have, too. QUIET: without a word. */
void swz_dump_count_once(struct swz_dump_input *input, bool quiet);

#endif
