/* The arena is prepared from its beginning on, in parts that become larger, as
 * each takes the kernel the same few calls, which cost more than the memory:
 * code is written while the pages are read+write, then sealed read+execute;
 * data stays read+write. `next_block` only grows. While one thread prepares a
 * part, others that cannot wait take small ones: a hundred threads that start
 * together would each prepare a quarter. A block is named by its number; the
 * stack of returned blocks is a Treiber stack whose head carries a tag against
 * ABA, its links in a table aside, so that no thread reads a block that another
 * has taken. */

#include "thunks/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "asm/x86_64/offsets.h"
#include "base/syscall.h"
#include "swizzle/format.h"

/* --- the arena ----------------------------------------------------------- */

#define UNIT_BYTES ((size_t)2 * SWZ_UNIT_CODE_BYTES)
#define BLOCK_BYTES ((size_t)SWZ_BLOCK_THUNKS * SWZ_THUNK_BYTES)
#define UNIT_BLOCKS ((uint32_t)(SWZ_UNIT_CODE_BYTES / BLOCK_BYTES))
#define FIRST_BLOCKS 4u

_Static_assert(sizeof(struct swz_thunk) == SWZ_THUNK_BYTES, "thunk data");
_Static_assert(SWZ_THUNK_CODE_BYTES == SWZ_THUNK_BYTES &&
		       SWZ_THUNK_T == SWZ_THUNK_AFTER_CALL &&
		       SWZ_THUNK_DATA_DISTANCE == SWZ_UNIT_CODE_BYTES &&
		       SWZ_THUNK_REAL_RETURN == SWZ_THUNK_RETURN,
	       "as others know it");

void swz_hook_exit(void);
void swz_hook_exit_following(void);

static void (*exit_hook)(void) = swz_hook_exit;
static void (*following_hook)(void) = swz_hook_exit_following;

/* These outlive a reset (src/runtime/support/scratch_memory.h). */
#define KEPT __attribute__((section(".bss.kept")))

static _Atomic uint32_t next_block KEPT;
/* Threads that prepare a part. One that is lost there, with a process that has
 * shared this memory, makes all later parts small. */
static _Atomic uint32_t preparing KEPT;
static _Atomic uint32_t next_returned[SWZ_ARENA_BLOCKS]
	__attribute__((section(".bss.kept_table")));

/* Returned blocks, by the exit hook that their code goes to: a process that is
 * attached to again may have another one. */
#define MOST_HOOKS 4u
static struct pool {
	void (*hook)(void);
	_Atomic uint64_t returned; /* tag << 32 | block + 1; 0 = empty */
} pools[MOST_HOOKS] KEPT;
static struct pool *pool = pools;

static char *unit_code(uint32_t unit)
{
	return (char *)(uintptr_t)swz_arena_start + unit * UNIT_BYTES;
}

static void put32(uint8_t *at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(at, &v, sizeof(v));
}

static void write_thunk(uint8_t *code, void (*hook)(void))
{
	const int64_t data = SWZ_UNIT_CODE_BYTES;

	/* call *body(%rip); push return_address(%rip); push %rax;
	 * lea data(%rip), %rax; jmp exit hook */
	code[0] = 0xff, code[1] = 0x15, put32(code + 2, data - 6);
	code[6] = 0xff, code[7] = 0x35,
	put32(code + 8, data + SWZ_THUNK_RETURN - 12);
	code[12] = 0x50;
	code[13] = 0x48, code[14] = 0x8d, code[15] = 0x05,
	put32(code + 16, data - 20);
	code[20] = 0xe9,
	put32(code + 21, (intptr_t)hook - (intptr_t)(code + 25));
	memset(code + 25, 0xcc, SWZ_THUNK_BYTES - 25);
}

void swz_arena_set_exit(void (*hook)(void), void (*following)(void))
{
	exit_hook = hook;
	following_hook = following;
	pool = pools;
	while (pool->hook && pool->hook != hook &&
	       pool < pools + MOST_HOOKS - 1)
		pool++;
	pool->hook = hook;
}

/* New memory in the place of the old, which nobody has used, is one call. */
static bool make_writable(char *start, size_t bytes)
{
	long at = SWZ_SYSCALL(
		SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);

	if (at == (long)(uintptr_t)start)
		return true;
	if (swz_sys_mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0)
		return false;
	/* all pages at once, if the kernel can; they come one by one otherwise
	 */
	SWZ_SYSCALL(SYS_madvise, start, bytes, MADV_POPULATE_WRITE);
	return true;
}

/* A unit, or a part of it: so many bytes of code, and as many of data. */
static bool prepare(char *code, size_t bytes)
{
	bool done = bytes == SWZ_UNIT_CODE_BYTES
			    ? make_writable(code, UNIT_BYTES)
			    : make_writable(code, bytes) &&
				      make_writable(code + SWZ_UNIT_CODE_BYTES,
						    bytes);

	for (size_t i = 0; done && i < bytes; i += SWZ_THUNK_BYTES)
		write_thunk((uint8_t *)code + i, exit_hook);
	return done &&
	       swz_sys_mprotect(code, bytes, PROT_READ | PROT_EXEC) == 0;
}

/* How many blocks the part has that begins with this one: up to a quarter of
 * what there is, a power of two, within a unit. */
static uint32_t part_blocks(uint32_t block, bool is_only_one)
{
	uint32_t blocks = FIRST_BLOCKS;

	while (is_only_one && 8 * blocks <= block && blocks < UNIT_BLOCKS &&
	       block % (2 * blocks) == 0)
		blocks *= 2;
	return blocks;
}

void swz_arena_give_block(uint32_t block)
{
	uint64_t head = atomic_load_explicit(&pool->returned,
					     memory_order_relaxed);
	uint64_t want;

	do {
		atomic_store_explicit(&next_returned[block], (uint32_t)head,
				      memory_order_relaxed);
		want = ((head >> 32) + 1) << 32 | (block + 1);
		/* release: the taker sees the link and the cleared thunks */
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->returned, &head, want, memory_order_release,
		memory_order_relaxed));
}

static uint32_t take_returned(void)
{
	/* acquire: matches the release in swz_arena_give_block */
	uint64_t head = atomic_load_explicit(&pool->returned,
					     memory_order_acquire);

	while ((uint32_t)head != 0) {
		uint32_t block = (uint32_t)head - 1;
		uint32_t next = atomic_load_explicit(&next_returned[block],
						     memory_order_relaxed);
		uint64_t want = ((head >> 32) + 1) << 32 | next;

		if (atomic_compare_exchange_weak_explicit(
			    &pool->returned, &head, want, memory_order_acquire,
			    memory_order_acquire))
			return block;
	}
	return SWZ_BLOCK_NONE;
}

/* The first block of a new part; the others are given back. */
static uint32_t take_part(bool is_only_one)
{
	uint32_t block, blocks;
	char *code;

	block = atomic_load_explicit(&next_block, memory_order_relaxed);
	do {
		if (block >= SWZ_ARENA_BLOCKS)
			return SWZ_BLOCK_NONE;
		blocks = part_blocks(block, is_only_one);
	} while (!atomic_compare_exchange_weak_explicit(
		&next_block, &block, block + blocks, memory_order_relaxed,
		memory_order_relaxed));
	code = unit_code(block / UNIT_BLOCKS) +
	       block % UNIT_BLOCKS * BLOCK_BYTES;
	/* what could not be prepared is not tried again */
	if (!prepare(code, blocks * BLOCK_BYTES))
		return SWZ_BLOCK_NONE;
	for (uint32_t i = 1; i < blocks; i++)
		swz_arena_give_block(block + i);
	return block;
}

uint32_t swz_arena_take_block(void)
{
	uint32_t block = take_returned(), others;

	if (block != SWZ_BLOCK_NONE)
		return block;
	others = atomic_fetch_add_explicit(&preparing, 1, memory_order_relaxed);
	block = take_part(!others);
	atomic_fetch_sub_explicit(&preparing, 1, memory_order_relaxed);
	return block;
}

void swz_arena_forked(void)
{
	atomic_store_explicit(&preparing, 0, memory_order_relaxed);
}

struct swz_thunk *swz_arena_block_thunks(uint32_t block)
{
	char *code = unit_code(block / UNIT_BLOCKS) +
		     block % UNIT_BLOCKS * BLOCK_BYTES;

	return (struct swz_thunk *)(code + SWZ_UNIT_CODE_BYTES);
}

/* The same of leaders (thunks/arena.h), whose code goes to the hook that asks
 * the slot whose exit it is. They are never given back. */
static uint32_t arena_take_leading_block(void)
{
	uint32_t block = swz_arena_take_block();
	char *code;

	if (block == SWZ_BLOCK_NONE)
		return SWZ_BLOCK_NONE;
	code = (char *)swz_arena_block_thunks(block) - SWZ_UNIT_CODE_BYTES;
	if (swz_sys_mprotect(code, BLOCK_BYTES, PROT_READ | PROT_WRITE) != 0) {
		swz_arena_give_block(block);
		return SWZ_BLOCK_NONE;
	}
	for (size_t i = 0; i < BLOCK_BYTES; i += SWZ_THUNK_BYTES)
		write_thunk((uint8_t *)code + i, following_hook);
	return swz_sys_mprotect(code, BLOCK_BYTES, PROT_READ | PROT_EXEC) == 0
		       ? block
		       : SWZ_BLOCK_NONE;
}

/* The hook that a leader goes to which is made now. */
static void (*arena_following_exit(void))(void)
{
	return following_hook;
}

uint32_t swz_arena_block_of(const struct swz_thunk *thunk)
{
	uintptr_t at = (uintptr_t)thunk - (uintptr_t)swz_arena_start;

	return (uint32_t)(at / UNIT_BYTES * UNIT_BLOCKS +
			  at % SWZ_UNIT_CODE_BYTES / BLOCK_BYTES);
}

bool swz_arena_contains(uint64_t address)
{
	return address - (uintptr_t)swz_arena_start < SWZ_ARENA_BYTES;
}

bool swz_arena_is_code(uint64_t address)
{
	return swz_arena_contains(address) &&
	       (address - (uintptr_t)swz_arena_start) % UNIT_BYTES <
		       SWZ_UNIT_CODE_BYTES;
}

struct swz_thunk *swz_arena_thunk_at(uint64_t address)
{
	return (struct swz_thunk *)((address & -(uint64_t)SWZ_THUNK_BYTES) +
				    SWZ_UNIT_CODE_BYTES);
}

const uint8_t *swz_thunk_code(const struct swz_thunk *thunk)
{
	return swz_thunk_follows(thunk)
		       ? thunk->body
		       : (const uint8_t *)thunk - SWZ_UNIT_CODE_BYTES;
}

const uint8_t *swz_thunk_body(const struct swz_thunk *thunk)
{
	if (swz_thunk_follows(thunk))
		thunk = swz_arena_thunk_at((uintptr_t)thunk->body);
	return thunk->body;
}

uint64_t swz_thunk_address(const struct swz_thunk *thunk)
{
	return (uintptr_t)swz_thunk_code(thunk) + SWZ_THUNK_AFTER_CALL;
}

/* --- leaders ------------------------------------------------------------- */

/* A table of all, with open addressing. None is ever taken out. */

#define PLACES 2048u
#define MOST_LEADERS 1024u

/* These outlive a reset (src/runtime/support/scratch_memory.h), as leaders do.
 */

static struct swz_thunk *_Atomic table[PLACES]
	__attribute__((section(".bss.kept_table")));
static _Atomic uint32_t leader_count KEPT;

/* Where those are taken from that are made next: block + 1 << 32 | used; 0:
 * from nowhere yet. A process that is attached to again may have another exit
 * hook. */
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

/* False for one that was made for another exit hook, before a reset. */
static bool leads(const struct swz_thunk *leader, const uint8_t *body,
		  uint64_t return_address)
{
	return leader->body == body &&
	       leader->return_address == return_address &&
	       leader->start_ticks == (uintptr_t)arena_following_exit();
}

struct swz_thunk *swz_leader_find(const uint8_t *body, uint64_t return_address)
{
	unsigned at = place_of(body, return_address);
	struct swz_thunk *leader;

	/* acquire: matches the release in swz_leader_make */
	while ((leader = atomic_load_explicit(&table[at],
					      memory_order_acquire)) != NULL) {
		if (leads(leader, body, return_address))
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
	return atomic_load_explicit(&leader_count, memory_order_relaxed) <
	       MOST_LEADERS;
}

void swz_leaders_forget_parents(void)
{
	if (!atomic_load(&leader_count)) /* mostly: the table's pages are not
					    there */
		return;
	for (unsigned i = 0; i < PLACES; i++) {
		struct swz_thunk *leader = atomic_load(&table[i]);

		if (leader)
			swz_leader_note_parent(leader, 0, 0);
	}
}

void swz_leaders_begin(void)
{
	void (*hook)(void) = arena_following_exit();

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
	block = arena_take_leading_block();
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
			block = arena_take_leading_block();
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
		.start_ticks = (uintptr_t)arena_following_exit(),
		.pending = SWZ_LEADS};
	return leader;
}

struct swz_thunk *swz_leader_make(const uint8_t *body, uint64_t return_address)
{
	struct swz_thunk *leader = swz_leader_find(body, return_address);
	unsigned at = place_of(body, return_address);

	if (leader)
		return leader;
	if (atomic_fetch_add(&leader_count, 1) >= MOST_LEADERS) {
		atomic_fetch_sub(&leader_count, 1);
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
		if (leads(there, body, return_address))
			return there; /* another thread's */
	}
}
