#ifndef SWZ_WATCH_UNWIND_UNWIND_FILE_H
#define SWZ_WATCH_UNWIND_UNWIND_FILE_H

/* The unwind entries of a file that code was mapped of. Files are kept by what
 * they are, not by name, and shared by all who ask; one that nobody uses any
 * more stays for a while, as the next process mostly maps it again. */

#include <sys/stat.h>

#include "watch/unwind/elf_copy.h"
#include "watch/unwind/unwind_row.h"
#include "watch/unwind/unwinder.h"

struct swz_unwind_file {
	struct swz_unwind_row_table rows; /* of the pcs that were asked for */
	/* the rest is its own */
	struct swz_unwind_file *next;
	unsigned users;
	char *path; /* one that it was opened by; NULL: the vdso */
	struct stat identity;
	struct swz_elf_copy copy;
	struct swz_elf elf;
	struct swz_eh_frame section;
	struct swz_eh_frame_header header;
	uint8_t *own_header; /* made here, where the file has none */
};

/* The file at this path of the process (0: of this one). INODE 0: not known.
 * NULL: it is not there any more, or no ELF file. */
struct swz_unwind_file *swz_unwind_file_of(int32_t pid, const char *path,
					   uint64_t inode);
/* The code that the kernel maps into every process; or NULL. */
struct swz_unwind_file *swz_unwind_vdso(void);
/* What was got is given back; NULL is fine. */
void swz_unwind_file_release(struct swz_unwind_file *file);

/* Where the file's byte at this offset lies in the ELF address space. False:
 * in no segment. */
bool swz_unwind_file_address(const struct swz_unwind_file *file,
			     uint64_t offset, uint64_t *address) SWZ_MUST_CHECK;

/* As swz_unwind_file_row, of a pc that has none yet. */
const struct swz_unwind_row *swz_unwind_file_new_row(
	struct swz_unwind_file *file, uint64_t pc, bool called);

/* The row of a pc, an ELF address. CALLED: it is a return address less 1. Valid
 * until the next call. */
static inline const struct swz_unwind_row *swz_unwind_file_row(
	struct swz_unwind_file *file, uint64_t pc, bool called)
{
	/* What is no return address begins an instruction, so it is no other
	 * one less 1: one row will do for both. */
	const struct swz_unwind_row *row = swz_unwind_row_find(&file->rows, pc);

	return row ? row : swz_unwind_file_new_row(file, pc, called);
}

/* The FDE that covers a pc. */
bool swz_unwind_file_fde(const struct swz_unwind_file *file, uint64_t pc,
			 struct swz_fde *fde) SWZ_MUST_CHECK;

/* Bytes of code at an ELF address. False: the file has changed, or has none
 * there. */
bool swz_unwind_file_code(const struct swz_unwind_file *file, uint64_t address,
			  void *into, size_t size) SWZ_MUST_CHECK;

/* Forgets the files that nobody uses. */
void swz_unwind_files_trim(void);

#endif
