#ifndef SWZ_RUNTIME_PLAN_TRAMPOLINE_PARTS_H
#define SWZ_RUNTIME_PLAN_TRAMPOLINE_PARTS_H

#include "runtime/module/module.h"
#include "runtime/support/decoders.h"

/* Has the worker threads write trampolines of the module, whose region is open
 * and empty, if that is worth while. It leaves out wrapped functions, and may
 * any other.
 */
void swz_plan_trampoline_parts(struct swz_module *module,
			       const struct swz_decoders *decoders);

#endif
