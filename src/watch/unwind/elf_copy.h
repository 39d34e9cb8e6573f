#ifndef SWZ_WATCH_UNWIND_ELF_COPY_H
#define SWZ_WATCH_UNWIND_ELF_COPY_H

/* Parts of an ELF file in memory of our own, each at its place in the file, so
 * that a view of the file serves. A mapped file that is cut by somebody kills
 * who looks at it; a copy does not. What was not read is zeros that cost
 * nothing. */

#include <stdbool.h>
#include <sys/stat.h>

#include "image/elf_view.h"

/* A file that a process has mapped. */
struct swz_mapped_file {
	int32_t pid;         /* 0: of this process's files */
	uint64_t inode;      /* 0: not known */
	const char *path;    /* as the process names it, or /proc/PID/maps */
	uint64_t start, end; /* of one of its mappings; 0: not known */
};

/* The length of the path without the kernel's " (deleted)". */
size_t swz_mapped_path_length(const char *path);

/* Opens the file: by its path as the process sees it, or as this one does; or,
 * where it was removed or replaced, by /proc/PID/exe or /proc/PID/map_files. A
 * file that the kernel does not give (map_files needs CAP_CHECKPOINT_RESTORE)
 * is made of the process's memory: it has no table of sections. Regular files
 * only: opening another kind could block. *OPENED becomes the path that led to
 * it, to be freed. -1: it cannot be opened. */
int swz_mapped_file_open(const struct swz_mapped_file *file, struct stat *st,
			 char **opened);

struct swz_elf_copy {
	struct swz_elf elf;
	uint8_t *bytes; /* as many as the file has */
	size_t size;
	size_t copied; /* bytes that were read */
};

/* Reads the file's header and the tables of segments and sections. False: it is
 * no ELF file of x86-64, or cannot be read. The descriptor stays the caller's.
 */
bool swz_elf_copy_open(struct swz_elf_copy *copy, int fd) SWZ_MUST_CHECK;

/* Reads one more part; false: the file does not have all of it. */
bool swz_elf_copy_read(struct swz_elf_copy *copy, int fd, uint64_t offset,
		       uint64_t size) SWZ_MUST_CHECK;

/* Reads all that is mapped and not written to, and the dynamic section. */
void swz_elf_copy_segments(struct swz_elf_copy *copy, int fd);

/* Opens SHT_SYMTAB or SHT_DYNSYM of a file with or without a table of sections.
 */
bool swz_elf_copy_symbols(const struct swz_elf *elf, uint32_t table,
			  struct swz_elf_symbols *it) SWZ_MUST_CHECK;

void swz_elf_copy_close(struct swz_elf_copy *copy);

#endif
