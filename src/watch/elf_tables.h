#ifndef SWZ_WATCH_ELF_TABLES_H
#define SWZ_WATCH_ELF_TABLES_H

/* Of an ELF file what tells functions and libraries, copied when it is first
 * asked for. Never mapped: whoever looks at a mapped file that somebody cuts
 * off gets SIGBUS. What the file does not have any more is zeros. */

#include <stdbool.h>

#include "image/elf_view.h"
#include "watch/unwind/elf_copy.h"

struct swz_elf_tables {
	struct swz_elf elf; /* a view of the copy */
	struct swz_elf_copy copy;
	int fd; /* what is missing in the copy is read from it; -1: nothing */
};

/* Copies the header, segments, the table of sections, and notes. Takes over FD.
 * False: it is no ELF file for x86-64, and FD is closed. */
bool swz_elf_tables_open(struct swz_elf_tables *tables, int fd);

/* Copies, once, symbols, .dynamic and .eh_frame, and closes the file. */
void swz_elf_tables_copy(struct swz_elf_tables *tables);

void swz_elf_tables_close(struct swz_elf_tables *tables);

#endif
