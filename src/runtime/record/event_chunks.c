#include "runtime/record/event_chunks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/support/config.h"

bool swz_tracing;

/* The chunks that were left, oldest first, as units of the file: a queue. */
static _Atomic uint32_t *left;
static uint64_t left_mask;
static _Atomic uint64_t left_head, left_tail;

void swz_event_chunks_begin(void)
{
	uint64_t entries = 2;
	void *memory;

	if (!swz_config.ring)
		return;
	while (entries < swz_config.max_size / SWZ_EVENT_PAGE + 2)
		entries *= 2;
	memory = swz_sys_mmap(
		NULL, entries * sizeof(*left), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory)
		SWZ_SYSCALL(SYS_madvise, memory, entries * sizeof(*left),
			    MADV_WIPEONFORK);
	left = memory;
	left_mask = entries - 1;
}

void swz_event_chunks_forget(void)
{
	left_head = left_tail = 0;
}

void swz_event_chunk_leave(const struct swz_chunk *chunk)
{
	uint64_t at;

	if (!left || !chunk)
		return;
	at = atomic_fetch_add_explicit(&left_tail, 1, memory_order_relaxed);
	/* release: with all that is in it */
	atomic_store_explicit(&left[at & left_mask], swz_unit_of(chunk),
			      memory_order_release);
}

void swz_event_chunk_pass(const struct swz_chunk *chunk)
{
	uint64_t first = (uintptr_t)chunk & -(uint64_t)SWZ_HUGE_PAGE;
	uint64_t end = first + SWZ_HUGE_PAGE;

	/* no part of it: a large folio may be mapped by one entry */
	if (!chunk || left || (uintptr_t)chunk + chunk->bytes < end)
		return;
	if (first < (uintptr_t)swz_file)
		first = (uintptr_t)swz_file;
	SWZ_SYSCALL(SYS_madvise, first, end - first, MADV_DONTNEED);
}

/* The oldest that was left; or NULL. */
static struct swz_chunk *oldest(void)
{
	for (;;) {
		uint64_t at = atomic_load_explicit(&left_head,
						   memory_order_relaxed);
		/* acquire: matches the release in swz_event_chunk_leave() */
		uint32_t unit = atomic_load_explicit(&left[at & left_mask],
						     memory_order_acquire);

		if (!unit)
			return NULL;
		if (!atomic_compare_exchange_strong_explicit(
			    &left_head, &at, at + 1, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		atomic_store_explicit(&left[at & left_mask], 0,
				      memory_order_relaxed);
		return swz_unit_at(unit);
	}
}

static struct swz_chunk *take_left(enum swz_chunk_type type, uint32_t least,
				   uint32_t owner)
{
	struct swz_chunk *chunk;

	do
		chunk = oldest();
	while (chunk && chunk->bytes < (uint64_t)least * SWZ_EVENT_PAGE);
	if (!chunk)
		return NULL;
	chunk->type = SWZ_CHUNK_PADDING;
	atomic_signal_fence(memory_order_seq_cst);
	memset(chunk->reserved, 0, sizeof(chunk->reserved));
	chunk->count = 0;
	if (type != SWZ_CHUNK_PACKED)
		memset(chunk + 1, 0, chunk->bytes - sizeof(*chunk));
	chunk->owner = owner;
	atomic_signal_fence(memory_order_seq_cst);
	chunk->type = type;
	return chunk;
}

struct swz_chunk *swz_event_chunk_take(enum swz_chunk_type type, uint32_t pages,
				       uint32_t least, uint32_t owner)
{
	struct swz_chunk *chunk = swz_chunk_take_events(type, pages, owner);

	if (!chunk && pages > least)
		chunk = swz_chunk_take_events(type, least, owner);
	if (!chunk && left)
		chunk = take_left(type, least, owner);
	return chunk;
}
