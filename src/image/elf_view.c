#include "image/elf_view.h"

/* Tables (program headers, section headers, symbols) are checked once, when
 * they are opened: within the file, of the right entry size, and aligned, so
 * that they can be indexed in place. String tables are cut behind their last
 * NUL when they are opened; after that any offset within them is a terminated
 * string. Ranges are compared as (offset <= size && length <= size - offset),
 * which cannot overflow. */

#include <stdbool.h>
#include <string.h>

#include "image/cursor.h"

static const struct swz_bytes no_bytes = {NULL, 0};

/* The slice [offset, offset + size) of the file, or empty. */
static struct swz_bytes slice(struct swz_bytes file, uint64_t offset,
			      uint64_t size)
{
	struct swz_bytes part = no_bytes;

	if (offset <= file.size && size <= file.size - offset && size) {
		part.data = file.data + offset;
		part.size = (size_t)size;
	}
	return part;
}

/* A table of `count` entries at this offset, or NULL. */
static const void *table(struct swz_bytes file, uint64_t offset, uint64_t count,
			 size_t entry_size)
{
	struct swz_bytes part;

	if (!count || count > file.size / entry_size)
		return NULL;
	part = slice(file, offset, count * entry_size);
	if ((uintptr_t)part.data % _Alignof(Elf64_Xword))
		return NULL;
	return part.data;
}

static struct swz_bytes cut_behind_last_nul(struct swz_bytes strings)
{
	while (strings.size && strings.data[strings.size - 1])
		strings.size--;
	return strings;
}

static enum swz_status check_header(const Elf64_Ehdr *header)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return SWZ_E_FORMAT;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return SWZ_E_UNSUPPORTED;
	return SWZ_OK;
}

/* Counts that do not fit the header's 16 bits stand in section 0. */
static void open_sections(struct swz_elf *elf)
{
	const Elf64_Ehdr *header = elf->header;
	const Elf64_Shdr *first;
	uint64_t count = header->e_shnum;
	uint32_t names = header->e_shstrndx;

	if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr))
		return;
	first = table(elf->file, header->e_shoff, 1, sizeof(Elf64_Shdr));
	if (!first)
		return;
	if (!count)
		count = first->sh_size;
	if (names == SHN_XINDEX)
		names = first->sh_link;
	elf->sections = table(elf->file, header->e_shoff, count,
			      sizeof(Elf64_Shdr));
	if (!elf->sections)
		return;
	elf->section_count = (size_t)count;
	if (names < count)
		elf->section_names = cut_behind_last_nul(
			swz_elf_section_bytes(elf, &elf->sections[names]));
}

static enum swz_status open_segments(struct swz_elf *elf)
{
	const Elf64_Ehdr *header = elf->header;
	uint64_t count = header->e_phnum;

	if (count == PN_XNUM && elf->section_count)
		count = elf->sections[0].sh_info;
	if (!count)
		return SWZ_OK;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return SWZ_E_FORMAT;
	elf->segments = table(elf->file, header->e_phoff, count,
			      sizeof(Elf64_Phdr));
	if (!elf->segments)
		return SWZ_E_FORMAT;
	elf->segment_count = (size_t)count;
	return SWZ_OK;
}

enum swz_status swz_elf_open(struct swz_elf *elf, struct swz_bytes file)
{
	enum swz_status status;

	memset(elf, 0, sizeof(*elf));
	elf->file = file;
	elf->header = table(file, 0, 1, sizeof(Elf64_Ehdr));
	if (!elf->header)
		return SWZ_E_FORMAT;
	status = check_header(elf->header);
	if (status != SWZ_OK)
		return status;
	open_sections(elf);
	return open_segments(elf);
}

const Elf64_Shdr *swz_elf_section(const struct swz_elf *elf, const char *name)
{
	size_t i;

	for (i = 0; i < elf->section_count; i++) {
		uint32_t at = elf->sections[i].sh_name;

		if (at < elf->section_names.size &&
		    !strcmp((const char *)elf->section_names.data + at, name))
			return &elf->sections[i];
	}
	return NULL;
}

struct swz_bytes swz_elf_section_bytes(const struct swz_elf *elf,
				       const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL)
		return no_bytes;
	return slice(elf->file, section->sh_offset, section->sh_size);
}

struct swz_bytes swz_elf_bytes_from(const struct swz_elf *elf, uint64_t address)
{
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];
		struct swz_bytes bytes;
		uint64_t offset;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr)
			continue;
		offset = address - segment->p_vaddr;
		if (offset >= segment->p_filesz)
			continue;
		bytes = slice(elf->file, segment->p_offset, segment->p_filesz);
		if (!bytes.size)
			continue;
		bytes.data += offset;
		bytes.size -= (size_t)offset;
		return bytes;
	}
	return no_bytes;
}

struct swz_bytes swz_elf_bytes_at(const struct swz_elf *elf, uint64_t address,
				  uint64_t size)
{
	return slice(swz_elf_bytes_from(elf, address), 0, size);
}

bool swz_elf_mapped_at(const struct swz_elf *elf, uint64_t offset,
		       bool executed, uint64_t *address)
{
	const uint64_t page = 4096;
	int best = -1;
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *s = &elf->segments[i];
		/* whole pages are mapped */
		uint64_t from = s->p_offset & -page;
		int rank = 2 * (!(s->p_flags & PF_X) == !executed) +
			   (from == (offset & -page));

		if (s->p_type != PT_LOAD || !s->p_filesz || offset < from ||
		    offset - from >= s->p_filesz + (s->p_offset - from) ||
		    rank <= best)
			continue;
		*address = s->p_vaddr - s->p_offset + offset;
		best = rank;
	}
	return best >= 0;
}

/* Notes and their parts are padded to 4 bytes, or to 8 in a segment that asks
 * for it (gABI; .note.gnu.property). */
static void align_to(struct swz_cursor *cursor, uint64_t align)
{
	uint64_t beyond = cursor->at % align;

	if (beyond && cursor->size - cursor->at < align - beyond)
		cursor->at = cursor->size; /* a last note without padding */
	else if (beyond)
		cursor->at += align - beyond;
}

struct swz_bytes swz_build_id_in(struct swz_bytes notes, uint64_t align)
{
	struct swz_cursor cursor = swz_cursor(notes);

	align = align == 8 ? 8 : 4;
	while (!swz_cursor_at_end(&cursor)) {
		uint32_t name_size = swz_cursor_u32(&cursor);
		uint32_t id_size = swz_cursor_u32(&cursor);
		uint32_t type = swz_cursor_u32(&cursor);
		struct swz_bytes name = swz_cursor_take(&cursor, name_size);
		struct swz_bytes id;

		align_to(&cursor, align);
		id = swz_cursor_take(&cursor, id_size);
		align_to(&cursor, align);
		if (cursor.failed)
			break;
		if (type == NT_GNU_BUILD_ID && id.size &&
		    id.size <= SWZ_BUILD_ID_MOST &&
		    name.size == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name.data, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			return id;
	}
	return no_bytes;
}

struct swz_bytes swz_elf_build_id(const struct swz_elf *elf)
{
	const Elf64_Shdr *section;
	struct swz_bytes id;
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type != PT_NOTE)
			continue;
		id = swz_build_id_in(
			slice(elf->file, segment->p_offset, segment->p_filesz),
			segment->p_align);
		if (id.size)
			return id;
	}
	section = swz_elf_section(elf, ".note.gnu.build-id");
	if (!section)
		return no_bytes;
	return swz_build_id_in(swz_elf_section_bytes(elf, section),
			       section->sh_addralign);
}

enum swz_status swz_elf_symbols_open(struct swz_elf_symbols *it,
				     const struct swz_elf *elf,
				     uint32_t section_type)
{
	const Elf64_Shdr *section = NULL;
	size_t i;

	memset(it, 0, sizeof(*it));
	for (i = 0; i < elf->section_count; i++) {
		if (elf->sections[i].sh_type == section_type) {
			section = &elf->sections[i];
			break;
		}
	}
	if (!section)
		return SWZ_E_NOTFOUND;
	if (section->sh_entsize != sizeof(Elf64_Sym) ||
	    section->sh_link >= elf->section_count)
		return SWZ_E_FORMAT;
	it->count = (size_t)(section->sh_size / sizeof(Elf64_Sym));
	if (!it->count)
		return SWZ_OK;
	it->table = table(elf->file, section->sh_offset, it->count,
			  sizeof(Elf64_Sym));
	if (!it->table) {
		it->count = 0;
		return SWZ_E_FORMAT;
	}
	it->names = cut_behind_last_nul(
		swz_elf_section_bytes(elf, &elf->sections[section->sh_link]));
	return SWZ_OK;
}

/* ------------------------------------------------ without a section table */

struct dynamic {
	uint64_t symbols, names, name_bytes, hash, gnu_hash; /* addresses */
};

static void read_dynamic(const struct swz_elf *elf, struct dynamic *d)
{
	struct swz_bytes bytes = no_bytes;
	Elf64_Dyn entry;
	size_t i, at;

	for (i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_DYNAMIC)
			bytes = slice(elf->file, elf->segments[i].p_offset,
				      elf->segments[i].p_filesz);
	for (at = 0; bytes.size - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, bytes.data + at, sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			d->symbols = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRTAB)
			d->names = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			d->name_bytes = entry.d_un.d_val;
		else if (entry.d_tag == DT_HASH)
			d->hash = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_GNU_HASH)
			d->gnu_hash = entry.d_un.d_ptr;
	}
}

static uint32_t word_at(struct swz_bytes bytes, uint64_t index)
{
	uint32_t word = 0;

	if (index < bytes.size / sizeof(word))
		memcpy(&word, bytes.data + index * sizeof(word), sizeof(word));
	return word;
}

/* The last chain of DT_GNU_HASH ends with the last symbol. */
static uint64_t gnu_hash_count(struct swz_bytes hash)
{
	uint64_t buckets = word_at(hash, 0), first = word_at(hash, 1);
	uint64_t bucket = 4 + 2 * (uint64_t)word_at(hash, 2);
	uint64_t chains = bucket + buckets, last = 0, words = hash.size / 4;

	for (; bucket < chains && bucket < words; bucket++)
		if (word_at(hash, bucket) > last)
			last = word_at(hash, bucket);
	if (last < first)
		return first;
	while (chains + last - first < words &&
	       !(word_at(hash, chains + last - first) & 1))
		last++;
	return last + 1;
}

enum swz_status swz_elf_dynamic_symbols(struct swz_elf_symbols *it,
					const struct swz_elf *elf)
{
	struct dynamic d = {0};
	struct swz_bytes table_bytes;
	uint64_t count = 0;

	memset(it, 0, sizeof(*it));
	read_dynamic(elf, &d);
	if (!d.symbols || !d.names)
		return SWZ_E_NOTFOUND;
	if (d.hash)
		count = word_at(swz_elf_bytes_from(elf, d.hash), 1);
	else if (d.gnu_hash)
		count = gnu_hash_count(swz_elf_bytes_from(elf, d.gnu_hash));
	table_bytes = swz_elf_bytes_from(elf, d.symbols);
	it->table = table(table_bytes, 0, count, sizeof(Elf64_Sym));
	if (!it->table)
		return SWZ_E_FORMAT;
	it->count = (size_t)count;
	it->names = cut_behind_last_nul(
		swz_elf_bytes_at(elf, d.names, d.name_bytes));
	return SWZ_OK;
}

/* --- the procedure linkage table ------------------------------------------ */

/* An entry is found by its jump through memory, whatever the linker puts around
 * it:
 *
 *	[endbr64] [mov $index, %r11d] [bnd] jmp *slot(%rip)	ld, lld, mold
 *	mov slot(%rip), %r11					-z retpolineplt
 *
 * and begins at a multiple of 8 bytes. That tells it from the head of a lazy
 * table, whose jump comes behind a push. */

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
