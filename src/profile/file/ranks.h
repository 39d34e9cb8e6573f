#ifndef SWZ_PROFILE_FILE_RANKS_H
#define SWZ_PROFILE_FILE_RANKS_H

/* The costs of one rank's threads in each function: the body of a chunk
 * SWZ_CHUNK_RANK_COSTS. A sum may have these of thousands of ranks, so they are
 * kept packed: see docs/file-format.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "base/basics.h"

struct swz_profile;
struct swz_scan;

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

/* --- ranks --------------------------------------------------------------- */

/* Ranks in a sum of profiles (SWZ_FILE_MERGED): which there are, and what each
 * has spent. */

struct swz_profile;
struct swz_summed_rank {
	uint32_t rank;
	int32_t pid;
	uint64_t processes;
	const char *host; /* in the file's bytes; NULL: not known */
	uint64_t offset;  /* in the file: of its packed costs */
	uint64_t bytes;
	uint32_t cost_count; /* 0: it has none */
	bool damaged;        /* these cannot be read, as was found */
};

struct swz_summed_ranks {
	struct swz_summed_rank *items; /* sorted by rank, each is there once */
	size_t count;
	uint32_t *functions; /* by number - SWZ_RANK_SPECIAL: into the
			      * profile's; SWZ_INDEX_NONE: none of them */
	size_t function_count;
	uint32_t *threads; /* into the profile's, sorted: those with a rank */
	size_t thread_count;
};

/* For scan.c; SIZE bytes of body. That of costs is not loaded. */
void swz_scan_ranks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);
void swz_scan_rank_costs(struct swz_scan *scan, const struct swz_chunk *chunk,
			 size_t offset, size_t size);
/* When functions and threads are in order. */
void swz_ranks_index(struct swz_scan *scan);
void swz_ranks_free(struct swz_profile *profile);

/* True if a thread stands for those of processes that have a rank. */
bool swz_profile_thread_has_rank(const struct swz_profile *profile,
				 size_t thread);

/* Processes with a rank: the profile's own, or those that it is the sum of. */
uint64_t swz_profile_ranked_processes(const struct swz_profile *profile);

/* The costs of the rank at INDEX of profile->ranks: `thread` is an index of
 * profile->threads, `function` one of profile->functions, or from
 * SWZ_RANK_LEAST_SPECIAL on what nodes have in its place. `cost_count`
 * elements, to be freed; NULL if they are damaged, which the profile's damage
 * counts. */
#define SWZ_RANK_LEAST_SPECIAL (UINT32_MAX - (SWZ_RANK_SPECIAL - 1))
struct swz_rank_cost *swz_profile_rank_costs(struct swz_profile *profile,
					     size_t index) SWZ_MUST_CHECK;

/* True if all of them can be read; true if there are none. */
bool swz_profile_ranks_are_whole(struct swz_profile *profile) SWZ_MUST_CHECK;

#endif
