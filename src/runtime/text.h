#ifndef SWZ_RUNTIME_TEXT_H
#define SWZ_RUNTIME_TEXT_H

/* Makes a module's text writable for a moment. */

#include <stdbool.h>

#include "runtime/module.h"

/* Makes the range writable, and no longer executable. False if that is refused,
 * or if it is foreseeable that the way back would be: nothing has changed
 * then. */
bool swz_text_unlock(const struct swz_module *module,
		     const struct swz_range *text);

/* Gives the range its protection back. If that is refused, the module's file is
 * mapped there anew: false, and what was written is gone. */
bool swz_text_lock(const struct swz_module *module,
		   const struct swz_range *text);

#endif
