#ifndef SWZ_RUNTIME_MODULE_LINKED_H
#define SWZ_RUNTIME_MODULE_LINKED_H

#include <stdbool.h>

/* Whether a module of the process was linked with libswizzle.so: then it may be
 * here without having been preloaded. For the constructor. */
bool swz_is_linked(void);

/* Whether we were loaded when the program ran already. For the constructor. */
bool swz_came_late(void);

#endif
