#ifndef SWZ_PROFILE_NAMES_REBUILT_H
#define SWZ_PROFILE_NAMES_REBUILT_H

/* Two builds of one file, and which functions have the same code in both. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "profile/file/reader.h"
#include "profile/names/debug_info.h"
#include "util/memory.h"

/* The functions of a file, each with a hash of its code that does not depend on
 * where the linker has put it, and what it refers to. */

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

enum swz_code_change {
	SWZ_CODE_SAME,    /* same name, same bytes but for what moved */
	SWZ_CODE_CHANGED, /* same name, other bytes */
	SWZ_CODE_GONE     /* not in the new build */
};

struct swz_old_function {
	uint64_t address, size;
	const char *name;     /* as in the file, or sub_ADDRESS */
	uint64_t new_address; /* if it is the same */
	enum swz_code_change change;
};

struct swz_new_function {
	uint64_t address;
	uint32_t size;
};

/* Functions are by address, one for each. */
struct swz_rebuilt {
	struct swz_build old, new;
	struct swz_old_function *functions;
	size_t count;
	struct swz_new_function *others; /* of the new build, without the same
					  * code in the old one */
	size_t other_count;
	struct swz_intern strings;
};

/* Compares two files; FILES says where their debug files are. On failure
 * *FAILED is the path that was not readable (SWZ_E_NOTFOUND) or no ELF file of
 * x86-64. On success the result is for swz_rebuilt_free(). */
enum swz_status swz_rebuilt_compare(struct swz_rebuilt *rebuilt,
				    const char *old_path, const char *new_path,
				    const struct swz_debug_files *files,
				    const char **failed) SWZ_MUST_CHECK;
void swz_rebuilt_free(struct swz_rebuilt *rebuilt);

/* The function of the old build that has this ELF virtual address; NULL: none
 * has. */
const struct swz_old_function *swz_rebuilt_find(
	const struct swz_rebuilt *rebuilt, uint64_t address);

/* True if a module of a profile is that build. Without a build-id it is known
 * by its file's name. */
bool swz_build_is(const struct swz_build *build,
		  const struct swz_profile_module *module);

#endif
