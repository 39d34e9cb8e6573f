#include "runtime/record/edge_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"

/* ------------------------------------------------------- a context's edges */

/* Most contexts call from few places: beside their node are the units of their
 * first children, which were used not long ago when the context is entered. One
 * that has more gets a table, so that all that a context calls lies together: a
 * new edge's place is near that of the one before. Both hold nodes' units only;
 * a node says itself what its key is. Nothing is taken out of either, so an
 * empty place ends a search.
 *
 * A table is kept at most three eighths full, so that the hook's first probe
 * nearly always meets, and grows where an edge would lie further from its first
 * place than the hooks look. Behind its places are so many more that theirs end
 * there; search goes round all of them.
 *
 * A signal handler of the same thread may come between any two instructions,
 * make edges in the same context, and let its table grow. So what the children
 * are changes by one instruction, from four units to a table, or from a table
 * to a larger one, if nothing has been counted in it meanwhile. Entries are
 * counted before they are stored, and stored again where the table is another
 * one by then. A thread that shares our storage may do so at the same time:
 * then an edge may come to have two nodes, but children stay whole. */

#define ENTRY_BYTES ((uint32_t)sizeof(uint32_t))
#define FIRST_ENTRIES 32u
#define MOST_ENTRIES (1u << 28)
/* Behind the last first place. */
#define SPARE_ENTRIES (SWZ_TABLE_PROBES - 1u)
/* While a table has no more than so many for each edge, edges in it are close
 * to their first places for the asking: it grows. */
#define ENTRIES_EACH 16u

/* A table, and what its context's children are for it. */
struct table {
	uint32_t *entries;
	uint32_t mask, used; /* as children have them, without the mark */
	uint32_t at;
};

static uint64_t hash(uint64_t key, uint32_t function, uint64_t call_site)
{
	return ((call_site + 9ull * function + key) * SWZ_HASH_MULTIPLIER) >>
	       SWZ_HASH_SHIFT;
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
	return children[0] & SWZ_CHILDREN_IN_TABLE;
}

static struct swz_node *find_child(const uint32_t *children, uint32_t function,
				   uint64_t call_site)
{
	unsigned at = child_place(function, call_site);

	for (unsigned i = 0; i < SWZ_CHILDREN; i++, at++) {
		uint32_t unit = children[at % SWZ_CHILDREN];
		struct swz_node *node = swz_unit_at(unit);

		if (!unit || unit & SWZ_CHILDREN_IN_TABLE)
			return NULL;
		if (node->call_site == call_site && node->function == function)
			return node;
	}
	return NULL;
}

/* ------------------------------------------------------------------ tables */

static uint32_t load(const uint32_t *word)
{
	uint32_t value = __atomic_load_n(word, __ATOMIC_RELAXED);

	atomic_signal_fence(memory_order_seq_cst);
	return value;
}

/* First what is counted, which tells later whether a handler has come between.
 * The mask before the place: that of a smaller table is good for a larger one.
 */
static struct table table_of(const struct swz_thread *thread,
			     const uint32_t *children)
{
	struct table t;

	t.used = load(&children[SWZ_TABLE_USED]) & ~SWZ_CHILDREN_IN_TABLE;
	t.mask = load(&children[SWZ_TABLE_MASK]) & ~SWZ_CHILDREN_IN_TABLE;
	t.at = load(&children[SWZ_TABLE_AT]);
	t.entries = (uint32_t *)(void *)(thread->tables +
					 (int64_t)(int32_t)t.at *
						 SWZ_TABLE_UNIT);
	return t;
}

static uint32_t first_places(const struct table *t)
{
	return t->mask / ENTRY_BYTES + 1;
}

static uint32_t places(const struct table *t)
{
	return first_places(t) + SPARE_ENTRIES;
}

static uint32_t next_place(const struct table *t, uint32_t at)
{
	return at + 1 < places(t) ? at + 1 : 0;
}

static struct swz_node *find_in_table(const struct table *t, uint64_t key,
				      uint32_t function, uint64_t call_site)
{
	uint32_t at = (uint32_t)(hash(key, function, call_site) & t->mask) /
		      ENTRY_BYTES;
	uint32_t unit;

	while ((unit = t->entries[at]) != 0) {
		struct swz_node *node = swz_unit_at(unit);

		if (node->call_site == call_site &&
		    node->function == function && swz_edge_key(node) == key)
			return node;
		at = next_place(t, at);
	}
	return NULL;
}

struct swz_node *swz_edge_find(const struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site)
{
	const uint32_t *children = children_of(thread, (uint32_t)(key >> 32));
	struct table t;

	if (!are_in_table(children))
		return find_child(children, function, call_site);
	t = table_of(thread, children);
	return find_in_table(&t, key, function, call_site);
}

static bool is_same_edge(const struct swz_node *a, const struct swz_node *b)
{
	return a->call_site == b->call_site && a->function == b->function &&
	       a->parent == b->parent;
}

/* Returns the edge's node in the table, which may be an interrupting handler's;
 * *probes: how far from its first place it is. One place is empty. */
static struct swz_node *put(const struct table *t, struct swz_node *node,
			    unsigned *probes)
{
	uint32_t at = (uint32_t)(hash(swz_edge_key(node), node->function,
				      node->call_site) &
				 t->mask) /
		      ENTRY_BYTES;

	for (*probes = 0;; ++*probes) {
		uint32_t there = 0;

		if (swz_swap32(&t->entries[at], &there, swz_unit_of(node)))
			return node;
		if (is_same_edge(swz_unit_at(there), node))
			return swz_unit_at(there);
		at = next_place(t, at);
	}
}

static bool make_table(const struct swz_thread *thread, struct table *t,
		       uint32_t entries)
{
	char *memory = NULL;

	if (entries <= MOST_ENTRIES)
		memory = swz_table_room_take(
			thread->cold,
			(uint64_t)(entries + SPARE_ENTRIES) * ENTRY_BYTES);
	if (!memory)
		return false;
	t->entries = (uint32_t *)(void *)memory;
	t->mask = (entries - 1) * ENTRY_BYTES;
	t->used = 0;
	t->at = (uint32_t)((memory - thread->tables) / (long)SWZ_TABLE_UNIT);
	return true;
}

/* Into a table that nobody else knows yet. */
static void fill(struct table *t, uint32_t unit)
{
	const struct swz_node *node = swz_unit_at(unit);
	uint32_t at = (uint32_t)(hash(swz_edge_key(node), node->function,
				      node->call_site) &
				 t->mask) /
		      ENTRY_BYTES;

	while (t->entries[at])
		at = next_place(t, at);
	t->entries[at] = unit;
	t->used++;
}

/* The children become the table's if they are the OLD ones still; if not, a
 * handler was faster, and all begins again. */
static void replace(uint32_t *children, const uint32_t *old,
		    const struct table *t)
{
	const uint32_t now[SWZ_CHILDREN] = {
		[SWZ_TABLE_AT] = t->at,
		[SWZ_TABLE_MASK] = t->mask | SWZ_CHILDREN_IN_TABLE,
		[SWZ_TABLE_USED] = t->used | SWZ_CHILDREN_IN_TABLE,
		[SWZ_TABLE_MARK] = SWZ_CHILDREN_IN_TABLE,
	};
	uint64_t from[2], to[2];

	memcpy(from, old, sizeof(from));
	memcpy(to, now, sizeof(to));
	(void)swz_swap_pair((uint64_t *)(void *)children, from, to);
}

/* All the children's places are taken: they go into a table together. False:
 * there is no room. */
static bool begin_table(const struct swz_thread *thread, uint32_t *children)
{
	uint32_t old[SWZ_CHILDREN];
	struct table t;

	if (!make_table(thread, &t, FIRST_ENTRIES))
		return false;
	for (unsigned i = 0; i < SWZ_CHILDREN; i++) {
		old[i] = load(&children[i]);
		if (old[i] & SWZ_CHILDREN_IN_TABLE)
			return true; /* a handler was faster */
		fill(&t, old[i]);
	}
	replace(children, old, &t);
	return true;
}

/* The nodes of many edges are met at random. */
#define FETCHED_AHEAD 8u

static bool grow(const struct swz_thread *thread, uint32_t *children,
		 const struct table *from)
{
	const uint32_t old[SWZ_CHILDREN] = {
		[SWZ_TABLE_AT] = from->at,
		[SWZ_TABLE_MASK] = from->mask | SWZ_CHILDREN_IN_TABLE,
		[SWZ_TABLE_USED] = from->used | SWZ_CHILDREN_IN_TABLE,
		[SWZ_TABLE_MARK] = SWZ_CHILDREN_IN_TABLE,
	};
	const uint32_t count = places(from);
	struct table t;

	if (!make_table(thread, &t, 2 * first_places(from)))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (i + FETCHED_AHEAD < count)
			__builtin_prefetch(
				swz_unit_at(from->entries[i + FETCHED_AHEAD]));
		if (from->entries[i])
			fill(&t, from->entries[i]);
	}
	t.used = from->used;
	replace(children, old, &t);
	return true;
}

static bool is_full(const struct table *t)
{
	return 8 * ((uint64_t)t->used + 1) > 3 * (uint64_t)first_places(t);
}

/* True if nothing has been counted since, or the table been replaced. */
static bool count(uint32_t *children, const struct table *t)
{
	uint32_t used = t->used | SWZ_CHILDREN_IN_TABLE;

	return swz_swap32(&children[SWZ_TABLE_USED], &used, used + 1);
}

static struct swz_node *put_in_table(const struct swz_thread *thread,
				     uint32_t *children, struct swz_node *node)
{
	struct swz_node *entered;
	unsigned probes;
	struct table t;

	do {
		/* none any more where a handler has forked */
		if (!are_in_table(children))
			return NULL;
		t = table_of(thread, children);
		if (is_full(&t) && grow(thread, children, &t))
			t = table_of(thread, children);
		if (t.used + 2 > places(&t))
			return NULL;
	} while (!count(children, &t));
	entered = put(&t, node, &probes);
	while (load(&children[SWZ_TABLE_AT]) != t.at) {
		t = table_of(thread, children);
		entered = put(&t, entered, &probes);
	}
	if (probes >= SWZ_TABLE_PROBES &&
	    first_places(&t) <= ENTRIES_EACH * t.used) {
		t = table_of(thread, children);
		(void)grow(thread, children, &t);
	}
	return entered;
}

/* Puts the node beside its context's if there is a place; NULL: there is none,
 * or none any more. */
static struct swz_node *put_child(uint32_t *children, struct swz_node *node)
{
	unsigned at = child_place(node->function, node->call_site);

	for (unsigned i = 0; i < SWZ_CHILDREN; i++, at++) {
		uint32_t there = 0;

		if (swz_swap32(&children[at % SWZ_CHILDREN], &there,
			       swz_unit_of(node)))
			return node;
		if (there & SWZ_CHILDREN_IN_TABLE)
			return NULL;
		if (is_same_edge(swz_unit_at(there), node))
			return swz_unit_at(there);
	}
	return NULL;
}

struct swz_node *swz_edge_insert(struct swz_thread *thread,
				 struct swz_node *node)
{
	uint32_t *children = children_of(thread, node->parent);
	struct swz_node *entered = put_child(children, node);

	if (entered)
		return entered;
	if (!are_in_table(children) && !begin_table(thread, children))
		return NULL;
	return put_in_table(thread, children, node);
}

void swz_edge_forget_children(const struct swz_thread *thread, uint32_t context)
{
	memset(children_of(thread, context), 0,
	       sizeof(thread->links[context].children));
}

/* --------------------------------------------------- a thread's call sites */

/* Units, by open addressing, at most a quarter of a thread's table. Nothing is
 * taken out, so an empty place ends a search. */

#define SITE_BYTES sizeof(uint32_t)
#define FIRST_BYTES 16384u

static uint64_t place_of(uint32_t function, uint64_t call_site, uint64_t bytes)
{
	return (((call_site + 9ull * function) * SWZ_HASH_MULTIPLIER) >>
		SWZ_HASH_SHIFT) &
	       (bytes / SITE_BYTES - 1);
}

static bool is_site(const struct swz_node *site, uint32_t function,
		    uint64_t call_site)
{
	return site->call_site == call_site && site->context == function;
}

struct swz_node *swz_site_find(const struct swz_thread_cold *cold,
			       uint32_t function, uint64_t call_site)
{
	const uint64_t bytes = cold->sites_bytes;
	uint64_t at = place_of(function, call_site, bytes);
	uint32_t unit;

	if (!bytes)
		return NULL;
	while ((unit = cold->sites[at]) != 0) {
		struct swz_node *site = swz_unit_at(unit);

		if (is_site(site, function, call_site))
			return site;
		at = (at + 1) & (bytes / SITE_BYTES - 1);
	}
	return NULL;
}

static struct swz_node *put_site(uint32_t *table, uint64_t bytes,
				 struct swz_node *site)
{
	uint64_t at = place_of(site->context, site->call_site, bytes);

	for (;;) {
		uint32_t there = 0;

		if (__atomic_compare_exchange_n(
			    &table[at], &there, swz_unit_of(site), false,
			    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return site;
		if (is_site(swz_unit_at(there), site->context, site->call_site))
			return swz_unit_at(there);
		at = (at + 1) & (bytes / SITE_BYTES - 1);
	}
}

static long forget(uint32_t *table, uint64_t bytes)
{
	return SWZ_SYSCALL(SYS_madvise, table, bytes, MADV_DONTNEED);
}

static enum swz_status grow_sites(struct swz_thread_cold *cold)
{
	uint64_t bytes = cold->sites_bytes ? 4 * cold->sites_bytes
					   : FIRST_BYTES;
	uint64_t old_bytes = cold->sites_bytes;
	uint32_t *old = cold->sites;
	uint32_t *table = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!table)
		return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < old_bytes / SITE_BYTES; i++)
		if (old[i])
			put_site(table, bytes, swz_unit_at(old[i]));
	/* An interrupted hook of this thread may still hold the old one's
	 * address, or find the new one with the old one's length: nothing else
	 * ever lies there. It finds nothing, and looks again. All old tables
	 * are a third of the last. */
	__atomic_store_n(&cold->sites, table, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&cold->sites_bytes, bytes, __ATOMIC_RELAXED);
	if (old)
		forget(old, old_bytes);
	return SWZ_OK;
}

static bool is_full_with(const struct swz_thread_cold *cold, uint32_t more)
{
	return 4 * (cold->sites_used + more) * SITE_BYTES > cold->sites_bytes;
}

bool swz_site_table_is_full(const struct swz_thread_cold *cold)
{
	return is_full_with(cold, 1);
}

/* A handler may let it grow: then again, in the new one. Twice is no harm. */
struct swz_node *swz_site_insert_amid_signals(struct swz_thread_cold *cold,
					      struct swz_node *site)
{
	struct swz_node *entered;
	uint64_t bytes;
	uint32_t *to;

	__atomic_fetch_add(&cold->sites_used, 1, __ATOMIC_RELAXED);
	do {
		bytes = __atomic_load_n(&cold->sites_bytes, __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
		to = __atomic_load_n(&cold->sites, __ATOMIC_RELAXED);
		entered = put_site(to, bytes, site);
		atomic_signal_fence(memory_order_seq_cst);
	} while (__atomic_load_n(&cold->sites_bytes, __ATOMIC_RELAXED) !=
		 bytes);
	return entered;
}

struct swz_node *swz_site_insert(struct swz_thread_cold *cold,
				 struct swz_node *site)
{
	if (is_full_with(cold, 1) && grow_sites(cold) != SWZ_OK &&
	    2 * (cold->sites_used + 1) * SITE_BYTES > cold->sites_bytes)
		return NULL;
	return swz_site_insert_amid_signals(cold, site);
}

void swz_site_table_make_room(struct swz_thread_cold *cold, uint32_t sites)
{
	while (is_full_with(cold, sites) && grow_sites(cold) == SWZ_OK)
		;
}

void swz_site_table_clear(struct swz_thread_cold *cold)
{
	/* not by writing, which would copy it in a forked child */
	if (cold->sites && forget(cold->sites, cold->sites_bytes) != 0)
		memset(cold->sites, 0, cold->sites_bytes);
	cold->sites_used = 0;
}
