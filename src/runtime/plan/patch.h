#ifndef SWZ_RUNTIME_PLAN_PATCH_H
#define SWZ_RUNTIME_PLAN_PATCH_H

#include "base/status.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"

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

#endif
