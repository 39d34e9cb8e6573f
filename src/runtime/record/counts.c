/* Each thread counts in a hash table of its own, which lies in the profile, so
 * that a kill loses nothing. A slot's key never changes, and a table is never
 * moved: one that has become too small stays, and edges that come again get a
 * slot in its successor. So a hook that a signal has interrupted between
 * looking and counting adds one to a counter that the reader adds up, whatever
 * the handler did meanwhile. That is one instruction; nothing takes a lock.
 *
 * A handler may come between the loads of mask and base, too. The masks of one
 * thread only grow, so an old mask fits a new base. */

#include "runtime/record/counts.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "thunks/counting.h"

#define FIRST_SLOTS 32u
#define SMALL_SLOTS 65536u /* up to here a table has four times as many */
/* Places at which an edge's counter may lie, from its first place on. The
 * hooks' code looks at two of them. */
#define PROBES 8u
#define SLOT_BYTES sizeof(struct swz_count_slot)

__thread struct swz_count_place swz_count_place;

uint64_t swz_count_factor_of(uint32_t id)
{
	return (id + UINT64_C(1)) * SWZ_COUNT_FACTOR;
}

static struct swz_count_slot *slots_of(struct swz_chunk *table)
{
	return (struct swz_count_slot *)(table + 1);
}

static struct swz_count_slot *first_place(uint64_t key)
{
	uint32_t mixed = (uint32_t)key * SWZ_COUNT_MIXER;

	return (struct swz_count_slot *)(swz_count_place.base +
					 (mixed & swz_count_place.mask));
}

static void use(struct swz_thread_cold *cold, struct swz_chunk *table)
{
	cold->counts = table;
	cold->counts_used = 0;
	/* in this order: see above */
	swz_count_place.base = (uintptr_t)slots_of(table);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	swz_count_place.mask = (table->count - PROBES - 1) * SLOT_BYTES;
}

/* SLOTS: a power of two; some more follow, for the probes of the last. */
static bool make_table(struct swz_thread *thread, uint32_t slots)
{
	uint32_t count = slots + PROBES;
	struct swz_chunk *table = swz_chunk_take(
		thread->file, SWZ_CHUNK_COUNTS,
		count * (uint64_t)(SLOT_BYTES + sizeof(uint32_t)), count,
		thread->cold->index);

	if (!table)
		return false;
	swz_chunk_publish(table);
	use(thread->cold, table);
	return true;
}

bool swz_counts_begin(struct swz_thread *thread, uint64_t at_least)
{
	uint32_t slots = FIRST_SLOTS;

	while ((slots - 1) * SLOT_BYTES < at_least)
		slots *= 2;
	thread->cold->counts_strange = 0;
	return make_table(thread, slots);
}

/* ----------------------------------------------------------------- slots */

struct swz_count_slot *swz_counts_find(uint64_t key)
{
	struct swz_count_slot *slot = first_place(key);

	for (unsigned i = 0; i < PROBES; i++)
		if (slot[i].key == key)
			return &slot[i];
	return NULL;
}

/* A handler may take a free slot first, and for the same edge. */
static struct swz_count_slot *claim(struct swz_thread_cold *cold, uint64_t key,
				    uint32_t id)
{
	struct swz_count_slot *slots = slots_of(cold->counts);
	struct swz_count_slot *slot = first_place(key);
	uint32_t *ids = (uint32_t *)(slots + cold->counts->count);

	for (unsigned i = 0; i < PROBES; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&slot[i].key, &none, key, false,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			ids[&slot[i] - slots] = id + 1;
			cold->counts_used++;
			return &slot[i];
		}
		if (none == key)
			return &slot[i];
	}
	return NULL;
}

static bool is_crowded(const struct swz_thread_cold *cold)
{
	return cold->counts_used > cold->counts->count / 8 * 3;
}

static void grow(void *argument)
{
	struct swz_thread *thread = argument;
	uint32_t slots;

	if (!thread->cold) /* a handler has forked, and we are in the child */
		return;
	slots = thread->cold->counts->count - PROBES;
	if (!make_table(thread, slots * (slots < SMALL_SLOTS ? 4 : 2)))
		thread->cold->no_room = true;
}

struct swz_count_slot *swz_counts_make(struct swz_thread *thread,
				       struct swz_thread_cold *cold,
				       uint64_t key, uint32_t id)
{
	struct swz_count_slot *slot = NULL;

	if (!is_crowded(cold) || cold->no_room)
		slot = claim(cold, key, id);
	if (slot || cold->no_room)
		return slot;
	swz_slowly(thread, grow, thread);
	return claim(cold, key, id); /* else it is lost, and said to be */
}

/* An edge that is called often and lies beyond what the hooks' code looks at
 * costs a call of C each time: a larger table has room near its first place.
 * But edges that are spread over more memory than the caches hold cost all
 * calls more: with 64 slots for each of its 77,000 edges g++'s table took 64
 * MB. */
#define HOT_CALLS 1024u
#define MOST_ROOM 64u      /* slots for each edge */
#define LARGE_SLOTS 16384u /* 256 KiB */
#define MOST_ROOM_IN_LARGE 8u

static bool has_much_room(const struct swz_thread_cold *cold)
{
	uint32_t slots = cold->counts->count;
	uint32_t room = slots < LARGE_SLOTS ? MOST_ROOM : MOST_ROOM_IN_LARGE;

	return slots >= (uint64_t)room * (cold->counts_used + 1);
}

void swz_counts_spread(struct swz_thread *thread,
		       const struct swz_thread_cold *cold,
		       const struct swz_count_slot *slot)
{
	if (slot->calls % HOT_CALLS == 0 &&
	    slot >= first_place(slot->key) + 2 && !cold->no_room &&
	    !has_much_room(cold))
		swz_slowly(thread, grow, thread);
}

/* ---------------------------------------------------------------- pauses */

/* Nothing is found in a table of zeros; what interrupts may have loaded the
 * mask. */
bool swz_counts_pause(void)
{
	uint64_t bytes = swz_count_place.mask + (PROBES + 1) * SLOT_BYTES;
	void *zeros = swz_sys_mmap(NULL, bytes, PROT_READ,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				   -1, 0);

	if (!zeros)
		return false;
	swz_count_place.base = (uintptr_t)zeros;
	return true;
}

void swz_counts_resume(const struct swz_thread *thread)
{
	uint64_t bytes = swz_count_place.mask + (PROBES + 1) * SLOT_BYTES;
	void *zeros = (void *)(uintptr_t)swz_count_place.base;

	swz_count_place.base = (uintptr_t)slots_of(thread->cold->counts);
	swz_sys_munmap(zeros, bytes);
}
