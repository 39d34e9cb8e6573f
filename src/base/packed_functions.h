#ifndef SWZ_BASE_PACKED_FUNCTIONS_H
#define SWZ_BASE_PACKED_FUNCTIONS_H

/* Records of functions as a chunk PACKED_FUNCTIONS has them: each by its
 * distance from the one before, so that most take 3 or 4 bytes, not 16. Ids
 * follow each other and are not there. docs/file-format.md describes it. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* What a record takes at most. */
#define SWZ_PACKED_FUNCTION_BYTES 13u

/* Writes a record (flags below 32) to TO, which has room for the most. *END is
 * where the one before ends, at first 0, and then where this one does. Returns
 * how many bytes it took; with another status it takes one byte more or less.
 * Async-signal-safe. */
unsigned swz_function_pack(uint8_t *to, uint32_t *end,
			   const struct swz_function_record *record);

/* Reads one from *AT, which goes on; *END as above. The id stays as it is.
 * False: no whole record is before LIMIT. */
bool swz_function_unpack(const uint8_t **at, const uint8_t *limit,
			 uint32_t *end, struct swz_function_record *record);

#endif
