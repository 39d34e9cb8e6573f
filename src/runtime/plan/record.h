#ifndef SWZ_RUNTIME_PLAN_RECORD_H
#define SWZ_RUNTIME_PLAN_RECORD_H

/* The plan as the profile has it. */

#include <stdint.h>

#include "base/status.h"
#include "runtime/module/module.h"

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
void swz_plan_fill(const struct swz_module *module,
		   const struct swz_plan_place *place);

#endif
