/* A file's .eh_frame and .eh_frame_hdr are copied when it is first asked for;
 * rows are made from them, one for each pc that a stack has led to. Such pcs
 * come again and again: a pc that is known costs one look into a hash table.
 *
 * Where the linker made no table of FDEs (.eh_frame_hdr), one is made here in
 * its form. */

#include "watch/unwind/unwind_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "image/cursor.h"
#include "image/eh_pointer.h"
#include "profile/support/memory.h"
#include "watch/unwind/code_step.h"
#include "watch/unwind/signal_frame.h"

enum { HEADER_BYTES = 12, PAIR_BYTES = 8, VDSO_MOST = 1 << 16 };

/* Of files that nobody uses, so much is kept. */
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

static int open_in(int32_t pid, const char *path, uint64_t inode,
		   struct stat *st, char **opened)
{
	char *names[2] = {NULL, swz_duplicate(path)};
	int fd = -1, i;

	if (pid)
		names[0] = swz_print("/proc/%d/root%s", (int)pid, path);
	*opened = NULL;
	for (i = 0; i < 2 && fd < 0; i++) {
		if (!names[i])
			continue;
		fd = open_regular(names[i], st);
		if (fd >= 0 && inode && st->st_ino != inode) {
			close(fd);
			fd = -1;
		}
		if (fd >= 0) {
			*opened = names[i];
			names[i] = NULL;
		}
	}
	free(names[0]);
	free(names[1]);
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

/* Where the header says that .eh_frame begins: up to the end of its segment. */
static bool section_by_header(const struct swz_unwind_file *file,
			      uint64_t *address, uint64_t *offset,
			      uint64_t *size)
{
	struct swz_cursor cursor = swz_cursor(file->header.bytes);
	struct swz_bytes bytes;
	uint8_t encoding;

	swz_cursor_skip(&cursor, 1);
	encoding = swz_cursor_u8(&cursor);
	swz_cursor_skip(&cursor, 2);
	*address = swz_eh_read_pointer(&cursor, encoding, file->header.address);
	if (cursor.failed)
		return false;
	bytes = swz_elf_bytes_from(&file->elf, *address);
	if (!bytes.size)
		return false;
	*offset = (uint64_t)(bytes.data - file->elf.file.data);
	*size = bytes.size;
	return true;
}

static void find_section(struct swz_unwind_file *file, int fd)
{
	const Elf64_Shdr *named = swz_elf_section(&file->elf, ".eh_frame");
	uint64_t address, offset, size;

	if (named && named->sh_type != SHT_NOBITS) {
		address = named->sh_addr;
		offset = named->sh_offset;
		size = named->sh_size;
	} else if (!section_by_header(file, &address, &offset, &size)) {
		return;
	}
	file->section.bytes = part(file, fd, offset, size);
	file->section.address = address;
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

struct swz_unwind_file *swz_unwind_file_of(int32_t pid, const char *path,
					   uint64_t inode)
{
	struct swz_unwind_file *file;
	struct stat identity;
	char *opened;
	int fd = open_in(pid, path, inode, &identity, &opened);

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

bool swz_unwind_file_address(const struct swz_unwind_file *file,
			     uint64_t offset, uint64_t *address)
{
	size_t i;

	for (i = 0; i < file->elf.segment_count; i++) {
		const Elf64_Phdr *segment = &file->elf.segments[i];
		/* whole pages are mapped */
		uint64_t before = segment->p_offset & 4095;
		uint64_t into = offset - (segment->p_offset - before);

		if (segment->p_type != PT_LOAD || !segment->p_filesz ||
		    into >= segment->p_filesz + before)
			continue;
		*address = segment->p_vaddr - before + into;
		return true;
	}
	return false;
}

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

/* Of code that no entry describes. */
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

const struct swz_unwind_row *swz_unwind_file_new_row(
	struct swz_unwind_file *file, uint64_t pc, bool called)
{
	struct swz_fde fde;

	return swz_unwind_row_add(&file->rows, pc,
				  swz_unwind_file_fde(file, pc, &fde)
					  ? swz_unwind_row_of(&fde, pc)
					  : row_by_code(file, pc, called));
}
