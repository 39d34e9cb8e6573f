#ifndef SWZ_PROFILE_NAMES_EMBED_H
#define SWZ_PROFILE_NAMES_EMBED_H

/* Makes the chunks that hold a profile's names: see SWZ_CHUNK_SYMBOLS. */

#include <stddef.h>
#include <stdint.h>

#include "profile/names/catalog.h"

struct swz_embed_result {
	uint8_t *chunks; /* to be freed; NULL: there is nothing to add */
	size_t bytes;    /* a multiple of 64 */
	size_t names;    /* symbols in them */
	size_t lines;
};

/* Looks up all functions and call places that the profile of BINDING has
 * recorded. The catalog must have no other profile, and look up lines. What is
 * embedded in the profile already is left out, and so is what a file says that
 * may not be the one that was profiled. */
void swz_embed_collect(struct swz_binding *binding,
		       struct swz_embed_result *result);

#endif
