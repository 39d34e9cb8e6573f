#ifndef SWZ_PROFILE_NAMES_CODE_HASH_H
#define SWZ_PROFILE_NAMES_CODE_HASH_H

/* The functions of a file, each with a hash of its code that does not depend on
 * where the linker has put it, and what it refers to. */

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/names/debug_info.h"
#include "util/memory.h"

struct swz_build {
	char *path; /* absolute; to be freed */
	uint8_t build_id[32];
	size_t build_id_bytes; /* 0: it has none */
};

/* (One that has several symbols is there several times.) */
struct swz_code_function {
	const char *name;  /* without the numbers that compilers give names
			    * (f.constprop.3); NULL: it has no symbol */
	const char *whole; /* as in the file */
	const char *file;  /* the source file's name, of a static function;
			    * NULL: it is not, or that is not known */
	uint64_t address;  /* ELF virtual address */
	uint64_t size;
	uint64_t hash;
};

/* Reads the functions of the file at PATH, by address, into an array that is to
 * be freed; texts are in STRINGS. FILES says where its debug file is.
 * SWZ_E_NOTFOUND: it cannot be read; otherwise what swz_elf_open() says. */
enum swz_status swz_code_read(const char *path,
			      const struct swz_debug_files *files,
			      struct swz_intern *strings,
			      struct swz_build *build,
			      struct swz_code_function **functions,
			      size_t *count) SWZ_MUST_CHECK;

#endif
