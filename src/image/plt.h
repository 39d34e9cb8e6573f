#ifndef SWZ_IMAGE_PLT_H
#define SWZ_IMAGE_PLT_H

/* Entries of the procedure linkage tables of a file: code that jumps through a
 * slot of the GOT, and has no symbol of its own. Their names are those of the
 * relocations that fill the slots, so stripped files have them, too. The views'
 * rules hold (elf_view.h): nothing is allocated, the file is hostile. */

#include <stdbool.h>
#include <stdint.h>

#include "image/elf_view.h"

#define SWZ_PLT_SUFFIX "@plt" /* behind the symbol's name, as in objdump */

struct swz_plt_entry {
	uint64_t start, end; /* ELF virtual addresses */
	uint64_t slot;       /* the one that it jumps through */
};

/* Iterates over the entries of a file with a table of sections, by address
 * within each section. */
struct swz_plt {
	const struct swz_elf *elf;
	size_t next_section;
	const Elf64_Shdr *section; /* the one of the last entry, or of a head */
	struct swz_bytes code;
	size_t at; /* in it */
};

void swz_plt_begin(struct swz_plt *plt, const struct swz_elf *elf);
/* False at the end. Before the first entry of a section, and for one without
 * any, there is one with a slot of 0: the section's head, which binds others
 * lazily (nothing has no head). */
bool swz_plt_next(struct swz_plt *plt, struct swz_plt_entry *entry);

/* True if it is one of these sections; their names begin with ".plt". */
bool swz_plt_is_section(const struct swz_elf *elf, const Elf64_Shdr *section);

/* The relocations that fill slots. Looking up entries in their order is fast:
 * it goes on from where it was. A file for which it takes too long has no more
 * names. */
struct swz_plt_names {
	struct swz_elf_symbols symbols; /* .dynsym */
	struct {
		const Elf64_Rela *items;
		size_t count, next;
	} tables[2]; /* .rela.plt and .rela.dyn */
	uint64_t steps;
};

void swz_plt_names_open(struct swz_plt_names *names, const struct swz_elf *elf);

/* The name of the symbol whose address the slot gets, or NULL. *RESOLVER is the
 * address of the function that is called for it (R_X86_64_IRELATIVE), or 0. */
const char *swz_plt_name(struct swz_plt_names *names, uint64_t slot,
			 uint64_t *resolver);

#endif
