/* Contexts are found by their parent, function and place, so those of several
 * threads become one.
 *
 * Times: the report rounds and settles times by function (see aggregate.c).
 * What it says of a function in a thread is distributed over the function's
 * contexts there by their share, as differences of rounded running sums, so the
 * contexts of a function add up to what the report says, to the nanosecond. */

#include "profile/costs/contexts.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE

/* One thread's way into the contexts. */
struct adding {
	struct swz_contexts *contexts;
	struct swz_binding *binding;
	const struct swz_tree *tree;
	uint32_t *found; /* per node that is a context: where it went */
};

/* A function's time in one thread. */
struct share {
	int64_t ticks; /* of all its contexts */
	int64_t ns;    /* which is to be distributed over them */
	int64_t done_ticks;
	int64_t done_ns;
};

void swz_contexts_begin(struct swz_contexts *contexts, uint32_t function,
			bool by_place)
{
	*contexts = (struct swz_contexts){.by_place = by_place};
	swz_grow(&contexts->items, &contexts->capacity, 0,
		 sizeof(*contexts->items));
	contexts->items[contexts->count++] = (struct swz_context){
		.function = function};
}

void swz_contexts_free(struct swz_contexts *contexts)
{
	free(contexts->items);
	swz_map_free(&contexts->index);
	swz_map_free(&contexts->units);
	*contexts = (struct swz_contexts){0};
}

uint32_t swz_contexts_child(struct swz_contexts *contexts, uint32_t parent,
			    uint32_t function, uint32_t place)
{
	uint32_t *found;

	if (contexts->items[parent].depth + 1 >= SWZ_CONTEXT_DEPTH)
		parent = contexts->items[parent].parent;
	if (!contexts->by_place)
		place = SWZ_PLACE_UNKNOWN;
	found = swz_map_at(&contexts->index, parent,
			   (uint64_t)function << 32 | place);
	if (*found == SWZ_MAP_NONE) {
		swz_grow(&contexts->items, &contexts->capacity, contexts->count,
			 sizeof(*contexts->items));
		*found = (uint32_t)contexts->count++;
		contexts->items[*found] = (struct swz_context){
			.function = function,
			.parent = parent,
			.place = place,
			.depth = contexts->items[parent].depth + 1};
	}
	return *found;
}

void swz_context_merge(struct swz_context *to, const struct swz_context *from)
{
	to->recursive |= from->recursive;
	to->calls = swz_add_count(to->calls, from->calls);
	to->unwound = swz_add_count(to->unwound, from->unwound);
	to->self_ns = swz_add(to->self_ns, from->self_ns);
}

/* Of a node whose true context was lost only the caller is known, if that. */
static uint32_t folded_parent(const struct adding *adding,
			      const struct swz_tree_node *node)
{
	uint32_t parent = swz_contexts_child(adding->contexts, SWZ_CONTEXT_ROOT,
					     SWZ_CATALOG_UNKNOWN,
					     SWZ_PLACE_UNKNOWN);

	if (node->folded_caller == NONE)
		return parent;
	return swz_contexts_child(
		adding->contexts, parent,
		swz_binding_function(adding->binding, node->folded_caller, 0),
		SWZ_PLACE_UNKNOWN);
}

static uint32_t find(const struct adding *adding,
		     const struct swz_tree_node *node)
{
	uint32_t parent = adding->found[node->parent];
	uint32_t place = SWZ_PLACE_UNKNOWN, function;

	if (node->flags & SWZ_NODE_HIDDEN)
		return parent;
	function = swz_binding_function(adding->binding, node->function,
					node->id);
	if (node->flags & SWZ_NODE_FOLDED)
		parent = folded_parent(adding, node);
	if (adding->contexts->by_place)
		place = swz_binding_place(
			adding->binding, node->call_site,
			adding->contexts->items[parent].function);
	return swz_contexts_child(adding->contexts, parent, function, place);
}

static void add_calls(const struct adding *adding, uint32_t index)
{
	const struct swz_tree_node *node = &adding->tree->nodes[index];
	struct swz_context *context;

	if (node->flags & SWZ_NODE_HIDDEN)
		return;
	if (node->context == index) {
		context = &adding->contexts->items[adding->found[index]];
	} else {
		uint32_t at = find(adding, node);

		context = &adding->contexts->items[at];
		context->recursive = true;
	}
	context->calls = swz_add_count(context->calls, node->calls);
	context->unwound = swz_add_count(context->unwound, node->unwound);
}

static void add_times(const struct adding *adding, struct share *shares)
{
	const struct swz_tree *tree = adding->tree;
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_context *context =
			&adding->contexts->items[adding->found[index]];
		struct share *share = &shares[context->function];

		share->ticks = swz_add(share->ticks, tree->nodes[index].self);
	}
	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_context *context =
			&adding->contexts->items[adding->found[index]];
		struct share *share = &shares[context->function];
		int64_t ns;

		share->done_ticks = swz_add(share->done_ticks,
					    tree->nodes[index].self);
		ns = swz_scale(share->ns, (uint64_t)share->done_ticks,
			       (uint64_t)share->ticks);
		context->self_ns = swz_add(context->self_ns,
					   ns - share->done_ns);
		share->done_ns = ns;
	}
}

static void note_units(const struct adding *adding)
{
	const struct swz_tree *tree = adding->tree;
	size_t i;

	for (i = 1; i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];
		uint32_t at = SWZ_CONTEXT_ROOT;

		if (!(node->flags & SWZ_NODE_HIDDEN))
			at = node->context == i ? adding->found[i]
						: find(adding, node);
		*swz_map_at(&adding->contexts->units, node->unit, 0) = at;
	}
}

void swz_contexts_add(struct swz_contexts *contexts, struct swz_report *report,
		      struct swz_binding *binding, const struct swz_tree *tree)
{
	struct adding adding = {
		.contexts = contexts, .binding = binding, .tree = tree};
	size_t known = report->function_capacity;
	struct share *shares;
	int64_t *before;
	size_t i;

	before = swz_allocate(known, sizeof(*before));
	for (i = 0; i < known; i++)
		before[i] = report->functions[i].self_ns;
	swz_report_add(report, binding, tree);
	shares = swz_allocate(report->function_capacity, sizeof(*shares));
	for (i = 0; i < report->function_capacity; i++)
		shares[i].ns = swz_sub(report->functions[i].self_ns,
				       i < known ? before[i] : 0);
	adding.found = swz_allocate(tree->count, sizeof(*adding.found));
	for (i = 1; i < tree->context_count; i++)
		adding.found[tree->contexts[i]] = find(
			&adding, &tree->nodes[tree->contexts[i]]);
	for (i = 1; i < tree->count; i++)
		add_calls(&adding, (uint32_t)i);
	add_times(&adding, shares);
	if (contexts->by_unit)
		note_units(&adding);
	free(adding.found);
	free(shares);
	free(before);
}

void swz_contexts_add_untraced(struct swz_contexts *contexts)
{
	*swz_map_at(&contexts->units, 0, 0) = swz_contexts_child(
		contexts, SWZ_CONTEXT_ROOT, SWZ_CATALOG_UNTRACED,
		SWZ_PLACE_UNKNOWN);
}

void swz_contexts_sum(struct swz_contexts *contexts)
{
	size_t i;

	for (i = 0; i < contexts->count; i++)
		contexts->items[i].inclusive_ns = contexts->items[i].self_ns;
	for (i = contexts->count; i-- > 1;) {
		const struct swz_context *context = &contexts->items[i];
		struct swz_context *parent = &contexts->items[context->parent];

		parent->inclusive_ns = swz_add(parent->inclusive_ns,
					       context->inclusive_ns);
	}
}

void swz_children_find(struct swz_children *children,
		       const struct swz_contexts *contexts,
		       int (*compare)(const void *, const void *, void *),
		       void *argument)
{
	size_t count = contexts->count;
	uint32_t *next = swz_allocate(count, sizeof(*next));
	size_t i;

	children->items = swz_allocate(count, sizeof(*children->items));
	children->start = swz_allocate(count + 1, sizeof(*children->start));
	for (i = 1; i < count; i++)
		children->start[contexts->items[i].parent + 1]++;
	for (i = 0; i < count; i++)
		children->start[i + 1] += children->start[i];
	for (i = 0; i < count; i++)
		next[i] = children->start[i];
	for (i = 1; i < count; i++)
		children->items[next[contexts->items[i].parent]++] =
			(uint32_t)i;
	free(next);
	for (i = 0; compare && i < count; i++) {
		uint32_t start = children->start[i];
		uint32_t end = children->start[i + 1];

		if (end - start > 1)
			qsort_r(children->items + start, end - start,
				sizeof(*children->items), compare, argument);
	}
}

void swz_children_free(struct swz_children *children)
{
	free(children->items);
	free(children->start);
	*children = (struct swz_children){0};
}
