#ifndef SWZ_RUNTIME_SUPPORT_PATTERN_H
#define SWZ_RUNTIME_SUPPORT_PATTERN_H

#include <stdbool.h>

/* Lists of shell patterns (* ? [a-z], no special '/'), one a line; a leading
 * '!' excludes. A list that only excludes stands for all else. Pure. */

/* False if a pattern in the list is "!" alone, or has a '[' without a ']'.
 * Empty lines are no patterns. */
bool swz_patterns_are_valid(const char *list);

/* Whether the list names one of the two texts (b may be NULL). Of a list of
 * NULL: false. */
bool swz_patterns_name(const char *list, const char *a, const char *b);

bool swz_patterns_any_positive(const char *list);
/* Whether a positive pattern matches one of the two texts (b may be NULL). */
bool swz_patterns_include(const char *list, const char *a, const char *b);
/* Whether a negative one does. */
bool swz_patterns_exclude(const char *list, const char *a, const char *b);

#endif
