#ifndef SWZ_RUNTIME_PLAN_ISLANDS_H
#define SWZ_RUNTIME_PLAN_ISLANDS_H

#include <stdbool.h>

#include "runtime/discovery/function.h"
#include "runtime/module/module.h"

/* The list of what changes in functions behind their patch sites. */

/* Makes room, in scratch memory, for all that the functions may come to have.
 * Without it, none is added. */
void swz_inner_sites_begin(struct swz_module *module);

/* Adds one at its place. False: there is no room. */
bool swz_inner_sites_add(struct swz_module *module, struct swz_inner_site site);

/* Functions that the 5-byte jump does not fit in, or where something leads
 * behind its second byte, take a 2-byte jump. It goes to an island: 5 bytes
 * within its reach that nothing else leads to. */

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
	/* The function whose bytes the island is made of, and how many bytes
	 * of its site must be displaced then. NULL: it is padding. */
	struct swz_function *host;
	uint8_t host_bytes;
};

/* True if a function may get a short jump, once all have been tried with the
 * long one. */
bool swz_island_is_wanted(const struct swz_module *m,
			  const struct swz_function *f);

/* Finds out what of the module may be used. To be called when all trampolines
 * are written that can be. */
enum swz_status swz_islands_begin(
	struct swz_islands *islands, struct swz_module *module,
	const struct swz_decoders *decoders) SWZ_MUST_CHECK;

/* True if nothing leads into the short jump itself. */
bool swz_island_may_serve(const struct swz_islands *islands,
			  const struct swz_function *f);

/* True if nothing leads into the distances of the function's own branches to
 * its site, and all else that leads there is known not to: then these can be
 * led elsewhere (plan.h). */
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
