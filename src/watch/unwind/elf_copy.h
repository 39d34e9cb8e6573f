#ifndef SWZ_WATCH_UNWIND_ELF_COPY_H
#define SWZ_WATCH_UNWIND_ELF_COPY_H

/* Parts of an ELF file in memory of our own, each at its place in the file, so
 * that a view of the file serves. A mapped file that is cut by somebody kills
 * who looks at it; a copy does not. What was not read is zeros that cost
 * nothing. */

#include <stdbool.h>

#include "image/elf_view.h"

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

void swz_elf_copy_close(struct swz_elf_copy *copy);

#endif
