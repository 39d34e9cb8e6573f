#ifndef SWZ_RUNTIME_DISCOVERY_FILTER_H
#define SWZ_RUNTIME_DISCOVERY_FILTER_H

/* The user's choice of functions. -H, -Z and -L refuse functions when the
 * module is planned, so that these cost nothing; -F and -N mark functions, and
 * each entry decides. A function has all names that the symbol tables of the
 * module's file have for its first byte. */

#include "runtime/module/module.h"

enum swz_status swz_filter_module(struct swz_module *module) SWZ_MUST_CHECK;

/* -F, -N and -H alone. REFUSES: -H refuses functions; otherwise it has done so
 * when the plan was made. */
enum swz_status swz_filter_by_name(struct swz_module *module,
				   bool refuses) SWZ_MUST_CHECK;

/* --flows, --prints: says of libc's functions which of them these record, and
 * refuses the others where the module is in scope for these alone. */
void swz_filter_flows(struct swz_module *module);

/* The languages that a module is written in: enum swz_languages. */
unsigned swz_filter_languages(const struct swz_elf *file);

/* Says which patterns match nothing: most likely they are misspelt. And says so
 * if the options leave nothing to record. After the plan is made. */
void swz_filter_tell(const struct swz_modules *modules);

/* Filtering by source file (-L): from .debug_line of the module's file, or of
 * the separate file of its debug information. */

/* True if the source file of any function so far was known. */
bool swz_location_any_known(void);

#endif
