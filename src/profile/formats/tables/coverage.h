#ifndef SWZ_PROFILE_FORMATS_TABLES_COVERAGE_H
#define SWZ_PROFILE_FORMATS_TABLES_COVERAGE_H

/* Which functions ran, of all that the profiles list. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"
#include "profile/names/rebuilt.h"

/* A function of the catalog. */
struct swz_covered {
	uint32_t function;
	uint32_t size;  /* bytes; 0: unknown */
	bool hooked;    /* in a profile at least; otherwise it is not known
			 * whether it ran */
	uint64_t calls; /* 0: it did not run, or is not hooked. Of -m cover: at
			 * least */
	uint64_t ordered; /* profiles that know when it was called first ... */
	double places;    /* ... and the sum of its places there, from 0 to 1 */
};

struct swz_coverage {
	const struct swz_catalog *catalog; /* resolved before it is written */
	struct swz_covered *items;
	size_t count, capacity;
	struct swz_map index; /* by the catalog's function */
	bool counts_calls;    /* no profile is of -m cover */
	/* Profiles of the old build are taken for some of the new one; NULL:
	 * there are none. */
	const struct swz_rebuilt *rebuilt;
	uint32_t new_module; /* of the catalog */
	/* of the writers */
	const struct swz_patterns *filters; /* functions that are shown */
	size_t rows;                        /* 0: all */
	char *test; /* the label "test" that all profiles have; NULL: none */
	uint32_t program; /* the catalog's module of the first profile's
			   * program; SWZ_INDEX_NONE: not known */
};

/* Why the profile does not say which functions ran, or NULL. */
const char *swz_coverage_problem(const struct swz_profile *profile);

/* Adds the functions of the profiles to the catalog and to *COVERAGE, which is
 * all zeros but for what the caller chooses. */
void swz_coverage_find(struct swz_coverage *coverage,
		       struct swz_binding *bindings, size_t count);
void swz_coverage_free(struct swz_coverage *coverage);

/* True if one of the functions that PATTERNS choose ran in that profile. */
bool swz_coverage_reaches(struct swz_binding *binding,
			  const struct swz_patterns *patterns);

/* True if a function of the old build that the new one does not have as it was
 * ran in that profile. */
bool swz_coverage_is_affected(const struct swz_binding *binding,
			      const struct swz_rebuilt *rebuilt);

/* Of the functions that the filters choose: says of each whether it ran, if
 * STREAM is not NULL. The counts of those that ran, did not, and have no hook.
 */
struct swz_coverage_counts {
	size_t ran, never, unknown;
};
struct swz_coverage_counts swz_coverage_ask(
	FILE *stream, const struct swz_coverage *coverage);

/* The writers. */
void swz_write_cover(FILE *stream, const struct swz_coverage *coverage);
void swz_write_never(FILE *stream, const struct swz_coverage *coverage);
void swz_write_lcov(FILE *stream, const struct swz_coverage *coverage);
void swz_write_order(FILE *stream, const struct swz_coverage *coverage);
void swz_write_sections(FILE *stream, const struct swz_coverage *coverage);

#endif
