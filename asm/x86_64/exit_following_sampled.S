/* The hook of exit_sampled.S for leaders (thunks/leaders.h). */

#define SWZ_FOLLOWING
#include "exit_sampled.S"
