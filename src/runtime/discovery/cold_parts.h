#ifndef SWZ_RUNTIME_DISCOVERY_COLD_PARTS_H
#define SWZ_RUNTIME_DISCOVERY_COLD_PARTS_H

/* Parts of functions without a frame, whose unwind tables look like those of
 * functions. */

#include "image/eh_frame.h"
#include "runtime/discovery/function.h"

/* A symbol says that it is a function (those of parts have said otherwise
 * before); so does endbr64, which only what is called needs. */
static inline bool swz_may_be_cold_part(const struct swz_function *function)
{
	return function->fde && !function->is_piece && !function->site &&
	       !function->name;
}

/* Whether the function, whose first row this is, is such a part and may find
 * values below the stack pointer (in the red zone, SysV ABI 3.2.2), which hooks
 * would write over. */
bool swz_is_cold_part(const struct swz_module *module,
		      const struct swz_function *function,
		      const struct swz_cfi_row *first);

#endif
