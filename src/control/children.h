#ifndef SWZ_CONTROL_CHILDREN_H
#define SWZ_CONTROL_CHILDREN_H

/* Processes that were forked while one was attached to, and are hooked as it
 * was. */

#include "control/attached.h"

struct swz_children {
	unsigned ended;     /* that are native now */
	unsigned left;      /* that are not */
	char problem[1024]; /* of the last one of those */
};

/* Detaches from all of them, and theirs. The process itself is native by now,
 * or has ended. */
void swz_attach_end_children(const struct swz_attached *attached,
			     struct swz_children *children);

#endif
