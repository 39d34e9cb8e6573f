/* An entry is found by its jump through memory, whatever the linker puts around
 * it:
 *
 *	[endbr64] [mov $index, %r11d] [bnd] jmp *slot(%rip)	ld, lld, mold
 *	mov slot(%rip), %r11					-z retpolineplt
 *
 * and begins at a multiple of 8 bytes. That tells it from the head of a lazy
 * table, whose jump comes behind a push. */

#include "image/plt.h"

#include <string.h>

#define ENTRY_ALIGNMENT 8u
#define MOST_STEPS (1ull << 26)

static const char *name_of(const struct swz_elf *elf, const Elf64_Shdr *section)
{
	if (section->sh_name >= elf->section_names.size)
		return "";
	return (const char *)elf->section_names.data + section->sh_name;
}

bool swz_plt_is_section(const struct swz_elf *elf, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS &&
	       (section->sh_flags & SHF_EXECINSTR) &&
	       strncmp(name_of(elf, section), ".plt", 4) == 0;
}

void swz_plt_begin(struct swz_plt *plt, const struct swz_elf *elf)
{
	*plt = (struct swz_plt){.elf = elf};
}

static bool next_section(struct swz_plt *plt)
{
	while (plt->next_section < plt->elf->section_count) {
		plt->section = &plt->elf->sections[plt->next_section++];
		if (!swz_plt_is_section(plt->elf, plt->section))
			continue;
		plt->code = swz_elf_section_bytes(plt->elf, plt->section);
		plt->at = 0;
		if (plt->code.size && plt->section->sh_addr + plt->code.size >
					      plt->section->sh_addr)
			return true;
	}
	return false;
}

/* The length of the entry that begins there, up to the end of its jump; 0: none
 * does. */
static size_t jump_at(const struct swz_plt *plt, size_t at, uint64_t *slot)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t move[] = {0x41, 0xbb}; /* $32 bits, %r11d */
	static const uint8_t load[] = {0x4c, 0x8b, 0x1d};
	static const uint8_t jump[] = {0xff, 0x25};
	const uint8_t *code = plt->code.data;
	size_t size = plt->code.size, begin = at;
	int32_t distance;

	if (size - at >= 4 && memcmp(code + at, endbr64, 4) == 0)
		at += 4;
	if (size - at >= 6 && memcmp(code + at, move, 2) == 0)
		at += 6;
	if (size - at >= 7 && memcmp(code + at, load, 3) == 0)
		at += 3;
	else {
		/* bnd or notrack */
		if (size - at >= 7 && (code[at] == 0xf2 || code[at] == 0x3e))
			at++;
		if (size - at < 6 || memcmp(code + at, jump, 2) != 0)
			return 0;
		at += 2;
	}
	memcpy(&distance, code + at, sizeof(distance));
	at += sizeof(distance);
	*slot = plt->section->sh_addr + at + (uint64_t)(int64_t)distance;
	return at - begin;
}

/* Where the next entry begins: the section's end if there is none. */
static size_t entry_from(const struct swz_plt *plt, size_t at)
{
	uint64_t slot;

	at = (at + ENTRY_ALIGNMENT - 1) & ~(size_t)(ENTRY_ALIGNMENT - 1);
	while (at < plt->code.size && !jump_at(plt, at, &slot))
		at += ENTRY_ALIGNMENT;
	return at < plt->code.size ? at : plt->code.size;
}

bool swz_plt_next(struct swz_plt *plt, struct swz_plt_entry *entry)
{
	size_t begin, end, length;

	if (plt->at >= plt->code.size && !next_section(plt))
		return false;
	begin = plt->at;
	entry->slot = 0;
	length = jump_at(plt, begin, &entry->slot);
	end = entry_from(plt, begin + (length ? length : 1));
	entry->start = plt->section->sh_addr + begin;
	entry->end = plt->section->sh_addr + end;
	plt->at = end;
	return true;
}

static const Elf64_Rela *relocations(const struct swz_elf *elf,
				     const Elf64_Shdr *section, size_t *count)
{
	struct swz_bytes bytes = swz_elf_section_bytes(elf, section);

	*count = 0;
	if (section->sh_type != SHT_RELA ||
	    (uintptr_t)bytes.data % _Alignof(Elf64_Rela))
		return NULL;
	*count = bytes.size / sizeof(Elf64_Rela);
	return (const void *)bytes.data;
}

void swz_plt_names_open(struct swz_plt_names *names, const struct swz_elf *elf)
{
	static const char *const sections[] = {".rela.plt", ".rela.dyn"};

	memset(names, 0, sizeof(*names));
	if (swz_elf_symbols_open(&names->symbols, elf, SHT_DYNSYM) != SWZ_OK)
		memset(&names->symbols, 0, sizeof(names->symbols));
	for (size_t i = 0; i < 2; i++) {
		const Elf64_Shdr *section = swz_elf_section(elf, sections[i]);

		if (section)
			names->tables[i].items = relocations(
				elf, section, &names->tables[i].count);
	}
}

static const char *symbol_of(const struct swz_plt_names *names, uint32_t symbol)
{
	const Elf64_Sym *entry;

	if (!symbol || symbol >= names->symbols.count)
		return NULL;
	entry = &names->symbols.table[symbol];
	if (entry->st_name >= names->symbols.names.size)
		return NULL;
	return (const char *)names->symbols.names.data + entry->st_name;
}

const char *swz_plt_name(struct swz_plt_names *names, uint64_t slot,
			 uint64_t *resolver)
{
	*resolver = 0;
	for (size_t i = 0; i < 2; i++) {
		const Elf64_Rela *items = names->tables[i].items;
		size_t count = names->tables[i].count, n;

		for (n = 0; n < count && names->steps < MOST_STEPS; n++) {
			size_t at = names->tables[i].next + n;
			const Elf64_Rela *item;

			at -= at < count ? 0 : count;
			item = &items[at];
			names->steps++;
			if (item->r_offset != slot)
				continue;
			names->tables[i].next = at + 1 < count ? at + 1 : 0;
			if (ELF64_R_TYPE(item->r_info) == R_X86_64_IRELATIVE)
				*resolver = (uint64_t)item->r_addend;
			return symbol_of(names,
					 (uint32_t)ELF64_R_SYM(item->r_info));
		}
	}
	return NULL;
}
