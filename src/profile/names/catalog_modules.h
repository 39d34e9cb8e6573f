#ifndef SWZ_PROFILE_NAMES_CATALOG_MODULES_H
#define SWZ_PROFILE_NAMES_CATALOG_MODULES_H

/* The modules of a catalog and what their files say. What is not to be had is
 * said once for each, on stderr. */

#include <stdint.h>

#include "profile/names/catalog.h"
#include "profile/names/symbols.h"

/* The index of a module of a profile that ended at that time (since 1970). */
uint32_t swz_catalog_add_module(struct swz_catalog *catalog,
				const struct swz_profile_module *module,
				uint64_t profiled_ns);

/* Adds the embedded names of a profile, whose module i is MODULES[i] of the
 * catalog; to be called before symbols are asked for. */
void swz_catalog_add_embedded(struct swz_catalog *catalog,
			      const struct swz_profile *profile,
			      const uint32_t *modules);

/* The symbols of a module, or NULL. */
struct swz_symbols *swz_catalog_symbols(struct swz_catalog *catalog,
					uint32_t index);

/* The source of an address of a module that has symbols. */
struct swz_source swz_catalog_line(struct swz_catalog *catalog, uint32_t index,
				   struct swz_symbols *symbols,
				   uint64_t address);

#endif
