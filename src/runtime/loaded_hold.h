#ifndef SWZ_RUNTIME_LOADED_HOLD_H
#define SWZ_RUNTIME_LOADED_HOLD_H

/* What a module that was loaded later holds: its record in the profile, its
 * trampolines, the jumps that were written into it. In events of the dynamic
 * linker (late.h). */

#include "runtime/module/loaded.h"

/* Its record in this process's profile (a forked child's is a copy, elsewhere
 * in its file), or NULL. */
struct swz_module_record *swz_loaded_record(struct swz_loaded *l);

/* Takes the module's trampolines over, and notes where their jumps belong.
 * False: there is no memory for that, and they must not be written. */
bool swz_loaded_keep_sites(struct swz_loaded *l,
			   const struct swz_module *module) SWZ_MUST_CHECK;

/* Writes the same jumps again; the text has its protection back in any case. */
void swz_loaded_patch_again(const struct swz_loaded *l,
			    const struct swz_module *module);

/* Forgets it, trampolines and all; and the dormant ones that have been so the
 * longest, if there are too many. */
void swz_loaded_drop(struct swz_loaded *l);
void swz_loaded_limit_dormant(void);

#endif
