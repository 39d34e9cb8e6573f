#ifndef SWZ_RUNTIME_MODULE_TEXT_H
#define SWZ_RUNTIME_MODULE_TEXT_H

/* Makes a module's text writable for a moment. */

#include <stdbool.h>

#include "runtime/module/module.h"

/* Whether a page of a private mapping of a file may be executed if it has been
 * written to. It is tried out, on one that is readable only and that nothing
 * runs in; what was there it still holds; that it may be executed then, too,
 * does no harm. */
bool swz_page_may_be_executed(char *page);

/* Makes the range writable, and no longer executable. False if that is refused,
 * or if it is foreseeable that the way back would be: nothing has changed
 * then. */
bool swz_text_unlock(const struct swz_module *module,
		     const struct swz_range *text);

/* Unmaps the pages of the unlocked range until they are used again, unless one
 * may have been written to: false. */
bool swz_text_let_go(const struct swz_module *module,
		     const struct swz_range *text);

/* Pages that are written to soon. */
struct swz_text_run {
	uint64_t start, end;
};

/* To be told of each place in the unlocked text that will be written to, in
 * order of address, and of none (0 bytes) at last: gets copies of the pages for
 * each run of them at once, which takes the kernel less time than a page fault
 * for each. `run` begins with zeros. */
void swz_text_will_write(struct swz_text_run *run, const uint8_t *at,
			 size_t bytes);

/* Gives the range its protection back. If that is refused, the module's file is
 * mapped there anew: false, and what was written is gone. */
bool swz_text_lock(const struct swz_module *module,
		   const struct swz_range *text);

#endif
