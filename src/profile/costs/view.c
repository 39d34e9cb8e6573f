/* Each function of the catalog is matched once for a tree; then a walk over the
 * contexts, parents first, says which are below what. */

#include "profile/costs/view.h"

#include <stdint.h>
#include <stdlib.h>

#include "util/memory.h"

enum verdict {
	UNKNOWN = 0,
	KNOWN = 1,
	ONLY = 2,
	WITHOUT = 4,
	HIDDEN = 8,
	CALLED = 16, /* itself */
	LEADS = 32   /* something below it is CALLED, or it is */
};

struct filtering {
	const struct swz_view *view;
	struct swz_binding *binding;
	struct swz_tree *tree;
	uint8_t *verdicts; /* per function of the catalog */
	size_t verdict_count;
	uint8_t *below; /* per context: what it and those above it are */
};

bool swz_view_is_whole(const struct swz_view *view)
{
	return !view->only.count && !view->without.count &&
	       !view->hidden.count && !view->callers.count && !view->script &&
	       !(view->rules && view->rules->any_hidden);
}

void swz_view_prepare(struct swz_binding *binding,
		      const struct swz_profile_thread *thread)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			uint32_t id = swz_profile_node(binding->profile,
						       thread->spans[i].unit +
							       j)
					      ->function;

			/* of a damaged file it may be one of no module */
			if (id != SWZ_FUNCTION_NONE &&
			    id != SWZ_FUNCTION_ROOT &&
			    id != SWZ_FUNCTION_OURSELVES)
				swz_binding_function(
					binding,
					swz_profile_function_by_id(
						binding->profile, id),
					id);
		}
}

/* Time without a sample is nobody's. */
static bool is_of_script(const struct swz_catalog *catalog, uint32_t function)
{
	uint32_t module = catalog->functions[function].module;

	return function == SWZ_CATALOG_UNSAMPLED ||
	       (module != SWZ_INDEX_NONE &&
		catalog->modules[module].lies_in_no_file);
}

static uint8_t judge(const struct swz_view *view,
		     const struct swz_catalog *catalog, uint32_t function)
{
	const struct swz_settings *settings = swz_rules_of(view->rules, catalog,
							   function);
	uint8_t verdict = KNOWN;

	if (settings && settings->show == SWZ_NO)
		verdict |= HIDDEN;
	if (settings && settings->show == SWZ_NO_CALLS)
		verdict |= WITHOUT;

	if (swz_patterns_match(&view->only, catalog, function, NULL))
		verdict |= ONLY;
	if (swz_patterns_match(&view->without, catalog, function, NULL))
		verdict |= WITHOUT;
	if (swz_patterns_match(&view->hidden, catalog, function, NULL) ||
	    (view->script && !is_of_script(catalog, function)))
		verdict |= HIDDEN;
	if (view->callers.count &&
	    swz_patterns_match(&view->callers, catalog, function, NULL))
		verdict |= CALLED | LEADS;
	return verdict;
}

static uint8_t verdict_of(struct filtering *f, uint32_t function)
{
	struct swz_catalog *catalog = f->binding->catalog;

	if (function >= f->verdict_count) {
		size_t count = catalog->function_count;

		f->verdicts = swz_reallocate(f->verdicts, count, 1);
		while (f->verdict_count < count)
			f->verdicts[f->verdict_count++] = UNKNOWN;
	}
	if (f->verdicts[function] == UNKNOWN) {
		if (!catalog->functions[function].name)
			swz_catalog_resolve(catalog);
		f->verdicts[function] = judge(f->view, catalog, function);
	}
	return f->verdicts[function];
}

/* The verdict on a node's function, and those above it; of a folded one only
 * the caller is known. */
static uint8_t verdict_below(struct filtering *f,
			     const struct swz_tree_node *node)
{
	uint8_t above = f->below[node->parent];
	uint8_t own;

	if (node->id == SWZ_FUNCTION_ROOT ||
	    node->id == SWZ_FUNCTION_OURSELVES ||
	    node->id == SWZ_FUNCTION_UNTRACED)
		return above;
	own = verdict_of(
		f, swz_binding_function(f->binding, node->function, node->id));
	if (node->flags & SWZ_NODE_FOLDED &&
	    node->folded_caller != SWZ_INDEX_NONE)
		above = verdict_of(f, swz_binding_function(f->binding,
							   node->folded_caller,
							   0));
	return (uint8_t)((above & (ONLY | WITHOUT)) | own);
}

static bool is_left_out(const struct swz_view *view, uint8_t verdict)
{
	return verdict & (WITHOUT | HIDDEN) ||
	       (view->only.count && !(verdict & ONLY)) ||
	       (view->callers.count && !(verdict & LEADS));
}

/* An edge that goes back to an ancestor leads to what that one does. False:
 * nothing was new. */
static bool follow_back(struct filtering *f)
{
	struct swz_tree *tree = f->tree;
	bool changed = false;

	for (size_t i = 1; i < tree->count; i++) {
		const struct swz_tree_node *node = &tree->nodes[i];

		if (node->context == i || f->below[node->parent] & LEADS ||
		    !((verdict_below(f, node) | f->below[node->context]) &
		      LEADS))
			continue;
		f->below[node->parent] |= LEADS;
		changed = true;
	}
	return changed;
}

/* Callees of a context lead it there, too: children come first. */
static void find_leading(struct filtering *f)
{
	struct swz_tree *tree = f->tree;

	do
		for (size_t i = tree->context_count; i-- > 1;)
			f->below[tree->nodes[tree->contexts[i]].parent] |=
				f->below[tree->contexts[i]] & LEADS;
	while (follow_back(f));
}

/* Samples go with the time that they stand for: to the caller that is shown. */
static void move_samples(struct swz_tree *tree)
{
	for (size_t i = tree->context_count; i-- > 1;) {
		struct swz_tree_node *node = &tree->nodes[tree->contexts[i]];
		struct swz_tree_node *parent = &tree->nodes[node->parent];

		if (!(node->flags & SWZ_NODE_HIDDEN))
			continue;
		parent->calls = swz_add_count(parent->calls, node->calls);
		node->calls = 0;
	}
}

/* A node that is not shown becomes what has hit a place of CALLER, the node of
 * a function that is. */
static void make_hit(struct swz_tree_node *node, uint32_t caller,
		     const struct swz_tree *tree, uint64_t site)
{
	/* (those of what was a hit are its parent's, too) */
	node->hits = node->flags & SWZ_NODE_HIT ? 0 : node->calls;
	node->flags |= SWZ_NODE_HIT;
	node->parent = caller;
	node->id = tree->nodes[caller].id;
	node->function = tree->nodes[caller].function;
	node->call_site = site;
}

/* A function that is called by one that is not shown was called by the line of
 * the script that has called that one, if there is one. */
static void call_from_line(struct swz_tree_node *node,
			   const struct swz_tree_node *parent, bool has_line)
{
	node->call_site = has_line ? parent->call_site + 1 : 0;
	if (has_line)
		node->parent = parent->parent;
}

/* A line of a script has the time of the functions that it called and that are
 * not shown. Parents come first. */
static void hit_lines(const struct filtering *f)
{
	struct swz_tree *tree = f->tree;
	bool *made = swz_allocate(tree->count, sizeof(*made));

	for (size_t i = 1; i < tree->context_count; i++) {
		uint32_t index = tree->contexts[i];
		struct swz_tree_node *node = &tree->nodes[index];
		const struct swz_tree_node *parent = &tree->nodes[node->parent];

		if (!(node->flags & SWZ_NODE_HIDDEN)) {
			if (made[node->parent] ||
			    (f->view->script &&
			     parent->flags & SWZ_NODE_HIDDEN))
				call_from_line(node, parent,
					       made[node->parent]);
			continue;
		}
		if (made[node->parent]) {
			make_hit(node, parent->parent, tree, parent->call_site);
		} else if (!(parent->flags & SWZ_NODE_HIDDEN) &&
			   !(node->flags & SWZ_NODE_HIT) &&
			   parent->id != SWZ_FUNCTION_ROOT &&
			   is_of_script(f->binding->catalog,
					swz_binding_function(f->binding,
							     parent->function,
							     parent->id))) {
			/* (a call's place is before where it returns to) */
			make_hit(node, node->parent, tree, node->call_site - 1);
		} else {
			continue;
		}
		made[index] = true;
	}
	free(made);
}

void swz_view_apply(const struct swz_view *view, struct swz_binding *binding,
		    struct swz_tree *tree)
{
	struct filtering f = {.view = view, .binding = binding, .tree = tree};
	size_t i;

	f.below = swz_allocate(tree->count, 1);
	for (i = 1; i < tree->context_count; i++)
		f.below[tree->contexts[i]] = verdict_below(
			&f, &tree->nodes[tree->contexts[i]]);
	if (view->callers.count)
		find_leading(&f);
	for (i = 1; i < tree->count; i++) {
		struct swz_tree_node *node = &tree->nodes[i];
		uint8_t verdict = node->context == i ? f.below[i]
						     : verdict_below(&f, node);

		if (node->context != i)
			verdict |= f.below[node->context] & LEADS;

		/* nobody knows whether what was not traced would match */
		if (node->flags & SWZ_NODE_HIDDEN ||
		    node->id == SWZ_FUNCTION_UNTRACED)
			continue;
		if (!is_left_out(view, verdict))
			continue;
		node->flags |= SWZ_NODE_HIDDEN;
		tree->not_shown = swz_add_count(tree->not_shown, node->calls);
	}
	if (tree->samples) {
		hit_lines(&f);
		move_samples(tree);
	}
	free(f.below);
	free(f.verdicts);
}

struct swz_unit_set swz_view_units(const struct swz_view *view,
				   struct swz_binding *binding,
				   const struct swz_profile_thread *thread)
{
	struct swz_unit_set set = {0};
	const struct swz_node_span *last;
	struct swz_tree tree;
	size_t i;

	if (swz_view_is_whole(view))
		return set;
	if (thread->span_count) {
		last = &thread->spans[thread->span_count - 1];
		set.first = thread->spans[0].unit;
		set.count = last->unit - set.first + last->count;
	}
	set.bits = swz_allocate(set.count / 8 + 1, 1);
	swz_tree_build(&tree, binding->profile, thread, false);
	swz_view_apply(view, binding, &tree);
	for (i = 1; i < tree.count; i++) {
		uint32_t at = tree.nodes[i].unit - set.first;

		if (!(tree.nodes[i].flags & SWZ_NODE_HIDDEN))
			set.bits[at / 8] |= (uint8_t)(1u << at % 8);
	}
	swz_tree_free(&tree);
	return set;
}

void swz_unit_set_free(struct swz_unit_set *set)
{
	free(set->bits);
	*set = (struct swz_unit_set){0};
}

void swz_view_free(struct swz_view *view)
{
	swz_patterns_free(&view->only);
	swz_patterns_free(&view->without);
	swz_patterns_free(&view->hidden);
	swz_patterns_free(&view->callers);
}
