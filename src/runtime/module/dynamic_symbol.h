#ifndef SWZ_RUNTIME_MODULE_DYNAMIC_SYMBOL_H
#define SWZ_RUNTIME_MODULE_DYNAMIC_SYMBOL_H

/* Looking up what modules export, in their dynamic symbol tables themselves:
 * the dynamic linker's own lookups answer for the whole process and take its
 * lock. Async-signal-safe. */

#include <link.h>
#include <stdint.h>

/* The module that an address is in, and *end, behind which it is not any more;
 * NULL if it is in none. While the program starts, or where the dynamic linker
 * does not tell us what it loads, it is the one that begins last below. */
const struct link_map *swz_map_at(uint64_t address, uint64_t *end);

/* What the module defines by this name, or NULL. */
void *swz_map_symbol(const struct link_map *map, const char *name);

/* What the modules behind ours in the order of lookup define by this name: what
 * a symbol of ours stands before. */
void *swz_next_symbol(const char *name);

#endif
