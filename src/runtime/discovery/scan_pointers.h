#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_POINTERS_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_POINTERS_H

#include <stdint.h>

#include "runtime/module/module.h"

/* Calls found() with what each pointer in the module's memory leads to, if that
 * lies in its text; other addresses may be among them. Pointers are what the
 * dynamic linker relocates; in a program at a fixed address they may be any
 * words, and immediates of instructions, which are noted in module->labels the
 * first time. */
void swz_scan_pointers(struct swz_module *module,
		       void (*found)(void *context, uint64_t to),
		       void *context);

#endif
