#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_POINTERS_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_POINTERS_H

#include <stdint.h>

#include "runtime/module/module.h"

/* Bytes of a function in which tables of distances between its labels are
 * looked for: once for each label whose address it takes. */
#define SWZ_MOST_WITH_LABELS (128u << 10)

/* Calls found() with what each pointer in the module's memory leads to, if that
 * lies in its text; other addresses may be among them. Pointers are what the
 * dynamic linker relocates; in a program at a fixed address they may be any
 * words, and immediates of instructions, which are noted in module->labels the
 * first time. */
void swz_scan_pointers(struct swz_module *module,
		       void (*found)(void *context, uint64_t to),
		       void *context);

#endif
