#ifndef SWZ_RUNTIME_RECORD_EVENT_CHUNKS_H
#define SWZ_RUNTIME_RECORD_EVENT_CHUNKS_H

/* Chunks of events, and their packing. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* Packs the events that a thread has recorded, some pages at a time, while they
 * are in the cache yet: mostly to an eighth of their bytes, which would cost
 * the kernel's making of pages of a file and the disk's time, much more than
 * packing. How: swizzle/format.h. */

struct swz_packer;

enum swz_packing {
	SWZ_PACKING_DONE, /* all of the chunk is packed, and may be reused */
	SWZ_PACKING_HELD, /* from some page on it has to stay as it is: an
			   * event is yet to be written */
	SWZ_PACKING_FULL /* there is no room; all pages are valid as they are */
};

/* Memory for the thread that calls it; NULL if it is refused. */
struct swz_packer *swz_packer_new(void);

/* For another thread, or in another file. */
void swz_packer_restart(struct swz_packer *packer);

/* In a forked child: what it was filling is the parent's. */
void swz_packer_forget(struct swz_packer *packer);

/* Packs a chunk of events of the thread `owner`, the one after that of the last
 * call. Signals must be blocked. Whoever is killed in the midst of it leaves a
 * file from which each event is read once. */
enum swz_packing swz_pack(struct swz_packer *packer, struct swz_chunk *events,
			  uint32_t owner);

/* Room for events: the file, as long as it may grow; with --ring then the
 * chunks that were left the longest ago, with --slow these before all. */

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

/* Nothing will be written to it any more: with --ring or --slow it may be taken
 * by whoever needs one. */
void swz_event_chunk_leave(const struct swz_chunk *chunk);

/* If the chunk was the last in a stretch of SWZ_HUGE_PAGE bytes, the kernel may
 * forget where that is mapped: the process need not hold what it has written.
 * (The file has it.) Whoever is not done with another part of it pays a page
 * fault. May be NULL. Makes a system call. */
void swz_event_chunk_pass(const struct swz_chunk *chunk);

#endif
