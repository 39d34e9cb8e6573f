#ifndef SWZ_RUNTIME_SUPPORT_PATTERN_H
#define SWZ_RUNTIME_SUPPORT_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* Lists of shell patterns (* ? [a-z], no special '/'), one a line; a leading
 * '!' excludes. A list that only excludes stands for all else. Pure. */

/* False if a pattern in the list is "!" alone, or has a '[' without a ']'.
 * Empty lines are no patterns. */
bool swz_patterns_are_valid(const char *list);

struct swz_pattern {
	const char *text; /* in the list, with its '!' */
	unsigned length;
	bool excludes;
};

/* The first pattern of the list, which begins behind it then. False: there is
 * none (also of a list of NULL). */
bool swz_patterns_next(const char **list, struct swz_pattern *pattern);

/* Patterns of a list that have matched anything: a bit for each, in their
 * order. Patterns behind the last bit are not noted. */
#define SWZ_PATTERNS_NOTED 512u
struct swz_pattern_hits {
	uint64_t bits[SWZ_PATTERNS_NOTED / 64];
};

/* True if it matches any of the texts, whatever it says of them. */
bool swz_pattern_matches(const struct swz_pattern *pattern,
			 const char *const *texts, unsigned count);

enum swz_pattern_found {
	SWZ_PATTERN_WANTS = 1,   /* one without a '!' matches */
	SWZ_PATTERN_EXCLUDES = 2 /* one with a '!' */
};

/* Finds the patterns of the list that match any of the texts, the names of one
 * thing: enum swz_pattern_found. Notes which do, unless HITS is NULL. */
unsigned swz_patterns_find(const char *list, const char *const *texts,
			   unsigned count, struct swz_pattern_hits *hits);

bool swz_patterns_any_positive(const char *list);

/* True if the list names a thing for whose names that was found. A list of
 * NULL: false. */
bool swz_patterns_decide(const char *list, unsigned found);

#endif
