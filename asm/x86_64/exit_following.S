/* The hook of exit.S for leaders (thunks/leaders.h). */

#define SWZ_FOLLOWING
#include "exit.S"
