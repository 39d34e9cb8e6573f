#ifndef SWZ_PROFILE_FILE_EMBEDDED_CHUNKS_H
#define SWZ_PROFILE_FILE_EMBEDDED_CHUNKS_H

/* The chunks of embedded names (SWZ_CHUNK_SYMBOLS, SWZ_CHUNK_LINES), for
 * scan.c. */

#include <stddef.h>
#include <stdint.h>

#include "profile/file/scan.h"

/* Collect the records of a chunk, whose body has SIZE bytes. What is not as the
 * format says is left out, and counted once for the chunk. Modules are those of
 * chunks until swz_embedded_index(). */
void swz_scan_symbols(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size);
void swz_scan_lines(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);

/* Refers the records to profile->modules, which are sorted. Those of no module
 * are left out. */
void swz_embedded_index(struct swz_profile *profile);

#endif
