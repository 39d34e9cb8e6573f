#ifndef SWZ_THUNKS_LEAF_H
#define SWZ_THUNKS_LEAF_H

/* Functions that call nothing. */

#include <stdbool.h>

#include "image/elf_view.h"

/* Whether the function that consists of these bytes of a module is a leaf: all
 * that it does until it returns is its own. It makes no call and no system
 * call, jumps neither elsewhere nor back to its beginning (up to and with
 * `site`, the offset of the jump to its hook), and stays on its stack. In doubt
 * it is none. */
bool swz_is_leaf(struct swz_bytes code, unsigned site, struct swz_bytes module);

#endif
