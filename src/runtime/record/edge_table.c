/* Most contexts call from few places: beside their node are the units of their
 * first children, which were used not long ago when the context is entered. The
 * table, met at random, is for those that have more. Both hold nodes' units
 * only; a node says itself what its key is. Nothing is taken out of either, so
 * an empty place ends a search.
 *
 * The table is kept at most a quarter full, so that the hook's first probe
 * nearly always meets. A growing thread publishes the new table before the
 * mask: a signal handler cannot come between, since signals are blocked then.
 * Where nothing grows, one may (context.c). */

#include "runtime/record/edge_table.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/file.h"

#define ENTRY_BYTES sizeof(uint32_t)
#define FIRST_TABLE_BYTES 4096u
_Static_assert(FIRST_TABLE_BYTES + (SWZ_TABLE_PROBES - 1) * ENTRY_BYTES <=
		       SWZ_FIRST_TABLE_ROOM,
	       "room_of(FIRST_TABLE_BYTES)");

static uint64_t hash(uint64_t key, uint32_t function, uint64_t call_site)
{
	return ((call_site + 9ull * function + key) * SWZ_HASH_MULTIPLIER) >>
	       32;
}

static uint32_t *children_of(const struct swz_thread *thread, uint32_t context)
{
	return thread->links[context].children;
}

/* The first place for an edge among its context's children. */
static unsigned child_place(uint32_t function, uint64_t call_site)
{
	return (unsigned)(call_site + 9ull * function) % SWZ_CHILDREN;
}

static bool are_in_table(const uint32_t *children)
{
	return children[0] == SWZ_CHILDREN_IN_TABLE;
}

static struct swz_node *find_child(const uint32_t *children, uint32_t function,
				   uint64_t call_site)
{
	unsigned at = child_place(function, call_site);

	for (unsigned i = 0; i < SWZ_CHILDREN; i++, at++) {
		uint32_t unit = children[at % SWZ_CHILDREN];
		struct swz_node *node = swz_unit_at(unit);

		if (!unit || unit == SWZ_CHILDREN_IN_TABLE)
			return NULL;
		if (node->call_site == call_site && node->function == function)
			return node;
	}
	return NULL;
}

static struct swz_node *find_in_table(const struct swz_thread *thread,
				      uint64_t key, uint32_t function,
				      uint64_t call_site)
{
	uint64_t at = hash(key, function, call_site) & thread->table_mask;
	uint32_t unit;

	while ((unit = thread->table[at / ENTRY_BYTES]) != 0) {
		struct swz_node *node = swz_unit_at(unit);

		if (node->call_site == call_site &&
		    node->function == function && swz_edge_key(node) == key)
			return node;
		at = (at + ENTRY_BYTES) & thread->table_mask;
	}
	return NULL;
}

struct swz_node *swz_edge_find(const struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site)
{
	const uint32_t *children = children_of(thread, (uint32_t)(key >> 32));

	return are_in_table(children)
		       ? find_in_table(thread, key, function, call_site)
		       : find_child(children, function, call_site);
}

struct swz_node *swz_site_find(const struct swz_thread *thread,
			       uint32_t function, uint64_t call_site)
{
	uint64_t at = hash(0, function, call_site) & thread->table_mask;
	uint32_t unit;

	while ((unit = thread->table[at / ENTRY_BYTES]) != 0) {
		struct swz_node *node = swz_unit_at(unit);

		if (node->call_site == call_site &&
		    node->function == SWZ_FUNCTION_NONE &&
		    node->context == function)
			return node;
		at = (at + ENTRY_BYTES) & thread->table_mask;
	}
	return NULL;
}

static uint64_t place_of(const struct swz_node *node, uint64_t mask)
{
	uint32_t function = node->function;

	if (function == SWZ_FUNCTION_NONE)
		function = node->context; /* a site */
	return hash(swz_edge_key(node), function, node->call_site) & mask;
}

static void put(uint32_t *table, uint64_t mask, uint32_t unit)
{
	uint64_t at = place_of(swz_unit_at(unit), mask);

	while (table[at / ENTRY_BYTES])
		at = (at + ENTRY_BYTES) & mask;
	table[at / ENTRY_BYTES] = unit;
}

static bool is_same_edge(const struct swz_node *a, const struct swz_node *b)
{
	return a->call_site == b->call_site && a->function == b->function &&
	       a->parent == b->parent &&
	       (a->function != SWZ_FUNCTION_NONE || a->context == b->context);
}

/* The same where a signal may come between. Returns the edge's node in the
 * table, which may be an interrupting handler's. */
static struct swz_node *put_amid_signals(uint32_t *table, uint64_t mask,
					 struct swz_node *node)
{
	uint64_t at = place_of(node, mask);

	for (;;) {
		uint32_t there = 0;

		if (__atomic_compare_exchange_n(
			    &table[at / ENTRY_BYTES], &there, swz_unit_of(node),
			    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return node;
		if (is_same_edge(swz_unit_at(there), node))
			return swz_unit_at(there);
		at = (at + ENTRY_BYTES) & mask;
	}
}

/* What a table takes, with some entries more, which stay empty, for the hook's
 * further probes. A large one lies in huge pages if it can, since it is met at
 * random, and one of these takes the kernel less than half as many of the other
 * kind. */
static uint64_t room_of(uint64_t bytes)
{
	if (2 * bytes < SWZ_HUGE_PAGE)
		return bytes + (SWZ_TABLE_PROBES - 1) * ENTRY_BYTES;
	return (bytes / SWZ_HUGE_PAGE + 1) * SWZ_HUGE_PAGE;
}

static uint32_t *new_table(uint64_t bytes)
{
	uint64_t room = room_of(bytes);
	bool small = room < SWZ_HUGE_PAGE; /* all its pages will be needed */
	char *table = swz_sys_mmap(NULL, small ? room : room + SWZ_HUGE_PAGE,
				   PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS |
					   (small ? MAP_POPULATE : 0),
				   -1, 0);

	if (table && !small) {
		table += -(uintptr_t)table % SWZ_HUGE_PAGE;
		SWZ_SYSCALL(SYS_madvise, table, room, MADV_HUGEPAGE);
	}
	return (uint32_t *)(void *)table;
}

static long forget(uint32_t *table, uint64_t bytes)
{
	return SWZ_SYSCALL(SYS_madvise, table, room_of(bytes), MADV_DONTNEED);
}

/* Enters what the old table has. Both it and the nodes are met at random, so
 * what some entries will need is asked for together. */
static void put_all(uint32_t *table, uint64_t mask, const uint32_t *old,
		    uint64_t count)
{
	uint32_t some[16];
	unsigned n = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (old[i]) {
			some[n++] = old[i];
			__builtin_prefetch(swz_unit_at(old[i]));
		}
		if (n < 16 && i + 1 < count)
			continue;
		for (unsigned j = 0; j < n; j++)
			__builtin_prefetch(
				(char *)table +
					place_of(swz_unit_at(some[j]), mask),
				1);
		for (unsigned j = 0; j < n; j++)
			put(table, mask, some[j]);
		n = 0;
	}
}

/* NULL: memory is refused. */
static uint32_t *table_for(struct swz_thread_cold *cold, uint64_t bytes)
{
	uint32_t *later = cold->later_table;

	if (!cold->table)
		return cold->first_table;
	if (!later || bytes != cold->later_table_bytes)
		return new_table(bytes);
	cold->later_table = NULL;
	/* again: a hook that a fork interrupted may have written there */
	return forget(later, bytes) == 0 ? later : new_table(bytes);
}

static enum swz_status grow(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t bytes = cold->table_bytes ? 4 * cold->table_bytes
					   : FIRST_TABLE_BYTES;
	uint64_t mask = bytes - ENTRY_BYTES, old_bytes = cold->table_bytes;
	uint32_t *old = cold->table;
	uint32_t *table = table_for(cold, bytes);

	if (!table)
		return SWZ_E_NOMEM;
	if (old)
		put_all(table, mask, old, old_bytes / ENTRY_BYTES);
	thread->table = table;
	thread->table_mask = mask;
	cold->table = table;
	cold->table_bytes = bytes;
	/* An interrupted hook of this thread may still hold the old table's
	 * address: nothing else ever lies there. It finds nothing, and looks
	 * again. All old tables are a third of the last. */
	if (old)
		forget(old, old_bytes);
	return SWZ_OK;
}

bool swz_edge_table_is_full(const struct swz_thread_cold *cold, uint32_t edges)
{
	return 4 * (cold->table_used + edges) * ENTRY_BYTES > cold->table_bytes;
}

static void prefetch_place(uint32_t *table, uint64_t mask, uint32_t child)
{
	if (child && child != SWZ_CHILDREN_IN_TABLE)
		__builtin_prefetch(
			(char *)table + place_of(swz_unit_at(child), mask), 1);
}

/* All the children's places are taken: they go into the table together, a
 * signal handler's (which does the same) among them, and then the node. Twice
 * is no harm.
 */
static struct swz_node *move_amid_signals(struct swz_thread *thread,
					  uint32_t *children,
					  struct swz_node *node)
{
	struct swz_node *entered = NULL;
	uint64_t mask;
	uint32_t *to;

	do {
		to = __atomic_load_n(&thread->table, __ATOMIC_RELAXED);
		mask = __atomic_load_n(&thread->table_mask, __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
		if (__atomic_load_n(&thread->table, __ATOMIC_RELAXED) != to)
			continue;
		/* they go to places anywhere: together */
		for (unsigned i = 0; children && i < SWZ_CHILDREN; i++)
			prefetch_place(to, mask, children[i]);
		for (unsigned i = 0; children && i < SWZ_CHILDREN; i++) {
			uint32_t unit = __atomic_load_n(&children[i],
							__ATOMIC_RELAXED);

			if (unit == SWZ_CHILDREN_IN_TABLE)
				break;
			put_amid_signals(to, mask, swz_unit_at(unit));
		}
		entered = put_amid_signals(to, mask, node);
	} while (__atomic_load_n(&thread->table, __ATOMIC_RELAXED) != to);
	atomic_signal_fence(memory_order_seq_cst);
	for (unsigned i = 0; children && i < SWZ_CHILDREN; i++)
		__atomic_store_n(&children[i], SWZ_CHILDREN_IN_TABLE,
				 __ATOMIC_RELAXED);
	return entered;
}

/* Puts the node beside its context's if there is a place; NULL: there is none,
 * or none any more. */
static struct swz_node *put_child(uint32_t *children, struct swz_node *node)
{
	unsigned at = child_place(node->function, node->call_site);

	for (unsigned i = 0; i < SWZ_CHILDREN; i++, at++) {
		uint32_t there = 0;

		if (__atomic_compare_exchange_n(&children[at % SWZ_CHILDREN],
						&there, swz_unit_of(node),
						false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return node;
		if (there == SWZ_CHILDREN_IN_TABLE)
			return NULL;
		if (is_same_edge(swz_unit_at(there), node))
			return swz_unit_at(there);
	}
	return NULL;
}

/* The same of a node that may be a site, which is none's child. */
static struct swz_node *put_beside(const struct swz_thread *thread,
				   struct swz_node *node)
{
	return node->function == SWZ_FUNCTION_NONE
		       ? NULL
		       : put_child(children_of(thread, node->parent), node);
}

static struct swz_node *put_in_table(struct swz_thread *thread,
				     struct swz_node *node)
{
	uint32_t *children = NULL, entries = 1;

	if (node->function != SWZ_FUNCTION_NONE) {
		children = children_of(thread, node->parent);
		if (!are_in_table(children))
			entries = SWZ_EDGE_ENTRIES;
	}
	__atomic_fetch_add(&thread->cold->table_used, entries,
			   __ATOMIC_RELAXED);
	return move_amid_signals(thread, children, node);
}

struct swz_node *swz_edge_insert_amid_signals(struct swz_thread *thread,
					      struct swz_node *node)
{
	struct swz_node *entered = put_beside(thread, node);

	return entered ? entered : put_in_table(thread, node);
}

struct swz_node *swz_edge_insert(struct swz_thread *thread,
				 struct swz_node *node)
{
	struct swz_node *entered = put_beside(thread, node);
	struct swz_thread_cold *cold = thread->cold;

	if (entered)
		return entered;
	if (swz_edge_table_is_full(cold, SWZ_EDGE_ENTRIES) &&
	    grow(thread) != SWZ_OK &&
	    2 * (cold->table_used + SWZ_EDGE_ENTRIES) * ENTRY_BYTES >
		    cold->table_bytes)
		return NULL;
	return put_in_table(thread, node);
}

void swz_edge_table_begin_again(struct swz_thread_cold *cold)
{
	if (!cold->table || cold->table == cold->first_table)
		return;
	(void)forget(cold->table, cold->table_bytes);
	if (!cold->later_table || cold->later_table_bytes < cold->table_bytes) {
		cold->later_table = cold->table;
		cold->later_table_bytes = cold->table_bytes;
	}
	cold->table = cold->first_table;
	cold->table_bytes = FIRST_TABLE_BYTES;
}

void swz_edge_table_clear(struct swz_thread *thread)
{
	/* not by writing, which would copy it in a forked child */
	if (thread->table &&
	    forget(thread->table, thread->cold->table_bytes) != 0)
		memset(thread->table, 0, thread->cold->table_bytes);
	thread->cold->table_used = 0;
}

void swz_edge_table_make_room(struct swz_thread *thread, uint32_t edges)
{
	while (swz_edge_table_is_full(thread->cold, edges) &&
	       grow(thread) == SWZ_OK)
		;
}

void swz_edge_table_forget_children(const struct swz_thread *thread,
				    uint32_t context)
{
	memset(children_of(thread, context), 0,
	       sizeof(thread->links[context].children));
}
