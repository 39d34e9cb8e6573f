/* The hook of exit_traced.S for leaders (thunks/arena.h). */

#define SWZ_FOLLOWING
#include "exit_traced.S"
