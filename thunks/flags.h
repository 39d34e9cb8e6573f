#ifndef SWZ_THUNKS_FLAGS_H
#define SWZ_THUNKS_FLAGS_H

/* The arithmetic flags of a program's code. */

#include <stdbool.h>

#include "image/elf_view.h"

/* Whether what the arithmetic flags (CF, PF, AF, ZF, SF, OF) hold before the
 * instruction at offset `at` of a text is read by nobody: others are set first,
 * or control leaves for where the ABI gives them no meaning (calls and returns:
 * psABI 3.2.1). In doubt it is read. Pure. */
bool swz_flags_are_free(struct swz_bytes text, uint64_t at);

#endif
