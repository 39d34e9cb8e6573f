#ifndef SWZ_CONTROL_PATCH_H
#define SWZ_CONTROL_PATCH_H

#include "control/attached.h"
#include "control/sites.h"

/* Stops all threads when none of them stands where it must not, and writes the
 * sites, or restores them. False: ->problem. */
bool swz_attach_patch(struct swz_attached *attached, bool patch);

/* In a stop: whether no thread stands within a site. Those that do are let run
 * until they are somewhere else, as far as that is soon; after many tries the
 * functions are left out. */
bool swz_sites_come_free(struct swz_sites *sites, struct swz_stop *stop,
			 unsigned tries);

#endif
