/* As long as nothing has to grow, an edge is made without a system call, and a
 * signal handler of the same thread may come between any two instructions: it
 * makes edges, even lets the table grow, before it returns. Each step is one
 * instruction, or is found out to have been overtaken. */

#include "runtime/record/context.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/sampling.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/slow_stack.h"
#include "runtime/support/config.h"

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
/* What of these is for folded contexts: a quarter. */
#define KEPT_SHARE 4
/* What is left of the bound when contexts begin to be folded: an eighth; where
 * that is less than what a large program's call edges need, up to a half. */
#define FOLD_SHARE 8u
#define FOLD_SHARE_MOST 2u
#define FOLD_BYTES (8ull << 20)

static struct swz_links *links_of_chunk(const struct swz_chunk *chunk)
{
	return &swz_file_links()[swz_unit_of(chunk)];
}

struct swz_chunk *swz_context_nodes(const struct swz_thread_cold *cold,
				    const struct swz_chunk *after)
{
	uint32_t unit = after ? links_of_chunk(after)->next
			      : cold->latest_chunk;

	return unit ? swz_unit_at(unit) : NULL;
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
	cold->next_node = (struct swz_node *)(chunk + 1);
	cold->last_node = cold->next_node + count;
	/* the header has links too, as it takes a unit */
	links_of_chunk(chunk)->next = cold->latest_chunk;
	cold->latest_chunk = swz_unit_of(chunk);
	swz_chunk_publish(chunk);
	swz_file_sample_clock(2);
	return SWZ_OK;
}

/* The next slot of the chunk, zeroed; NULL: it is full. */
static struct swz_node *next_slot(struct swz_thread_cold *cold)
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

/* Whether what is left of nodes that were taken in advance, since it might be
 * that no more can be had, is for folded contexts. */
static bool is_kept(const struct swz_thread_cold *cold)
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

/* The same, with a new chunk if need be. `reserve`: how many bytes of the bound
 * must be left. */
static struct swz_node *take_node(struct swz_thread_cold *cold,
				  uint64_t reserve)
{
	struct swz_node *node;
	uint32_t count = cold->chunk_nodes;

	node = reserve && is_kept(cold) ? NULL : next_slot(cold);
	if (node)
		return node;
	if (swz_chunks_room() < reserve || take_chunk(cold, count) != SWZ_OK)
		return NULL;
	cold->kept_nodes = 0; /* more can be had */
	cold->chunk_nodes = next_chunk_nodes(cold, count);
	return next_slot(cold);
}

/* The last part of the bound is kept for folded contexts, and for what runs
 * while the process ends. */
static uint64_t fold_reserve(void)
{
	uint64_t bound = swz_file->limit_bytes - swz_file->event_limit_bytes;
	uint64_t bytes = bound / FOLD_SHARE_MOST;

	if (swz_file->flags & SWZ_FILE_ENDED)
		return 0;
	if (bytes > FOLD_BYTES)
		bytes = FOLD_BYTES;
	return bytes > bound / FOLD_SHARE ? bytes : bound / FOLD_SHARE;
}

/* Less where the bound is small: what is kept for folded contexts stays. */
void swz_context_stock_up(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint32_t count = STOCK_NODES;

	while (count > LAST_NODES &&
	       swz_chunks_room() <
		       count * sizeof(struct swz_node) + fold_reserve())
		count /= 2;
	swz_edge_table_make_room(thread, cold->nodes_made + count);
	if (cold->last_node - cold->next_node < (int64_t)count)
		(void)take_chunk(cold, count); /* none: calls are lost */
	cold->kept_nodes = (uint32_t)(cold->last_node - cold->next_node) /
			   KEPT_SHARE;
}

/* Publishes a node whose other fields are set: function comes last. */
static void publish(struct swz_node *node, uint32_t function)
{
	__atomic_store_n(&node->function, function, __ATOMIC_RELEASE);
}

/* The nearest context on the path that stands for the function, or 0. Above a
 * folded context nothing is known. */
static uint32_t on_path(uint64_t key, uint32_t function)
{
	const struct swz_node *node = swz_context_node(key);

	while (node->function != SWZ_FUNCTION_ROOT && node->parent) {
		if (node->function == function)
			return swz_unit_of(node);
		if (node->open & SWZ_NODE_FOLDED)
			break;
		node = swz_unit_at(node->parent);
	}
	return 0;
}

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
	     depth++)
		node = swz_unit_at(node->parent);
	return depth;
}

/* The same; most often it can be told at once that there is none, since no
 * activation of the function is live. (Sampled ones are not counted, nor those
 * of what is no function.) */
static uint32_t ancestor_of(const struct swz_thread *thread, uint64_t key,
			    uint32_t function)
{
	if (!swz_sampling && function < swz_ids_bound() &&
	    !thread->open[function])
		return 0;
	return on_path(key, function);
}

/* Makes the slot the edge's node, not yet in the table. */
static void fill(const struct swz_thread *thread, struct swz_node *node,
		 uint64_t key, uint32_t function, uint64_t call_site)
{
	uint32_t ancestor = node->open & SWZ_NODE_FOLDED
				    ? 0
				    : ancestor_of(thread, key, function);

	node->parent = (uint32_t)(key >> 32);
	node->call_site = call_site;
	node->context = ancestor ? ancestor : swz_unit_of(node);
	if (swz_ids_filtered)
		node->open |= filter_flags(function, depth_of(key) + 1);
	publish(node, function);
}

/* A jump has no thunk. */
static bool shares_thunks(const struct swz_thread *thread, uint64_t call_site)
{
	return call_site != SWZ_CALL_SITE_TAIL && swz_thunks_are_shared(thread);
}

/* What edges with this function and call site share, made if need be. NULL:
 * there is no room at hand. */
static struct swz_node *site_at_once(struct swz_thread *thread,
				     uint32_t function, uint64_t call_site)
{
	struct swz_node *site = swz_site_find(thread, function, call_site);

	if (site)
		return site;
	site = next_slot(thread->cold);
	if (!site)
		return NULL;
	swz_site_make(site, function, call_site);
	return swz_edge_insert_amid_signals(thread, site);
}

struct swz_node *swz_context_make_at_once(struct swz_thread *thread,
					  uint64_t key, uint32_t function,
					  uint64_t call_site)
{
	struct swz_node *node, *site = NULL;

	if (swz_file->flags & SWZ_FILE_FOLDED || is_kept(thread->cold) ||
	    swz_edge_table_is_full(thread->cold, 1 + SWZ_EDGE_ENTRIES))
		return NULL;
	if (shares_thunks(thread, call_site)) {
		site = site_at_once(thread, function, call_site);
		if (!site)
			return NULL;
	}
	node = next_slot(thread->cold);
	if (!node)
		return NULL;
	if (site)
		swz_share_thunks(thread, node, site);
	fill(thread, node, key, function, call_site);
	/* a slot that is not entered stays, with no calls */
	return swz_edge_insert_amid_signals(thread, node);
}

/* Of a node: it stands for all contexts of its function. */
static bool stands_for_all(const struct swz_thread *thread, uint64_t key,
			   uint64_t call_site)
{
	return key == swz_context_fold_key(thread) &&
	       call_site == SWZ_CALL_SITE_TAIL;
}

/* Whether it is such a one, or the fold root. No call is made in either: calls
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
	struct swz_node *site = swz_site_find(thread, function, call_site);

	if (site || swz_file->flags & SWZ_FILE_FOLDED)
		return site;
	site = take_node(thread->cold, fold_reserve());
	if (!site)
		return NULL;
	swz_site_make(site, function, call_site);
	return swz_edge_insert(thread, site);
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
		node = take_node(cold, folded ? 0 : fold_reserve());
	if (!node) {
		if (folded)
			cold->no_room = true;
		else
			swz_file->flags |= SWZ_FILE_FOLDED;
		return NULL;
	}
	node->open = folded ? SWZ_NODE_FOLDED : 0;
	if (folded && stands_for_all(thread, key, call_site))
		node->open |= SWZ_NODE_HIDDEN;
	if (site)
		swz_share_thunks(thread, node, site);
	fill(thread, node, key, function, call_site);
	/* NULL: the slot stays, with no calls */
	return swz_edge_insert(thread, node);
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

	if (!node && swz_file->flags & SWZ_FILE_FOLDED)
		node = folded_edge(thread, key, function, call_site);
	return node;
}

enum swz_status swz_context_begin(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_node *root, *fold;

	cold->next_node = cold->last_node = NULL;
	cold->latest_chunk = 0;
	cold->chunk_nodes = FIRST_NODES;
	cold->kept_nodes = 0;
	root = take_node(cold, 0);
	fold = root ? take_node(cold, 0) : NULL;
	if (!thread->table)
		swz_edge_table_make_room(thread, 1);
	if (!fold || !thread->table)
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
	publish(root, SWZ_FUNCTION_ROOT);
	publish(fold, SWZ_FUNCTION_ROOT);
	return SWZ_OK;
}

void swz_context_count(struct swz_thread *thread, struct swz_node *node)
{
	node->calls++;
	if (swz_tracing)
		swz_events_add(thread, node, SWZ_EVENT_JUMP, swz_now(thread));
	if (swz_sampling)
		node->weight++;
}

static uint64_t open_node(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start);

/* In the order of asm/x86_64/enter.S. */
uint64_t swz_context_enter(struct swz_thread *thread, struct swz_node *node,
			   uint64_t start)
{
	node->calls++;
	if (swz_sampling && swz_start_is_timed(start)) {
		node->weight += swz_start_weight(start);
		node->timed += node->timed < UINT32_MAX;
	}
	swz_events_add(thread, node, SWZ_EVENT_ENTER, start);
	return open_node(thread, node, start);
}

/* As so many activations at once as is its weight. */
static void open_sampled(struct swz_node *node, uint64_t start)
{
	uint64_t weight = swz_start_weight(start);

	if (!swz_start_is_timed(start))
		return;
	node->ticks -= (int64_t)(weight * swz_start_time(start));
	node->open += (uint32_t)weight << SWZ_NODE_OPEN_SHIFT;
}

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
	publish(node, of->function);
}

static void make_long_calls(void *argument)
{
	struct long_calls *calls = argument;
	struct swz_node *node;

	/* again: a signal may have come between */
	calls->node = find_long_calls(calls->thread, calls->of);
	if (calls->node)
		return;
	node = take_node(calls->thread->cold, fold_reserve());
	if (!node)
		return;
	fill_long_calls(node, calls->of);
	calls->node = swz_edge_insert(calls->thread, node);
}

/* The node of the edge's long calls. NULL: there is no room. */
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
	if (!swz_edge_table_is_full(thread->cold, SWZ_EDGE_ENTRIES))
		calls.node = next_slot(thread->cold);
	if (!calls.node) {
		swz_slowly(thread, make_long_calls, &calls);
		return calls.node;
	}
	fill_long_calls(calls.node, node);
	return swz_edge_insert_amid_signals(thread, calls.node);
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
		node->calls--;
		to->calls++;
	}
	if (weight) {
		node->weight -= weight;
		node->timed--;
		node->ticks -= (int64_t)(weight * duration);
	}
	to->weight++;
	to->timed += to->timed < UINT32_MAX;
	to->ticks += (int64_t)duration;
	return true;
}

/* Of one that stands for others, what is above a bound counts for itself: among
 * the long ones, if there is room. Returns what counts for all. */
static uint64_t bounded(struct swz_thread *thread, struct swz_node *node,
			uint64_t weight, uint64_t duration)
{
	uint64_t above = duration - SWZ_SAMPLE_MOST_TICKS;
	struct swz_node *to;

	if (weight <= 1 || duration <= SWZ_SAMPLE_MOST_TICKS)
		return duration;
	to = long_calls_of(thread, node);
	node->ticks -= (int64_t)(weight * above);
	(to ? to : node)->ticks += (int64_t)above;
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
	node->ticks += (int64_t)(weight * now);
	node->open -= (uint32_t)weight << SWZ_NODE_OPEN_SHIFT;
	if ((swz_sampling_is_long(start, duration) ||
	     swz_sampling_is_stray(node, weight, duration)) &&
	    move_to_long(thread, node, weight, duration))
		swz_sampling_ended(node, 1, duration);
	else if (weight)
		swz_sampling_ended(node, weight,
				   bounded(thread, node, weight, duration));
}

uint64_t swz_context_open(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start)
{
	swz_events_add(thread, node, SWZ_EVENT_RESUME, start);
	return open_node(thread, node, start);
}

static uint64_t open_node(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start)
{
	if (swz_sampling) {
		open_sampled(node, start);
	} else {
		node->ticks -= (int64_t)start;
		node->open += 1u << SWZ_NODE_OPEN_SHIFT;
		if (thread->open[node->function]-- == 0)
			node->outer_ticks -= (int64_t)start;
	}
	return (uint64_t)node->context << 32;
}

void swz_context_leave(struct swz_thread *thread, struct swz_node *node,
		       uint64_t start, uint64_t now, enum swz_event_kind how)
{
	uint64_t duration = now - start;

	if (swz_sampling) {
		leave_sampled(thread, node, start, now);
		return;
	}
	swz_events_add_end(thread, node, how, start, now);
	node->ticks += (int64_t)now;
	node->open -= 1u << SWZ_NODE_OPEN_SHIFT;
	if (++thread->open[node->function] == 0)
		node->outer_ticks += (int64_t)now;
	if (duration > node->max_ticks)
		node->max_ticks = duration;
	if (duration <= node->min_ticks - 1)
		node->min_ticks = duration;
}
