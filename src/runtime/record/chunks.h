#ifndef SWZ_RUNTIME_RECORD_CHUNKS_H
#define SWZ_RUNTIME_RECORD_CHUNKS_H

/* Space in the profile file, by chunks (include/swizzle/format.h). Every page
 * is made present before it is used, so that a full disk is an error here and
 * no SIGBUS later. */

#include <stdint.h>

#include "swizzle/format.h"

/* A chunk of this payload, header filled but its magic, or NULL: full. The
 * caller fills the payload and publishes. Lock free, async-signal-safe. */
struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner);
void swz_chunk_publish(struct swz_chunk *chunk);

/* For who will need much: lets what is taken from now on lie in huge pages, if
 * the file system has them. What is left of the first one, which is of small
 * pages, is passed over, and takes no room on the disk. Lock free,
 * async-signal-safe. */
void swz_chunks_begin_huge_pages(void);

/* Leaves all before UNTIL a hole, where that takes no more than half of the
 * room. For a file that no other thread knows yet. */
void swz_chunks_pass_over(struct swz_file_header *file, uint64_t until);

/* A chunk of events (SWZ_CHUNK_EVENTS or SWZ_CHUNK_PACKED) of so many pages,
 * all zero, not published. NULL: there is no room for that many. Lock free,
 * async-signal-safe. */
struct swz_chunk *swz_chunk_take_events(uint32_t type, uint32_t pages,
					uint32_t owner);

/* How many bytes are left for all but events. */
uint64_t swz_chunks_room(void);

#endif
