#include "runtime/record/long_calls.h"

#include "runtime/record/edge_table.h"
#include "runtime/record/file.h"
#include "runtime/record/nodes.h"
#include "runtime/record/slow_stack.h"

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

struct swz_node *swz_long_calls_of(struct swz_thread *thread,
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
