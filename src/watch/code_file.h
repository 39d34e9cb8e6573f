#ifndef SWZ_WATCH_CODE_FILE_H
#define SWZ_WATCH_CODE_FILE_H

/* An ELF file that a watched process runs code of: which function an address
 * lies in. Shared by all processes that map it. Not thread safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/unwind/elf_copy.h"

#define SWZ_VDSO "[vdso]"

struct swz_code_function {
	uint64_t start; /* ELF virtual address */
	uint64_t size;  /* bytes; 0: not known */
	bool from_symbol;
};

struct swz_code_file {
	char *path;      /* as the process names it; without " (deleted)" */
	char *asked_for; /* the same by its SONAME, if that leads to it, too */
	uint64_t inode;
	int32_t pid;     /* of a process that maps it; 0: just a file */
	bool readable;   /* it was opened, and is an ELF file for x86-64 */
	bool in_memory;  /* the vdso */
	uint64_t first;  /* the lowest ELF virtual address of its segments */
	uint64_t past;   /* the end of the highest */
	int interpreter; /* script_frames.c: 1: it is one, -1: it is none */
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	struct swz_code_private *own;
};

/* A file that is mapped. Opened at the first call for it and kept. Never NULL:
 * of what cannot be read `readable` is false. */
struct swz_code_file *swz_code_file_of(const struct swz_mapped_file *mapped);

/* The same for a program that is about to be executed. What functions it has is
 * looked up here, not when its first sample comes: of a large program that
 * takes a tenth of a second, and longer than a ring of samples lasts. */
struct swz_code_file *swz_code_file_of_program(const char *path);

/* Where the file's byte at OFFSET, which is mapped to be executed, has its
 * place in the ELF address space. False: in no segment. */
bool swz_code_file_address(const struct swz_code_file *file, uint64_t offset,
			   uint64_t *address);

/* The function that holds an ELF virtual address: a symbol's, else an FDE's,
 * else the stretch between those that are known. */
struct swz_code_function swz_code_file_function(struct swz_code_file *file,
						uint64_t address);

/* Where the file defines a symbol. False: it does not. */
bool swz_code_file_symbol(const struct swz_code_file *file, const char *name,
			  uint64_t *address);

/* Reads what the file has for an ELF virtual address, by its path as the
 * process names it that maps it, or as this one does. False: it has less, or
 * the path leads elsewhere. */
bool swz_code_file_bytes(const struct swz_code_file *file, uint64_t address,
			 void *into, size_t size);

/* True if the file needs a library whose name begins so (DT_NEEDED). */
bool swz_code_file_needs(const struct swz_code_file *file, const char *library);

/* Whoever reads the profile will not find the file: it is the vdso, or it was
 * removed or replaced, or lies where only its process sees it. */
bool swz_code_file_is_gone(const struct swz_code_file *file);

/* Sets NAMES[i] to the name of the function at the ELF virtual address
 * ADDRESSES[i], which ascend; NULL: it has none. */
void swz_code_file_names(const struct swz_code_file *file,
			 const uint64_t *addresses, const char **names,
			 size_t count);

/* Gives all files back. */
void swz_code_files_close(void);

#endif
