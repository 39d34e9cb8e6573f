#ifndef SWZ_PROFILE_NAMES_PATTERNS_H
#define SWZ_PROFILE_NAMES_PATTERNS_H

/* Functions by patterns of names. A function is matched by the name that is
 * shown for it, and by each symbol at its address: as it is in the file, as it
 * is shown without parameters, and without template arguments. (If any pattern
 * has a parenthesis, also with parameters.) So does libswizzle.so. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/names/catalog.h"

struct swz_patterns {
	const char **items; /* as fnmatch(3) takes them, or ! and such a one:
			     * not what matches */
	size_t count;
	size_t excluding; /* of these: with a ! */
	size_t capacity;
	bool with_parameters; /* one has a parenthesis */
};

/* PATTERN must outlive the patterns. */
void swz_patterns_add(struct swz_patterns *patterns, const char *pattern);
void swz_patterns_free(struct swz_patterns *patterns);

/* Whether they choose a function of the catalog, which has its name: one
 * matches (or all have a !), and none with a ! does. If HITS is not NULL, it
 * has room for one per pattern, and those that match are set. */
bool swz_patterns_match(const struct swz_patterns *patterns,
			const struct swz_catalog *catalog, uint32_t function,
			bool *hits);

#endif
