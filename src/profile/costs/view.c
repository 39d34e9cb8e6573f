/* Each function of the catalog is matched once for a tree; then a walk over the
 * contexts, parents first, says which are below what. */

#include "profile/costs/report.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/values.h"
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

/* Time in what counts calls is the program's in part only: it must not become
 * that of a function. */
static bool is_counting(const struct swz_tree *tree,
			const struct swz_tree_node *node)
{
	return tree->samples && node->id == SWZ_FUNCTION_COUNTING;
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

		if (is_counting(tree, node))
			continue;
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

	/* (a parent that is not shown may become a place of its caller) */
	for (i = 1; i < tree->count; i++)
		if (is_counting(tree, &tree->nodes[i]))
			tree->nodes[i].function =
				tree->nodes[tree->nodes[i].parent].function;
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
		    node->id == SWZ_FUNCTION_UNTRACED ||
		    is_counting(tree, node))
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

/* --- what was recorded since a snapshot ----------------------------------- */

/* A node stays at its place in the file, so each is compared with itself. An
 * activation that is open has a part of its time in either: both are closed, at
 * the last moment of their thread in either file, and what is left is a node
 * with nothing open. */

static uint64_t difference(uint64_t later, uint64_t earlier)
{
	return later > earlier ? later - earlier : 0;
}

/* A thread's last moment, as nodes have it. */
static uint64_t last_moment(const struct swz_profile *profile,
			    const struct swz_profile_thread *thread)
{
	return thread->last_ticks - profile->header.epoch_ticks +
	       SWZ_TICKS_BIAS;
}

static uint64_t open_of(const struct swz_node *node)
{
	int32_t open = (int32_t)node->open >> SWZ_NODE_OPEN_SHIFT;

	return open > 0 ? (uint64_t)open : 0;
}

static void close_node(struct swz_node *node, uint64_t last, bool sampled)
{
	bool repaired;

	node->ticks = swz_close_ticks(node->ticks, open_of(node), last,
				      &repaired);
	if (!sampled)
		node->outer_ticks = swz_close_ticks(node->outer_ticks, 0, last,
						    &repaired);
	node->open &= SWZ_NODE_FLAGS_MASK;
}

static void subtract(struct swz_node *node, const struct swz_node *earlier,
		     bool sampled)
{
	node->calls = difference(node->calls, earlier->calls);
	node->ticks = swz_sub(node->ticks, earlier->ticks);
	if (!sampled) {
		node->outer_ticks = swz_sub(node->outer_ticks,
					    earlier->outer_ticks);
		return;
	}
	node->weight = difference(node->weight, earlier->weight);
	node->timed = (uint32_t)difference(node->timed, earlier->timed);
	node->squares = difference(node->squares, earlier->squares);
}

static bool is_same_edge(const struct swz_node *a, const struct swz_node *b)
{
	return a->function == b->function && a->parent == b->parent &&
	       a->call_site == b->call_site;
}

/* The thread's nodes that stand for counts. */
static struct swz_node *counted_edges(const struct swz_profile *profile,
				      const struct swz_profile_thread *thread,
				      size_t *count)
{
	const struct swz_node_span *last;

	*count = 0;
	if (!thread || !thread->span_count)
		return NULL;
	last = &thread->spans[thread->span_count - 1];
	if (!profile->made_nodes || last->unit < profile->made_unit)
		return NULL;
	*count = last->count;
	return &profile->made_nodes[last->unit - profile->made_unit];
}

/* Both are sorted by place of the call, then function. */
static void take_counts(const struct swz_profile *profile,
			const struct swz_profile *earlier,
			const struct swz_profile_thread *thread,
			const struct swz_profile_thread *before)
{
	size_t count, old_count, i, j = 0;
	struct swz_node *now = counted_edges(profile, thread, &count);
	const struct swz_node *then = counted_edges(earlier, before,
						    &old_count);

	for (i = 1; i < count; i++) {
		while (j < old_count &&
		       (then[j].function == SWZ_FUNCTION_ROOT ||
			then[j].call_site < now[i].call_site ||
			(then[j].call_site == now[i].call_site &&
			 then[j].function < now[i].function)))
			j++;
		if (j < old_count && then[j].call_site == now[i].call_site &&
		    then[j].function == now[i].function)
			now[i].calls = difference(now[i].calls, then[j].calls);
	}
}

static void take_nodes(struct swz_profile *profile,
		       const struct swz_profile *earlier,
		       const struct swz_profile_thread *thread,
		       const struct swz_profile_thread *before)
{
	bool sampled = profile->header.flags & SWZ_FILE_SAMPLED;
	uint64_t last = last_moment(profile, thread);
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			uint64_t offset = (uint64_t)(thread->spans[i].unit +
						     j) *
					  SWZ_UNIT_BYTES;
			struct swz_node *node =
				(struct swz_node *)(void *)(profile->data +
							    offset);
			struct swz_node old;

			if (node->function == SWZ_FUNCTION_NONE ||
			    node->function == SWZ_FUNCTION_ROOT)
				continue;
			close_node(node, last, sampled);
			if (!before ||
			    swz_profile_loaded(earlier, offset, &old,
					       sizeof(old)) != sizeof(old) ||
			    !is_same_edge(node, &old))
				continue;
			close_node(&old, last_moment(earlier, before), sampled);
			subtract(node, &old, sampled);
		}
}

static const struct swz_profile_thread *same_thread(
	const struct swz_profile *earlier,
	const struct swz_profile_thread *thread)
{
	uint32_t at = swz_profile_thread_by_index(earlier, thread->index);

	return at == SWZ_INDEX_NONE ? NULL : &earlier->threads[at];
}

static void take_thread(struct swz_profile *profile,
			const struct swz_profile *earlier,
			struct swz_profile_thread *thread)
{
	const struct swz_profile_thread *before = same_thread(earlier, thread);

	if (profile->header.flags & SWZ_FILE_COUNTS)
		take_counts(profile, earlier, thread, before);
	else
		take_nodes(profile, earlier, thread, before);
	if (!before)
		return;
	thread->record.start_ticks = before->last_ticks;
	if (thread->last_ticks < before->last_ticks)
		thread->last_ticks = before->last_ticks;
	if (before->record.processor_ticks)
		thread->record.processor_start_ns = before->record.processor_ns;
}

static void take_unwound(struct swz_profile *profile,
			 const struct swz_profile *earlier)
{
	size_t i, j = 0;

	/* both are sorted by owner, then node */
	for (i = 0; i < profile->unwound_count; i++) {
		struct swz_profile_unwound *u = &profile->unwound[i];

		while (j < earlier->unwound_count &&
		       (earlier->unwound[j].owner < u->owner ||
			(earlier->unwound[j].owner == u->owner &&
			 earlier->unwound[j].node < u->node)))
			j++;
		if (j < earlier->unwound_count &&
		    earlier->unwound[j].owner == u->owner &&
		    earlier->unwound[j].node == u->node)
			u->count = difference(u->count,
					      earlier->unwound[j].count);
	}
}

static void take_marks(struct swz_profile *profile, uint64_t from)
{
	size_t kept = 0, i;

	for (i = 0; i < profile->mark_count; i++)
		if (profile->marks[i].ticks >= from)
			profile->marks[kept++] = profile->marks[i];
	profile->mark_count = kept;
}

/* Nothing is known any more of a moment without calls. */
static void forget_values(const struct swz_profile_summary *summary,
			  enum swz_value_moment moment)
{
	unsigned i;

	for (i = 0; i < summary->head->ranges; i++) {
		struct swz_value_range *range = &swz_summary_ranges(
			summary->head)[i];
		bool of_entry = range->part < summary->signature->entry_parts;

		if (of_entry == (moment == SWZ_VALUES_ENTRY))
			range->count = 0;
	}
}

/* (Its node may be anything in a damaged file.) */
static const struct swz_profile_summary *find_summary(
	const struct swz_profile *profile, uint32_t node)
{
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		if (swz_thread_has_node(&profile->threads[i], node))
			return swz_summary_find(profile, node);
	return NULL;
}

/* Arguments and results: the latest are those of the whole run, and so are the
 * least and the greatest. */
static void take_summaries(struct swz_profile *profile,
			   const struct swz_profile *earlier)
{
	size_t i;

	for (i = 0; i < profile->summary_count; i++) {
		struct swz_profile_summary *later = &profile->summaries[i];
		const struct swz_profile_summary *old = find_summary(
			earlier, later->node);

		if (!old || find_summary(profile, later->node) != later)
			continue;
		later->head->entry.calls = difference(later->head->entry.calls,
						      old->head->entry.calls);
		later->head->result.calls = difference(
			later->head->result.calls, old->head->result.calls);
		if (!later->head->entry.calls)
			forget_values(later, SWZ_VALUES_ENTRY);
		if (!later->head->result.calls)
			forget_values(later, SWZ_VALUES_RETURN);
		if (!later->head->entry.calls && !later->head->result.calls)
			later->bytes = 0; /* so it is found no more */
	}
}

enum swz_status swz_interval_take(struct swz_profile *profile,
				  const struct swz_profile *earlier,
				  struct swz_error *error)
{
	struct swz_file_header *h = &profile->header;
	const struct swz_file_header *e = &earlier->header;
	const char *problem = NULL;
	size_t i;

	if (!e->snapshot_ticks)
		problem = "not a snapshot (swizzle-ctl snapshot)";
	else if (h->pid != e->pid || h->start_ticks != e->start_ticks ||
		 h->process_start != e->process_start)
		problem = "a snapshot of another process";
	else if (h->snapshot_ticks && h->snapshot_ticks < e->snapshot_ticks)
		problem = "a later snapshot";
	if (problem) {
		snprintf(error->text, sizeof(error->text), "%s", problem);
		return SWZ_E_FORMAT;
	}
	/* (each thread then begins when it was last seen) */
	profile->origin_ticks = swz_profile_origin(profile);
	for (i = 0; i < profile->thread_count; i++)
		take_thread(profile, earlier, &profile->threads[i]);
	take_unwound(profile, earlier);
	take_marks(profile, e->snapshot_ticks);
	take_summaries(profile, earlier);
	h->start_ticks = e->snapshot_ticks;
	h->lost_calls = difference(h->lost_calls, e->lost_calls);
	h->lost_marks = difference(h->lost_marks, e->lost_marks);
	h->lost_values = difference(h->lost_values, e->lost_values);
	profile->folded_calls = difference(profile->folded_calls,
					   earlier->folded_calls);
	profile->folded_recursion = difference(profile->folded_recursion,
					       earlier->folded_recursion);
	return SWZ_OK;
}
