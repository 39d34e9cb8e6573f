#ifndef SWZ_WATCH_UNWIND_ADDRESS_SPACE_H
#define SWZ_WATCH_UNWIND_ADDRESS_SPACE_H

/* What an unwinder knows of a process, for the walk through its stacks. */

#include "watch/unwind/mappings.h"

#define SWZ_PLACES 256

/* Where a page of code is mapped. */
struct swz_place {
	uint64_t page;    /* its number + 1; 0: empty */
	uint32_t mapping; /* index */
};

struct swz_unwinder {
	struct swz_mappings mappings;
	struct swz_place places[SWZ_PLACES];
	uint64_t (*resolve)(void *context, uint64_t return_address);
	void *resolve_context;
};

/* The mapping that has this pc, or NULL. */
const struct swz_mapping *swz_unwinder_mapping_at(struct swz_unwinder *unwinder,
						  uint64_t pc);

/* Where a frame goes on. */
struct swz_frame {
	uint64_t ip, sp, bp;
	/* ip is an instruction that is yet to be done, no return address */
	bool exact;
};

/* The pc by which rules are looked up: a call may be a function's last
 * instruction. */
static inline uint64_t swz_frame_pc(uint64_t ip, bool exact)
{
	return exact ? ip : ip - 1;
}

/* Sets *ip to where a call really returns to. False: that is no code. */
bool swz_unwinder_returns(struct swz_unwinder *unwinder, uint64_t *ip,
			  bool exact) SWZ_MUST_CHECK;

#endif
