/* A node stays at its place in the file, so each is compared with itself. An
 * activation that is open has a part of its time in either: both are closed, at
 * the last moment of their thread in either file, and what is left is a node
 * with nothing open. */

#include "profile/costs/interval.h"

#include <stdio.h>
#include <string.h>

#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/values.h"

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
