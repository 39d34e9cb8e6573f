#ifndef SWZ_PROFILE_FILE_RANK_COSTS_H
#define SWZ_PROFILE_FILE_RANK_COSTS_H

/* What the threads of one rank have spent in each function: the body of a chunk
 * SWZ_CHUNK_RANK_COSTS. A sum may have these of thousands of ranks, so they are
 * kept packed: see docs/file-format.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct swz_rank_cost {
	uint32_t thread;
	uint32_t function;
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns;
};

/* More are no body that can be read. */
#define SWZ_RANK_MOST_COSTS ((size_t)1 << 26)

/* Sorts COSTS by thread, then function, and adds up those that have the same.
 * Returns how many remain. */
size_t swz_rank_costs_sort(struct swz_rank_cost *costs, size_t count);

/* COUNT sorted costs, SWZ_RANK_MOST_COSTS at most. The result is to be freed;
 * it has *BYTES. */
uint8_t *swz_rank_costs_pack(const struct swz_rank_cost *costs, size_t count,
			     size_t *bytes);

/* The other way round, into COUNT elements of COSTS. Behind what was packed
 * there may be other bytes. False if it is not that of so many, or damaged. */
bool swz_rank_costs_unpack(const void *packed, size_t bytes,
			   struct swz_rank_cost *costs,
			   size_t count) SWZ_MUST_CHECK;

#endif
