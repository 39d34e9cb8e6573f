/* Functions of a file are one sorted array without overlaps, made at the first
 * question: symbols first, then FDEs where no symbol is. A part that the
 * compiler has moved away (NAME.cold) counts for NAME. Entries of the PLT are
 * functions, too. What is between two functions is one more without a name: a
 * program without symbols and unwind tables has such only. */

#include "watch/code_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "image/cursor.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "util/memory.h"
#include "watch/unwind/elf_copy.h"

/* --- tables of ELF files ------------------------------------------------- */

/* The tables of an ELF file that tell functions and libraries, copied when it
 * is first asked for. Never mapped: whoever looks at a mapped file that
 * somebody cuts off gets SIGBUS. Bytes that the file does not have any more are
 * zeros. */

struct elf_tables {
	struct swz_elf elf; /* a view of the copy */
	struct swz_elf_copy copy;
	int fd; /* what is missing in the copy is read from it; -1: nothing */
};

/* Copies a part; bytes that cannot be read are zeros, and say nothing. A file
 * of which sections lie on top of each other, thousands of times, is not worth
 * the time. */
static void copy_part(struct elf_tables *tables, uint64_t offset, uint64_t size)
{
	if (size <= tables->copy.size &&
	    tables->copy.copied <= tables->copy.size)
		(void)!swz_elf_copy_read(&tables->copy, tables->fd, offset,
					 size);
}

static void copy_section(struct elf_tables *tables, const Elf64_Shdr *section)
{
	if (section && section->sh_type != SHT_NOBITS)
		copy_part(tables, section->sh_offset, section->sh_size);
}

static void copy_notes(struct elf_tables *tables)
{
	const struct swz_elf *elf = &tables->elf;

	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_NOTE)
			copy_part(tables, elf->segments[i].p_offset,
				  elf->segments[i].p_filesz);
	copy_section(tables, swz_elf_section(elf, ".note.gnu.build-id"));
}

/* Relocations are as many as a program has pointers. */
#define MOST_RELOCATION_BYTES (4u << 20)

/* The PLT's entries, and what names them. */
static void copy_plt(struct elf_tables *tables)
{
	const struct swz_elf *elf = &tables->elf;
	const Elf64_Shdr *others = swz_elf_section(elf, ".rela.dyn");

	for (size_t i = 0; i < elf->section_count; i++)
		if (swz_plt_is_section(elf, &elf->sections[i]))
			copy_section(tables, &elf->sections[i]);
	copy_section(tables, swz_elf_section(elf, ".rela.plt"));
	if (others && others->sh_size <= MOST_RELOCATION_BYTES)
		copy_section(tables, others);
}

/* Copies, once, symbols, .dynamic, .eh_frame and the PLT, and closes the file.
 */
static void elf_tables_copy(struct elf_tables *tables)
{
	const struct swz_elf *elf = &tables->elf;

	if (tables->fd < 0)
		return;
	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *s = &elf->sections[i];

		if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM &&
		    s->sh_type != SHT_DYNAMIC)
			continue;
		copy_section(tables, s);
		if (s->sh_link < elf->section_count)
			copy_section(tables, &elf->sections[s->sh_link]);
	}
	copy_section(tables, swz_elf_section(elf, ".eh_frame"));
	copy_plt(tables);
	if (!elf->section_count)
		swz_elf_copy_segments(&tables->copy, tables->fd);
	close(tables->fd);
	tables->fd = -1;
}

/* Copies the header, segments, the table of sections, and notes. Takes over FD.
 * False: it is no ELF file for x86-64, and FD is closed. */
static bool elf_tables_open(struct elf_tables *tables, int fd)
{
	memset(tables, 0, sizeof(*tables));
	tables->fd = fd;
	if (!swz_elf_copy_open(&tables->copy, fd)) {
		close(fd);
		tables->fd = -1;
		return false;
	}
	tables->elf = tables->copy.elf;
	copy_notes(tables);
	return true;
}

static void elf_tables_close(struct elf_tables *tables)
{
	if (tables->fd >= 0)
		close(tables->fd);
	tables->fd = -1;
	swz_elf_copy_close(&tables->copy);
}

/* --- files of code ------------------------------------------------------- */

struct range {
	uint64_t start, end;
	uint64_t function; /* the start of the one that it belongs to */
	const char *cold;  /* its name, if it is a part that was moved away */
	bool from_symbol;
	uint8_t rank; /* of two at one place the lower one is taken */
};

struct swz_code_private {
	struct elf_tables tables;
	bool indexed;
	struct range *ranges;
	size_t count, capacity;
	uint32_t *by_name; /* see index_names() */
	uint32_t by_name_mask;
	char **plt_names; /* that were asked for */
	size_t plt_name_count, plt_name_capacity;
};

static struct swz_code_file **files;
static size_t file_count, file_capacity;

/* ------------------------------------------------------------- opening */

static void read_segments(struct swz_code_file *file)
{
	const struct swz_elf *elf = &file->own->tables.elf;

	file->first = UINT64_MAX;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *s = &elf->segments[i];

		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_vaddr < file->first)
			file->first = s->p_vaddr;
		if (s->p_vaddr + s->p_memsz > file->past)
			file->past = s->p_vaddr + s->p_memsz;
	}
	if (file->first == UINT64_MAX)
		file->first = 0;
}

static void read_file(struct swz_code_file *file, int fd)
{
	struct swz_code_private *own = file->own;
	struct swz_bytes id;

	if (!elf_tables_open(&own->tables, fd))
		return;
	file->readable = true;
	read_segments(file);
	id = swz_elf_build_id(&own->tables.elf);
	if (id.size && id.size <= sizeof(file->build_id)) {
		memcpy(file->build_id, id.data, id.size);
		file->build_id_bytes = (uint32_t)id.size;
	}
}

#define MOST_NAME 256

/* False: it has none, or none that could be a file's. */
static bool read_soname(const struct elf_tables *tables, char name[MOST_NAME])
{
	const Elf64_Shdr *dynamic = swz_elf_section(&tables->elf, ".dynamic");
	Elf64_Dyn entries[64];
	uint64_t strings;
	ssize_t n;

	if (!dynamic || dynamic->sh_link >= tables->elf.section_count)
		return false;
	strings = tables->elf.sections[dynamic->sh_link].sh_offset;
	/* (it comes first, with DT_NEEDED) */
	n = pread(tables->fd, entries,
		  dynamic->sh_size < sizeof(entries) ? dynamic->sh_size
						     : sizeof(entries),
		  (off_t)dynamic->sh_offset);
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*entries); i++) {
		if (entries[i].d_tag != DT_SONAME)
			continue;
		n = pread(tables->fd, name, MOST_NAME,
			  (off_t)(strings + entries[i].d_un.d_val));
		return n > 0 && *name && memchr(name, 0, (size_t)n) &&
		       !strchr(name, '/');
	}
	return false;
}

/* Programs ask for a library by its SONAME, libz.so.1, and so it is called
 * where calls are counted. The kernel knows the file that this leads to,
 * libz.so.1.2.13. Of OPENED, the path by which it was opened, the folder is
 * that of the file. */
static char *path_by_soname(struct swz_code_file *file, const char *opened,
			    const struct stat *st)
{
	const char *slash = strrchr(file->path, '/');
	const char *other = strrchr(opened, '/');
	char name[MOST_NAME], *path;
	struct stat found;
	bool same;

	if (!file->readable || !slash || !other || strcmp(slash, other) != 0 ||
	    !read_soname(&file->own->tables, name))
		return NULL;
	path = swz_print("%.*s/%s", (int)(other - opened), opened, name);
	same = stat(path, &found) == 0 && found.st_dev == st->st_dev &&
	       found.st_ino == st->st_ino;
	free(path);
	return same ? swz_print("%.*s/%s", (int)(slash - file->path),
				file->path, name)
		    : NULL;
}

/* The vDSO of every process is the same as our own. */
static void read_vdso(struct swz_code_file *file)
{
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct swz_bytes bytes = {(const void *)header, 0};

	if (!header)
		return;
	bytes.size = header->e_shoff +
		     (size_t)header->e_shnum * header->e_shentsize;
	if (swz_elf_open(&file->own->tables.elf, bytes) != SWZ_OK)
		return;
	file->readable = true;
	read_segments(file);
}

struct swz_code_file *swz_code_file_of(const struct swz_mapped_file *mapped)
{
	size_t length = swz_mapped_path_length(mapped->path);
	struct swz_code_file *file;
	char *opened = NULL;
	struct stat st;
	int fd = -1;

	for (size_t i = 0; i < file_count; i++)
		if (files[i]->inode == mapped->inode &&
		    swz_mapped_path_length(files[i]->path) == length &&
		    memcmp(files[i]->path, mapped->path, length) == 0)
			return files[i];
	file = swz_allocate(1, sizeof(*file));
	file->own = swz_allocate(1, sizeof(*file->own));
	file->path = swz_duplicate(mapped->path);
	file->inode = mapped->inode;
	file->pid = mapped->pid;
	file->in_memory = strcmp(mapped->path, SWZ_VDSO) == 0;
	file->own->tables.fd = -1;
	if (!file->in_memory && mapped->path[0] == '/')
		fd = swz_mapped_file_open(mapped, &st, &opened);
	if (file->in_memory)
		read_vdso(file);
	else if (fd >= 0)
		read_file(file, fd);
	/* (a file may really have such a name) */
	if (!opened || !opened[swz_mapped_path_length(opened)])
		file->path[length] = '\0';
	if (opened)
		file->asked_for = path_by_soname(file, opened, &st);
	free(opened);
	swz_grow(&files, &file_capacity, file_count,
		 sizeof(struct swz_code_file *));
	files[file_count++] = file;
	return file;
}

bool swz_code_file_is_gone(const struct swz_code_file *file)
{
	struct stat st;

	return file->in_memory || stat(file->path, &st) != 0 ||
	       (file->inode && st.st_ino != file->inode);
}

void swz_code_files_close(void)
{
	for (size_t i = 0; i < file_count; i++) {
		struct swz_code_private *own = files[i]->own;

		elf_tables_close(&own->tables);
		free(own->ranges);
		free(own->by_name);
		for (size_t n = 0; n < own->plt_name_count; n++)
			free(own->plt_names[n]);
		free(own->plt_names);
		free(own);
		free(files[i]->asked_for);
		free(files[i]->path);
		free(files[i]);
	}
	free(files);
	files = NULL;
	file_count = file_capacity = 0;
}

bool swz_code_file_address(const struct swz_code_file *file, uint64_t offset,
			   uint64_t *address)
{
	return swz_elf_mapped_at(&file->own->tables.elf, offset, true, address);
}

/* ----------------------------------------------------------- functions */

static void add(struct swz_code_private *own, const struct range *range)
{
	swz_grow(&own->ranges, &own->capacity, own->count,
		 sizeof(*own->ranges));
	own->ranges[own->count++] = *range;
}

static bool is_cold(const char *name, size_t *length)
{
	const char *cold = strstr(name, ".cold");

	if (!cold || cold == name ||
	    cold[5 + strspn(cold + 5, ".0123456789")] != '\0')
		return false;
	*length = (size_t)(cold - name);
	return true;
}

/* Among those that have a size the first name of a place is as good as any. */
static void add_symbols(struct swz_code_private *own, uint32_t table)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	size_t length;

	if (!swz_elf_copy_symbols(&own->tables.elf, table, &it))
		return;
	while (swz_elf_symbols_next(&it, &symbol))
		if ((symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC) &&
		    symbol.section != SHN_UNDEF && symbol.value &&
		    symbol.value + symbol.size >= symbol.value)
			add(own, &(struct range){
					 .start = symbol.value,
					 .end = symbol.value + symbol.size,
					 .function = symbol.value,
					 .cold = is_cold(symbol.name, &length)
							 ? symbol.name
							 : NULL,
					 .from_symbol = true,
					 .rank = symbol.size ? 0 : 2});
}

/* By the section's name, or by the segment that leads to it. */
static struct swz_eh_frame find_frames(const struct swz_elf *elf)
{
	const Elf64_Shdr *section = swz_elf_section(elf, ".eh_frame");
	struct swz_eh_frame frames = {{NULL, 0}, 0};

	if (section) {
		frames.bytes = swz_elf_section_bytes(elf, section);
		frames.address = section->sh_addr;
	}
	for (size_t i = 0; i < elf->segment_count && !section; i++) {
		const Elf64_Phdr *s = &elf->segments[i];

		if (s->p_type == PT_GNU_EH_FRAME)
			frames = swz_eh_frame_by_header(
				elf,
				&(struct swz_eh_frame_header){
					swz_elf_bytes_from(elf, s->p_vaddr),
					s->p_vaddr});
	}
	return frames;
}

static void add_fdes(struct swz_code_private *own)
{
	struct swz_eh_frame frames = find_frames(&own->tables.elf);
	struct swz_fde_iterator it;
	struct swz_fde fde;

	swz_fde_begin(&it, &frames);
	while (swz_fde_next(&it, &fde))
		if (fde.start + fde.size > fde.start)
			add(own, &(struct range){.start = fde.start,
						 .end = fde.start + fde.size,
						 .function = fde.start,
						 .rank = 1});
}

/* An entry of the PLT is a function, as if it had a symbol; the section's head
 * is one without. */
static void add_plt(struct swz_code_private *own)
{
	struct swz_plt plt;
	struct swz_plt_entry entry;

	swz_plt_begin(&plt, &own->tables.elf);
	while (swz_plt_next(&plt, &entry))
		add(own, &(struct range){.start = entry.start,
					 .end = entry.end,
					 .function = entry.start,
					 .from_symbol = entry.slot,
					 .rank = entry.slot ? 0 : 1});
}

static int by_place(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank - b->rank;
	return a->end < b->end ? 1 : a->end > b->end ? -1 : 0;
}

/* Leaves of what overlaps the part that comes first; a symbol without a size
 * reaches to the next one. */
static void part_overlaps(struct swz_code_private *own)
{
	struct range *r = own->ranges;
	size_t kept = 0;

	for (size_t i = 0; i < own->count; i++) {
		struct range *last = kept ? &r[kept - 1] : NULL;

		if (last && last->end == last->start &&
		    r[i].start > last->start && last->rank == 2)
			last->end = r[i].start;
		if (last && r[i].start == last->start) {
			/* an FDE gives a symbol without a size its end */
			if (last->end == last->start)
				last->end = r[i].end;
			continue;
		}
		if (last && r[i].start < last->end) {
			/* within a symbol: an FDE of a part of it, or a symbol
			 * of its own, which begins there */
			if (!r[i].from_symbol)
				continue;
			last->end = r[i].start;
		}
		r[kept++] = r[i];
	}
	own->count = kept;
}

static struct range *range_at(struct swz_code_private *own, uint64_t address,
			      size_t *after)
{
	size_t low;

	SWZ_PARTITION(low, own->count, own->ranges[low].start <= address);
	*after = low;
	if (!low || address >= own->ranges[low - 1].end)
		return NULL;
	return &own->ranges[low - 1];
}

/* The lower one of two names of one place is taken: as swizzle-dump does, since
 * people say malloc, not __libc_malloc; of the vdso's the one that is not that
 * of libc's function. */
static int name_rank(const struct swz_code_file *file,
		     const struct swz_elf_symbol *symbol)
{
	int rank = symbol->binding == STB_LOCAL ? 2 : 0;

	if (file->in_memory)
		return symbol->binding != STB_GLOBAL;
	return (rank * 4 + (int)strspn(symbol->name, "_")) * 2 +
	       (symbol->binding == STB_WEAK);
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* An address of the PLT has the name of the symbol that its slot is for. */
static void name_plt(const struct swz_code_file *file,
		     const uint64_t *addresses, const char **names,
		     size_t count)
{
	struct swz_code_private *own = file->own;
	struct swz_plt_names symbols;
	struct swz_plt_entry entry;
	struct swz_plt plt;

	swz_plt_names_open(&symbols, &own->tables.elf);
	swz_plt_begin(&plt, &own->tables.elf);
	while (swz_plt_next(&plt, &entry)) {
		const uint64_t *at = bsearch(&entry.start, addresses, count,
					     sizeof(*addresses), by_address);
		uint64_t resolver;
		const char *name = swz_plt_name(&symbols, entry.slot,
						&resolver);

		if (!at || !name)
			continue;
		swz_grow(&own->plt_names, &own->plt_name_capacity,
			 own->plt_name_count, sizeof(*own->plt_names));
		names[at - addresses] = own->plt_names[own->plt_name_count++] =
			swz_print("%s" SWZ_PLT_SUFFIX, name);
	}
}

void swz_code_file_names(const struct swz_code_file *file,
			 const uint64_t *addresses, const char **names,
			 size_t count)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
	int *ranks = swz_allocate(count, sizeof(*ranks));
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	memset(names, 0, count * sizeof(*names));
	for (size_t i = 0; i < 2 && file->readable; i++) {
		if (!swz_elf_copy_symbols(&file->own->tables.elf, tables[i],
					  &it))
			continue;
		while (swz_elf_symbols_next(&it, &symbol)) {
			const uint64_t *at;
			size_t n;

			if ((symbol.type != STT_FUNC &&
			     symbol.type != STT_GNU_IFUNC) ||
			    symbol.section == SHN_UNDEF || !symbol.name[0])
				continue;
			at = bsearch(&symbol.value, addresses, count,
				     sizeof(*addresses), by_address);
			n = at ? (size_t)(at - addresses) : 0;
			if (!at ||
			    (names[n] && name_rank(file, &symbol) >= ranks[n]))
				continue;
			names[n] = symbol.name;
			ranks[n] = name_rank(file, &symbol);
		}
	}
	if (file->readable)
		name_plt(file, addresses, names, count);
	free(ranks);
}

/* The function that a cold part is of: the only one that is called so. */
static void join_cold(struct swz_code_private *own, struct range *part)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;
	const char *name = part->cold;
	uint64_t found = 0;
	size_t length;

	part->cold = NULL;
	if (!is_cold(name, &length) ||
	    swz_elf_symbols_open(&it, &own->tables.elf, SHT_SYMTAB) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &symbol)) {
		if (symbol.type != STT_FUNC || !symbol.value ||
		    strncmp(symbol.name, name, length) != 0 ||
		    symbol.name[length])
			continue;
		if (found && found != symbol.value)
			return; /* static functions of one name */
		found = symbol.value;
	}
	if (found)
		part->function = found;
}

#define OF_SYMTAB 0x80000000u

static const uint32_t symbol_tables[] = {SHT_DYNSYM, SHT_SYMTAB};

/* The symbol of that number, from 1, with OF_SYMTAB. */
static bool symbol_at(const struct swz_code_private *own, uint32_t number,
		      struct swz_elf_symbol *symbol)
{
	struct swz_elf_symbols it;

	if (!swz_elf_copy_symbols(&own->tables.elf,
				  symbol_tables[number / OF_SYMTAB], &it))
		return false;
	it.next = number % OF_SYMTAB - 1;
	return swz_elf_symbols_next(&it, symbol);
}

/* Returns the place of NAME in by_name, or the empty one where it would be. */
static uint32_t *find_name(const struct swz_code_private *own, const char *name,
			   struct swz_elf_symbol *symbol)
{
	struct swz_bytes bytes = {(const uint8_t *)name, strlen(name)};
	uint32_t at = (uint32_t)swz_hash((uint64_t)getpid(), bytes);

	while (own->by_name[at &= own->by_name_mask] &&
	       (!symbol_at(own, own->by_name[at], symbol) ||
		strcmp(symbol->name, name) != 0))
		at++;
	return &own->by_name[at];
}

/* Makes by_name: the numbers of defined symbols by the hash of their names, 0
 * where there is none. Of one name the first is taken, .dynsym's before
 * .symtab's. Some sixty names are looked for in each file of a process, and
 * node has 180,000. */
static void index_names(struct swz_code_private *own)
{
	const struct swz_elf *elf = &own->tables.elf;
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol, other;
	size_t count = 0, slots = 1;

	for (unsigned table = 0; table < 2; table++)
		if (swz_elf_copy_symbols(elf, symbol_tables[table], &it))
			count += it.count;
	while (slots < count + count / 2 + 1)
		slots *= 2;
	own->by_name = swz_allocate(slots, sizeof(*own->by_name));
	own->by_name_mask = (uint32_t)slots - 1;
	for (unsigned table = 0; table < 2; table++) {
		if (!swz_elf_copy_symbols(elf, symbol_tables[table], &it) ||
		    it.count >= OF_SYMTAB)
			continue;
		while (swz_elf_symbols_next(&it, &symbol)) {
			uint32_t *at;

			if (symbol.section == SHN_UNDEF)
				continue;
			at = find_name(own, symbol.name, &other);
			if (!*at)
				*at = (uint32_t)it.next | table * OF_SYMTAB;
		}
	}
}

bool swz_code_file_symbol(const struct swz_code_file *file, const char *name,
			  uint64_t *address)
{
	struct swz_elf_symbol symbol;

	if (!file->readable)
		return false;
	elf_tables_copy(&file->own->tables);
	if (!file->own->by_name)
		index_names(file->own);
	if (!*find_name(file->own, name, &symbol))
		return false;
	*address = symbol.value;
	return true;
}

bool swz_code_file_bytes(const struct swz_code_file *file, uint64_t address,
			 void *into, size_t size)
{
	struct swz_bytes bytes = {0};
	bool good = false;
	struct stat st;
	char *opened;
	int fd;

	if (file->readable && !file->in_memory)
		bytes = swz_elf_bytes_at(&file->own->tables.elf, address, size);
	if (!size || bytes.size != size)
		return false;
	fd = swz_mapped_file_open(
		&(struct swz_mapped_file){.pid = file->pid,
					  .inode = file->inode,
					  .path = file->path},
		&st, &opened);
	free(opened);
	if (fd >= 0) {
		good = pread(fd, into, size,
			     bytes.data - file->own->tables.elf.file.data) ==
		       (ssize_t)size;
		close(fd);
	}
	return good;
}

bool swz_code_file_needs(const struct swz_code_file *file, const char *library)
{
	const struct swz_elf *elf = &file->own->tables.elf;
	struct swz_bytes table, names;
	const Elf64_Shdr *dynamic;
	Elf64_Dyn entry;

	if (!file->readable)
		return false;
	elf_tables_copy(&file->own->tables);
	dynamic = swz_elf_section(elf, ".dynamic");
	if (!dynamic || dynamic->sh_link >= elf->section_count)
		return false;
	table = swz_elf_section_bytes(elf, dynamic);
	names = swz_elf_section_bytes(elf, &elf->sections[dynamic->sh_link]);
	for (size_t at = 0; table.size - at >= sizeof(entry);
	     at += sizeof(entry)) {
		memcpy(&entry, table.data + at, sizeof(entry));
		if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < names.size &&
		    names.size - entry.d_un.d_val > strlen(library) &&
		    memcmp(names.data + entry.d_un.d_val, library,
			   strlen(library)) == 0)
			return true;
	}
	return false;
}

static void index_file(struct swz_code_file *file)
{
	struct swz_code_private *own = file->own;

	own->indexed = true;
	if (!file->readable)
		return;
	elf_tables_copy(&own->tables);
	add_symbols(own, SHT_SYMTAB);
	add_symbols(own, SHT_DYNSYM);
	add_fdes(own);
	add_plt(own);
	qsort(own->ranges, own->count, sizeof(*own->ranges), by_place);
	part_overlaps(own);
}

struct swz_code_function swz_code_file_function(struct swz_code_file *file,
						uint64_t address)
{
	struct swz_code_private *own = file->own;
	struct swz_code_function function = {0};
	struct range *range;
	size_t after;

	if (!own->indexed)
		index_file(file);
	range = range_at(own, address, &after);
	if (range && range->cold)
		join_cold(own, range);
	if (range && range->function != range->start) {
		address = range->function;
		range = range_at(own, address, &after);
	}
	if (range) {
		function.start = range->start;
		function.size = range->end - range->start;
		function.from_symbol = range->from_symbol;
		return function;
	}
	function.start = after ? own->ranges[after - 1].end : file->first;
	if (function.start > address)
		function.start = address;
	if (after < own->count)
		function.size = own->ranges[after].start - function.start;
	return function;
}

struct swz_code_file *swz_code_file_of_program(const char *path)
{
	struct swz_mapped_file mapped = {.path = path};
	struct swz_code_file *file;
	struct stat st;

	if (stat(path, &st) == 0)
		mapped.inode = st.st_ino;
	file = swz_code_file_of(&mapped);
	if (!file->own->indexed)
		index_file(file);
	return file;
}
