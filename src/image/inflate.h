#ifndef SWZ_IMAGE_INFLATE_H
#define SWZ_IMAGE_INFLATE_H

/* Decompresses a zlib stream (RFC 1950, RFC 1951) whose length is known, as
 * those of compressed ELF sections are. The bytes are hostile. Nothing is
 * allocated; pure, thread safe, async-signal-safe. */

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "image/elf_view.h"

#define SWZ_INFLATE_CODE_BITS 15

/* Working memory: what the next bits stand for. */
struct swz_inflate_tables {
	uint16_t literals[1 << SWZ_INFLATE_CODE_BITS];
	uint16_t distances[1 << SWZ_INFLATE_CODE_BITS];
};

/* Fills OUT with `size` bytes. SWZ_E_FORMAT: the stream is damaged or holds
 * another number of bytes; OUT is undefined then. */
enum swz_status swz_inflate(struct swz_bytes stream, uint8_t *out, size_t size,
			    struct swz_inflate_tables *tables) SWZ_MUST_CHECK;

/* No stream of this many bytes gives more than so many: to refuse an absurd
 * length before there is memory for it. */
static inline uint64_t swz_inflate_most(uint64_t stream_bytes)
{
	return stream_bytes * 1032; /* two bits for 258 bytes */
}

#endif
