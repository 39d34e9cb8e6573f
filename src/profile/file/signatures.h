#ifndef SWZ_PROFILE_FILE_SIGNATURES_H
#define SWZ_PROFILE_FILE_SIGNATURES_H

/* What a trace says of the arguments and results that it holds (see
 * swizzle/values.h). The file is not trusted: what is here refers only to what
 * is here, and texts end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"

struct swz_profile;
struct swz_scan;
struct swz_chunk;

/* A chunk of signatures. */
struct swz_signature_set {
	struct swz_value_part *parts;
	struct swz_value_type *types;
	struct swz_value_member *members;
	char *text;
	uint32_t part_count, type_count, member_count, text_bytes;
};

struct swz_profile_signature {
	uint32_t function; /* id */
	uint16_t entry_parts, return_parts;
	const struct swz_value_part *parts; /* those of the return behind */
	const struct swz_signature_set *set;
};

/* The text of a name; "" where there is none. */
const char *swz_signature_text(const struct swz_signature_set *set,
			       uint32_t name);

/* That of a function's id, or NULL. */
const struct swz_profile_signature *swz_signature_find(
	const struct swz_profile *profile, uint32_t function);

/* For the scan and the index: a chunk's body; all in their order; the end. */
void swz_scan_signatures(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size);
void swz_signatures_index(struct swz_profile *profile);
void swz_signatures_free(struct swz_profile *profile);

#endif
