#ifndef SWZ_RUNTIME_DISCOVERY_FILTER_H
#define SWZ_RUNTIME_DISCOVERY_FILTER_H

/* What the user wants hooked, as far as it can be decided when the module is
 * planned (-H, -Z, -L refuse functions: they cost nothing then), and the marks
 * of what has to be decided at each entry (-F, -N). A function has all names
 * that the symbol tables of the module's file have for its first byte. */

#include "runtime/discovery/function.h"

enum swz_status swz_filter_module(struct swz_module *module) SWZ_MUST_CHECK;

/* -F, -N and -H alone. REFUSES: -H refuses functions; otherwise it has done so
 * when the plan was made. */
enum swz_status swz_filter_by_name(struct swz_module *module,
				   bool refuses) SWZ_MUST_CHECK;

/* --flows, --prints: says of libc's functions which of them these record, and
 * refuses the others where the module is in scope for these alone. */
void swz_filter_flows(struct swz_module *module);

/* What a module is written in: enum swz_languages. */
unsigned swz_filter_languages(const struct swz_elf *file);

/* Says which patterns match nothing: most likely they are misspelt. And says so
 * if the options leave nothing to record. After the plan is made. */
void swz_filter_tell(const struct swz_modules *modules);

#endif
