#ifndef SWZ_CONTROL_ATTACH_H
#define SWZ_CONTROL_ATTACH_H

/* The exact profiler, brought into a process that runs, and taken out of it
 * again. See docs/attach.md. */

#include <stdbool.h>
#include <stdint.h>

#include "control/attached.h"
#include "control/patch.h"

struct swz_attach_settings {
	int32_t pid;
	const char *library; /* absolute path of libswizzle.so */
	char **environment;  /* SWIZZLE_*=...; NULL at the end */
	bool verbose;
};

/* Loads the library, has it plan, and patches. False: nothing is patched, and
 * ->problem says why. To be freed in any case. */
bool swz_attach_begin(struct swz_attached *attached,
		      const struct swz_attach_settings *settings);

/* Whether the process still runs the program that was attached to. Renews
 * ->control. */
bool swz_attach_goes_on(struct swz_attached *attached);

/* Restores the code, closes the profile. False: ->problem says what was left.
 */
bool swz_attach_end(struct swz_attached *attached);

void swz_attach_free(struct swz_attached *attached);

/* ------------------------------------------- for swizzle-ctl and the like */

/* Opens a process in which the library was loaded by an attach. False: it was
 * not, or it cannot be opened. */
bool swz_attach_open(struct swz_attached *attached, int32_t pid);

#endif
