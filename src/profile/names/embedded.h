#ifndef SWZ_PROFILE_NAMES_EMBEDDED_H
#define SWZ_PROFILE_NAMES_EMBEDDED_H

/* The names and lines of one module that profiles hold themselves, of one
 * profile or of several. Addresses are ELF virtual addresses. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/names/debug_info.h"
#include "profile/file/reader.h"

struct swz_embedded {
	struct swz_profile_symbol *symbols; /* by address once it is sorted */
	size_t symbol_count;
	size_t symbol_capacity;
	struct swz_profile_line *lines; /* the same */
	size_t line_count;
	size_t line_capacity;
	const char **names; /* of the symbols; while it is sorted */
	bool sorted;
	unsigned languages;
};

void swz_embedded_free(struct swz_embedded *embedded); /* its arrays */

/* Adds what a profile has. The texts have to live as long. */
void swz_embedded_add_symbol(struct swz_embedded *embedded,
			     const struct swz_profile_symbol *symbol);
void swz_embedded_add_line(struct swz_embedded *embedded,
			   const struct swz_profile_line *line);

bool swz_embedded_is_empty(const struct swz_embedded *embedded);

/* The symbol that ADDRESS lies in, or NULL. */
const struct swz_profile_symbol *swz_embedded_symbol(
	struct swz_embedded *embedded, uint64_t address);

/* All names at ADDRESS; NULL if *count is 0. */
const char *const *swz_embedded_names(struct swz_embedded *embedded,
				      uint64_t address, size_t *count);

/* What is known of an address; NULL: nothing. */
const struct swz_profile_line *swz_embedded_line(struct swz_embedded *embedded,
						 uint64_t address);

#endif
