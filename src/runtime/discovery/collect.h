#ifndef SWZ_RUNTIME_DISCOVERY_COLLECT_H
#define SWZ_RUNTIME_DISCOVERY_COLLECT_H

#include "base/status.h"
#include "runtime/module/module.h"

/* Fills module->functions from .eh_frame and the symbol tables, by address, and
 * with what these lead to.
 * See docs/internals/discovery.md. */
enum swz_status swz_functions_collect(
	struct swz_module *module, struct swz_decoder *decoder) SWZ_MUST_CHECK;

#endif
