/* The hook of exit_traced.S for leaders (thunks/leaders.h). */

#define SWZ_FOLLOWING
#include "exit_traced.S"
