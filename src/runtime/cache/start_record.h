#ifndef SWZ_RUNTIME_CACHE_START_RECORD_H
#define SWZ_RUNTIME_CACHE_START_RECORD_H

#include <stdint.h>

#include "image/hash.h"
#include "runtime/module/linker.h"
#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* Facts that a start finds out and that are the same for the next one,
 * whatever program that is: the cost of the hooks, as long as it is not long
 * ago; where the dynamic linker is changed; and what there is in modules out
 * of scope. They are kept beside the plans (docs/cache.md), for the running
 * kernel, one libswizzle.so, one linker and one choice of hooks. */

/* The cost of a call, in 1/1024 ticks: see swz_file_header. */
struct swz_costs {
	uint64_t inside, outside, untimed, leaf;
	uint64_t measured_ns; /* CLOCK_MONOTONIC; 0: not measured */
	uint32_t confirmed;   /* not 0: by enough rounds that agree */
	uint32_t plain;       /* ticks of so many calls without a hook, as they
			       * were made to measure this */
};

struct swz_start_record {
	struct swz_costs costs;
	struct swz_linker_calls calls;
};

/* Facts about a module that is not in scope. */
struct swz_other_module {
	struct swz_file_identity file;
	uint64_t build; /* a hash of the build-id */
	uint32_t asks, offers,
		walks; /* swz_wrapped_asks, swz_wrapped_is_offered,
			* swz_stack_walkers_are_in; 0 or 1 */
	uint32_t reserved;
};

/* Reads what earlier starts have left. Once, when the directory of the cache is
 * known. */
void swz_start_record_begin(const struct swz_modules *modules);

/* The facts about a module that has not been opened; NULL: nothing is known,
 * or its file is another one by now. */
const struct swz_other_module *swz_start_record_of(
	const struct swz_module *module);

/* Notes that, of one that is open, for the next start. */
void swz_start_record_note(const struct swz_module *module,
			   struct swz_other_module other);

/* Sets the facts: those of an earlier start, and zeros for what is not known or
 * too old. */
void swz_start_record_find(struct swz_start_record *facts);

/* Keeps them for others if they are not those that were found. */
void swz_start_record_keep(const struct swz_start_record *facts);

/* A file of facts, as it lies in the cache. */

#define SWZ_MOST_OTHERS 12 /* modules */

struct swz_start_record_file {
	char magic[8];
	uint64_t hash; /* of all behind it */
	/* for whom: */
	struct swz_saved_key linker; /* `options` are those of hooks */
	uint64_t boot_ns;            /* since the epoch */
	uint32_t other_count;
	uint32_t reserved;
	struct swz_start_record facts;
	struct swz_other_module others[SWZ_MOST_OTHERS]; /* the newest last */
};

static inline uint64_t swz_start_record_file_hash(
	const struct swz_start_record_file *file)
{
	const uint8_t *from = (const uint8_t *)&file->linker;
	const uint8_t *end = (const uint8_t *)(file + 1);

	return swz_hash(0, (struct swz_bytes){from, (size_t)(end - from)});
}

#endif
