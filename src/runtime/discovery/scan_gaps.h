#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_GAPS_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_GAPS_H

/* What lies between a module's functions. */

#include "runtime/discovery/function.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

#define SWZ_MOST_GAP_BYTES 4096u
#define SWZ_MOST_GAP_BRANCHES 256u

/* The latest gap that was asked for; zeros at first. */
struct swz_gap {
	uint64_t begin, end;
	bool is_code; /* beyond doubt: `starts` tells its instructions */
	uint8_t starts[SWZ_MOST_GAP_BYTES / 8];
};

/* Whether surely no instruction starts at `pc`, which is in no function of the
 * module and in this text. */
bool swz_gap_denies(struct swz_gap *gap, const struct swz_module *module,
		    struct swz_decoder *decoder, const struct swz_range *text,
		    uint64_t pc);

/* Of the gap that ends at `end`, a function's first byte in this text: where
 * the no-operations begin up to there. `end` if there are none, if the gap
 * holds nothing else, if it is not code beyond doubt, or if what is before them
 * may run on into them. */
uint64_t swz_gap_padding(struct swz_gap *gap, const struct swz_module *module,
			 struct swz_decoder *decoder,
			 const struct swz_range *text, uint64_t end);

#endif
