/* A thread fills a chunk of its own. Room in it is taken by one
 * compare-and-exchange, so that a signal handler may come between, and a record
 * is complete once its time is stored. */

#include "runtime/record/marks.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/slow_stack.h"

#define FIRST_BYTES 960u /* of a body; with its header 1 KiB */
#define BYTES 8128u
#define OUTSIDE_BYTES 960u

struct adding {
	struct swz_thread *thread;
	uint64_t bytes; /* of the record */
	struct swz_mark_record *record;
};

static struct swz_mark_record *take(struct swz_chunk *chunk, uint64_t bytes)
{
	uint64_t *used = &chunk->reserved[SWZ_MARKS_USED];
	uint64_t at = __atomic_load_n(used, __ATOMIC_RELAXED);

	do {
		if (bytes > chunk->bytes - sizeof(*chunk) - at)
			return NULL;
	} while (!__atomic_compare_exchange_n(used, &at, at + bytes, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return (void *)((char *)(chunk + 1) + at);
}

static void take_in_new_chunk(void *argument)
{
	struct adding *adding = argument;
	struct swz_thread_cold *cold = adding->thread->cold;
	uint64_t bytes = cold->marks ? BYTES : FIRST_BYTES;
	struct swz_chunk *chunk;

	if (bytes < adding->bytes)
		bytes = BYTES;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_MARKS, bytes, 0,
			       cold->index);
	if (!chunk)
		return;
	swz_chunk_publish(chunk);
	cold->marks = chunk;
	adding->record = take(chunk, adding->bytes);
}

static size_t cut(const char *text, size_t bytes)
{
	if (bytes <= SWZ_MARK_MOST_BYTES)
		return bytes;
	bytes = SWZ_MARK_MOST_BYTES;
	while (bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

/* (Without it none can be made: nothing that this process needs.) */
void swz_marks_begin(struct swz_file_header *file)
{
	struct swz_chunk *chunk = swz_chunk_take(
		file, SWZ_CHUNK_MARKS, OUTSIDE_BYTES, 0, SWZ_MARKS_OUTSIDE);

	if (chunk)
		swz_chunk_publish(chunk);
}

void swz_marks_lose(void)
{
	__atomic_fetch_add(&swz_file->lost_marks, 1, __ATOMIC_RELAXED);
}

void swz_marks_add(struct swz_thread *thread, enum swz_mark_kind kind,
		   const char *text, size_t bytes, uint64_t ticks)
{
	size_t kept = cut(text, bytes);
	struct adding adding = {
		.thread = thread,
		.bytes = (sizeof(struct swz_mark_record) + kept + 7) &
			 -(uint64_t)8,
	};
	struct swz_mark_record *record = NULL;

	if (thread->cold->marks)
		record = take(thread->cold->marks, adding.bytes);
	if (!record) {
		swz_slowly(thread, take_in_new_chunk, &adding);
		record = adding.record;
	}
	if (!record) {
		swz_marks_lose();
		return;
	}
	record->node = (uint32_t)(thread->key >> 32);
	record->text_bytes = (uint16_t)kept;
	record->kind = (uint16_t)(kind | (kept < bytes ? SWZ_MARK_CUT : 0u));
	memcpy(record + 1, text, kept);
	/* release: who sees the time sees the rest */
	__atomic_store_n(&record->ticks, ticks, __ATOMIC_RELEASE);
	thread->record->last_ticks = ticks;
}
