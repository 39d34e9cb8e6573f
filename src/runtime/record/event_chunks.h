#ifndef SWZ_RUNTIME_RECORD_EVENT_CHUNKS_H
#define SWZ_RUNTIME_RECORD_EVENT_CHUNKS_H

/* Where the room for events comes from: the file, as long as it may grow, and
 * with --ring the chunks that were left the longest ago. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* Events are recorded (-m trace). */
extern bool swz_tracing;

/* Before the first thread begins. */
void swz_event_chunks_begin(void);

/* In a forked child, whose file has none yet: none was left. */
void swz_event_chunks_forget(void);

/* A chunk of that type, all zero (but a packed one that was used before), not
 * published if it is new: `pages` long, or as long as there is room for, but no
 * shorter than `least`. NULL: there is none. Async-signal-safe. */
struct swz_chunk *swz_event_chunk_take(enum swz_chunk_type type, uint32_t pages,
				       uint32_t least, uint32_t owner);

/* Nothing will be written to it any more: with --ring it may be taken by
 * whoever needs one. */
void swz_event_chunk_leave(const struct swz_chunk *chunk);

/* If the chunk was the last in a stretch of SWZ_HUGE_PAGE bytes, the kernel may
 * forget where that is mapped: the process need not hold what it has written.
 * (The file has it.) Whoever is not done with another part of it pays a page
 * fault. May be NULL. Makes a system call. */
void swz_event_chunk_pass(const struct swz_chunk *chunk);

#endif
