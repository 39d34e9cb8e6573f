/* All that is known as JSON, for programs: an object with an array of parts
 * (one, or one per thread), each with functions, the calls between them, and
 * the contexts. Functions and contexts refer to each other by their index in
 * the part. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/call_tree.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"

/* --- values of contexts -------------------------------------------------- */

struct writing {
	struct swz_json *json;
	const struct swz_section *section;
	struct swz_binding *binding;
	struct swz_tree tree;
	struct swz_context_value value;
	enum swz_value_moment moment; /* of the list that is open */
	const struct swz_tree_node **path;
	size_t path_capacity;
};

static const char *name_of(const struct writing *w,
			   const struct swz_tree_node *node)
{
	struct swz_catalog *catalog = w->binding->catalog;
	uint32_t function = swz_binding_function(w->binding, node->function,
						 node->id);

	if (function >= catalog->resolved)
		swz_catalog_resolve(catalog);
	return catalog->functions[function].name;
}

/* From the thread's first call on, without what is not shown. */
static void put_path(struct writing *w, const struct swz_tree_node *node)
{
	const struct swz_tree_node *at = node;
	size_t count = 0;

	for (; at->id != SWZ_FUNCTION_ROOT; at = &w->tree.nodes[at->parent]) {
		if (at->flags & SWZ_NODE_HIDDEN)
			continue;
		swz_grow(&w->path, &w->path_capacity, count,
			 sizeof(struct swz_tree_node *));
		w->path[count++] = at;
	}
	while (count--)
		swz_json_string(w->json, NULL, name_of(w, w->path[count]));
}

static void next_moment(struct writing *w)
{
	swz_json_close(w->json, "]");
	swz_json_open(w->json, "results", "[");
	w->moment = SWZ_VALUES_RETURN;
}

static void put_value(void *to, const struct swz_context_value *value)
{
	struct writing *w = to;

	if (value->moment != w->moment)
		next_moment(w);
	swz_json_open(w->json, NULL, "{");
	swz_json_string(w->json, "name", value->name.text);
	if (value->has_last)
		swz_json_string(w->json, "last", value->last.text);
	if (value->has_range) {
		swz_json_string(w->json, "low", value->low.text);
		swz_json_string(w->json, "high", value->high.text);
	}
	swz_json_close(w->json, "}");
}

static void put_context(struct writing *w,
			const struct swz_profile_thread *thread,
			const struct swz_tree_node *node,
			const struct swz_profile_summary *summary)
{
	uint64_t calls = summary->head->entry.calls
				 ? summary->head->entry.calls
				 : summary->head->result.calls;

	swz_json_line(w->json);
	swz_json_open(w->json, NULL, "{");
	swz_json_number(w->json, "pid", w->binding->profile->header.pid);
	swz_json_number(w->json, "tid", thread->record.tid);
	swz_json_open(w->json, "path", "[");
	put_path(w, node);
	swz_json_close(w->json, "]");
	swz_json_integer(w->json, "calls", calls);
	swz_json_open(w->json, "arguments", "[");
	w->moment = SWZ_VALUES_ENTRY;
	swz_context_values_each(summary, w->binding, &w->value, put_value, w);
	if (w->moment == SWZ_VALUES_ENTRY)
		next_moment(w);
	swz_json_close(w->json, "]}");
}

static void put_thread(struct writing *w,
		       const struct swz_profile_thread *thread)
{
	const struct swz_view *view = w->section->view;
	size_t i;

	swz_tree_build(&w->tree, w->binding->profile, thread, false);
	if (view && !swz_view_is_whole(view))
		swz_view_apply(view, w->binding, &w->tree);
	for (i = 1; i < w->tree.count; i++) {
		const struct swz_tree_node *node = &w->tree.nodes[i];
		const struct swz_profile_summary *summary = swz_summary_find(
			w->binding->profile, node->unit);

		if (summary && !(node->flags & SWZ_NODE_HIDDEN))
			put_context(w, thread, node, summary);
	}
	swz_tree_free(&w->tree);
}

/* ,"values":[...] of profiles that are no traces and have any: of each context
 * of each thread the last arguments and results, and their extremes. Not of
 * comparisons. */
static void put_last_values(struct swz_json *json,
			    const struct swz_section *section)
{
	struct writing w = {.json = json, .section = section};
	size_t i, j, all = 0;

	for (i = 0; section->binding && i < section->profile_count; i++)
		all += section->profiles[i]->summary_count;
	if (!all || section->old)
		return;
	swz_json_line(json);
	swz_json_open(json, "values", "[");
	for (i = 0; i < section->profile_count; i++) {
		const struct swz_profile *profile = section->profiles[i];

		w.binding = &section->binding[i];
		for (j = 0; j < profile->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&profile->threads[j];

			if (section->thread ? section->thread == thread
					    : swz_thread_is_chosen(
						      section->threads, thread))
				put_thread(&w, thread);
		}
	}
	swz_json_close(json, "]");
	free(w.path);
	swz_context_value_free(&w.value);
}

/* --- parts --------------------------------------------------------------- */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* -m count knows no time: null. */
static void put_time(struct swz_json *json, const struct swz_section *section,
		     const char *key, int64_t ns)
{
	swz_json_known(json, key, !section->report->without_times, ns);
}

/* Calls that were not counted are not known. */
static void put_count(struct swz_json *json, const struct swz_section *section,
		      bool counted, uint64_t count)
{
	if (counted)
		swz_json_integer(json, swz_counted(section), count);
	else
		swz_json_null(json, swz_counted(section));
}

/* In a comparison nobody is to take a time below a bound for 0. */
static void put_bounded(struct swz_json *json,
			const struct swz_section *section,
			const struct swz_costs *costs)
{
	bool times = !section->report->without_times;

	swz_json_known(json, "self_ns", times && !swz_self_bound(costs),
		       costs->self_ns);
	swz_json_known(json, "incl_ns", times && !swz_inclusive_bound(costs),
		       costs->inclusive_ns);
}

/* A comparison; null stands for what is not known. */
static void put_change(struct swz_json *json, const struct swz_section *section,
		       uint32_t index)
{
	struct swz_diff_function diff = swz_diff_function(section, index);
	const struct swz_costs *old = &diff.costs.old;

	swz_json_open(json, "old", "{");
	put_count(json, section, !diff.costs.uncounted, old->calls);
	put_bounded(json, section, old);
	if (swz_self_bound(old))
		swz_json_number(json, "bound_ns", swz_self_bound(old));
	swz_json_close(json, "}");
	swz_json_text(json, "change", swz_diff_kind_name(&diff));
	if (!diff.noise.known) {
		swz_json_null(json, "noise");
		return;
	}
	swz_json_open(json, "noise", "{");
	swz_json_integer(json, swz_counted(section), diff.noise.calls);
	put_time(json, section, "self_ns", (int64_t)diff.noise.self_ns);
	put_time(json, section, "incl_ns", (int64_t)diff.noise.inclusive_ns);
	swz_json_close(json, "}");
	if (section->report->without_times)
		return;
	swz_json_round(json, "self_sd_ns",
		       swz_spread_deviation(&diff.new_runs.self_ns));
	swz_json_round(json, "incl_sd_ns",
		       swz_spread_deviation(&diff.new_runs.inclusive_ns));
	swz_json_round(json, "old_self_sd_ns",
		       swz_spread_deviation(&diff.old_runs.self_ns));
	swz_json_round(json, "old_incl_sd_ns",
		       swz_spread_deviation(&diff.old_runs.inclusive_ns));
}

/* Members that are there only where it is known. */
static void put_waiting(struct swz_json *json,
			const struct swz_section *section, int64_t self_ns,
			int64_t inclusive_ns)
{
	if (!section->report->knows_waiting)
		return;
	swz_json_number(json, "self_waiting_ns", self_ns);
	swz_json_number(json, "incl_waiting_ns", inclusive_ns);
}

static void put_if_known(struct swz_json *json, const char *name, int64_t ns)
{
	if (ns)
		swz_json_number(json, name, ns);
	else
		swz_json_null(json, name);
}

/* Members only if percentiles were asked for. "times": pairs of a time and how
 * many calls took it. */
static void put_percentiles(struct swz_json *json,
			    const struct swz_report *report,
			    const struct swz_report_function *costs)
{
	const struct swz_call_times *times = &costs->times;
	size_t i;
	int p;

	if (!report->has_times)
		return;
	for (p = 0; p < SWZ_PERCENTILES_SHOWN; p++) {
		int64_t ns = swz_percentile_ns(times, (enum swz_percentile)p,
					       costs->min_ns, costs->max_ns);

		swz_json_known(json,
			       swz_percentile_name((enum swz_percentile)p),
			       ns >= 0, ns);
	}
	if (!times->count) {
		swz_json_null(json, "timed_calls");
		swz_json_null(json, "times");
		return;
	}
	swz_json_integer(json, "timed_calls", times->calls);
	swz_json_open(json, "times", "[");
	for (i = 0; i < times->count; i++) {
		swz_json_open(json, NULL, "[");
		swz_json_number(json, NULL, times->items[i].ns);
		swz_json_integer(json, NULL, times->items[i].calls);
		swz_json_close(json, "]");
	}
	swz_json_close(json, "]");
}

/* "percentiles": of a comparison, where both sides have times. */
static void put_percentile_changes(struct swz_json *json,
				   const struct swz_section *section,
				   uint32_t index)
{
	int p;

	if (!section->report->has_times || !section->old->report->has_times)
		return;
	swz_json_open(json, "percentiles", "{");
	for (p = 0; p < SWZ_PERCENTILES_SHOWN; p++) {
		struct swz_percentile_diff diff = swz_diff_percentile(
			section, index, (enum swz_percentile)p);

		if (!diff.known)
			continue;
		swz_json_open(json,
			      swz_percentile_title((enum swz_percentile)p),
			      "{");
		swz_json_number(json, "ns", diff.new_ns);
		swz_json_number(json, "old_ns", diff.old_ns);
		swz_json_number(json, "noise_ns", diff.noise_ns);
		swz_json_flag(json, "changed", diff.changed);
		swz_json_close(json, "}");
	}
	swz_json_close(json, "}");
}

static void put_function(struct swz_json *json,
			 const struct swz_section *section, uint32_t index)
{
	const struct swz_report *report = section->report;
	const struct swz_catalog_function *function =
		&section->catalog->functions[index];
	struct swz_report_function costs = swz_report_function(report, index);
	struct swz_costs_diff diff = {0};
	int64_t bound_ns = swz_bound_of(report, index, costs.self_ns);

	if (section->old) {
		diff = swz_diff_function(section, index).costs;
		bound_ns = swz_self_bound(&diff.new);
	}
	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "name", function->name);
	swz_json_text(json, "module",
		      swz_catalog_module_path(section->catalog, function));
	swz_json_text(json, "file", function->file);
	swz_json_number(json, "line", function->line);
	put_count(json, section, swz_is_counted(report, index), costs.calls);
	if (section->old) {
		put_bounded(json, section, &diff.new);
	} else {
		put_time(json, section, "self_ns", costs.self_ns);
		put_time(json, section, "incl_ns", costs.inclusive_ns);
	}
	put_if_known(json, "min_ns", costs.min_ns);
	put_if_known(json, "max_ns", costs.max_ns);
	put_percentiles(json, report, &costs);
	if (swz_report_sees_ends(report))
		swz_json_integer(json, "unwound", costs.unwound);
	else
		swz_json_null(json, "unwound");
	if (bound_ns > 0)
		swz_json_number(json, "bound_ns", bound_ns);
	if (swz_report_is_estimated(report))
		swz_json_round(json, "self_error_ns", sqrt(costs.variance_ns));
	if (section->old) {
		put_change(json, section, index);
		put_percentile_changes(json, section, index);
	}
	put_waiting(json, section, costs.self_waiting_ns,
		    costs.inclusive_waiting_ns);
	swz_json_close(json, "}");
}

/* Writes those that appear; returns the index of each function there. */
static uint32_t *put_functions(struct swz_json *json,
			       const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	size_t all = section->catalog->function_count;
	uint32_t *numbers = swz_allocate(all, sizeof(*numbers));
	bool *used = swz_allocate(all, sizeof(*used));
	uint32_t count = 0, i;

	/* in the context of a lost caller, and outside of a range of time,
	 * there may be no time and no call: the report has no such function */
	for (i = 0; i < section->contexts->count; i++)
		used[section->contexts->items[i].function] = true;
	swz_json_line(json);
	swz_json_open(json, "functions", "[");
	for (i = 0; i < all; i++) {
		if (!swz_report_function(report, i).present && !used[i] &&
		    !(section->old &&
		      swz_report_function(section->old->report, i).present))
			continue;
		put_function(json, section, i);
		numbers[i] = count++;
	}
	swz_json_close(json, "]");
	free(used);
	return numbers;
}

/* The old side's calls, in a comparison. */
static void put_old_count(struct swz_json *json,
			  const struct swz_section *section, uint64_t count)
{
	swz_json_integer(json,
			 section->report->samples ? "old_samples" : "old_calls",
			 count);
}

static void put_edge(struct swz_json *json, const struct swz_section *section,
		     size_t index, const uint32_t *numbers)
{
	const struct swz_report_edge *edge = &section->report->edges[index];
	const struct swz_catalog_place *place =
		&section->catalog->places[edge->place];

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_integer(json, "caller", numbers[edge->caller]);
	swz_json_integer(json, "callee", numbers[edge->callee]);
	put_count(json, section,
		  swz_is_counted_there(section->report, edge->callee,
				       edge->calls),
		  edge->calls);
	put_time(json, section, "incl_ns", edge->inclusive_ns);
	if (section->report->without_times || section->report->calls_by_edge)
		swz_json_integer(json, "via_jump", edge->jumps);
	if (section->report->knows_waiting)
		swz_json_number(json, "incl_waiting_ns", edge->waiting_ns);
	swz_json_text(json, "file", place->file);
	swz_json_number(json, "line", place->line);
	swz_json_text(json, "inlined", place->inlined);
	if (section->old) {
		edge = &section->old->report->edges[index];
		put_old_count(json, section, edge->calls);
		put_time(json, section, "old_incl_ns", edge->inclusive_ns);
	}
	swz_json_close(json, "}");
}

static void put_edges(struct swz_json *json, const struct swz_section *section,
		      const uint32_t *numbers)
{
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "edges", "[");
	for (i = 0; i < section->report->edge_count; i++)
		put_edge(json, section, i, numbers);
	swz_json_close(json, "]");
}

static void put_calls_context(struct swz_json *json,
			      const struct swz_section *section, size_t index,
			      const uint32_t *numbers)
{
	const struct swz_context *context = &section->contexts->items[index];

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	if (index)
		swz_json_integer(json, "parent", context->parent);
	swz_json_integer(json, "function", numbers[context->function]);
	put_count(json, section,
		  swz_is_counted_there(section->report, context->function,
				       context->calls),
		  context->calls);
	put_time(json, section, "self_ns", context->self_ns);
	put_time(json, section, "incl_ns", context->inclusive_ns);
	swz_json_flag(json, "folded", context->folded);
	put_waiting(json, section, context->self_waiting_ns,
		    context->inclusive_waiting_ns);
	if (section->old) {
		context = &section->old->contexts->items[index];
		put_old_count(json, section, context->calls);
		put_time(json, section, "old_self_ns", context->self_ns);
		put_time(json, section, "old_incl_ns", context->inclusive_ns);
	}
	swz_json_close(json, "}");
}

static void put_contexts(struct swz_json *json,
			 const struct swz_section *section,
			 const uint32_t *numbers)
{
	size_t i;

	swz_json_line(json);
	swz_json_open(json, "contexts", "[");
	for (i = 0; i < section->contexts->count; i++)
		put_calls_context(json, section, i, numbers);
	swz_json_close(json, "]");
}

static int64_t hooks_ns(const struct swz_section *section)
{
	return section->compensated ? swz_report_cost(section->report) : 0;
}

static void put_totals(struct swz_json *json, const struct swz_section *section)
{
	const struct swz_report *report = section->report;

	swz_json_integer(json, "threads", report->thread_count);
	put_time(json, section, "total_ns", report->total_ns);
	if (swz_tells_running(report)) {
		put_time(json, section, "waiting_ns", report->waiting_ns);
		put_time(json, section, "unplaced_waiting_ns",
			 report->unplaced_ns);
		put_time(json, section, "unknown_ns", report->unknown_ns);
	}
	put_time(json, section, "hooks_ns", hooks_ns(section));
	swz_json_flag(json, "sampled", report->sampled);
	swz_json_string(json, "counts", swz_counted(section));
	swz_json_integer(json, "folded_recursion", report->folded_recursion);
	swz_json_integer(json, "split_functions", swz_report_split(report));
	swz_json_integer(json, "not_shown", report->not_shown);
	if (report->knows_switches)
		swz_json_integer(json, "missing_switches",
				 report->missing_switches);
	if (report->knows_waiting)
		swz_json_integer(json, "silent_threads",
				 report->silent_threads);
	swz_put_loss_members(json, section);
}

static void put_process(struct swz_json *json,
			const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;

	swz_json_number(json, "pid", profile->header.pid);
	swz_json_string(json, "executable", profile->executable);
	swz_json_command(json, "command", profile);
	swz_json_integer(json, "profiles", section->profile_count);
	swz_json_line(json);
	if (section->thread) {
		swz_json_number(json, "tid", section->thread->record.tid);
		swz_json_text(json, "thread", section->thread->name);
		swz_json_line(json);
	}
	put_totals(json, section);
}

static void put_joined(struct swz_json *json, const struct swz_section *section)
{
	const struct swz_joined *joined = section->joined;

	swz_json_line(json);
	swz_json_open(json, "joined", "{");
	swz_json_integer(json, "samples", joined->samples);
	swz_json_number(json, "bound_ns", joined->bound_ns);
	swz_json_integer(json, "by_stacks", joined->by_stacks);
	swz_json_integer(json, "by_proportion", joined->by_proportion);
	swz_json_ns(json, "counting_ns", (int64_t)swz_left_out_ns(section));
	swz_json_ns(json, "unsure_counting_ns", joined->unsure_ns);
	swz_json_integer(json, "without", joined->without);
	swz_json_close(json, "}");
}

/* How far the totals of the runs lie apart. */
static void put_spread(struct swz_json *json, const struct swz_section *section)
{
	struct swz_spread total = swz_runs_total(section->runs);

	swz_json_line(json);
	swz_json_integer(json, "runs", total.runs);
	if (total.runs > 1 && !section->report->without_times)
		swz_json_round(json, "total_sd_ns",
			       swz_spread_deviation(&total));
	else
		swz_json_null(json, "total_sd_ns");
}

/* The old side, and how the whole has changed. */
static void put_comparison(struct swz_json *json,
			   const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	bool times = !section->report->without_times;

	if (section->thread_name) {
		swz_json_line(json);
		swz_json_string(json, "thread", section->thread_name);
	}
	put_spread(json, section);
	swz_json_line(json);
	swz_json_open(json, "old", "{");
	put_process(json, section->old);
	put_spread(json, section->old);
	swz_json_close(json, "}");
	swz_json_line(json);
	swz_json_known(json, "noise_ns", total.noise.known && times,
		       (int64_t)total.noise.self_ns);
	swz_json_text(json, "change",
		      times ? swz_diff_kind_name(&total) : NULL);
}

/* By what is printed, so that other formats' order is this one. */
static int by_duration(const void *left, const void *right, void *profile)
{
	const struct swz_kept_call *a = *(
		const struct swz_kept_call *const *)left;
	const struct swz_kept_call *b = *(
		const struct swz_kept_call *const *)right;
	bool a_chosen = a->state == SWZ_CALL_ORDINARY;
	bool b_chosen = b->state == SWZ_CALL_ORDINARY;
	int64_t a_ns, b_ns;

	if (a_chosen != b_chosen)
		return a_chosen - b_chosen;
	/* one that has not ended may be the slowest */
	if (!a->ticks != !b->ticks)
		return !b->ticks - !a->ticks;
	a_ns = swz_profile_ns(profile, (int64_t)a->ticks);
	b_ns = swz_profile_ns(profile, (int64_t)b->ticks);
	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static void put_slow_call(struct swz_json *json,
			  const struct swz_profile *profile,
			  const struct swz_kept_call *call)
{
	uint64_t from = call->from - swz_profile_origin(profile);

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "rule", profile->slow_rules[call->rule].pattern);
	if (call->owner < profile->thread_count)
		swz_json_number(json, "tid",
				profile->threads[call->owner].record.tid);
	swz_json_number(json, "start_ns",
			swz_profile_ns(profile, (int64_t)from));
	swz_json_known(json, "duration_ns", call->ticks != 0,
		       swz_profile_ns(profile, (int64_t)call->ticks));
	swz_json_flag(json, "ordinary", call->state == SWZ_CALL_ORDINARY);
	swz_json_flag(json, "cut", call->cut);
	swz_json_close(json, "}");
}

/* The calls that --slow has kept, of the section's threads: the slowest first,
 * and those that were chosen by chance behind them. */
static void put_slow_calls(struct swz_json *json,
			   const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_kept_call **calls;
	size_t count = 0, i;

	if (!profile->kept_call_count || section->profile_count != 1)
		return;
	calls = swz_allocate(profile->kept_call_count,
			     sizeof(struct swz_kept_call *));
	for (i = 0; i < profile->kept_call_count; i++) {
		const struct swz_kept_call *call = &profile->kept_calls[i];

		if (call->rule < profile->slow_rule_count &&
		    (!section->thread || call->owner == section->thread->index))
			calls[count++] = call;
	}
	qsort_r(calls, count, sizeof(const struct swz_kept_call *), by_duration,
		(void *)(uintptr_t)profile);
	swz_json_line(json);
	swz_json_open(json, "slow_calls", "[");
	for (i = 0; i < count; i++)
		put_slow_call(json, profile, calls[i]);
	swz_json_close(json, "]");
	free(calls);
}

void swz_begin_json(struct swz_writer *writer)
{
	struct swz_json *json = swz_allocate(1, sizeof(*json));

	json->stream = writer->stream;
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "creator", "swizzle-" SWZ_VERSION);
	swz_json_open(json, "parts", "[");
	writer->state = json;
}

void swz_write_json(struct swz_writer *writer,
		    const struct swz_section *section)
{
	struct swz_json *json = writer->state;
	uint32_t *numbers;

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	put_process(json, section);
	if (section->joined)
		put_joined(json, section);
	if (section->old)
		put_comparison(json, section);
	put_slow_calls(json, section);
	numbers = put_functions(json, section);
	put_edges(json, section, numbers);
	put_contexts(json, section, numbers);
	put_last_values(json, section);
	swz_json_close(json, "}");
	free(numbers);
}

void swz_end_json(struct swz_writer *writer)
{
	swz_json_close(writer->state, "\n]}\n");
	free(writer->state);
	writer->state = NULL;
}
