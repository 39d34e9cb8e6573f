#ifndef SWZ_RUNTIME_MODULE_DYNAMIC_SYMBOL_H
#define SWZ_RUNTIME_MODULE_DYNAMIC_SYMBOL_H

/* Looking up what modules export, in their dynamic symbol tables themselves:
 * the dynamic linker's own lookups answer for the whole process and take its
 * lock. Async-signal-safe. */

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* The module that an address is in, and *end, behind which it is not any more;
 * NULL if it is in none. While the program starts, or where the dynamic linker
 * does not tell us what it loads, it is the one that begins last below. */
const struct link_map *swz_map_at(uint64_t address, uint64_t *end);

/* What the module defines by this name, or NULL. */
void *swz_map_symbol(const struct link_map *map, const char *name);

/* The same, and how long it is. */
void *swz_map_symbol_sized(const struct link_map *map, const char *name,
			   uint64_t *bytes);

/* What the modules behind ours in the order of lookup define by this name: what
 * a symbol of ours stands before. */
void *swz_next_symbol(const char *name);

/* The C library's dl_iterate_phdr, looked up at the first call. By its plain
 * name we would call our own (runtime/compat/find_object.c), which is for the
 * program and calls this one. Takes the dynamic linker's lock. Returns 0 where
 * the process has none. */
typedef int swz_phdr_visitor(struct dl_phdr_info *info, size_t size,
			     void *data);
int swz_next_iterate_phdr(swz_phdr_visitor *visit, void *data);

#endif
