#ifndef SWZ_RUNTIME_DISCOVERY_ENTRY_STACK_H
#define SWZ_RUNTIME_DISCOVERY_ENTRY_STACK_H

#include "runtime/discovery/function.h"
#include "thunks/decoder.h"

/* Whether a branch at `pc` back to the function's first byte finds the stack as
 * a call does. If the unwind table never mentions a change of the stack, the
 * instructions are asked, as hand-written code may have a table that lies. */
bool swz_stack_is_as_at_entry(const struct swz_module *module,
			      struct swz_decoder *decoder,
			      const struct swz_function *function, uint64_t pc);

/* Whether, by their unwind tables, the frame is not found in the same way at
 * these addresses, so that no jump leads from the one to the other, nor one
 * from elsewhere to both. False where that is not known. */
bool swz_stack_differs(const struct swz_module *module, uint64_t a, uint64_t b);

#endif
