#include "runtime/record/value_chunks.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/record/chunks.h"
#include "runtime/record/event_chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/slow_stack.h"
#include "swizzle/values.h"

#define FIRST_PAGES 2u
#define PAGES 16u
#define MOST_TRIES 8u

static uint64_t end_of(const struct swz_chunk *chunk)
{
	return (uintptr_t)chunk + chunk->bytes;
}

static void next_chunk(void *argument)
{
	struct swz_thread *thread = argument;
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *chunk = cold->values;

	/* a signal handler may have been here */
	if (chunk && end_of(chunk) - cold->value_at >= SWZ_MOST_VALUE_BYTES)
		return;
	swz_event_chunk_leave(chunk);
	swz_event_chunk_pass(chunk);
	chunk = swz_event_chunk_take(SWZ_CHUNK_VALUES,
				     chunk ? PAGES : FIRST_PAGES, FIRST_PAGES,
				     cold->index);
	cold->values = chunk;
	cold->value_at = chunk ? (uintptr_t)(chunk + 1) : 0;
	cold->values_full = !chunk;
	if (!chunk)
		return;
	chunk->reserved[0] = cold->value_chunks++;
	swz_chunk_publish(chunk);
}

void swz_value_chunk_next(struct swz_thread *thread)
{
	next_chunk(thread);
}

void *swz_value_chunk_take(struct swz_thread *thread, uint64_t bytes)
{
	struct swz_thread_cold *cold = thread->cold;

	for (unsigned i = 0; i < MOST_TRIES && !cold->values_full; i++) {
		uint64_t at = __atomic_load_n(&cold->value_at,
					      __ATOMIC_RELAXED);

		if (!at || at + bytes > end_of(cold->values)) {
			swz_slowly(thread, next_chunk, thread);
			continue;
		}
		if (__atomic_compare_exchange_n(
			    &cold->value_at, &at, at + bytes, false,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return (void *)(uintptr_t)at;
	}
	__atomic_fetch_add(&swz_file->lost_values, 1, __ATOMIC_RELAXED);
	return NULL;
}

void swz_value_chunk_leave(struct swz_thread_cold *cold)
{
	swz_event_chunk_leave(cold->values);
}

void swz_value_chunk_forget(struct swz_thread_cold *cold)
{
	cold->values = NULL;
	cold->value_at = 0;
	cold->value_chunks = 0;
	cold->values_full = false;
}
