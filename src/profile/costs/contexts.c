/* Contexts are found by their parent, function and place, so those of several
 * threads become one.
 *
 * Times are those that the report has given to each context (report.c):
 * those of a function add up to what the report says of it, to the nanosecond.
 */

#include "profile/costs/contexts.h"

#include <stdlib.h>

#include "util/memory.h"

#define NONE SWZ_INDEX_NONE

/* One thread's way into the contexts. */
struct adding {
	struct swz_contexts *contexts;
	struct swz_binding *binding;
	const struct swz_tree *tree;
	uint32_t *found; /* per node that is a context: where it went */
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

/* In the key of a folded call's context, which is apart from that of calls
 * which have their time there. There are not as many places. */
#define FOLDED 0x80000000u
#define HIT 0x40000000u /* in the same way */
#define CAUSED 0x20000000u

static uint32_t child(struct swz_contexts *contexts, uint32_t parent,
		      uint32_t function, uint32_t place, uint32_t kind)
{
	uint32_t *found;

	if (contexts->items[parent].depth + 1 >= SWZ_CONTEXT_DEPTH)
		parent = contexts->items[parent].parent;
	if (!contexts->by_place)
		place = SWZ_PLACE_UNKNOWN;
	found = swz_map_at(&contexts->index, parent,
			   (uint64_t)function << 32 | place | kind);
	if (*found == SWZ_MAP_NONE) {
		swz_grow(&contexts->items, &contexts->capacity, contexts->count,
			 sizeof(*contexts->items));
		*found = (uint32_t)contexts->count++;
		contexts->items[*found] = (struct swz_context){
			.function = function,
			.parent = parent,
			.place = place,
			.folded = kind == FOLDED,
			.caused = kind == CAUSED,
			.is_hit = kind == HIT,
			.depth = contexts->items[parent].depth + 1};
	}
	return *found;
}

uint32_t swz_contexts_child(struct swz_contexts *contexts, uint32_t parent,
			    uint32_t function, uint32_t place, bool folded)
{
	return child(contexts, parent, function, place, folded ? FOLDED : 0);
}

uint32_t swz_contexts_caused(struct swz_contexts *contexts, uint32_t parent,
			     uint32_t function, uint32_t place)
{
	return child(contexts, parent, function, place, CAUSED);
}

uint32_t swz_contexts_current(const struct swz_contexts *contexts,
			      uint32_t index)
{
	uint32_t function = contexts->items[index].function;

	while (contexts->items[index].folded && index != SWZ_CONTEXT_ROOT) {
		do
			index = contexts->items[index].parent;
		while (index != SWZ_CONTEXT_ROOT &&
		       contexts->items[index].function != function);
	}
	return index;
}

uint32_t swz_contexts_like(struct swz_contexts *contexts, uint32_t parent,
			   const struct swz_context *other)
{
	return child(contexts, parent, other->function, other->place,
		     other->caused   ? CAUSED
		     : other->is_hit ? HIT
		     : other->folded ? FOLDED
				     : 0);
}

void swz_context_merge(struct swz_context *to, const struct swz_context *from)
{
	to->calls = swz_add_count(to->calls, from->calls);
	to->unwound = swz_add_count(to->unwound, from->unwound);
	to->jumps = swz_add_count(to->jumps, from->jumps);
	to->self_ns = swz_add(to->self_ns, from->self_ns);
	to->self_waiting_ns = swz_add(to->self_waiting_ns,
				      from->self_waiting_ns);
}

/* Only the caller is known of a node whose true context was lost, if that. */
static uint32_t folded_parent(const struct adding *adding,
			      const struct swz_tree_node *node)
{
	uint32_t parent = swz_contexts_child(adding->contexts, SWZ_CONTEXT_ROOT,
					     SWZ_CATALOG_UNKNOWN,
					     SWZ_PLACE_UNKNOWN, false);

	if (node->folded_caller == NONE)
		return parent;
	return swz_contexts_child(
		adding->contexts, parent,
		swz_binding_function(adding->binding, node->folded_caller, 0),
		SWZ_PLACE_UNKNOWN, false);
}

/* The place of a call by the function of a context, or of what was hit in it.
 */
static uint32_t place_in(const struct adding *adding, uint32_t context,
			 const struct swz_tree_node *node, bool is_hit)
{
	uint32_t function = adding->contexts->items[context].function;

	if (adding->contexts->by_offset)
		return swz_binding_offset(adding->binding, node->call_site,
					  function);
	if (is_hit)
		return swz_hits_place(adding->binding, node);
	return swz_binding_place(adding->binding, node->call_site, function);
}

static uint32_t find(const struct adding *adding,
		     const struct swz_tree_node *node)
{
	uint32_t parent = adding->found[node->parent];
	uint32_t place = SWZ_PLACE_UNKNOWN, function;

	if (adding->contexts->by_hit && swz_hits_are_of(adding->tree, node))
		return child(adding->contexts, parent,
			     adding->contexts->items[parent].function,
			     place_in(adding, parent, node, true), HIT);
	if (node->flags & SWZ_NODE_HIDDEN)
		return parent;
	function = swz_binding_function(adding->binding, node->function,
					node->id);
	if (node->flags & SWZ_NODE_FOLDED)
		parent = folded_parent(adding, node);
	if (function == SWZ_CATALOG_COUNTING && adding->contexts->by_counted) {
		const struct swz_tree_node *counted =
			&adding->tree->nodes[node->parent];

		/* (swz_view_apply() may have made another one of it) */
		if (node->function != NONE)
			counted = node;
		place = swz_binding_function(adding->binding, counted->function,
					     counted == node ? 0 : counted->id);
	} else if (adding->contexts->by_place) {
		place = place_in(adding, parent, node, false);
	}
	return swz_contexts_child(adding->contexts, parent, function, place,
				  &adding->tree->nodes[node->context] != node);
}

static void add_calls(const struct adding *adding, uint32_t index)
{
	const struct swz_tree_node *node = &adding->tree->nodes[index];
	struct swz_context *context;
	uint32_t at;

	if (node->flags & SWZ_NODE_HIDDEN)
		return;
	at = node->context == index ? adding->found[index]
				    : find(adding, node); /* may move them */
	context = &adding->contexts->items[at];
	context->calls = swz_add_count(context->calls, node->calls);
	context->unwound = swz_add_count(context->unwound, node->unwound);
	if (adding->tree->counts && adding->contexts->finds_jumps &&
	    swz_binding_is_jump(
		    adding->binding, node->call_site,
		    adding->contexts->items[context->parent].function,
		    context->function))
		context->jumps = swz_add_count(context->jumps, node->calls);
}

static void add_times(const struct adding *adding)
{
	const struct swz_tree *tree = adding->tree;
	size_t i;

	for (i = 0; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_context *context =
			&adding->contexts->items[adding->found[index]];

		context->self_ns = swz_add(context->self_ns,
					   tree->nodes[index].self_ns);
		context->self_waiting_ns = swz_add(
			context->self_waiting_ns,
			tree->nodes[index].self_waiting_ns);
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
		      struct swz_binding *binding, struct swz_tree *tree)
{
	struct adding adding = {
		.contexts = contexts, .binding = binding, .tree = tree};
	size_t i;

	swz_report_add(report, binding, tree);
	adding.found = swz_allocate(tree->count, sizeof(*adding.found));
	for (i = 1; i < tree->context_count; i++)
		adding.found[tree->contexts[i]] = find(
			&adding, &tree->nodes[tree->contexts[i]]);
	/* the root has samples, too, of what is not shown; but no calls */
	for (i = tree->samples ? 0 : 1; i < tree->count; i++)
		add_calls(&adding, (uint32_t)i);
	add_times(&adding);
	if (contexts->by_unit)
		note_units(&adding);
	free(adding.found);
}

/* Depth first, with how often each function is on the path. */
static void find_topmost(struct swz_contexts *contexts)
{
	struct swz_context *items = contexts->items;
	struct swz_children children;
	uint32_t functions = 0, at = SWZ_CONTEXT_ROOT;
	uint32_t *times, *next;
	size_t i;

	for (i = 0; i < contexts->count; i++)
		if (items[i].function >= functions)
			functions = items[i].function + 1;
	times = swz_allocate(functions, sizeof(*times));
	next = swz_allocate(contexts->count, sizeof(*next));
	swz_children_find(&children, contexts, NULL, NULL);
	items[at].topmost = times[items[at].function]++ == 0;
	for (;;) {
		if (next[at] < children.start[at + 1] - children.start[at]) {
			at = children.items[children.start[at] + next[at]++];
			items[at].topmost = times[items[at].function]++ == 0;
			continue;
		}
		times[items[at].function]--;
		if (at == SWZ_CONTEXT_ROOT)
			break;
		at = items[at].parent;
	}
	swz_children_free(&children);
	free(times);
	free(next);
}

void swz_contexts_add_untraced(struct swz_contexts *contexts)
{
	*swz_map_at(&contexts->units, 0, 0) = swz_contexts_child(
		contexts, SWZ_CONTEXT_ROOT, SWZ_CATALOG_UNTRACED,
		SWZ_PLACE_UNKNOWN, false);
}

void swz_contexts_sum(struct swz_contexts *contexts)
{
	size_t i;

	if (!contexts->count)
		return;
	find_topmost(contexts);

	for (i = 0; i < contexts->count; i++) {
		struct swz_context *context = &contexts->items[i];

		context->inclusive_ns = context->self_ns;
		context->inclusive_waiting_ns = context->self_waiting_ns;
	}
	for (i = contexts->count; i-- > 1;) {
		const struct swz_context *context = &contexts->items[i];
		struct swz_context *parent = &contexts->items[context->parent];

		parent->inclusive_ns = swz_add(parent->inclusive_ns,
					       context->inclusive_ns);
		parent->inclusive_waiting_ns = swz_add(
			parent->inclusive_waiting_ns,
			context->inclusive_waiting_ns);
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
