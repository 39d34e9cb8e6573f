#ifndef SWZ_RUNTIME_MODULE_FOREIGN_CALLERS_H
#define SWZ_RUNTIME_MODULE_FOREIGN_CALLERS_H

/* Callers whose return address a language runtime looks at: code that it has
 * made at run time. Their calls must find it unchanged, and are let pass. */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

/* The symbol in what Mono has compiled ahead of time. */
#define SWZ_MONO_COMPILED "mono_aot_file_info"

/* Of each module that comes, those of the start included: notes whether it is a
 * runtime that looks at the return addresses of all calls from code that it has
 * made. One thread at a time. */
void swz_foreign_callers_arrive(const struct link_map *map);

/* When the module has its function ids, which end there: notes them if its
 * runtime looks at the return addresses that code made by it at run time leaves
 * (module->looks_at_callers). One thread at a time. */
void swz_foreign_callers_note_ids(const struct swz_module *module,
				  uint32_t end);

/* Whether a call must find its return address unchanged, as it comes from code
 * that such a runtime has made. Async-signal-safe; takes no lock. */
bool swz_foreign_callers_pass(uint32_t function, uint64_t call_site);

#endif
