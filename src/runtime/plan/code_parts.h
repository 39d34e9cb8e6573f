#ifndef SWZ_RUNTIME_PLAN_CODE_PARTS_H
#define SWZ_RUNTIME_PLAN_CODE_PARTS_H

/* Where the functions of a module lie that was compiled without unwind tables,
 * for those who ask whose code has called (module/known_code.h). */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

/* Nothing is done for other modules. Its function ids end there. False: there
 * is no memory for it. */
bool swz_plan_note_code(const struct swz_module *module,
			uint32_t end) SWZ_MUST_CHECK;

#endif
