#ifndef SWZ_THUNKS_LIVENESS_H
#define SWZ_THUNKS_LIVENESS_H

/* Questions to code that a hook must not disturb: does it read the flags, the
 * red zone, and does it call anything? All are answered from the bytes alone.
 */

#include <stdbool.h>

#include "image/elf_view.h"

/* True if nobody reads the arithmetic flags (CF, PF, AF, ZF, SF, OF) that are
 * set before the instruction at offset `at` of a text: others are set first, or
 * control leaves for where the ABI gives them no meaning (calls and returns:
 * psABI 3.2.1). In doubt it is read. Pure. */
bool swz_flags_are_free(struct swz_bytes text, uint64_t at);

/* True if the function that consists of these bytes of a module is a leaf: all
 * that it does until it returns is its own. It makes no call and no system
 * call, jumps neither elsewhere nor back to its beginning (up to and with
 * `site`, the offset of the jump to its hook), and stays on its stack. In doubt
 * it is none. */
bool swz_is_leaf(struct swz_bytes code, unsigned site, struct swz_bytes module);

/* True if code that begins at the height of a call, and stays there, reads
 * below the stack pointer before it has put anything there. A function finds
 * nothing there, so this is a part of one and is jumped to. */
bool swz_inherits_red_zone(struct swz_bytes code);

/* True if it refers to bytes below the stack pointer at all. */
bool swz_uses_red_zone(struct swz_bytes code);

#endif
