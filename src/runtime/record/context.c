/* The tree of calling contexts. A node is made once and never moves, so hooks,
 * thunks and the reader of a live profile refer to it without a lock. Recursion
 * is folded into it, and so is what comes when there is no more room. */

#include "runtime/record/context.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/record/annotations.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/counts.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"

/* --- contexts ------------------------------------------------------------- */

/* ------------------------------------------------------------------- nodes */

/* Publishes a node whose other fields are set: its function comes last. */
static inline void swz_node_publish(struct swz_node *node, uint32_t function)
{
	__atomic_store_n(&node->function, function, __ATOMIC_RELEASE);
}

/* Chunks of nodes, with their headers: 1 KiB for a thread's first, since there
 * may be ten thousand threads, then 4 KiB, then 16; 64 and 256 KiB for one that
 * has made so many times as many that it will need more, and as long as so many
 * such are left of the bound. */
#define FIRST_NODES 15u
#define LAST_NODES 255u
#define MOST_NODES 4095u
#define TIMES_AS_MANY 16u
#define CHUNKS_LEFT 64u
/* For a thread that has made so many, those to come lie in huge pages. */
#define HUGE_NODES 1500u
#define STOCK_NODES 8191
/* A quarter of these is kept for folded contexts. */
#define KEPT_SHARE 4

static struct swz_links *links_of_chunk(const struct swz_chunk *chunk)
{
	return &swz_file_links()[swz_unit_of(chunk)];
}

struct swz_chunk *swz_nodes_chunk(const struct swz_thread_cold *cold,
				  const struct swz_chunk *after)
{
	uint32_t unit = after ? links_of_chunk(after)->next
			      : cold->latest_chunk;

	return unit ? swz_unit_at(unit) : NULL;
}

void swz_nodes_begin(struct swz_thread_cold *cold)
{
	cold->next_node = cold->last_node = NULL;
	cold->latest_chunk = 0;
	cold->chunk_nodes = FIRST_NODES;
	cold->kept_nodes = 0;
}

static void make_links_present(const struct swz_chunk *chunk, uint32_t count)
{
	uintptr_t start = (uintptr_t)links_of_chunk(chunk) & -SWZ_PAGE;
	uintptr_t end = (uintptr_t)(links_of_chunk(chunk) + count);

	SWZ_SYSCALL(SYS_madvise, start, end - start, MADV_POPULATE_WRITE);
}

static enum swz_status take_chunk(struct swz_thread_cold *cold, uint32_t count)
{
	struct swz_chunk *chunk;

	if (cold->nodes_made >= HUGE_NODES)
		swz_chunks_begin_huge_pages();
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_NODES,
			       count * sizeof(struct swz_node), count,
			       cold->index);
	if (!chunk)
		return SWZ_E_NOMEM;
	/* in this order: who shares our storage may be about to take the last
	 * of the old ones, and compares with the new end */
	__atomic_store_n(&cold->next_node, (struct swz_node *)(chunk + 1),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&cold->last_node,
			 (struct swz_node *)(chunk + 1) + count,
			 __ATOMIC_RELEASE);
	/* the header has links too, as it takes a unit */
	links_of_chunk(chunk)->next = cold->latest_chunk;
	if (count > LAST_NODES) /* where it is refused, by faults */
		make_links_present(chunk, count + 1);
	cold->latest_chunk = swz_unit_of(chunk);
	swz_chunk_publish(chunk);
	swz_file_sample_clock(2);
	return SWZ_OK;
}

struct swz_node *swz_nodes_next_slot(struct swz_thread_cold *cold)
{
	struct swz_node *node = __atomic_load_n(&cold->next_node,
						__ATOMIC_RELAXED);

	do {
		if (node == cold->last_node)
			return NULL;
	} while (!__atomic_compare_exchange_n(&cold->next_node, &node, node + 1,
					      true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return node;
}

bool swz_nodes_are_kept(const struct swz_thread_cold *cold)
{
	return cold->last_node - cold->next_node <= cold->kept_nodes &&
	       cold->kept_nodes && !(swz_file->flags & SWZ_FILE_ENDED);
}

/* After a chunk of `count`. */
static uint32_t next_chunk_nodes(const struct swz_thread_cold *cold,
				 uint32_t count)
{
	uint64_t bytes = (count + 1) * sizeof(struct swz_node);
	uint32_t more = 4 * count + 3;

	if (count < LAST_NODES)
		return more;
	if (swz_chunks_room() < CHUNKS_LEFT * bytes)
		return LAST_NODES;
	return more <= MOST_NODES && cold->nodes_made >= TIMES_AS_MANY * count
		       ? more
		       : count;
}

struct swz_node *swz_nodes_take(struct swz_thread_cold *cold, uint64_t reserve)
{
	struct swz_node *node;
	uint32_t count = cold->chunk_nodes;

	node = reserve && swz_nodes_are_kept(cold) ? NULL
						   : swz_nodes_next_slot(cold);
	if (node)
		return node;
	if (swz_chunks_room() < reserve || take_chunk(cold, count) != SWZ_OK)
		return NULL;
	cold->kept_nodes = 0; /* more can be had */
	cold->chunk_nodes = next_chunk_nodes(cold, count);
	return swz_nodes_next_slot(cold);
}

/* Less where the bound is small: what is kept for folded contexts stays. */
void swz_nodes_stock_up(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint32_t count = STOCK_NODES;

	while (count > LAST_NODES &&
	       swz_chunks_room() < count * sizeof(struct swz_node) +
					   swz_nodes_fold_reserve())
		count /= 2;
	swz_site_table_make_room(cold, count);
	if (cold->last_node - cold->next_node < (int64_t)count)
		(void)take_chunk(cold, count); /* none: calls are lost */
	cold->kept_nodes = (uint32_t)(cold->last_node - cold->next_node) /
			   KEPT_SHARE;
}

/* ------------------------------------------------- edges that share thunks */

/* The first edges of a thread (swz_config.own_thunks) have thunks of their own,
 * and so many more that are called often: their exits need not wait for what
 * the entry has found out. The others share theirs by function and call site:
 * where very many edges take turns, what a thunk costs is that the processor
 * foresees no jump to one of so many, and that their code and data must be
 * fetched. */

#define MOST_PROMOTED 65536u

/* True if new edges are to share their thunks. */
static bool thunks_are_shared(const struct swz_thread *thread)
{
	return thread->cold->nodes_made > swz_config.own_thunks;
}

void swz_share_thunks(const struct swz_thread *thread,
		      const struct swz_node *node, const struct swz_node *site)
{
	struct swz_links *links = thread->links;

	links[swz_unit_of(node)].free =
		(struct swz_thunk *)~(intptr_t)&links[swz_unit_of(site)].free;
}

void swz_own_thunks(const struct swz_thread *thread,
		    const struct swz_node *node)
{
	struct swz_thunk **free = &thread->links[swz_unit_of(node)].free;

	if (!((intptr_t)*free & SWZ_IS_LIST) ||
	    thread->cold->promoted >= MOST_PROMOTED || !swz_config.own_thunks)
		return;
	thread->cold->promoted++;
	*free = NULL;
}

/* --------------------------------------------------------------- recursion */

/* How many recursive contexts a function may have in a thread at its second
 * place on a path; half as many at its third, and so on, so that what explodes
 * is wide near the root rather than deep in one place. It may always have a
 * path with --recursion of them. */
#define SWZ_RECURSIVE_CONTEXTS 256u

/* The address in code made at run time that this is the context of, or 0. What
 * is called from another address of such code is no recursion: the same
 * function of an interpreter runs all functions of a script. */
static uint64_t code_of(const struct swz_node *context)
{
	return context->function == SWZ_FUNCTION_CODE ? context->call_site : 0;
}

static bool is_same(const struct swz_node *node, uint32_t function,
		    uint64_t code)
{
	return node->function == function &&
	       code_of(swz_unit_at(node->parent)) == code;
}

/* The nearest context on the path that stands for the function, or 0; *times is
 * how often it is there, counted up to MOST. Above a folded context nothing is
 * known. */
static uint32_t on_path(uint64_t key, uint32_t function, uint32_t most,
			uint32_t *times)
{
	const struct swz_node *node = swz_context_node(key);
	uint64_t code = code_of(node);
	uint32_t nearest = 0;

	*times = 0;
	while (node->function != SWZ_FUNCTION_ROOT && node->parent) {
		if (is_same(node, function, code)) {
			if (!nearest)
				nearest = swz_unit_of(node);
			if (++*times == most)
				break;
		}
		if (node->open & SWZ_NODE_FOLDED)
			break;
		node = swz_unit_at(node->parent);
	}
	return nearest;
}

/* Most often it can be told at once that it is not on the path, since no
 * activation of the function is live. (Sampled ones are not counted, nor those
 * of what is no function.) */
static bool may_be_on_path(const struct swz_thread *thread, uint32_t function)
{
	return swz_sampling || function >= swz_ids_bound() ||
	       thread->open[function];
}

/* How many recursive contexts a function may have when another one is to come
 * below so many of its own. */
static uint32_t most_below(uint32_t times)
{
	uint32_t most = times < 32 ? SWZ_RECURSIVE_CONTEXTS >> (times - 1) : 0;

	return most > swz_config.recursion ? most : swz_config.recursion;
}

/* Recursion leaves half of the file for all else. */
static bool is_room(void)
{
	return swz_chunks_room() >
	       (swz_file->limit_bytes - swz_file->event_limit_bytes) / 2;
}

uint32_t swz_recursion_fold(struct swz_thread *thread, uint64_t key,
			    uint32_t function)
{
	uint32_t nearest, times, *made;

	if (!may_be_on_path(thread, function))
		return 0;
	nearest = on_path(key, function, swz_config.recursion, &times);
	if (!nearest)
		return 0;
	if (times == swz_config.recursion || function >= swz_ids_bound())
		return nearest;
	made = &thread->cold->recursive[function];
	if (*made >= most_below(times) || !is_room())
		return nearest;
	++*made;
	return 0;
}

/* ---------------------------------------------------------------- contexts */

/* As long as nothing has to grow, an edge is made without a system call, and a
 * signal handler of the same thread may come between any two instructions: it
 * makes edges, even lets the table grow, before it returns. Each step is one
 * instruction, or is found out to have been overtaken. */

static uint32_t filter_flags(uint32_t function, unsigned depth)
{
	if (swz_ids_filter(function) & SWZ_FILTER_NOTRACE)
		return SWZ_NODE_PASS | SWZ_NODE_HIDDEN;
	return swz_config.depth && depth >= swz_config.depth ? SWZ_NODE_PASS
							     : 0;
}

static unsigned depth_of(uint64_t key)
{
	const struct swz_node *node = swz_context_node(key);
	unsigned depth = 0;

	for (; node->function != SWZ_FUNCTION_ROOT && node->parent &&
	       !(node->open & SWZ_NODE_FOLDED);
	     node = swz_unit_at(node->parent))
		depth += node->function != SWZ_FUNCTION_CODE;
	return depth;
}

/* Calls of NODE lead back to a context on the path: so they are on a cycle, as
 * are those of the contexts between. A signal handler may change them, too. */
static void mark_cycle(struct swz_node *node)
{
	uint32_t first = node->context;

	for (; swz_unit_of(node) != first; node = swz_unit_at(node->parent))
		__atomic_fetch_or(&node->open, SWZ_NODE_CYCLE,
				  __ATOMIC_RELAXED);
}

/* Makes the slot the edge's node, not yet in the table. */
static void fill(struct swz_thread *thread, struct swz_node *node, uint64_t key,
		 uint32_t function, uint64_t call_site)
{
	bool is_code = function == SWZ_FUNCTION_CODE;
	uint32_t ancestor = node->open & SWZ_NODE_FOLDED || is_code
				    ? 0
				    : swz_recursion_fold(thread, key, function);

	node->parent = (uint32_t)(key >> 32);
	node->call_site = call_site;
	node->context = ancestor ? ancestor : swz_unit_of(node);
	if (swz_sampling && ancestor && ancestor != node->parent)
		mark_cycle(node);
	if (is_code) {
		node->max_ticks = swz_ticks();
		swz_code_note(node);
	} else if (swz_ids_filtered && !swz_is_span(function)) {
		node->open |= filter_flags(function, depth_of(key) + 1);
	}
	if (swz_histogram_is_wanted(function))
		node->min_ticks = UINT64_MAX;
	swz_node_publish(node, function);
}

/* A jump has no thunk. */
static bool shares_thunks(const struct swz_thread *thread, uint64_t call_site)
{
	return call_site != SWZ_CALL_SITE_TAIL && thunks_are_shared(thread);
}

/* The slot that edges with this function and call site share, made if need be.
 * NULL: there is no room at hand. */
static struct swz_node *site_at_once(struct swz_thread *thread,
				     uint32_t function, uint64_t call_site)
{
	struct swz_node *site = swz_site_find(thread->cold, function,
					      call_site);

	if (site)
		return site;
	if (swz_site_table_is_full(thread->cold))
		return NULL;
	site = swz_nodes_next_slot(thread->cold);
	if (!site)
		return NULL;
	swz_site_make(site, function, call_site);
	return swz_site_insert_amid_signals(thread->cold, site);
}

struct swz_node *swz_context_make_at_once(struct swz_thread *thread,
					  uint64_t key, uint32_t function,
					  uint64_t call_site)
{
	struct swz_node *node, *site = NULL;

	if (swz_file->flags & SWZ_FILE_FOLDED ||
	    swz_nodes_are_kept(thread->cold))
		return NULL;
	if (shares_thunks(thread, call_site)) {
		site = site_at_once(thread, function, call_site);
		if (!site)
			return NULL;
	}
	node = swz_nodes_next_slot(thread->cold);
	if (!node)
		return NULL;
	if (site)
		swz_share_thunks(thread, node, site);
	fill(thread, node, key, function, call_site);
	/* a slot that is not entered stays, with no calls */
	return swz_edge_insert(thread, node);
}

/* True if a node with this key stands for all contexts of its function. */
static bool stands_for_all(const struct swz_thread *thread, uint64_t key,
			   uint64_t call_site)
{
	return key == swz_context_fold_key(thread) &&
	       call_site == SWZ_CALL_SITE_TAIL;
}

/* True if it is such a one, or the fold root. No call is made in either: calls
 * are recorded there that are made elsewhere. */
static bool is_fold_key(const struct swz_thread *thread, uint64_t key)
{
	const struct swz_node *node = swz_context_node(key);

	return key == swz_context_fold_key(thread) ||
	       stands_for_all(thread, swz_edge_key(node), node->call_site);
}

/* The same, with memory taken. An edge for which there is none has thunks of
 * its own. */
static struct swz_node *make_site(struct swz_thread *thread, uint32_t function,
				  uint64_t call_site)
{
	struct swz_node *site = swz_site_find(thread->cold, function,
					      call_site);

	if (site || swz_file->flags & SWZ_FILE_FOLDED)
		return site;
	site = swz_nodes_take(thread->cold, swz_nodes_fold_reserve());
	if (!site)
		return NULL;
	swz_site_make(site, function, call_site);
	return swz_site_insert(thread->cold, site);
}

static void note_full(struct swz_thread_cold *cold, bool folded)
{
	if (folded)
		cold->no_room = true;
	else
		swz_file->flags |= SWZ_FILE_FOLDED;
}

struct swz_node *swz_context_make(struct swz_thread *thread, uint64_t key,
				  uint32_t function, uint64_t call_site)
{
	struct swz_thread_cold *cold = thread->cold;
	bool folded = is_fold_key(thread, key);
	struct swz_node *node = NULL, *site = NULL;

	if (shares_thunks(thread, call_site))
		site = make_site(thread, function, call_site);
	/* once one context had to be folded, all new ones are: what is left is
	 * for them */
	if (folded || !(swz_file->flags & SWZ_FILE_FOLDED))
		node = swz_nodes_take(cold,
				      folded ? 0 : swz_nodes_fold_reserve());
	if (!node) {
		note_full(cold, folded);
		return NULL;
	}
	node->open = folded ? SWZ_NODE_FOLDED : 0;
	if (folded && stands_for_all(thread, key, call_site))
		node->open |= SWZ_NODE_HIDDEN;
	if (site)
		swz_share_thunks(thread, node, site);
	fill(thread, node, key, function, call_site);
	node = swz_edge_insert(thread, node);
	if (!node) /* the slot stays, with no calls */
		note_full(cold, folded);
	return node;
}

struct swz_node *swz_context_edge(struct swz_thread *thread, uint64_t key,
				  uint32_t function, uint64_t call_site)
{
	struct swz_node *node = swz_edge_find(thread, key, function, call_site);

	return node ? node : swz_context_make(thread, key, function, call_site);
}

/* A jump to a function from outside of all, which the fold root cannot have as
 * such: that would stand for the function's contexts. */
static uint64_t fold_site(uint64_t call_site)
{
	return call_site == SWZ_CALL_SITE_TAIL ? UINT64_MAX : call_site;
}

struct swz_node *swz_context_find_folded(const struct swz_thread *thread,
					 uint64_t key, uint32_t function,
					 uint64_t call_site)
{
	uint64_t fold = swz_context_fold_key(thread);
	uint32_t caller = swz_context_node(key)->function;
	const struct swz_node *all;

	if (caller == SWZ_FUNCTION_ROOT)
		return swz_edge_find(thread, fold, function,
				     fold_site(call_site));
	all = swz_edge_find(thread, fold, caller, SWZ_CALL_SITE_TAIL);
	return all ? swz_edge_find(thread, (uint64_t)swz_unit_of(all) << 32,
				   function, call_site)
		   : NULL;
}

/* The same, made if need be. */
static struct swz_node *folded_edge(struct swz_thread *thread, uint64_t key,
				    uint32_t function, uint64_t call_site)
{
	uint64_t fold = swz_context_fold_key(thread);
	uint32_t caller = swz_context_node(key)->function;
	const struct swz_node *all;

	if (caller == SWZ_FUNCTION_ROOT)
		return swz_context_edge(thread, fold, function,
					fold_site(call_site));
	all = swz_context_edge(thread, fold, caller, SWZ_CALL_SITE_TAIL);
	return all ? swz_context_edge(thread, (uint64_t)swz_unit_of(all) << 32,
				      function, call_site)
		   : NULL;
}

struct swz_node *swz_context_any_edge(struct swz_thread *thread, uint64_t key,
				      uint32_t function, uint64_t call_site)
{
	struct swz_node *node = swz_context_edge(thread, key, function,
						 call_site);

	if (!node && swz_file->flags & SWZ_FILE_FOLDED &&
	    function != SWZ_FUNCTION_CODE)
		node = folded_edge(thread, key, function, call_site);
	return node;
}

enum swz_status swz_context_begin(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_node *root, *fold;

	swz_nodes_begin(cold);
	root = swz_nodes_take(cold, 0);
	fold = root ? swz_nodes_take(cold, 0) : NULL;
	if (!fold)
		return SWZ_E_NOMEM;
	cold->root = swz_unit_of(root);
	cold->fold_root = swz_unit_of(fold);
	root->parent = root->context = cold->root;
	fold->parent = cold->root;
	fold->context = cold->fold_root;
	fold->open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN;
	if (swz_ids_filtered && swz_config.filter)
		root->open = SWZ_NODE_PASS;
	thread->record->root = cold->root;
	swz_node_publish(root, SWZ_FUNCTION_ROOT);
	swz_node_publish(fold, SWZ_FUNCTION_ROOT);
	return SWZ_OK;
}

/* -------------------------------------------- calls that are open for long */

struct long_calls {
	struct swz_thread *thread;
	const struct swz_node *of;
	struct swz_node *node; /* or NULL: there is no room */
};

static uint64_t long_site(const struct swz_node *node)
{
	return node->call_site | SWZ_CALL_SITE_LONG;
}

static struct swz_node *find_long_calls(struct swz_thread *thread,
					const struct swz_node *of)
{
	return swz_edge_find(thread, swz_edge_key(of), of->function,
			     long_site(of));
}

static void fill_long_calls(struct swz_node *node, const struct swz_node *of)
{
	node->parent = of->parent;
	node->call_site = long_site(of);
	node->context = swz_unit_of(of);
	swz_node_publish(node, of->function);
}

static void make_long_calls(void *argument)
{
	struct long_calls *calls = argument;
	struct swz_node *node;

	/* again: a signal may have come between */
	calls->node = find_long_calls(calls->thread, calls->of);
	if (calls->node)
		return;
	node = swz_nodes_take(calls->thread->cold, swz_nodes_fold_reserve());
	if (!node)
		return;
	fill_long_calls(node, calls->of);
	calls->node = swz_edge_insert(calls->thread, node);
}

/* Returns the node of the long calls of `node`'s edge, and makes it if need be.
 * NULL: there is no room, or the node is folded, or is of long calls itself.
 * Async-signal-safe. */
static struct swz_node *long_calls_of(struct swz_thread *thread,
				      const struct swz_node *node)
{
	struct long_calls calls = {.thread = thread, .of = node};

	if (node->open & SWZ_NODE_FOLDED ||
	    node->call_site & SWZ_CALL_SITE_LONG)
		return NULL;
	calls.node = find_long_calls(thread, node);
	if (calls.node || swz_file->flags & SWZ_FILE_FOLDED)
		return calls.node;
	calls.node = swz_nodes_next_slot(thread->cold);
	if (!calls.node) {
		swz_slowly(thread, make_long_calls, &calls);
		return calls.node;
	}
	fill_long_calls(calls.node, node);
	return swz_edge_insert(thread, calls.node);
}

/* --- activations: calls that are open ------------------------------------- */

/* Sums are changed by one instruction each (edge_table.h): a signal handler may
 * come to the same node. */

static void add_ticks(struct swz_node *node, uint64_t ticks)
{
	swz_add64((uint64_t *)&node->ticks, ticks);
}

void swz_activation_count(struct swz_thread *thread, struct swz_node *node)
{
	swz_add64(&node->calls, 1);
	if (swz_tracing)
		swz_events_add(thread, node, SWZ_EVENT_JUMP, swz_now(thread));
	if (swz_sampling)
		swz_add64(&node->weight, 1);
}

/* As so many activations at once as is its weight. */
static void open_sampled(struct swz_node *node, uint64_t start)
{
	uint64_t weight = swz_start_weight(start);

	if (!swz_start_is_timed(start))
		return;
	add_ticks(node, -(weight * swz_start_time(start)));
	swz_add32(&node->open, (uint32_t)weight << SWZ_NODE_OPEN_SHIFT);
}

static uint64_t open_node(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start)
{
	if (swz_sampling) {
		open_sampled(node, start);
	} else {
		add_ticks(node, -start);
		swz_add32(&node->open, 1u << SWZ_NODE_OPEN_SHIFT);
		if (thread->open[node->function]-- == 0)
			node->outer_ticks -= (int64_t)start;
	}
	return (uint64_t)node->context << 32;
}

/* In the order of asm/x86_64/enter.S. */
uint64_t swz_activation_enter(struct swz_thread *thread, struct swz_node *node,
			      uint64_t start)
{
	swz_add64(&node->calls, 1);
	if (swz_sampling && swz_start_is_timed(start)) {
		swz_add64(&node->weight, swz_start_weight(start));
		swz_add32(&node->timed, node->timed < UINT32_MAX);
	}
	swz_events_add(thread, node, SWZ_EVENT_ENTER, start);
	return open_node(thread, node, start);
}

uint64_t swz_activation_resume(struct swz_thread *thread, struct swz_node *node,
			       uint64_t start)
{
	swz_events_add(thread, node, SWZ_EVENT_RESUME, start);
	return open_node(thread, node, start);
}

/* One of the node's calls, of which so many are accounted there, is a long one.
 */
static bool move_to_long(struct swz_thread *thread, struct swz_node *node,
			 uint64_t weight, uint64_t duration)
{
	struct swz_node *to = long_calls_of(thread, node);

	if (!to)
		return false;
	if (node->calls) { /* it is counted; not so where it has been resumed */
		swz_add64(&node->calls, -UINT64_C(1));
		swz_add64(&to->calls, 1);
	}
	if (weight)
		add_ticks(node, -(weight * duration));
	if (weight && node->timed && node->weight >= weight) { /* likewise */
		swz_add64(&node->weight, -weight);
		swz_add32(&node->timed, -UINT32_C(1));
	}
	swz_add64(&to->weight, 1);
	swz_add32(&to->timed, to->timed < UINT32_MAX);
	add_ticks(to, duration);
	return true;
}

/* Counts a call of an edge that stands for others. Time above a bound counts
 * for itself: among the long calls, if there is room. Returns the part that
 * counts for all. */
static uint64_t bounded(struct swz_thread *thread, struct swz_node *node,
			uint64_t weight, uint64_t duration)
{
	uint64_t above = duration - SWZ_SAMPLE_MOST_TICKS;
	struct swz_node *to;

	if (weight <= 1 || duration <= SWZ_SAMPLE_MOST_TICKS)
		return duration;
	to = long_calls_of(thread, node);
	add_ticks(node, -(weight * above));
	add_ticks(to ? to : node, above);
	return SWZ_SAMPLE_MOST_TICKS;
}

static void leave_sampled(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now)
{
	uint64_t weight = swz_start_is_timed(start) ? swz_start_weight(start)
						    : 0;
	uint64_t time = swz_start_time(start), duration;

	now = swz_start_time(now);
	duration = now > time ? now - time : 0;
	add_ticks(node, weight * now);
	swz_add32(&node->open, -((uint32_t)weight << SWZ_NODE_OPEN_SHIFT));
	if ((swz_sampling_is_long(node, start, duration) ||
	     swz_sampling_is_stray(node, weight, duration)) &&
	    move_to_long(thread, node, weight, duration))
		swz_sampling_ended(node, 1, duration);
	else if (weight)
		swz_sampling_ended(node, weight,
				   bounded(thread, node, weight, duration));
}

void swz_activation_leave(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now, enum swz_event_kind how)
{
	uint64_t duration = now - start;

	if (swz_sampling) {
		leave_sampled(thread, node, start, now);
		return;
	}
	swz_events_add_end(thread, node, how, start, now);
	add_ticks(node, now);
	swz_add32(&node->open, -(1u << SWZ_NODE_OPEN_SHIFT));
	if (++thread->open[node->function] == 0)
		node->outer_ticks += (int64_t)now;
	if (duration > node->max_ticks)
		node->max_ticks = duration;
	if (node->min_ticks & SWZ_MIN_IN_HISTOGRAM)
		swz_histogram_add(thread, node, duration);
	else if (duration <= node->min_ticks - 1 &&
		 !(duration & SWZ_MIN_IN_HISTOGRAM))
		node->min_ticks = duration;
}
