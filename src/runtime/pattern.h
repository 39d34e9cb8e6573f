#ifndef SWZ_RUNTIME_PATTERN_H
#define SWZ_RUNTIME_PATTERN_H

#include <stdbool.h>

/* Lists of shell patterns (* ? [a-z], no special '/'), one a line; a leading
 * '!' excludes. Pure. */

/* Whether the text matches one pattern. */
bool swz_pattern_matches(const char *pattern, unsigned length,
			 const char *text);

bool swz_patterns_any_positive(const char *list);
/* Whether a positive pattern matches one of the two texts (b may be NULL). */
bool swz_patterns_match(const char *list, const char *a, const char *b);
/* Whether a negative one does. */
bool swz_patterns_exclude(const char *list, const char *a, const char *b);

/* Writes the qualified name of an Itanium-mangled symbol without parameters and
 * template arguments, as users write it in a filter (_ZN3foo3barEv ->
 * foo::bar). False if the symbol is not of that simple form. */
bool swz_qualified_name(const char *symbol, char *out, unsigned room);

#endif
