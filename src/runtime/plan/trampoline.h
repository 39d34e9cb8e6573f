#ifndef SWZ_RUNTIME_PLAN_TRAMPOLINE_H
#define SWZ_RUNTIME_PLAN_TRAMPOLINE_H

#include "runtime/discovery/function.h"
#include "thunks/relocate.h"

/* Writes the function's trampoline into the region (the module's, or a part of
 * it), for calls that are recorded with this id; returns SWZ_PATCHED, or why
 * not. Of the function it changes what is about the trampoline, and a flag. */
enum swz_refusal swz_plan_trampoline(struct swz_module *module,
				     struct swz_trampolines *region,
				     struct swz_decoder *decoder,
				     struct swz_function *function,
				     uint32_t id);

/* Where in the trampoline, which has just been written so, the copy of the
 * instruction at this offset from the function's site is; NULL: none begins
 * there that was displaced. */
const uint8_t *swz_plan_copy_of(const struct swz_module *module,
				struct swz_decoder *decoder,
				const struct swz_function *function,
				unsigned offset);

/* What swz_plan_trampoline does for a load of the return address at this offset
 * of a function that has its trampoline: in the module's region, a copy of that
 * instruction, and of what else a jump takes, all before `end`. NULL if that
 * does not go. */
const uint8_t *swz_plan_load(struct swz_module *module,
			     struct swz_decoder *decoder,
			     const struct swz_function *function,
			     uint32_t offset, uint32_t end);

#endif
