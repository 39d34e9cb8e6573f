#ifndef SWZ_RUNTIME_PLAN_LIVE_H
#define SWZ_RUNTIME_PLAN_LIVE_H

/* A plan for code that threads may be executing: what of it may be patched, and
 * what is to be written (support/live_sites.h). */

#include "runtime/discovery/function.h"

/* Refuses functions of which a site spans two pages, or holds a call in its
 * midst: somebody may return there. */
void swz_plan_refuse_unsafe(struct swz_module *module);

/* Whether an inner site, of the function F, is there as long as the library is:
 * what a frame that is open, or a wrapper, relies on. */
static inline bool swz_inner_site_stays(const struct swz_inner_site *site,
					const struct swz_function *f)
{
	return !site->keeps_opcode || (f && f->wrapper);
}

/* Whether a site spans two pages: only what the library writes itself, while
 * nothing can execute it, may do that. It stays (SWZ_SITE_LASTS), and what lies
 * behind it in the function, too. */
bool swz_site_lasts(const struct swz_module *module,
		    const struct swz_function *f);
bool swz_inner_site_lasts(const struct swz_module *module,
			  const struct swz_inner_site *site,
			  const struct swz_function *f);

/* Lists the module's sites, in memory as they are now: before any is written.
 */
void swz_plan_list_sites(struct swz_module *module);

#endif
