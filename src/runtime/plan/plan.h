#ifndef SWZ_RUNTIME_PLAN_PLAN_H
#define SWZ_RUNTIME_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"

/* --- plan ----------------------------------------------------------------- */

/* The plan as the profile has it. */

/* Describes modules and functions in the profile. */
enum swz_status swz_plan_record(const struct swz_modules *modules)
	SWZ_MUST_CHECK;

/* A module's place in the profile: room for it, and its description put there.
 * Of a place that is not filled a reader sees nothing. */
struct swz_plan_place {
	struct swz_chunk *module;
	struct swz_chunk *functions; /* NULL if there are none */
};

enum swz_status swz_plan_reserve(const struct swz_module *module,
				 uint32_t index,
				 struct swz_plan_place *place) SWZ_MUST_CHECK;
void swz_plan_fill(const struct swz_module *module, uint32_t index,
		   const struct swz_plan_place *place);

/* Prints what would be done (--list; with -v each function). */
void swz_plan_print(const struct swz_modules *modules);

/* The plan: for every function it is decided whether it is hooked before the
 * first byte changes; then that is done, while nothing executes it. See
 * docs/internals/plan.md. */

/* Decides; writes trampolines, which nothing leads to yet. Lists the modules,
 * if that is not done. */
enum swz_status swz_plan_make(struct swz_modules *modules) SWZ_MUST_CHECK;

/* Leads every planned function to its trampoline. A module whose text cannot be
 * made writable is refused as a whole. In a process that ran already: lists
 * what the controller is to write (live.h). */
void swz_plan_apply(struct swz_modules *modules);

/* Why no function at all could be patched, if the system would not have it;
 * otherwise NULL. After swz_plan_apply. */
const char *swz_plan_obstacle(const struct swz_modules *modules);

/* For one module that is loaded while the program runs, and which
 * nothing can be executing yet: decides and writes trampolines; then, where
 * that was done, leads its functions to them. */
enum swz_status swz_plan_late(struct swz_module *module) SWZ_MUST_CHECK;
void swz_plan_patch(struct swz_module *module);

/* --- plan trampolines ----------------------------------------------------- */

/* Writes the trampolines of the module's functions that are not refused yet,
 * and refuses those that can have none. Nothing leads to them yet. */
void swz_plan_write_trampolines(struct swz_module *module,
				const struct swz_decoders *decoders);

/* --- patches -------------------------------------------------------------- */

/* A plan for code that threads may be executing: what of it may be patched, and
 * what is to be written (support/live_sites.h). */

/* Refuses functions of which a site spans two pages, or holds a call in its
 * midst: somebody may return there. */
void swz_plan_refuse_unsafe(struct swz_module *module);

/* True if an inner site, of the function F, is there as long as the library
 * is: what a frame that is open, or a wrapper, relies on. */
static inline bool swz_inner_site_stays(const struct swz_inner_site *site,
					const struct swz_function *f)
{
	return !site->keeps_opcode || (f && f->wrapper);
}

/* True if a site spans two pages: only what the library writes itself, while
 * nothing can execute it, may do that. It stays (SWZ_SITE_LASTS), and what
 * lies behind it in the function, too. */
bool swz_site_lasts(const struct swz_module *module,
		    const struct swz_function *f);
bool swz_inner_site_lasts(const struct swz_module *module,
			  const struct swz_inner_site *site,
			  const struct swz_function *f);

/* Functions whose arguments are recorded (-A, --args) have trampolines that
 * lead to a hook of their own: the others pay nothing. */

/* Says in the profile what is recorded of the functions; as module INDEX of the
 * profile. */
enum swz_status swz_capture_record(struct swz_module *module,
				   uint32_t index) SWZ_MUST_CHECK;

/* --- islands -------------------------------------------------------------- */

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
