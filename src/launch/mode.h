#ifndef SWZ_LAUNCH_MODE_H
#define SWZ_LAUNCH_MODE_H

/* What --mode says, by the environment. */

#include <stdbool.h>

bool swz_sampling_wanted(void); /* sample */
bool swz_both_wanted(void);     /* both */

#endif
