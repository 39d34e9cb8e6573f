#ifndef SWZ_THUNKS_RED_ZONE_H
#define SWZ_THUNKS_RED_ZONE_H

/* Cold parts of functions that call nothing. Pure. */

#include <stdbool.h>

#include "image/elf_view.h"

/* Whether code that begins at the height of a call, and stays there, uses what
 * lies below the stack pointer before it has put anything there. A function
 * finds nothing there: this is a part of one, and is jumped to. */
bool swz_inherits_red_zone(struct swz_bytes code);

/* Whether it refers to what lies there at all. */
bool swz_uses_red_zone(struct swz_bytes code);

#endif
