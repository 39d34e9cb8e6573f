#ifndef SWZ_RUNTIME_PLAN_PLAN_TRAMPOLINES_H
#define SWZ_RUNTIME_PLAN_PLAN_TRAMPOLINES_H

#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"

/* Writes the trampolines of the module's functions that are not refused yet,
 * and refuses those that can have none. Nothing leads to them yet. */
void swz_plan_write_trampolines(struct swz_module *module,
				const struct swz_decoders *decoders);

#endif
