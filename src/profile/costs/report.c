#include "profile/costs/report.h"

#include <stdlib.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

struct swz_report_function *swz_report_at(struct swz_report *report,
					  uint32_t index)
{
	size_t old = report->function_capacity;

	if (index >= old) {
		size_t count = (size_t)index + index / 2 + 64;

		report->functions = swz_reallocate(report->functions, count,
						   sizeof(*report->functions));
		for (; old < count; old++)
			report->functions[old] = (struct swz_report_function){
				0};
		report->function_capacity = count;
	}
	report->functions[index].present = true;
	return &report->functions[index];
}

struct swz_report_edge *swz_report_edge_at(struct swz_report *report,
					   uint32_t caller, uint32_t callee,
					   uint32_t place)
{
	uint32_t *found = swz_map_at(&report->edge_index,
				     (uint64_t)caller << 32 | callee, place);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&report->edges, &report->edge_capacity,
			 report->edge_count, sizeof(*report->edges));
		*found = (uint32_t)report->edge_count++;
		report->edges[*found] = (struct swz_report_edge){
			.caller = caller, .callee = callee, .place = place};
	}
	return &report->edges[*found];
}

static void merge_function(struct swz_report_function *to,
			   const struct swz_report_function *from)
{
	to->calls = swz_add_count(to->calls, from->calls);
	to->unwound = swz_add_count(to->unwound, from->unwound);
	to->variance_ns += from->variance_ns;
	to->self_ns = swz_add(to->self_ns, from->self_ns);
	to->inclusive_ns = swz_add(to->inclusive_ns, from->inclusive_ns);
	to->split |= from->split;
	if (from->min_ns && (!to->min_ns || from->min_ns < to->min_ns))
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	to->self_waiting_ns = swz_add(to->self_waiting_ns,
				      from->self_waiting_ns);
	to->inclusive_waiting_ns = swz_add(to->inclusive_waiting_ns,
					   from->inclusive_waiting_ns);
}

void swz_report_merge(struct swz_report *to, const struct swz_report *from)
{
	uint32_t i;

	for (i = 0; i < from->function_capacity; i++)
		if (from->functions[i].present)
			merge_function(swz_report_at(to, i),
				       &from->functions[i]);
	to->thread_count += from->thread_count;
	to->knows_waiting |= from->knows_waiting;
	to->knows_switches |= from->knows_switches;
	to->missing_switches = swz_add_count(to->missing_switches,
					     from->missing_switches);
	to->silent_threads += from->silent_threads;
	to->sampled |= from->sampled;
	to->samples |= from->samples;
	to->total_ns = swz_add(to->total_ns, from->total_ns);
	to->raw_ns = swz_add(to->raw_ns, from->raw_ns);
	to->folded_recursion = swz_add_count(to->folded_recursion,
					     from->folded_recursion);
	to->not_shown = swz_add_count(to->not_shown, from->not_shown);
	to->dropped_nodes = swz_add_count(to->dropped_nodes,
					  from->dropped_nodes);
	to->repaired_nodes = swz_add_count(to->repaired_nodes,
					   from->repaired_nodes);
}

static int compare_edges(const void *left, const void *right)
{
	const struct swz_report_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

void swz_report_sort(struct swz_report *report)
{
	if (report->edge_count > 1)
		qsort(report->edges, report->edge_count, sizeof(*report->edges),
		      compare_edges);
	/* the index is of the old order */
	swz_map_free(&report->edge_index);
	swz_hits_sort(&report->hits);
}

void swz_report_free(struct swz_report *report)
{
	free(report->functions);
	free(report->edges);
	swz_map_free(&report->edge_index);
	swz_hits_free(&report->hits);
	*report = (struct swz_report){0};
}

struct swz_report_function swz_report_function(const struct swz_report *report,
					       uint32_t function)
{
	if (function >= report->function_capacity)
		return (struct swz_report_function){0};
	return report->functions[function];
}

size_t swz_report_split(const struct swz_report *report)
{
	size_t count = 0, i;

	for (i = 0; i < report->function_capacity; i++)
		count += report->functions[i].split;
	return count;
}
