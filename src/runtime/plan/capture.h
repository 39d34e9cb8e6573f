#ifndef SWZ_RUNTIME_PLAN_CAPTURE_H
#define SWZ_RUNTIME_PLAN_CAPTURE_H

/* Functions whose arguments are recorded (-A, --args) have trampolines that
 * lead to a hook of their own: the others pay nothing. */

#include "base/status.h"
#include "runtime/module/module.h"

/* Leads the module's trampolines there, which nothing leads to yet, and makes
 * its functions known to that hook. What cannot be changed stays as it is:
 * calls are recorded then, without values. */
void swz_capture_module(struct swz_module *module);

/* Says in the profile what is recorded of the functions; as module INDEX of the
 * profile. */
enum swz_status swz_capture_record(struct swz_module *module,
				   uint32_t index) SWZ_MUST_CHECK;

#endif
