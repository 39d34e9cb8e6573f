#include "profile/formats/graph_choice.h"

#include <stdlib.h>

#include "profile/formats/diff.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"

static int descending(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* What a function takes: in a comparison on the side where it is more. */
static int64_t inclusive_of(const struct swz_graph_choice *choice, size_t index)
{
	const struct swz_section *section = choice->section;
	int64_t new = section->report->functions[index].inclusive_ns;
	int64_t old =
		section->old
			? section->old->report->functions[index].inclusive_ns
			: 0;

	return new > old ? new : old;
}

/* By what functions are chosen with a limit of their number: in a comparison by
 * the change. */
static int64_t weight_of(const struct swz_graph_choice *choice, size_t index)
{
	struct swz_diff_function function;

	if (!choice->section->old)
		return inclusive_of(choice, index);
	function = swz_diff_function(choice->section, (uint32_t)index);
	return (int64_t)swz_diff_inclusive(&function.costs);
}

static bool is_present(const struct swz_graph_choice *choice, size_t index)
{
	const struct swz_section *section = choice->section;

	return section->report->functions[index].present ||
	       (section->old && section->old->report->functions[index].present);
}

/* What a function must take to be among those with most time. */
static int64_t least_of(const struct swz_graph_choice *choice, size_t rows)
{
	size_t capacity = choice->section->report->function_capacity;
	int64_t *times = swz_allocate(capacity, sizeof(*times));
	size_t count = 0, i;
	int64_t least = 0;

	for (i = 0; i < capacity; i++)
		if (is_present(choice, i))
			times[count++] = weight_of(choice, i);
	qsort(times, count, sizeof(*times), descending);
	if (rows && rows < count)
		least = times[rows - 1];
	free(times);
	return least;
}

struct swz_graph_choice swz_graph_choose(
	const struct swz_section *section,
	const struct swz_table_options *options)
{
	const struct swz_report *report = section->report;
	struct swz_graph_choice choice = {
		.section = section,
		.total_ns = section->old ? swz_diff_total(section)
					 : report->total_ns,
		.percent = options->percent_limit < 0 ? SWZ_GRAPH_LIMIT
						      : options->percent_limit,
	};
	int64_t least = least_of(&choice, options->rows);
	size_t i;

	choice.least_ns = swz_least_share(choice.percent, choice.total_ns);
	choice.shown = swz_allocate(report->function_capacity,
				    sizeof(*choice.shown));
	for (i = 0; i < report->function_capacity; i++) {
		bool present = is_present(&choice, i);

		choice.shown[i] = present &&
				  inclusive_of(&choice, i) >= choice.least_ns &&
				  weight_of(&choice, i) >= least &&
				  (!options->rows ||
				   choice.count < options->rows);
		choice.present += present;
		choice.count += choice.shown[i];
	}
	return choice;
}

void swz_graph_choice_free(struct swz_graph_choice *choice)
{
	free(choice->shown);
	choice->shown = NULL;
}

struct swz_report_edge swz_graph_sum_edges(const struct swz_report *report,
					   size_t *at)
{
	struct swz_report_edge sum = report->edges[*at];

	while (++*at < report->edge_count &&
	       report->edges[*at].caller == sum.caller &&
	       report->edges[*at].callee == sum.callee) {
		sum.calls = swz_add_count(sum.calls, report->edges[*at].calls);
		sum.inclusive_ns = swz_add(sum.inclusive_ns,
					   report->edges[*at].inclusive_ns);
	}
	return sum;
}

/* Recursive calls have no time of their own. */
bool swz_graph_shows(const struct swz_graph_choice *choice,
		     const struct swz_report_edge *edge,
		     const struct swz_report_edge *old)
{
	return choice->shown[edge->caller] && choice->shown[edge->callee] &&
	       (edge->inclusive_ns >= choice->least_ns ||
		(old && old->inclusive_ns >= choice->least_ns) ||
		edge->caller == edge->callee);
}
