#ifndef SWZ_RUNTIME_CACHE_FACTS_H
#define SWZ_RUNTIME_CACHE_FACTS_H

/* What a start finds out that is the same for the next one, whatever program
 * that is: what the hooks cost, as long as it is not long ago, and where the
 * dynamic linker is changed. Kept beside the plans (docs/cache.md), for the
 * running kernel, one libswizzle.so, one linker and one choice of hooks. */

#include <stdint.h>

#include "runtime/module/linker.h"
#include "runtime/module/module.h"

/* What a call costs, in 1/1024 ticks: see swz_file_header. */
struct swz_costs {
	uint64_t inside, outside, untimed, leaf;
	uint64_t measured_ns; /* CLOCK_MONOTONIC; 0: not measured */
	uint32_t confirmed;   /* not 0: by enough rounds that agree */
	uint32_t plain;       /* ticks of so many calls without a hook, as they
			       * were made to measure this */
};

struct swz_facts {
	struct swz_costs costs;
	struct swz_linker_calls calls;
};

/* Sets the facts: those of an earlier start, and zeros for what is not known or
 * too old. Once, when the plan is made. */
void swz_facts_find(const struct swz_modules *modules, struct swz_facts *facts);

/* Keeps them for others if they are not those that were found. */
void swz_facts_keep(const struct swz_facts *facts);

#endif
