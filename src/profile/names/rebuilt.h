#ifndef SWZ_PROFILE_NAMES_REBUILT_H
#define SWZ_PROFILE_NAMES_REBUILT_H

/* Two builds of one file, and which functions have the same code in both. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/file/reader.h"
#include "profile/names/code_hash.h"
#include "profile/names/debug_info.h"
#include "util/memory.h"

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
