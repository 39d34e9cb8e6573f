/* The hook of exit_sampled.S for leaders (thunks/arena.h). */

#define SWZ_FOLLOWING
#include "exit_sampled.S"
