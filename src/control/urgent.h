#ifndef SWZ_CONTROL_URGENT_H
#define SWZ_CONTROL_URGENT_H

/* While others stand still for us, and where it is permitted (to root), nobody
 * else's work comes between: not even that of the threads that are let go
 * first. */

#include <stdint.h>

void swz_become_urgent(void);
void swz_become_usual(void);

/* A thread of the library's own, for which all wait, and which is about to end.
 */
void swz_make_urgent(int32_t tid);

#endif
