#ifndef SWZ_RUNTIME_DISCOVERY_UNLISTED_FUNCTIONS_H
#define SWZ_RUNTIME_DISCOVERY_UNLISTED_FUNCTIONS_H

/* Functions with neither an unwind entry nor a symbol: the assembly of codecs
 * and of number libraries, once it is stripped. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/discovery/function.h"
#include "runtime/module/module.h"

/* Finds those that the module's functions, sorted and indexed, call or hand on
 * pointers to, or its data has pointers to, and that do nothing but what
 * functions do: an array in scratch memory for the brief, sorted; *count is
 * their number. NULL if there are none, or there is no memory. Sets
 * module->tableless. */
struct swz_function *swz_unlisted_functions_find(struct swz_module *module,
						 struct swz_decoder *decoder,
						 uint32_t *count);

/* The code between a module's known functions, and what is known of each of its
 * bytes. Made in scratch memory, by the one thread that plans; facts may be
 * noted by worker threads. */

enum swz_unlisted_fact {
	SWZ_UNLISTED_CALLED,
	SWZ_UNLISTED_STORED,  /* somewhere, as a pointer */
	SWZ_UNLISTED_REFUTED, /* no function begins there */
	SWZ_UNLISTED_FOLLOWED,
	SWZ_UNLISTED_TAINTED, /* needs its return address, or what is below */
	SWZ_UNLISTED_FACTS
};

/* Bytes between functions, without the padding that they begin with. */
struct swz_unlisted_gap {
	uint64_t begin, end;
	uint64_t first_bit; /* in the maps, of the aligned beginning */
};

struct swz_unlisted_gaps {
	const struct swz_module *module;
	struct swz_unlisted_gap *of; /* sorted */
	uint32_t count;
	struct swz_range texts; /* from the first to the last */
	uint8_t *maps[SWZ_UNLISTED_FACTS];
};

/* False: there is hardly anything between functions, or no memory. */
bool swz_unlisted_gaps_find(struct swz_unlisted_gaps *gaps,
			    const struct swz_module *module);

/* The gap that the address lies in, or NULL. */
const struct swz_unlisted_gap *swz_unlisted_gap_at(
	const struct swz_unlisted_gaps *gaps, uint64_t address);

/* Ask and note a fact of an address in the gap. */
bool swz_unlisted_has(const struct swz_unlisted_gaps *gaps,
		      enum swz_unlisted_fact fact,
		      const struct swz_unlisted_gap *gap, uint64_t address);
void swz_unlisted_note(const struct swz_unlisted_gaps *gaps,
		       enum swz_unlisted_fact fact,
		       const struct swz_unlisted_gap *gap, uint64_t address);

/* Where a function may begin by what is known: the first such address from
 * there on, or the gap's end; and how many there are in the gap. */
uint64_t swz_unlisted_next(const struct swz_unlisted_gaps *gaps,
			   const struct swz_unlisted_gap *gap, uint64_t from);
uint32_t swz_unlisted_count(const struct swz_unlisted_gaps *gaps,
			    const struct swz_unlisted_gap *gap);

/* The first address from `at` on, but before `end`, with neither padding nor a
 * zero. */
uint64_t swz_skip_padding(const struct swz_module *module, uint64_t at,
			  uint64_t end);

#endif
