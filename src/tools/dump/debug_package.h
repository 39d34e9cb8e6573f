#ifndef SWZ_TOOLS_DUMP_DEBUG_PACKAGE_H
#define SWZ_TOOLS_DUMP_DEBUG_PACKAGE_H

/* Which Debian package has the debug file of a module, as far as dpkg, apt-file
 * and apt-cache know: they are asked on this machine only, and for a second at
 * most. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_debug_package {
	char *path;   /* the module's */
	char *owner;  /* the package that the module is of; NULL: unknown */
	char *source; /* its source package, if that has another name */
	char *exact;  /* that of its debug file; NULL: unknown */
	bool has_no_owner; /* dpkg knows of no package */
};

/* Zero-initialised: nothing was asked for. */
struct swz_debug_packages {
	struct swz_debug_package *items;
	size_t count;
	size_t capacity;
	int64_t asked_ns; /* how long the answers have taken */
};

/* Asks once for each PATH, which is absolute; BUILD_ID is in hexadecimal, ""
 * where there is none. Nothing is known where the programs are not there, take
 * too long or fail. The result is valid until the next call. */
const struct swz_debug_package *swz_debug_package_find(
	struct swz_debug_packages *packages, const char *path,
	const char *build_id);
void swz_debug_packages_free(struct swz_debug_packages *packages);

#endif
