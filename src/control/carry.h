#ifndef SWZ_CONTROL_CARRY_H
#define SWZ_CONTROL_CARRY_H

/* libswizzle.so, for a process that cannot open it by its path: one in another
 * mount namespace (a container), or with another root. */

#include "control/attached.h"

struct swz_carried {
	char path[64]; /* by which the process opens it */
	int64_t fd;    /* the process's; -1: none */
	int root;      /* our descriptor of its root; -1: none */
};

bool swz_carry_is_needed(const struct swz_attached *attached,
			 const char *library);

/* Puts the library where the process can open it: into a file in memory of its
 * own; where it has no /proc, into a file that is removed at once. False:
 * ->problem. */
bool swz_carry(struct swz_attached *attached, const char *library,
	       struct swz_carried *carried);

/* The library is loaded, or will not be: what was put there is taken away. */
void swz_carry_end(struct swz_attached *attached, struct swz_carried *carried);

#endif
