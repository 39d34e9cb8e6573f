/* The hook of exit.S for leaders (thunks/arena.h). */

#define SWZ_FOLLOWING
#include "exit.S"
