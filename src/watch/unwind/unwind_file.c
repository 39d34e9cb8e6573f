/* A file's .eh_frame and .eh_frame_hdr are copied when it is first asked for;
 * rows are made from them, one for each pc that a stack has led to. Such pcs
 * come again and again: a pc that is known costs one look into a hash table.
 *
 * Where the linker made no table of FDEs (.eh_frame_hdr), one is made here in
 * its form. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "image/eh_frame.h"
#include "util/memory.h"
#include "watch/unwind/unwind_row.h"
#include "watch/unwind/unwinder.h"

/* --- files --------------------------------------------------------------- */

enum { HEADER_BYTES = 12, PAIR_BYTES = 8, VDSO_MOST = 1 << 16 };

/* Most bytes of files that nobody uses. */
#define KEPT_BYTES ((size_t)64 << 20)

static struct swz_unwind_file *files;

/* ----------------------------------------------------------------- opening */

/* A regular file only: opening another kind could block, or do something. */
static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* ----------------------------------------------------------------- entries */

/* The part of the file where a segment has its bytes; with FD, copies it. */
static struct swz_bytes part(struct swz_unwind_file *file, int fd,
			     uint64_t offset, uint64_t size)
{
	struct swz_bytes none = {NULL, 0};
	struct swz_bytes bytes = file->elf.file;

	if (offset > bytes.size || size > bytes.size - offset ||
	    (fd >= 0 && !swz_elf_copy_read(&file->copy, fd, offset, size)))
		return none;
	bytes.data += offset;
	bytes.size = (size_t)size;
	return bytes;
}

static void find_header(struct swz_unwind_file *file, int fd)
{
	size_t i;

	for (i = 0; i < file->elf.segment_count; i++) {
		const Elf64_Phdr *segment = &file->elf.segments[i];

		if (segment->p_type != PT_GNU_EH_FRAME)
			continue;
		file->header.bytes = part(file, fd, segment->p_offset,
					  segment->p_filesz);
		file->header.address = segment->p_vaddr;
	}
}

static void find_section(struct swz_unwind_file *file, int fd)
{
	const Elf64_Shdr *named = swz_elf_section(&file->elf, ".eh_frame");
	struct swz_eh_frame by_header;

	if (named && named->sh_type != SHT_NOBITS) {
		file->section.bytes = part(file, fd, named->sh_offset,
					   named->sh_size);
		file->section.address = named->sh_addr;
		return;
	}
	by_header = swz_eh_frame_by_header(&file->elf, &file->header);
	if (!by_header.bytes.size)
		return;
	file->section.bytes = part(
		file, fd,
		(uint64_t)(by_header.bytes.data - file->elf.file.data),
		by_header.bytes.size);
	file->section.address = by_header.address;
}

struct pair {
	int32_t function, fde; /* distances from the section's begin */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	return (left->function > right->function) -
	       (left->function < right->function);
}

/* The distance, if it fits. */
static bool distance(uint64_t from, uint64_t to, int32_t *value)
{
	int64_t bytes = (int64_t)(to - from);

	*value = (int32_t)bytes;
	return bytes == *value;
}

static void make_header(struct swz_unwind_file *file)
{
	const uint8_t form[] = {1, SWZ_EH_PE_PCREL | SWZ_EH_PE_SDATA4,
				SWZ_EH_PE_UDATA4,
				SWZ_EH_PE_DATAREL | SWZ_EH_PE_SDATA4};
	size_t most = swz_fde_most(&file->section);
	struct swz_fde_iterator it;
	struct swz_fde fde;
	struct pair *pairs;
	uint32_t count = 0;
	size_t at = 0;

	if (!most || most > UINT32_MAX)
		return;
	file->own_header = swz_allocate(HEADER_BYTES + most * PAIR_BYTES, 1);
	pairs = (struct pair *)(void *)(file->own_header + HEADER_BYTES);
	swz_fde_begin(&it, &file->section);
	while (swz_fde_next(&it, &fde)) {
		struct pair pair;

		/* the FDE's own place is before where the iterator stands; an
		 * entry in between that was skipped is skipped again */
		if (distance(file->section.address, fde.start,
			     &pair.function) &&
		    distance(0, at, &pair.fde))
			pairs[count++] = pair;
		at = it.offset;
	}
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	memcpy(file->own_header, form, sizeof(form));
	memcpy(file->own_header + HEADER_BYTES - sizeof(count), &count,
	       sizeof(count));
	file->header.bytes = (struct swz_bytes){
		file->own_header, HEADER_BYTES + count * PAIR_BYTES};
	file->header.address = file->section.address;
}

static void find_entries(struct swz_unwind_file *file, int fd)
{
	find_header(file, fd);
	find_section(file, fd);
	if (!swz_eh_frame_header_lists(&file->header))
		make_header(file);
}

/* ------------------------------------------------------------------- files */

static void free_file(struct swz_unwind_file *file)
{
	swz_unwind_row_table_free(&file->rows);
	swz_elf_copy_close(&file->copy);
	free(file->own_header);
	free(file->path);
	free(file);
}

static void trim(size_t kept)
{
	struct swz_unwind_file **at = &files;

	while (*at) {
		struct swz_unwind_file *file = *at;
		size_t bytes = file->copy.copied +
			       file->rows.count * sizeof(*file->rows.rows);

		if (file->users || bytes <= kept) {
			if (!file->users)
				kept -= bytes;
			at = &file->next;
		} else {
			*at = file->next;
			free_file(file);
		}
	}
}

void swz_unwind_files_trim(void)
{
	trim(0);
}

static struct swz_unwind_file *find(const struct stat *identity)
{
	struct swz_unwind_file *file;

	for (file = files; file; file = file->next)
		if (file->path && is_same(&file->identity, identity))
			return file;
	return NULL;
}

struct swz_unwind_file *swz_unwind_file_of(const struct swz_mapped_file *mapped)
{
	struct swz_unwind_file *file;
	struct stat identity;
	char *opened;
	int fd = swz_mapped_file_open(mapped, &identity, &opened);

	if (fd < 0)
		return NULL;
	file = find(&identity);
	if (file) {
		free(opened);
	} else {
		file = swz_allocate(1, sizeof(*file));
		file->path = opened;
		file->identity = identity;
		if (!swz_elf_copy_open(&file->copy, fd)) {
			free_file(file);
			close(fd);
			return NULL;
		}
		file->elf = file->copy.elf;
		find_entries(file, fd);
		file->next = files;
		files = file;
	}
	close(fd);
	file->users++;
	return file;
}

struct swz_unwind_file *swz_unwind_vdso(void)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct swz_unwind_file *file;
	struct swz_elf elf;
	size_t size = 0, i;

	for (file = files; file; file = file->next) {
		if (file->path)
			continue;
		file->users++;
		return file;
	}
	/* one page has the header; the whole is what the segments reach */
	if (!image ||
	    swz_elf_open(&elf, (struct swz_bytes){image, 4096}) != SWZ_OK)
		return NULL;
	for (i = 0; i < elf.segment_count; i++) {
		uint64_t end = elf.segments[i].p_offset +
			       elf.segments[i].p_filesz;

		if (elf.segments[i].p_type == PT_LOAD && end > size)
			size = (size_t)end;
	}
	if (size > VDSO_MOST ||
	    swz_elf_open(&elf, (struct swz_bytes){image, size}) != SWZ_OK)
		return NULL;
	file = swz_allocate(1, sizeof(*file));
	file->elf = elf;
	find_entries(file, -1);
	file->next = files;
	files = file;
	file->users++;
	return file;
}

void swz_unwind_file_release(struct swz_unwind_file *file)
{
	if (file && !--file->users)
		trim(KEPT_BYTES);
}

/* --------------------------------------------------------------- questions */

bool swz_unwind_file_fde(const struct swz_unwind_file *file, uint64_t pc,
			 struct swz_fde *fde)
{
	return file->section.bytes.size &&
	       swz_eh_frame_header_lists(&file->header) &&
	       swz_fde_at(&file->section, &file->header, pc, fde);
}

bool swz_unwind_file_code(const struct swz_unwind_file *file, uint64_t address,
			  void *into, size_t size)
{
	struct swz_bytes bytes = swz_elf_bytes_at(&file->elf, address, size);
	struct stat now;
	ssize_t got;
	int fd;

	if (!bytes.size)
		return false;
	if (!file->path) {
		memcpy(into, bytes.data, size);
		return true;
	}
	fd = open_regular(file->path, &now);
	if (fd < 0)
		return false;
	got = is_same(&now, &file->identity)
		      ? pread(fd, into, size,
			      (off_t)(bytes.data - file->elf.file.data))
		      : -1;
	close(fd);
	return got == (ssize_t)size;
}

/* The row of code that no entry describes. */
static struct swz_unwind_row row_by_code(const struct swz_unwind_file *file,
					 uint64_t pc, bool called)
{
	uint8_t bytes[SWZ_CODE_BEFORE + SWZ_CODE_BYTES];
	uint64_t address = pc + called - SWZ_CODE_BEFORE;
	struct swz_unwind_row row = {.kind = SWZ_ROW_NONE};

	/* what ends with its segment is looked at as far as it goes */
	memset(bytes, 0, sizeof(bytes));
	if (!swz_unwind_file_code(file, address, bytes, sizeof(bytes)) &&
	    !swz_unwind_file_code(file, address, bytes, SWZ_CODE_BEFORE + 16))
		return row;
	if (swz_is_signal_return(bytes + SWZ_CODE_BEFORE))
		row.kind = SWZ_ROW_SIGNAL;
	else
		row = swz_code_row(bytes + SWZ_CODE_BEFORE, SWZ_CODE_BYTES,
				   called);
	return row;
}

static bool leaves_stack(const struct swz_unwind_file *file, uint64_t address)
{
	uint8_t code[3];

	return swz_unwind_file_code(file, address, code, sizeof(code)) &&
	       swz_code_leaves_stack(code, sizeof(code));
}

/* rsp is as at the function's begin, and rbp the caller's. */
static bool is_without_frame(const struct swz_unwind_row *row)
{
	return row->kind == SWZ_ROW_RSP && row->cfa_offset == 8 &&
	       row->rbp == SWZ_ROW_RBP_SAME;
}

/* A return address that begins a function and follows no call: whoever made the
 * stack has put it there (makecontext() puts glibc's __start_context). The row
 * before it is of padding, or of another function. */
static bool is_entry(const struct swz_unwind_file *file, uint64_t address,
		     struct swz_unwind_row *row)
{
	uint8_t before[SWZ_CALL_BYTES];
	struct swz_fde fde;

	if (!swz_unwind_file_fde(file, address, &fde) || fde.start != address ||
	    (swz_unwind_file_code(file, address - sizeof(before), before,
				  sizeof(before)) &&
	     swz_code_ends_with_call(before + sizeof(before), sizeof(before))))
		return false;
	*row = swz_unwind_row_of(&fde, address);
	if (!is_without_frame(row))
		return false;
	row->kind = SWZ_ROW_ENTRY;
	if (leaves_stack(file, address))
		row->cfa_offset = 0;
	return true;
}

static struct swz_unwind_row find_row(const struct swz_unwind_file *file,
				      uint64_t pc, bool called)
{
	struct swz_unwind_row row;
	struct swz_fde fde;

	if (called && is_entry(file, pc + 1, &row))
		return row;
	if (!swz_unwind_file_fde(file, pc, &fde))
		return row_by_code(file, pc, called);
	row = swz_unwind_row_of(&fde, pc);
	/* No compiled function calls without a frame: the stack would not be
	 * aligned (SysV ABI, 3.2.2). */
	if (called && is_without_frame(&row) && leaves_stack(file, fde.start))
		row.kind = SWZ_ROW_ROOT;
	return row;
}

const struct swz_unwind_row *swz_unwind_file_new_row(
	struct swz_unwind_file *file, uint64_t pc, bool called)
{
	return swz_unwind_row_add(&file->rows, pc, find_row(file, pc, called));
}

/* --- mappings of them ---------------------------------------------------- */

static void drop(struct swz_source *source)
{
	if (--source->users)
		return;
	swz_unwind_file_release(source->file);
	free(source->path);
	free(source);
}

static struct swz_source *source_of(const struct swz_unwinder_mapping *mapping)
{
	struct swz_source *source = swz_allocate(1, sizeof(*source));
	const char *path = mapping->path;

	source->users = 1;
	source->pid = mapping->pid;
	source->inode = mapping->inode;
	source->start = mapping->start;
	source->end = mapping->end;
	if (strcmp(path, "[vdso]") == 0 || (path[0] == '/' && path[1] != '/'))
		source->path = swz_duplicate(path);
	return source;
}

/* The first that ends behind the address. */
static size_t first_behind(const struct swz_mappings *mappings,
			   uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, mappings->count, mappings->list[low].end <= address);
	return low;
}

static void insert(struct swz_mappings *mappings, size_t at,
		   struct swz_mapping mapping)
{
	swz_grow(&mappings->list, &mappings->capacity, mappings->count,
		 sizeof(*mappings->list));
	memmove(mappings->list + at + 1, mappings->list + at,
		(mappings->count - at) * sizeof(*mappings->list));
	mappings->list[at] = mapping;
	mappings->count++;
}

static void cut_front(struct swz_mapping *mapping, uint64_t start)
{
	mapping->offset += start - mapping->start;
	mapping->start = start;
}

void swz_mappings_remove(struct swz_mappings *mappings, uint64_t start,
			 uint64_t end)
{
	size_t first = first_behind(mappings, start), last;
	struct swz_mapping *list = mappings->list;

	if (end <= start || first == mappings->count ||
	    list[first].start >= end)
		return;
	if (list[first].start < start) {
		if (list[first].end > end) {
			struct swz_mapping behind = list[first];

			list[first].end = start;
			cut_front(&behind, end);
			behind.source->users++;
			insert(mappings, first + 1, behind);
			return;
		}
		list[first++].end = start;
	}
	for (last = first; last < mappings->count && list[last].end <= end;
	     last++)
		drop(list[last].source);
	if (last < mappings->count && list[last].start < end)
		cut_front(&list[last], end);
	memmove(list + first, list + last,
		(mappings->count - last) * sizeof(*list));
	mappings->count -= last - first;
}

void swz_mappings_put(struct swz_mappings *mappings,
		      const struct swz_unwinder_mapping *mapping)
{
	struct swz_mapping put = {.start = mapping->start,
				  .end = mapping->end,
				  .offset = mapping->offset};

	if (put.end <= put.start)
		return;
	swz_mappings_remove(mappings, put.start, put.end);
	put.source = source_of(mapping);
	insert(mappings, first_behind(mappings, put.start), put);
}

void swz_mappings_clear(struct swz_mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		drop(mappings->list[i].source);
	free(mappings->list);
	*mappings = (struct swz_mappings){0};
}

void swz_mappings_copy(struct swz_mappings *to, const struct swz_mappings *from)
{
	size_t i;

	swz_mappings_clear(to);
	if (!from->count)
		return;
	to->list = swz_allocate(from->count, sizeof(*to->list));
	to->count = to->capacity = from->count;
	memcpy(to->list, from->list, from->count * sizeof(*to->list));
	for (i = 0; i < to->count; i++)
		to->list[i].source->users++;
}

/* ----------------------------------------------------------------- look-up */

static void open_source(struct swz_source *source)
{
	source->opened = true;
	if (source->path && source->path[0] == '/')
		source->file = swz_unwind_file_of(
			&(struct swz_mapped_file){.pid = source->pid,
						  .inode = source->inode,
						  .path = source->path,
						  .start = source->start,
						  .end = source->end});
	else if (source->path)
		source->file = swz_unwind_vdso();
}

static void find_file(struct swz_mapping *mapping)
{
	struct swz_source *source = mapping->source;
	uint64_t address;

	if (!source->opened)
		open_source(source);
	mapping->known = true;
	if (source->file &&
	    swz_elf_mapped_at(&source->file->elf, mapping->offset, true,
			      &address)) {
		mapping->file = source->file;
		mapping->bias = mapping->start - address;
	}
}

struct swz_mapping *swz_mappings_at(struct swz_mappings *mappings,
				    uint64_t address)
{
	size_t i = first_behind(mappings, address);
	struct swz_mapping *mapping = &mappings->list[i];

	if (i == mappings->count || mapping->start > address)
		return NULL;
	if (!mapping->known)
		find_file(mapping);
	return mapping;
}
