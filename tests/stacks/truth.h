#ifndef SWZ_TESTS_STACKS_TRUTH_H
#define SWZ_TESTS_STACKS_TRUTH_H

/* libunwind's walk of a stack of another process, for comparison. It reads the
 * unwind tables of mapped files on its own. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/unwind/unwinder.h"

struct truth_mapping {
	uint64_t start, end, offset;
	const char *path;
};

struct truth;

/* CACHED: it may keep what it knows (UNW_CACHE_GLOBAL). */
struct truth *truth_create(bool cached);
void truth_destroy(struct truth *truth);
/* Executable and other mappings, in order; borrowed. */
void truth_map(struct truth *truth, const struct truth_mapping *mappings,
	       size_t count);
/* Returns the number of pcs; *status is what unw_step() last returned. */
size_t truth_walk(struct truth *truth, const struct swz_registers *registers,
		  const struct swz_stack *stack, uint64_t *pcs, size_t most,
		  int *status);

#endif
