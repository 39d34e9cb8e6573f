#ifndef SWZ_RUNTIME_DISCOVERY_RELOCATED_POINTERS_H
#define SWZ_RUNTIME_DISCOVERY_RELOCATED_POINTERS_H

#include "runtime/module/module.h"

/* Calls found() for each word of the module's memory that the dynamic linker
 * makes a pointer into the module: where it is and what it leads to, ELF
 * virtual addresses. A word that is not relocated yet, or may be so already,
 * may be reported with two addresses, of which one is none. */
void swz_pointers_relocated(const struct swz_module *module,
			    void (*found)(void *context, uint64_t where,
					  uint64_t to),
			    void *context);

#endif
