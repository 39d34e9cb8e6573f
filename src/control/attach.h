#ifndef SWZ_CONTROL_ATTACH_H
#define SWZ_CONTROL_ATTACH_H

/* The exact profiler, brought into a process that runs, and taken out of it
 * again. See docs/attach.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/control.h"
#include "control/borrow.h"
#include "control/sites.h"
#include "control/target.h"

struct swz_attach_settings {
	int32_t pid;
	const char *library; /* absolute path of libswizzle.so */
	char **environment;  /* SWIZZLE_*=...; NULL at the end */
	bool verbose;
};

struct swz_attached {
	struct swz_target target;
	struct swz_safe_places *places;
	struct swz_borrower borrower;
	struct swz_control control; /* as it was read last */
	uint64_t control_at;        /* in the target */
	uint64_t patch_stop_ns, longest_stop_ns;
	size_t skipped;  /* functions */
	bool taken_over; /* an earlier attach's controller was killed: its
			  * profile was closed */
	int lock;
	char problem[1024]; /* of the latest call that failed */
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

/* Stops all threads when none of them stands where it must not, and writes the
 * sites, or restores them. False: ->problem. */
bool swz_attach_patch(struct swz_attached *attached, bool patch);

#endif
