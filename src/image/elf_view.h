#ifndef SWZ_IMAGE_ELF_VIEW_H
#define SWZ_IMAGE_ELF_VIEW_H

/* Read-only views over an ELF64 x86-64 file, (pointer, length) in, (pointer,
 * length) out. The file is hostile: every offset is checked before use.
 * Nothing is allocated; a view borrows the bytes it was opened on. All
 * functions are pure, thread safe and async-signal-safe. */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"

struct swz_bytes {
	const uint8_t *data;
	size_t size;
};

struct swz_elf {
	struct swz_bytes file;
	const Elf64_Ehdr *header;
	const Elf64_Phdr *segments;
	size_t segment_count;
	const Elf64_Shdr *sections; /* NULL where the file has none */
	size_t section_count;
	struct swz_bytes section_names;
};

/* Opens a view of an ELF file's bytes (the file as on disk, not as loaded).
 * SWZ_E_FORMAT: no ELF or damaged; SWZ_E_UNSUPPORTED: not ELF64 x86-64. A
 * damaged section table is dropped (section_count 0), it is not an error. */
enum swz_status swz_elf_open(struct swz_elf *elf,
			     struct swz_bytes file) SWZ_MUST_CHECK;

/* The section of this name, or NULL. */
const Elf64_Shdr *swz_elf_section(const struct swz_elf *elf, const char *name);

/* The section's bytes in the file; empty for SHT_NOBITS or a bad range. */
struct swz_bytes swz_elf_section_bytes(const struct swz_elf *elf,
				       const Elf64_Shdr *section);

/* The bytes that the file holds for ELF virtual addresses [address, address +
 * size); empty if they are not within one PT_LOAD's file part. */
struct swz_bytes swz_elf_bytes_at(const struct swz_elf *elf, uint64_t address,
				  uint64_t size);

/* The file bytes from this virtual address to the end of its PT_LOAD's file
 * part; empty if there are none. */
struct swz_bytes swz_elf_bytes_from(const struct swz_elf *elf,
				    uint64_t address);

/* The ELF virtual address of the file's byte at OFFSET, where a mapping begins;
 * EXECUTED: it may be executed. False: no PT_LOAD has the byte. lld and mold
 * put two segments into one page of the file, which is then mapped twice: a
 * segment with the mapping's rights and one that begins in that page are
 * preferred. */
bool swz_elf_mapped_at(const struct swz_elf *elf, uint64_t offset,
		       bool executed, uint64_t *address) SWZ_MUST_CHECK;

#define SWZ_BUILD_ID_MOST 32 /* bytes; a longer one counts as none */

/* The build-id of PT_NOTE (or .note.gnu.build-id); empty if there is none. */
struct swz_bytes swz_elf_build_id(const struct swz_elf *elf);
/* That among notes with this alignment (p_align). */
struct swz_bytes swz_build_id_in(struct swz_bytes notes, uint64_t align);

struct swz_elf_symbol {
	const char *name; /* NUL-terminated within the file */
	uint64_t value;   /* ELF virtual address */
	uint64_t size;
	uint8_t type;     /* STT_* */
	uint8_t binding;  /* STB_* */
	uint16_t section; /* SHN_* or index */
};

/* Iterates over .symtab (SHT_SYMTAB) or .dynsym (SHT_DYNSYM): */
struct swz_elf_symbols {
	const Elf64_Sym *table;
	size_t count;
	struct swz_bytes names;
	size_t next;
};
enum swz_status swz_elf_symbols_open(struct swz_elf_symbols *it,
				     const struct swz_elf *elf,
				     uint32_t section_type) SWZ_MUST_CHECK;
/* The dynamic symbols of a file without a table of sections, by PT_DYNAMIC: as
 * many as DT_HASH or DT_GNU_HASH reaches. */
enum swz_status swz_elf_dynamic_symbols(
	struct swz_elf_symbols *it, const struct swz_elf *elf) SWZ_MUST_CHECK;
/* Returns 1 and fills *symbol, or 0 at the end. Damaged entries are skipped. */
static inline int swz_elf_symbols_next(struct swz_elf_symbols *it,
				       struct swz_elf_symbol *symbol)
{
	while (it->next < it->count) {
		const Elf64_Sym *entry = &it->table[it->next++];

		if (entry->st_name >= it->names.size)
			continue;
		symbol->name = (const char *)it->names.data + entry->st_name;
		symbol->value = entry->st_value;
		symbol->size = entry->st_size;
		symbol->type = ELF64_ST_TYPE(entry->st_info);
		symbol->binding = ELF64_ST_BIND(entry->st_info);
		symbol->section = entry->st_shndx;
		return 1;
	}
	return 0;
}

/* --- the procedure linkage table ------------------------------------------ */

/* Entries of the procedure linkage tables of a file: code that jumps through a
 * slot of the GOT, and has no symbol of its own. Their names are those of the
 * relocations that fill the slots, so stripped files have them, too. The views'
 * rules hold (elf_view.h): nothing is allocated, the file is hostile. */

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

/* --- compressed sections -------------------------------------------------- */

/* Decompresses a zlib stream (RFC 1950, RFC 1951) whose length is known, as
 * those of compressed ELF sections are. The bytes are hostile. Nothing is
 * allocated; pure, thread safe, async-signal-safe. */

#define SWZ_INFLATE_CODE_BITS 15

/* Working memory: what the next bits stand for. */
struct swz_inflate_tables {
	uint16_t literals[1 << SWZ_INFLATE_CODE_BITS];
	uint16_t distances[1 << SWZ_INFLATE_CODE_BITS];
};

/* Fills OUT with `size` bytes. SWZ_E_FORMAT: the stream is damaged or holds
 * another number of bytes; OUT is undefined then. */
enum swz_status swz_inflate(struct swz_bytes stream, uint8_t *out, size_t size,
			    struct swz_inflate_tables *tables) SWZ_MUST_CHECK;

/* No stream of this many bytes gives more than so many: to refuse an absurd
 * length before there is memory for it. */
static inline uint64_t swz_inflate_most(uint64_t stream_bytes)
{
	return stream_bytes * 1032; /* two bits for 258 bytes */
}

#endif
