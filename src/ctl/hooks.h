#ifndef SWZ_CTL_HOOKS_H
#define SWZ_CTL_HOOKS_H

/* The hooks in a process's code: out of it while recording is stopped. That
 * takes ptrace(2); where it is not permitted they stay, and heed the request.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ctl/live_profile.h"

/* What was done, for people (-v); "": nothing was to be done. */
#define SWZ_CTL_TOLD_BYTES 512u

/* Before recording is started: they are put back, if they were taken out.
 * False: it cannot be done, and profile->problem says why. */
bool swz_ctl_hook(struct swz_live_profile *profile, int32_t pid,
		  char told[SWZ_CTL_TOLD_BYTES]);

/* When recording is stopped: takes them out, if that is possible; for good when
 * the profile is detached. */
void swz_ctl_unhook(struct swz_live_profile *profile, int32_t pid,
		    bool detached, char told[SWZ_CTL_TOLD_BYTES]);

enum swz_ctl_hooks {
	SWZ_CTL_HOOKED, /* all are there */
	SWZ_CTL_NATIVE, /* none is */
	SWZ_CTL_PARTLY  /* a controller was killed, or is at work */
};

struct swz_ctl_hooks_state {
	enum swz_ctl_hooks hooks;
	/* 0 where ptrace is not permitted: */
	uint32_t left_out; /* functions that are not hooked since recording was
			    * started again */
	uint32_t lasting;  /* jumps that stay when the hooks are out */
};
struct swz_ctl_hooks_state swz_ctl_hooks_of(
	const struct swz_live_profile *profile, int32_t pid);

#endif
