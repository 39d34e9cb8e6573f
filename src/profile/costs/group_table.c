/* Inclusive times are those of contexts, in which each function is replaced by
 * its group: the sum over those that no context of the same group is above. */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/costs/groups.h"
#include "profile/file/ranks.h"
#include "profile/names/catalog.h"

/* --- rows ---------------------------------------------------------------- */

#define NONE SWZ_INDEX_NONE

struct making {
	struct swz_group_table *table;
	const struct swz_groups *groups;
	const struct swz_catalog *catalog;
	bool by_hit; /* rows are lines or files, which samples hit */
	size_t capacity;
	struct swz_map index; /* of rows, by what they are of */
	uint32_t *row_of; /* per function, where that tells; NONE: not yet */
	size_t function_count; /* of the catalog, with names */
};

static uint32_t row_at(struct making *making, uint64_t a, uint64_t b,
		       const struct swz_group_row *row)
{
	struct swz_group_table *table = making->table;
	uint32_t *found = swz_map_at(&making->index, a, b);

	if (*found == SWZ_MAP_NONE) {
		swz_grow(&table->rows, &making->capacity, table->count,
			 sizeof(*table->rows));
		*found = (uint32_t)table->count;
		table->rows[table->count] = *row;
		table->rows[table->count++].cells =
			table->columns && !making->groups->without_cells
				? swz_allocate(table->columns, sizeof(int64_t))
				: NULL;
		table->rows[*found].spread =
			making->groups->imbalance
				? swz_allocate(1,
					       sizeof(struct swz_group_spread))
				: NULL;
	}
	return *found;
}

/* A function without a module or source gives the row its own name. */
static uint32_t make_row_of(struct making *making, uint32_t function)
{
	const struct swz_catalog_function *f =
		&making->catalog->functions[function];
	struct swz_intern *strings = &making->table->strings;
	const char *module = swz_intern(
		strings, swz_catalog_module_path(making->catalog, f));
	struct swz_group_row row = {
		.module = module,
		.module_name = swz_catalog_module_name(making->catalog, f)};

	switch (making->groups->rows) {
	case SWZ_BY_FUNCTION:
	case SWZ_BY_CAUSE:
		row.name = f->name;
		return row_at(making, function, 0, &row);
	case SWZ_BY_MODULE:
		row.name = module ? module : swz_intern(strings, f->name);
		return row_at(making, (uintptr_t)row.name, 0, &row);
	default:
		break;
	}
	if (f->file) { /* of several modules, perhaps */
		row.name = swz_intern(strings, f->file);
		row.module = NULL;
		if (making->groups->rows == SWZ_BY_LINE)
			row.line = f->line;
	} else {
		row.name = swz_intern(strings,
				      module ? "[no source]" : f->name);
	}
	return row_at(making, (uintptr_t)row.name,
		      f->file ? (uintptr_t)row.line : (uintptr_t)module, &row);
}

/* The line, or its file, that holds a place; NONE: it is not known. */
static uint32_t row_of_place(struct making *making, uint32_t index)
{
	const struct swz_catalog_place *place = &making->catalog->places[index];
	struct swz_group_row row = {0};

	if (index == SWZ_PLACE_UNKNOWN || !place->file)
		return NONE;
	row.name = swz_intern(&making->table->strings, place->file);
	row.module_name = "-";
	if (making->groups->rows == SWZ_BY_LINE)
		row.line = place->line;
	return row_at(making, (uintptr_t)row.name, (uintptr_t)row.line, &row);
}

static uint32_t row_of(struct making *making, uint32_t function)
{
	if (making->row_of[function] == NONE)
		making->row_of[function] = make_row_of(making, function);
	return making->row_of[function];
}

/* All there are, whether something was recorded in them or not. */
static void make_thread_rows(struct making *making)
{
	const struct swz_groups *groups = making->groups;
	uint32_t i;

	for (i = 0; i < groups->thread_count; i++) {
		const struct swz_group_thread *thread = &groups->threads[i];
		struct swz_group_row row = {
			.name = thread->thread->name,
			.thread = thread,
			.process = &groups->processes[thread->process]};

		row_at(making, i, 0, &row);
	}
}

static void make_process_rows(struct making *making)
{
	const struct swz_groups *groups = making->groups;
	uint32_t i;

	for (i = 0; i < groups->process_count; i++) {
		struct swz_group_row row = {
			.process = &groups->processes[i],
			.level = groups->processes[i].depth};

		row_at(making, i, 0, &row);
	}
}

static uint32_t row_of_part(struct making *making,
			    const struct swz_group_part *part)
{
	switch (making->groups->rows) {
	case SWZ_BY_THREAD:
		return part->thread;
	case SWZ_BY_PROCESS:
		return making->groups->threads[part->thread].process;
	case SWZ_BY_FILE:
	case SWZ_BY_LINE:
		if (part->place != SWZ_PLACE_UNKNOWN)
			return row_of_place(making, part->place);
		return row_of(making, part->function);
	default:
		return row_of(making, part->function);
	}
}

/* Nothing may be left of a function but the places that samples hit. */
static bool has_nothing(const struct making *making,
			const struct swz_group_part *part)
{
	return making->by_hit && !part->calls && !part->self_ns;
}

static uint32_t column_of(const struct swz_groups *groups, uint32_t thread)
{
	switch (groups->columns) {
	case SWZ_BY_NOTHING:
		return NONE;
	case SWZ_BY_THREAD:
		return thread;
	case SWZ_BY_RANK:
		return groups->threads[thread].rank;
	default:
		return groups->threads[thread].process;
	}
}

/* Such functions have no row: nothing is spent there, as its callers are not
 * known; or it is not to be shown. */
static bool is_left_out(const struct making *making,
			const struct swz_report *report,
			const struct swz_patterns *filters,
			const struct swz_group_part *part)
{
	return part->function == SWZ_CATALOG_UNKNOWN ||
	       has_nothing(making, part) ||
	       (part->function == SWZ_CATALOG_OUTSIDE &&
		(report->joined || report->without_times) && !part->self_ns) ||
	       (filters->count && !swz_patterns_match(filters, making->catalog,
						      part->function, NULL));
}

static void end_percentiles(struct swz_group_spread *spread)
{
	struct swz_group_calls *timed = &spread->timed;
	int which;

	for (which = 0; which < SWZ_PERCENTILES_SHOWN && timed->times.count;
	     which++) {
		struct swz_rank_percentile *to = &spread->percentiles[which];
		int64_t ns = swz_percentile_ns(&timed->times,
					       (enum swz_percentile)which,
					       timed->min_ns, timed->max_ns);

		if (!to->count || ns < to->least_ns)
			to->least_ns = ns;
		if (!to->count || ns > to->most_ns) {
			to->most_ns = ns;
			to->most_at = spread->column;
		}
		to->count++;
	}
	swz_call_times_free(&timed->times);
	*timed = (struct swz_group_calls){0};
}

static void end_column(struct swz_group_spread *spread)
{
	end_percentiles(spread);
	swz_imbalance_add(&spread->self, spread->column, spread->self_ns);
	swz_imbalance_add(&spread->inclusive, spread->column,
			  spread->inclusive_ns);
}

/* Columns come in their order. */
static void add_to_spread(struct swz_group_spread *spread,
			  const struct swz_group_part *part, uint32_t column)
{
	if (spread->column != column) {
		end_column(spread);
		spread->column = column;
		spread->self_ns = spread->inclusive_ns = 0;
	}
	spread->self_ns = swz_add(spread->self_ns, part->self_ns);
	spread->inclusive_ns = swz_add(spread->inclusive_ns,
				       part->inclusive_ns);
	if (part->timed)
		swz_group_calls_add(&spread->timed, &part->timed->times,
				    part->timed->min_ns, part->timed->max_ns);
}

/* COLUMN is NONE where the part is in none. */
static void add_part_to_row(struct making *making,
			    const struct swz_report *report,
			    const struct swz_group_part *part, uint32_t column)
{
	struct swz_group_table *table = making->table;
	uint32_t at = row_of_part(making, part); /* may move them */
	struct swz_group_row *row = &table->rows[at];

	row->counted |= part->function >= report->function_capacity ||
			!report->functions[part->function].uncounted;
	row->calls = swz_add_count(row->calls, part->calls);
	row->self_ns = swz_add(row->self_ns, part->self_ns);
	row->self_waiting_ns = swz_add(row->self_waiting_ns,
				       part->self_waiting_ns);
	if (column == NONE)
		return;
	if (row->spread)
		add_to_spread(row->spread, part, column);
	if (row->cells)
		row->cells[column] = swz_add(row->cells[column], part->self_ns);
	table->column_ns[column] = swz_add(table->column_ns[column],
					   part->self_ns);
}

/* From the part at FIRST on, which is of a thread: all of that thread. Returns
 * where those of the next one begin. */
static size_t add_thread(struct making *making, const struct swz_report *report,
			 const struct swz_patterns *filters, size_t first)
{
	const struct swz_groups *groups = making->groups;
	uint32_t thread = groups->parts[first].thread;
	size_t i;

	for (i = first;
	     i < groups->part_count && groups->parts[i].thread == thread; i++)
		if (!is_left_out(making, report, filters, &groups->parts[i]))
			add_part_to_row(making, report, &groups->parts[i],
					column_of(groups, thread));
	return i;
}

static void add_threads(struct making *making, const struct swz_report *report,
			const struct swz_patterns *filters)
{
	size_t i;

	for (i = 0; i < making->groups->part_count;)
		i = add_thread(making, report, filters, i);
}

/* The same of a rank of a sum of profiles, which may not have it. */
static void add_rank_of(struct making *making, const struct swz_group_sum *sum,
			const struct swz_report *report,
			const struct swz_patterns *filters, uint32_t column)
{
	struct swz_profile *profile = sum->binding->profile;
	const struct swz_summed_ranks *ranks = profile->ranks;
	uint32_t at = SWZ_SEARCH(ranks->items, ranks->count, rank,
				 making->groups->ranks[column].rank);
	struct swz_rank_cost *costs;
	uint32_t i;

	if (at == NONE)
		return;
	costs = swz_profile_rank_costs(profile, at);
	for (i = 0; costs && i < ranks->items[at].cost_count; i++) {
		struct swz_group_part part = {
			.place = SWZ_PLACE_UNKNOWN,
			.calls = costs[i].calls,
			.self_ns = costs[i].self_ns,
			.inclusive_ns = costs[i].inclusive_ns};

		if (!sum->threads[costs[i].thread])
			continue;
		part.function = swz_rank_function(sum->binding, &costs[i]);
		/* (of a damaged file the threads may have no such function) */
		if (part.function < making->function_count &&
		    !is_left_out(making, report, filters, &part))
			add_part_to_row(making, report, &part, column);
	}
	free(costs);
}

static int by_rank(const void *left, const void *right, void *context)
{
	const struct swz_groups *groups = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	uint32_t x = groups->threads[groups->parts[a].thread].rank;
	uint32_t y = groups->threads[groups->parts[b].thread].rank;

	if (x != y)
		return x < y ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* One rank after the other, whether its costs are those of threads or in sums:
 * all of them may not have room. */
static void add_ranks(struct making *making, const struct swz_report *report,
		      const struct swz_patterns *filters)
{
	const struct swz_groups *groups = making->groups;
	size_t *first = swz_allocate(groups->thread_count + 1, sizeof(*first));
	size_t count = 0, next = 0, i;
	uint32_t column;

	for (i = 0; i < groups->part_count; i++)
		if (!i ||
		    groups->parts[i].thread != groups->parts[i - 1].thread)
			first[count++] = i;
	if (count > 1)
		qsort_r(first, count, sizeof(*first), by_rank,
			(void *)(uintptr_t)groups);
	for (column = 0; column < groups->rank_count; column++) {
		while (next < count &&
		       groups->threads[groups->parts[first[next]].thread]
				       .rank == column)
			(void)add_thread(making, report, filters,
					 first[next++]);
		for (i = 0; i < groups->sum_count; i++)
			add_rank_of(making, &groups->sums[i], report, filters,
				    column);
	}
	free(first);
}

/* Adds to each row what lies below its topmost contexts. The function of a
 * context is the row that it counts for; NONE: for no row. */
static void sum_rows(struct making *making, struct swz_contexts *copy)
{
	struct swz_group_row *rows = making->table->rows;
	uint32_t none = (uint32_t)making->table->count;
	size_t i;

	for (i = 0; i < copy->count; i++)
		if (copy->items[i].function == NONE)
			copy->items[i].function = none;
	swz_contexts_sum(copy);
	for (i = 0; i < copy->count; i++) {
		const struct swz_context *context = &copy->items[i];
		struct swz_group_row *row;

		if (!context->topmost || context->function == none)
			continue;
		row = &rows[context->function];
		row->inclusive_ns = swz_add(row->inclusive_ns,
					    context->inclusive_ns);
		row->inclusive_waiting_ns = swz_add(
			row->inclusive_waiting_ns,
			context->inclusive_waiting_ns);
	}
}

static void have_no_less(struct swz_group_row *row,
			 const struct swz_report_function *function)
{
	if (row->inclusive_ns < function->inclusive_ns)
		row->inclusive_ns = function->inclusive_ns;
	if (row->inclusive_waiting_ns < function->inclusive_waiting_ns)
		row->inclusive_waiting_ns = function->inclusive_waiting_ns;
}

static bool is_shown(const struct making *making,
		     const struct swz_patterns *filters, uint32_t function)
{
	return !filters->count ||
	       swz_patterns_match(filters, making->catalog, function, NULL);
}

/* A context becomes the line that has made its call; below it is what was hit
 * in it. (A hit's caller is its own function.) */
static void find_inclusive_lines(struct making *making,
				 const struct swz_contexts *contexts,
				 const struct swz_patterns *filters)
{
	struct swz_contexts copy = {.count = 2 * contexts->count};
	uint32_t i;
	size_t own = contexts->count;

	copy.items = swz_allocate(copy.count, sizeof(*copy.items));
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *from = &contexts->items[i];
		struct swz_context *to = &copy.items[i];
		uint32_t caller = contexts->items[from->parent].function;
		uint32_t row = NONE;

		if (i != SWZ_CONTEXT_ROOT && is_shown(making, filters, caller))
			row = row_of_place(making, from->place);
		if (row == NONE && SWZ_CATALOG_IS_REAL(caller) &&
		    is_shown(making, filters, caller))
			row = row_of(making, caller);
		*to = (struct swz_context){.function = row,
					   .parent = from->parent};
		copy.items[own + i] = (struct swz_context){.function = NONE,
							   .parent = i};
		if (from->is_hit) {
			to->self_ns = from->self_ns;
			to->self_waiting_ns = from->self_waiting_ns;
		} else if (from->self_ns &&
			   is_shown(making, filters, from->function)) {
			copy.items[own + i].function = row_of(making,
							      from->function);
			copy.items[own + i].self_ns = from->self_ns;
			copy.items[own + i].self_waiting_ns =
				from->self_waiting_ns;
		}
	}
	sum_rows(making, &copy);
	free(copy.items);
}

/* The row of what was posted by a context: of the function that made this call.
 */
static uint32_t row_of_cause(struct making *making,
			     const struct swz_contexts *contexts,
			     uint32_t posting)
{
	uint32_t caller = contexts->items[posting].parent;

	return row_of(
		making,
		contexts->items[caller == SWZ_CONTEXT_ROOT ? posting : caller]
			.function);
}

/* Each context counts for the nearest cause above it. */
static void make_cause_rows(struct making *making,
			    const struct swz_contexts *contexts)
{
	const struct swz_group_row own = {.name = "[its own]",
					  .module_name = "-"};
	struct swz_contexts copy = {.count = contexts->count};
	size_t i;

	copy.items = swz_allocate(copy.count, sizeof(*copy.items));
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];
		uint32_t row = i == SWZ_CONTEXT_ROOT
				       ? row_at(making, NONE, 1, &own)
			       : context->caused
				       ? row_of_cause(making, contexts,
						      context->parent)
				       : copy.items[context->parent].function;
		struct swz_group_row *to = &making->table->rows[row];

		copy.items[i] = *context;
		copy.items[i].function = row;
		to->counted = true;
		to->calls = swz_add_count(to->calls, context->calls);
		to->self_ns = swz_add(to->self_ns, context->self_ns);
		to->self_waiting_ns = swz_add(to->self_waiting_ns,
					      context->self_waiting_ns);
	}
	sum_rows(making, &copy);
	free(copy.items);
}

/* Where calls were folded a function has more than its contexts: its group has
 * no less. */
static void find_inclusive(struct making *making,
			   const struct swz_contexts *contexts,
			   const struct swz_report *report)
{
	struct swz_contexts copy = {.count = contexts->count};
	uint32_t i;

	copy.items = swz_allocate(copy.count, sizeof(*copy.items));
	for (i = 0; i < copy.count; i++) {
		uint32_t function = contexts->items[i].function;

		copy.items[i] = contexts->items[i];
		copy.items[i].function = function < report->function_capacity
						 ? making->row_of[function]
						 : NONE;
	}
	sum_rows(making, &copy);
	for (i = 0; i < report->function_capacity; i++)
		if (report->functions[i].present && making->row_of[i] != NONE)
			have_no_less(&making->table->rows[making->row_of[i]],
				     &report->functions[i]);
	free(copy.items);
}

/* (The trees of a sum are rounded, and may have some ns less.) */
static void end_spreads(struct swz_group_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		struct swz_group_row *row = &table->rows[i];

		end_column(row->spread);
		swz_imbalance_end(&row->spread->self, table->columns);
		swz_imbalance_end(&row->spread->inclusive, table->columns);
		if (row->inclusive_ns < row->spread->inclusive.sum_ns)
			row->inclusive_ns = row->spread->inclusive.sum_ns;
	}
}

/* Processes come before their children. */
static void add_descendants(struct swz_group_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		table->rows[i].inclusive_ns = table->rows[i].self_ns;
	for (i = table->count; i-- > 0;) {
		const struct swz_group_row *row = &table->rows[i];

		if (row->process->parent != NONE)
			table->rows[row->process->parent]
				.inclusive_ns = swz_add(
				table->rows[row->process->parent].inclusive_ns,
				row->inclusive_ns);
	}
}

void swz_group_table_make(struct swz_group_table *table,
			  const struct swz_groups *groups,
			  const struct swz_catalog *catalog,
			  const struct swz_report *report,
			  const struct swz_contexts *contexts,
			  const struct swz_patterns *filters)
{
	struct making making = {.table = table,
				.groups = groups,
				.catalog = catalog,
				.by_hit = contexts->by_hit};
	size_t i;

	*table = (struct swz_group_table){0};
	if (groups->columns != SWZ_BY_NOTHING)
		table->columns = groups->columns == SWZ_BY_THREAD
					 ? groups->thread_count
				 : groups->columns == SWZ_BY_RANK
					 ? groups->rank_count
					 : groups->process_count;
	table->column_ns = swz_allocate(table->columns, sizeof(int64_t));
	making.function_count = catalog->function_count;
	making.row_of = swz_allocate(catalog->function_count,
				     sizeof(*making.row_of));
	for (i = 0; i < catalog->function_count; i++)
		making.row_of[i] = NONE;
	if (groups->rows == SWZ_BY_THREAD)
		make_thread_rows(&making);
	else if (groups->rows == SWZ_BY_PROCESS)
		make_process_rows(&making);
	if (groups->rows == SWZ_BY_CAUSE)
		make_cause_rows(&making, contexts);
	else if (groups->columns == SWZ_BY_RANK)
		add_ranks(&making, report, filters);
	else
		add_threads(&making, report, filters);
	if (groups->rows == SWZ_BY_CAUSE)
		; /* (they are known) */
	else if (groups->rows == SWZ_BY_PROCESS)
		add_descendants(table);
	else if (groups->rows == SWZ_BY_THREAD)
		for (i = 0; i < table->count; i++)
			table->rows[i].inclusive_ns = table->rows[i].self_ns;
	else if (contexts->by_hit)
		find_inclusive_lines(&making, contexts, filters);
	else
		find_inclusive(&making, contexts, report);
	if (groups->imbalance)
		end_spreads(table);
	free(making.row_of);
	swz_map_free(&making.index);
}

void swz_group_table_free(struct swz_group_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		free(table->rows[i].cells);
		free(table->rows[i].spread);
	}
	free(table->rows);
	free(table->column_ns);
	swz_intern_free(&table->strings);
	*table = (struct swz_group_table){0};
}
