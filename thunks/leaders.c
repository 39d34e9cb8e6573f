/* A table of all, with open addressing. None is ever taken out. */

#include "thunks/leaders.h"

#include <stdatomic.h>
#include <stddef.h>

#define PLACES 2048u
#define MOST_LEADERS 1024u

/* These outlive a reset (src/runtime/support/reset.h), as leaders do. */
#define KEPT __attribute__((section(".bss.kept")))

static struct swz_thunk *_Atomic table[PLACES]
	__attribute__((section(".bss.kept_table")));
static _Atomic uint32_t count KEPT;

/* Where those are taken from that are made next: block + 1 << 32 | used; 0:
 * from nowhere yet. A process that is attached to again may have another exit
 * hook. */
#define MOST_HOOKS 4u
static struct source {
	void (*hook)(void);
	_Atomic uint64_t block_and_used;
} sources[MOST_HOOKS] KEPT;
static struct source *source = sources;

static unsigned place_of(const uint8_t *body, uint64_t return_address)
{
	uint64_t sum = (uintptr_t)body + 3 * return_address;

	return (unsigned)((sum * SWZ_HASH_MULTIPLIER) >> 32) % PLACES;
}

/* One that was made for another exit hook, before a reset, is not it. */
static bool is_it(const struct swz_thunk *leader, const uint8_t *body,
		  uint64_t return_address)
{
	return leader->body == body &&
	       leader->return_address == return_address &&
	       leader->start_ticks == (uintptr_t)swz_arena_following_exit();
}

struct swz_thunk *swz_leader_find(const uint8_t *body, uint64_t return_address)
{
	unsigned at = place_of(body, return_address);
	struct swz_thunk *leader;

	/* acquire: matches the release in swz_leader_make */
	while ((leader = atomic_load_explicit(&table[at],
					      memory_order_acquire)) != NULL) {
		if (is_it(leader, body, return_address))
			return leader;
		at = (at + 1) % PLACES;
	}
	return NULL;
}

/* In its `next_free`: it is never free. */
void swz_leader_note_parent(struct swz_thunk *leader, uint32_t thread,
			    uint32_t parent)
{
	__atomic_store_n((uint64_t *)(void *)&leader->next_free,
			 (uint64_t)thread << 32 | parent, __ATOMIC_RELAXED);
}

uint32_t swz_leader_parent(const struct swz_thunk *leader, uint32_t thread)
{
	uint64_t noted = __atomic_load_n(
		(const uint64_t *)(const void *)&leader->next_free,
		__ATOMIC_RELAXED);

	return noted >> 32 == thread ? (uint32_t)noted : 0;
}

bool swz_leaders_have_room(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed) <
	       MOST_LEADERS;
}

void swz_leaders_forget_parents(void)
{
	if (!atomic_load(&count)) /* mostly: the table's pages are not there */
		return;
	for (unsigned i = 0; i < PLACES; i++) {
		struct swz_thunk *leader = atomic_load(&table[i]);

		if (leader)
			swz_leader_note_parent(leader, 0, 0);
	}
}

void swz_leaders_begin(void)
{
	void (*hook)(void) = swz_arena_following_exit();

	source = sources;
	while (source->hook && source->hook != hook &&
	       source < sources + MOST_HOOKS - 1)
		source++;
	source->hook = hook;
	swz_leaders_forget_parents();
}

void swz_leaders_stock_up(void)
{
	uint64_t state = atomic_load(&source->block_and_used);
	uint32_t block;

	if (state)
		return;
	block = swz_arena_take_leading_block();
	if (block != SWZ_BLOCK_NONE)
		atomic_compare_exchange_strong(&source->block_and_used, &state,
					       (block + UINT64_C(1)) << 32);
}

/* One that the table has not yet. */
static struct swz_thunk *take_thunk(void)
{
	uint64_t state = atomic_load(&source->block_and_used), want;
	uint32_t block, used;

	do {
		block = (uint32_t)(state >> 32);
		used = (uint32_t)state;
		if (!block || used == SWZ_BLOCK_THUNKS) {
			/* of another thread's, which comes between, 63 are lost
			 */
			block = swz_arena_take_leading_block();
			if (block == SWZ_BLOCK_NONE)
				return NULL;
			block++;
			used = 0;
		}
		want = (uint64_t)block << 32 | (used + 1);
	} while (!atomic_compare_exchange_strong(&source->block_and_used,
						 &state, want));
	return swz_arena_block_thunks(block - 1) + used;
}

static struct swz_thunk *new_leader(const uint8_t *body,
				    uint64_t return_address)
{
	struct swz_thunk *leader = take_thunk();

	if (!leader)
		return NULL;
	*leader = (struct swz_thunk){
		.body = body,
		.return_address = return_address,
		.start_ticks = (uintptr_t)swz_arena_following_exit(),
		.pending = SWZ_LEADS};
	return leader;
}

struct swz_thunk *swz_leader_make(const uint8_t *body, uint64_t return_address)
{
	struct swz_thunk *leader = swz_leader_find(body, return_address);
	unsigned at = place_of(body, return_address);

	if (leader)
		return leader;
	if (atomic_fetch_add(&count, 1) >= MOST_LEADERS) {
		atomic_fetch_sub(&count, 1);
		return NULL;
	}
	leader = new_leader(body, return_address);
	if (!leader)
		return NULL; /* and one less is to be had: no use in asking */
	for (;; at = (at + 1) % PLACES) {
		struct swz_thunk *there = NULL;

		if (atomic_compare_exchange_strong_explicit(
			    &table[at], &there, leader, memory_order_release,
			    memory_order_acquire))
			return leader;
		if (is_it(there, body, return_address))
			return there; /* another thread's */
	}
}
