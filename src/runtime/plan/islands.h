#ifndef SWZ_RUNTIME_PLAN_ISLANDS_H
#define SWZ_RUNTIME_PLAN_ISLANDS_H

/* Functions that the 5-byte jump does not fit in, or where something leads
 * behind its second byte, take a 2-byte jump. It goes to an island: 5 bytes
 * within its reach that nothing else leads to. */

#include "runtime/discovery/scan.h"

/* How many bytes of what lies behind the function are padding (int3,
 * no-operations). */
uint32_t swz_padding_of(const struct swz_module *m,
			const struct swz_function *f);

struct swz_islands {
	struct swz_module *module;
	const struct swz_decoders *decoders;
};

struct swz_island {
	uint64_t at;
	/* Where the island's bytes are a function's own: that one, and how many
	 * bytes of its site must be displaced then. NULL: it is padding. */
	struct swz_function *host;
	uint8_t host_bytes;
};

/* Whether a function may get a short jump, once all have been tried with the
 * long one. */
bool swz_island_is_wanted(const struct swz_module *m,
			  const struct swz_function *f);

/* Finds out what of the module may be used. To be called when all trampolines
 * are written that can be. */
enum swz_status swz_islands_begin(
	struct swz_islands *islands, struct swz_module *module,
	const struct swz_decoders *decoders) SWZ_MUST_CHECK;

/* Whether nothing leads into the short jump itself. */
bool swz_island_may_serve(const struct swz_islands *islands,
			  const struct swz_function *f);

/* Whether nothing leads into the distances of the function's own branches to
 * its site, and all else that leads there is known not to: then these can be
 * led elsewhere (led_branches.h). */
bool swz_branches_may_be_led(const struct swz_islands *islands,
			     const struct swz_function *f);

/* The best island for the function that comes after the first `skip` ones;
 * false: there is none. */
bool swz_island_find(const struct swz_islands *islands, struct swz_function *f,
		     unsigned skip, struct swz_island *island);

/* Nobody else gets the island. */
void swz_island_take(struct swz_islands *islands, const struct swz_function *f,
		     const struct swz_island *island);

#endif
