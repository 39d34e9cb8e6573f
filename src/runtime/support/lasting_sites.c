/* A jump is one instruction: no thread is within it. Those behind it in the
 * function come last. As long as it is there, they are needed: branches back
 * into it would lead into its midst. */

#include "runtime/support/lasting_sites.h"

#include <string.h>

#include "base/syscall.h"
#include "runtime/support/code_pages.h"
#include "runtime/support/live_sites.h"

/* Whether the bytes of one that lasts are there. (While a profile is detached,
 * modules may be unloaded without its notice.) */
static bool is_there(const struct swz_control_site *s)
{
	return s->flags & SWZ_SITE_LASTS && !(s->flags & SWZ_SITE_GONE) &&
	       swz_sys_is_readable(s->address) &&
	       swz_sys_is_readable((s->address + s->length - 1) & -8ull) &&
	       memcmp((const void *)(uintptr_t)s->address, s->after,
		      s->length) == 0;
}

/* Whether the jump of a site's function had to be left. */
static bool is_left(const struct swz_control_site *sites, uint32_t count,
		    uint32_t function)
{
	for (uint32_t i = 0; i < count; i++)
		if (sites[i].function == function &&
		    sites[i].phase == SWZ_PHASE_JUMP && is_there(&sites[i]))
			return true;
	return false;
}

static bool restore(const struct swz_control_site *s)
{
	return swz_code_replace(s->address, s->before, s->length);
}

void swz_lasting_sites_restore(void)
{
	struct swz_control *c = &swizzle_control;
	const struct swz_control_site *sites =
		(const struct swz_control_site *)(uintptr_t)c->sites;
	uint32_t left = 0;

	for (uint32_t i = 0; i < c->site_count; i++)
		if (sites[i].phase == SWZ_PHASE_JUMP && is_there(&sites[i]))
			left += !restore(&sites[i]);
	for (uint32_t i = 0; i < c->site_count; i++)
		if (sites[i].phase != SWZ_PHASE_JUMP && is_there(&sites[i]) &&
		    !is_left(sites, c->site_count, sites[i].function))
			(void)restore(&sites[i]);
	c->lasting = left;
}
