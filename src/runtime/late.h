#ifndef SWZ_RUNTIME_LATE_H
#define SWZ_RUNTIME_LATE_H

/* Libraries that are loaded, and unloaded, while the program runs. */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/plan.h"

/* From now on the dynamic linker tells us of what it loads and unloads. Before
 * the program's own code runs; the plan's modules are those of the start. Where
 * that cannot be had, libraries that come later are left alone, and this is
 * said. */
void swz_late_begin(const struct swz_plan *plan);

/* The module that an address is in, in any namespace; *end is its end. NULL:
 * none. Takes no lock; async-signal-safe. False: this is not known here. */
bool swz_late_map_at(uint64_t address, const struct link_map **map,
		     uint64_t *end);

/* The number of modules that the profile has been told of: all indices are
 * less. */
uint32_t swz_late_modules(void);

#endif
