/* Space is taken by one atomic addition, once the file is long enough, and made
 * present; a chunk's magic
 * number is stored last, so a reader, of a live process too, knows what is
 * complete. */

#include "runtime/record/chunks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/file_mapping.h"
#include "runtime/record/record_file.h"

/* With less room than this, none is given up for huge pages. */
#define WORTH_HUGE_PAGES (64ull << 20)

/* The file in which huge pages were begun, or could not be, by its start: a
 * forked child's is another one. */
static _Atomic uint64_t tried_in;

/* The room that is left for all but events when `used` bytes are taken. */
static uint64_t room_at(const struct swz_file_header *file, uint64_t used)
{
	uint64_t events = __atomic_load_n(&file->event_bytes, __ATOMIC_RELAXED);
	uint64_t limit = file->limit_bytes;

	/* what events may still take is not to be had */
	if (file->event_limit_bytes > events)
		used += file->event_limit_bytes - events;
	return used > limit ? 0 : limit - used;
}

uint64_t swz_chunks_room(void)
{
	return room_at(swz_file, __atomic_load_n(&swz_file->used_bytes,
						 __ATOMIC_RELAXED));
}

/* Up to where in the file of that start all is present, as its first chunks are
 * small: those in a page that is there need not ask for it again. */
static _Atomic uint64_t present_in, present_end;

static bool make_present(const struct swz_file_header *file, uint64_t at,
			 uint64_t bytes)
{
	uint64_t end = SWZ_PRESENT_BYTES;

	/* acquire: matches the release below */
	if (atomic_load_explicit(&present_in, memory_order_acquire) ==
	    file->start_ticks)
		end = atomic_load_explicit(&present_end, memory_order_relaxed);
	if (at + bytes <= end)
		return true;
	if (!swz_make_present((char *)file + at, bytes))
		return false;
	/* what lies between is another thread's, or not of this file yet */
	if (at > end)
		return true;
	/* that of a thread that was faster may be larger: then some ask again
	 */
	atomic_store_explicit(&present_end,
			      (at + bytes + 4095) & -(uint64_t)4096,
			      memory_order_relaxed);
	/* release: with the end */
	atomic_store_explicit(&present_in, file->start_ticks,
			      memory_order_release);
	return true;
}

/* Who takes the first byte behind small pages tells the kernel: most programs
 * never come there. */
static void note_taken(struct swz_file_header *file, uint64_t from, uint64_t to)
{
	if (from <= SWZ_HUGE_PAGE && to > SWZ_HUGE_PAGE)
		swz_file_begin_huge_pages(file);
}

struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&file->used_bytes;
	uint64_t bytes = (payload_bytes + sizeof(struct swz_chunk) + 63) &
			 -(uint64_t)64;
	uint64_t at = atomic_load_explicit(used, memory_order_relaxed);
	struct swz_chunk *chunk;

	do {
		/* before it is taken: a file is no shorter than what is used */
		if (bytes > room_at(file, at) ||
		    !swz_extent_reach(file, at + bytes))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(used, &at, at + bytes,
							memory_order_relaxed,
							memory_order_relaxed));
	note_taken(file, at, at + bytes);
	chunk = (struct swz_chunk *)((char *)file + at);
	if (!make_present(file, at, bytes)) {
		/* The disk is full, and stays so for us. */
		uint64_t end = at + bytes;

		swz_file_is_full(file, SWZ_FULL_DISK, at);
		atomic_compare_exchange_strong_explicit(used, &end, at,
							memory_order_relaxed,
							memory_order_relaxed);
		return NULL;
	}
	chunk->type = type;
	chunk->bytes = bytes;
	chunk->count = count;
	chunk->owner = owner;
	return chunk;
}

/* Publishes the gap before a chunk that begins at a whole page. False: there
 * is no room. */
static bool publish_padding(struct swz_file_header *file, uint64_t at,
			    uint64_t bytes)
{
	struct swz_chunk *padding = (struct swz_chunk *)((char *)file + at);

	if (!bytes || !swz_make_present((char *)padding, sizeof(*padding)))
		return false;
	padding->type = SWZ_CHUNK_PADDING;
	padding->bytes = bytes;
	swz_chunk_publish(padding);
	return true;
}

void swz_chunks_pass_over(struct swz_file_header *file, uint64_t until)
{
	uint64_t at = file->used_bytes;

	if (until > at && room_at(file, until) >= room_at(file, at) / 2 &&
	    swz_extent_reach(file, until) &&
	    publish_padding(file, at, until - at)) {
		file->used_bytes = until;
		note_taken(file, at, until);
	}
}

void swz_chunks_begin_huge_pages(void)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	const uint64_t huge = SWZ_HUGE_PAGE;
	uint64_t at = atomic_load_explicit(used, memory_order_relaxed);
	uint64_t taken = 2 * huge, end = huge;

	/* until it is there, all of the second one is ours alone */
	do {
		if (tried_in == swz_file->start_ticks || at >= huge ||
		    room_at(swz_file, at) < WORTH_HUGE_PAGES ||
		    !swz_extent_reach(swz_file, taken))
			return;
	} while (!atomic_compare_exchange_weak_explicit(
		used, &at, taken, memory_order_relaxed, memory_order_relaxed));
	tried_in = swz_file->start_ticks;
	note_taken(swz_file, at, taken);
	if (!swz_make_present((char *)swz_file + huge, 1)) {
		/* what a disk that is nearly full has given for it serves for
		 * small ones */
		SWZ_SYSCALL(SYS_madvise, (char *)swz_file + huge, huge,
			    MADV_REMOVE);
		end = at;
	}
	if (!atomic_compare_exchange_strong_explicit(used, &taken, end,
						     memory_order_relaxed,
						     memory_order_relaxed))
		end = 2 * huge; /* others have taken what comes then */
	(void)publish_padding(swz_file, at, end - at);
}

struct swz_chunk *swz_chunk_take_events(uint32_t type, uint32_t pages,
					uint32_t owner)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	_Atomic uint64_t *events = (_Atomic uint64_t *)&swz_file->event_bytes;
	uint64_t bytes = (uint64_t)pages * SWZ_EVENT_PAGE, at, start;
	struct swz_chunk *chunk;

	at = atomic_fetch_add_explicit(events, bytes, memory_order_relaxed);
	if (at + bytes > swz_file->event_limit_bytes) {
		atomic_fetch_sub_explicit(events, bytes, memory_order_relaxed);
		return NULL;
	}
	at = atomic_load_explicit(used, memory_order_relaxed);
	do {
		start = (at + SWZ_EVENT_PAGE - 1) & -(uint64_t)SWZ_EVENT_PAGE;
		if (start > swz_file->limit_bytes ||
		    bytes > swz_file->limit_bytes - start ||
		    !swz_extent_reach(swz_file, start + bytes))
			return NULL; /* full, also for events */
	} while (!atomic_compare_exchange_weak_explicit(
		used, &at, start + bytes, memory_order_relaxed,
		memory_order_relaxed));
	note_taken(swz_file, at, start + bytes);
	(void)publish_padding(swz_file, at, start - at);
	chunk = (struct swz_chunk *)((char *)swz_file + start);
	if (!swz_make_present((char *)chunk, bytes)) {
		/* The disk is full: the place stays a hole, which takes none
		 * of it, and there will be no other. */
		swz_file->event_limit_bytes = 0;
		swz_file_is_full(swz_file, SWZ_FULL_DISK, start);
		return NULL;
	}
	chunk->type = type;
	chunk->bytes = bytes;
	chunk->owner = owner;
	return chunk;
}

void swz_chunk_publish(struct swz_chunk *chunk)
{
	/* release: a reader that sees the magic sees the rest */
	atomic_store_explicit((_Atomic uint32_t *)&chunk->magic,
			      SWZ_CHUNK_MAGIC, memory_order_release);
}
