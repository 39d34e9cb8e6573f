#ifndef SWZ_WATCH_UNWIND_UNWIND_FILE_H
#define SWZ_WATCH_UNWIND_UNWIND_FILE_H

/* The unwind entries of a file that code was mapped of. Files are kept by what
 * they are, not by name, and shared by all who ask; one that nobody uses any
 * more stays for a while, as the next process mostly maps it again. */

#include "image/eh_frame.h"
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

/* NULL: the file cannot be opened, or is no ELF file. */
struct swz_unwind_file *swz_unwind_file_of(
	const struct swz_mapped_file *mapped);
/* The code that the kernel maps into every process; or NULL. */
struct swz_unwind_file *swz_unwind_vdso(void);
/* Gives a file back; NULL is fine. */
void swz_unwind_file_release(struct swz_unwind_file *file);

/* As swz_unwind_file_row, of a pc that has none yet. */
const struct swz_unwind_row *swz_unwind_file_new_row(
	struct swz_unwind_file *file, uint64_t pc, bool called);

/* The row of a pc, an ELF address. CALLED: it is a return address less 1. Valid
 * until the next call. */
static inline const struct swz_unwind_row *swz_unwind_file_row(
	struct swz_unwind_file *file, uint64_t pc, bool called)
{
	/* An exact pc begins an instruction, so it is never a return address
	 * less 1: one row will do for both. */
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

/* The mappings of an address space: ranges in order, apart from each other. */

/* A file that was mapped, or memory without one. Shared by the parts of a
 * mapping that was split, and by processes that forked. */
struct swz_source {
	unsigned users;
	int32_t pid;
	uint64_t inode;
	uint64_t start, end; /* of the mapping when it was made */
	char *path;          /* NULL: memory without a file */
	bool opened;
	struct swz_unwind_file *file; /* NULL: there is none, or not opened */
};

struct swz_mapping {
	uint64_t start, end;
	uint64_t offset; /* of its first byte in the file */
	struct swz_source *source;
	bool known;                   /* the next two are */
	struct swz_unwind_file *file; /* of its source; NULL: no rows */
	uint64_t bias;                /* from ELF addresses to the process's */
};

/* Zero-initialise it. */
struct swz_mappings {
	struct swz_mapping *list;
	size_t count, capacity;
};

/* Puts a mapping there in the place of what there was. */
void swz_mappings_put(struct swz_mappings *mappings,
		      const struct swz_unwinder_mapping *mapping);
/* Nothing is mapped there. */
void swz_mappings_remove(struct swz_mappings *mappings, uint64_t start,
			 uint64_t end);
void swz_mappings_clear(struct swz_mappings *mappings);
void swz_mappings_copy(struct swz_mappings *to,
		       const struct swz_mappings *from);

/* The mapping that has the address, its file looked for; or NULL. Valid until
 * the next change. */
struct swz_mapping *swz_mappings_at(struct swz_mappings *mappings,
				    uint64_t address);

#endif
