/* A node has no room for one more counter that few would use. Counts lie in
 * hash tables of the thread's own, chunks of the profile; each next one is
 * twice as large, and what is in an earlier one stays there, so that no count
 * is ever in two places. */

#include "runtime/hooks/unwound.h"

#include <stddef.h>

#include "runtime/hooks/jumps.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/frames.h"

#define FIRST_BYTES UINT64_C(1024) /* with the chunk's header */
#define LAST_BYTES (UINT64_C(1) << 20)

/* Where a node's record is in a table, or the empty one where it would be; NULL
 * if the table is full. */
static struct swz_unwound_record *place(struct swz_chunk *table, uint32_t node)
{
	struct swz_unwound_record *records =
		(struct swz_unwound_record *)(table + 1);
	uint32_t at = node * 0x9e3779b1u % table->count;

	for (uint32_t i = 0; i < table->count; i++) {
		struct swz_unwound_record *r = &records[at];

		if (r->node == node || r->node == 0)
			return r;
		at = at + 1 < table->count ? at + 1 : 0;
	}
	return NULL;
}

static struct swz_chunk *table_at(uint64_t unit)
{
	return unit ? swz_unit_at(unit) : NULL;
}

static struct swz_chunk *new_table(struct swz_thread_cold *cold,
				   const struct swz_chunk *previous)
{
	uint64_t bytes = previous ? 2 * previous->bytes : FIRST_BYTES;
	struct swz_chunk *table;

	if (bytes > LAST_BYTES)
		bytes = LAST_BYTES;
	bytes -= sizeof(*table);
	table = swz_chunk_take(
		swz_file, SWZ_CHUNK_UNWOUND, bytes,
		(uint32_t)(bytes / sizeof(struct swz_unwound_record)),
		cold->index);
	if (!table)
		return NULL;
	table->reserved[SWZ_UNWOUND_PREVIOUS] = cold->unwound;
	cold->unwound = swz_unit_of(table);
	swz_chunk_publish(table);
	return table;
}

static struct swz_unwound_record *find(const struct swz_thread_cold *cold,
				       uint32_t node)
{
	struct swz_chunk *t = table_at(cold->unwound);

	for (; t; t = table_at(t->reserved[SWZ_UNWOUND_PREVIOUS])) {
		struct swz_unwound_record *r = place(t, node);

		if (r && r->node)
			return r;
	}
	return NULL;
}

/* A signal handler may come between, and count too. */
static void count_again(struct swz_unwound_record *record)
{
	__asm__("incq %0" : "+m"(record->count) : : "cc");
}

static void count(struct swz_thread_cold *cold, uint32_t node)
{
	struct swz_chunk *newest = table_at(cold->unwound);
	struct swz_unwound_record *r = find(cold, node);

	if (r) {
		count_again(r);
		return;
	}
	if (!newest || 4 * newest->reserved[SWZ_UNWOUND_USED] >=
			       3 * (uint64_t)newest->count)
		newest = new_table(cold, newest);
	r = newest ? place(newest, node) : NULL;
	if (!r)
		return;
	newest->reserved[SWZ_UNWOUND_USED]++;
	r->count = 1;
	/* release: who sees the node sees its count */
	__atomic_store_n(&r->node, node, __ATOMIC_RELEASE);
}

void swz_unwound_note(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	uint32_t jumps[SWZ_MOST_JUMPS];
	unsigned n;

	if (!thunk->node || thunk->pending == SWZ_CLOSED)
		return;
	for (const struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = p->pending)
		count(thread->cold, p->node);
	n = swz_jumps_of(swz_file, thunk, jumps);
	while (n--)
		count(thread->cold, jumps[n]);
	count(thread->cold, thunk->node);
}

bool swz_unwound_note_again(const struct swz_thread *thread,
			    const struct swz_thunk *thunk)
{
	struct swz_unwound_record *r;

	if (!thunk->node || thunk->pending)
		return false;
	r = find(thread->cold, thunk->node);
	if (r)
		count_again(r);
	return r;
}
