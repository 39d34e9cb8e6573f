/* As long as nothing has to grow, an edge is made without a system call, and a
 * signal handler of the same thread may come between any two instructions: it
 * makes edges, even lets the table grow, before it returns. Each step is one
 * instruction, or is found out to have been overtaken. */

#include "runtime/record/context.h"

#include "runtime/record/code_names.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/nodes.h"
#include "runtime/record/recursion.h"
#include "runtime/record/shared_thunks.h"
#include "runtime/record/site_table.h"
#include "runtime/record/span_names.h"
#include "runtime/support/config.h"

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
	if (is_code) {
		node->max_ticks = swz_ticks();
		swz_code_note(node);
	} else if (swz_ids_filtered && !swz_is_span(function)) {
		node->open |= filter_flags(function, depth_of(key) + 1);
	}
	swz_node_publish(node, function);
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
