#ifndef SWZ_RUNTIME_MODULE_BIND_H
#define SWZ_RUNTIME_MODULE_BIND_H

/* What the dynamic linker would bind a symbol reference to, found in the tables
 * of the modules themselves: without its lock, and without binding anything. */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct swz_dynamic {
	uint64_t load_bias;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;    /* DT_GNU_HASH */
	const uint16_t *versyms; /* NULL: no versions */
	const Elf64_Verneed *verneed;
	const Elf64_Verdef *verdef;
	const Elf64_Rela *rela, *jmprel;
	const uint64_t *relr; /* packed relative relocations */
	uint64_t rela_count, jmprel_count, relr_count;
};

/* The tables of the module whose dynamic section begins with `entry` (NULL: it
 * has none). False if they are not as they should be, or not mapped. */
bool swz_dynamic_read(uint64_t load_bias, const ElfW(Dyn) * entry,
		      struct swz_dynamic *dynamic);

/* The module's definition of what `from` refers to by its symbol of that index,
 * with the version that it asks for; NULL if it has none. Undefined symbols
 * with an address (a program's PLT entries) are none. */
const Elf64_Sym *swz_dynamic_find(const struct swz_dynamic *module,
				  const struct swz_dynamic *from,
				  uint32_t symbol);

#endif
