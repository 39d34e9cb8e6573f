#ifndef SWZ_RUNTIME_PLAN_PLAN_H
#define SWZ_RUNTIME_PLAN_PLAN_H

#include <stdint.h>

#include "base/status.h"
#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"

/* --- plan ----------------------------------------------------------------- */

/* The plan as the profile has it. */

/* Describes modules and functions in the profile. */
enum swz_status swz_plan_record(const struct swz_modules *modules)
	SWZ_MUST_CHECK;

/* A module's place in the profile: room for it, and its description put there.
 * Of a place that is not filled a reader sees nothing. */
struct swz_plan_place {
	struct swz_chunk *module;
	struct swz_chunk *functions; /* NULL if there are none */
};

enum swz_status swz_plan_reserve(const struct swz_module *module,
				 uint32_t index,
				 struct swz_plan_place *place) SWZ_MUST_CHECK;
void swz_plan_fill(const struct swz_module *module, uint32_t index,
		   const struct swz_plan_place *place);

/* Prints what would be done (--list; with -v each function). */
void swz_plan_print(const struct swz_modules *modules);

/* The plan: for every function it is decided whether it is hooked before the
 * first byte changes; then that is done, while nothing executes it. See
 * docs/internals/plan.md. */

/* Decides; writes trampolines, which nothing leads to yet. Lists the modules,
 * if that is not done. */
enum swz_status swz_plan_make(struct swz_modules *modules) SWZ_MUST_CHECK;

/* Leads every planned function to its trampoline. A module whose text cannot be
 * made writable is refused as a whole. In a process that ran already: lists
 * what the controller is to write (live.h). */
void swz_plan_apply(struct swz_modules *modules);

/* Why no function at all could be patched, if the system would not have it;
 * otherwise NULL. After swz_plan_apply. */
const char *swz_plan_obstacle(const struct swz_modules *modules);

/* For one module that is loaded while the program runs, and which
 * nothing can be executing yet: decides and writes trampolines; then, where
 * that was done, leads its functions to them. */
enum swz_status swz_plan_late(struct swz_module *module) SWZ_MUST_CHECK;
void swz_plan_patch(struct swz_module *module);

/* --- plan trampolines ----------------------------------------------------- */

/* Writes the trampolines of the module's functions that are not refused yet,
 * and refuses those that can have none. Nothing leads to them yet. */
void swz_plan_write_trampolines(struct swz_module *module,
				const struct swz_decoders *decoders);

#endif
