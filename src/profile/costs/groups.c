/* Inclusive times are those of contexts, in which each function is replaced by
 * its group: the sum over those that no context of the same group is above. */

#include "profile/costs/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#define NONE SWZ_INDEX_NONE

/* ------------------------------------------------------------ collecting */

static uint32_t process_of(struct swz_groups *groups,
			   const struct swz_profile *profile)
{
	size_t count = groups->process_count;

	/* the threads of a process come one after the other */
	if (count && groups->processes[count - 1].profile == profile)
		return (uint32_t)count - 1;
	swz_grow(&groups->processes, &groups->process_capacity, count,
		 sizeof(*groups->processes));
	groups->processes[count] = (struct swz_group_process){
		.profile = profile, .parent = NONE};
	groups->process_count++;
	return (uint32_t)count;
}

void swz_groups_add_process(struct swz_groups *groups,
			    const struct swz_profile *profile)
{
	(void)process_of(groups, profile);
}

static struct swz_group_part *add_part(struct swz_groups *groups)
{
	swz_grow(&groups->parts, &groups->part_capacity, groups->part_count,
		 sizeof(*groups->parts));
	return &groups->parts[groups->part_count++];
}

/* What has hit a known place is a part of its own. */
static void add_hits(struct swz_groups *groups, uint32_t thread,
		     const struct swz_hits *hits, const size_t *part_of)
{
	size_t i;

	for (i = 0; i < hits->count; i++) {
		const struct swz_hit *hit = &hits->items[i];
		struct swz_group_part *rest;

		*add_part(groups) = (struct swz_group_part){
			.thread = thread,
			.function = hit->function,
			.place = hit->place,
			.calls = hit->samples,
			.self_ns = hit->self_ns,
			.self_waiting_ns = hit->self_waiting_ns};
		rest = &groups->parts[part_of[hit->function]];
		rest->calls -= hit->samples < rest->calls ? hit->samples
							  : rest->calls;
		rest->self_ns -= hit->self_ns;
		rest->self_waiting_ns -= hit->self_waiting_ns;
	}
}

void swz_groups_add(struct swz_groups *groups,
		    const struct swz_profile *profile,
		    const struct swz_profile_thread *thread,
		    const struct swz_report *report)
{
	uint32_t index = (uint32_t)groups->thread_count, i;
	size_t *part_of = swz_allocate(report->function_capacity,
				       sizeof(*part_of));

	swz_grow(&groups->threads, &groups->thread_capacity, index,
		 sizeof(*groups->threads));
	groups->threads[groups->thread_count++] = (struct swz_group_thread){
		.profile = profile,
		.thread = thread,
		.process = process_of(groups, profile),
		.times = swz_thread_times(profile, thread)};
	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *costs = &report->functions[i];

		if (!costs->present)
			continue;
		part_of[i] = groups->part_count;
		*add_part(groups) = (struct swz_group_part){
			.thread = index,
			.function = i,
			.calls = costs->calls,
			.self_ns = costs->self_ns,
			.inclusive_ns = costs->inclusive_ns,
			.self_waiting_ns = costs->self_waiting_ns};
	}
	add_hits(groups, index, &report->hits, part_of);
	free(part_of);
}

/* By when they began, so parents come first. */
static int compare_starts(const void *left, const void *right, void *context)
{
	const struct swz_group_process *processes = context;
	const struct swz_profile *a =
		processes[*(const uint32_t *)left].profile;
	const struct swz_profile *b =
		processes[*(const uint32_t *)right].profile;
	uint64_t x = a->header.start_realtime_ns;
	uint64_t y = b->header.start_realtime_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return a->header.pid < b->header.pid ? -1
					     : a->header.pid > b->header.pid;
}

/* Of those that began before: the latest that had its own pid, and has become
 * another program, or its parent's. */
static void find_parents(struct swz_groups *groups, const uint32_t *order)
{
	struct swz_map latest = {0}; /* by pid */
	size_t i;

	for (i = 0; i < groups->process_count; i++) {
		struct swz_group_process *process =
			&groups->processes[order[i]];
		const struct swz_file_header *own = &process->profile->header;
		uint32_t *before = swz_map_at(&latest, (uint32_t)own->pid, 0);

		process->parent = *before;
		*before = order[i];
		if (process->parent == SWZ_MAP_NONE)
			process->parent = swz_map_get(
				&latest, (uint32_t)own->parent_pid, 0);
		if (process->parent == order[i])
			process->parent = NONE;
	}
	swz_map_free(&latest);
}

static void sum_times(struct swz_groups *groups)
{
	size_t i;

	for (i = 0; i < groups->thread_count; i++) {
		const struct swz_group_thread *thread = &groups->threads[i];

		swz_thread_times_add(&groups->processes[thread->process].times,
				     &thread->times);
	}
	for (i = 0; i < groups->process_count; i++)
		groups->processes[i].times.wall_ns = swz_profile_wall_ns(
			groups->processes[i].profile);
}

/* Each process behind its parent, and behind its elder brothers with all that
 * came from them. */
static void order_processes(struct swz_groups *groups, const uint32_t *order)
{
	struct swz_group_process *all = groups->processes;
	size_t count = groups->process_count, done = 0, i;
	struct swz_group_process *sorted = swz_allocate(count, sizeof(*sorted));
	uint32_t *place = swz_allocate(count, sizeof(*place));
	uint32_t *first = swz_allocate(count + 1, sizeof(*first));
	uint32_t *next = swz_allocate(count, sizeof(*next));
	uint32_t at;

	for (i = 0; i <= count; i++)
		first[i] = NONE;
	for (i = count; i-- > 0;) {
		uint32_t parent = all[order[i]].parent;
		uint32_t *list = &first[parent == NONE ? count : parent];

		next[order[i]] = *list;
		*list = order[i];
	}
	for (at = first[count]; at != NONE;) {
		place[at] = (uint32_t)done;
		sorted[done++] = all[at];
		if (first[at] != NONE) {
			at = first[at];
			continue;
		}
		while (next[at] == NONE && all[at].parent != NONE)
			at = all[at].parent;
		at = next[at];
	}
	for (i = 0; i < count; i++)
		if (sorted[i].parent != NONE) {
			sorted[i].parent = place[sorted[i].parent];
			sorted[i].depth = sorted[sorted[i].parent].depth + 1;
			sorted[sorted[i].parent].children++;
		}
	for (i = 0; i < groups->thread_count; i++)
		groups->threads[i].process = place[groups->threads[i].process];
	memcpy(all, sorted, count * sizeof(*sorted));
	free(sorted);
	free(place);
	free(first);
	free(next);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct swz_group_rank *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->profile->header.pid < b->profile->header.pid ? -1 : 1;
}

static uint32_t rank_at(const struct swz_groups *groups, uint32_t rank)
{
	size_t from = 0, to = groups->rank_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (groups->ranks[middle].rank < rank)
			from = middle + 1;
		else
			to = middle;
	}
	return from < groups->rank_count && groups->ranks[from].rank == rank
		       ? (uint32_t)from
		       : NONE;
}

static void find_ranks(struct swz_groups *groups)
{
	size_t count = 0, i;

	groups->ranks = swz_allocate(groups->process_count,
				     sizeof(*groups->ranks));
	for (i = 0; i < groups->process_count; i++) {
		const struct swz_profile *profile =
			groups->processes[i].profile;
		uint32_t rank = swz_profile_rank(profile);

		if (rank != NONE)
			groups->ranks[count++] = (struct swz_group_rank){
				rank, profile};
	}
	qsort(groups->ranks, count, sizeof(*groups->ranks), compare_ranks);
	for (i = 0; i < count; i++)
		if (!groups->rank_count ||
		    groups->ranks[groups->rank_count - 1].rank !=
			    groups->ranks[i].rank)
			groups->ranks[groups->rank_count++] = groups->ranks[i];
	for (i = 0; i < groups->thread_count; i++)
		groups->threads[i].rank = rank_at(
			groups, swz_profile_rank(groups->threads[i].profile));
}

void swz_groups_end(struct swz_groups *groups)
{
	size_t count = groups->process_count, i;
	uint32_t *order;

	if (!count)
		return;
	sum_times(groups);
	order = swz_allocate(count, sizeof(*order));
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_starts,
		groups->processes);
	find_parents(groups, order);
	order_processes(groups, order);
	free(order);
	find_ranks(groups);
}

void swz_groups_free(struct swz_groups *groups)
{
	free(groups->threads);
	free(groups->processes);
	free(groups->parts);
	free(groups->ranks);
	*groups = (struct swz_groups){0};
}

/* ------------------------------------------------------------------ rows */

struct making {
	struct swz_group_table *table;
	const struct swz_groups *groups;
	const struct swz_catalog *catalog;
	bool by_hit; /* rows are lines or files, which samples hit */
	size_t capacity;
	struct swz_map index; /* of rows, by what they are of */
	uint32_t *row_of; /* per function, where that tells; NONE: not yet */
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
			table->columns
				? swz_allocate(table->columns, sizeof(int64_t))
				: NULL;
		table->rows[*found].inclusive_cells =
			making->groups->imbalance
				? swz_allocate(table->columns, sizeof(int64_t))
				: NULL;
	}
	return *found;
}

/* What has no module or source of its own is called like the function. */
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

/* Of a function nothing may be left but the places that samples hit. */
static bool has_nothing(const struct making *making,
			const struct swz_group_part *part)
{
	return making->by_hit && !part->calls && !part->self_ns;
}

static uint32_t column_of(const struct swz_groups *groups, uint32_t thread)
{
	switch (groups->columns) {
	case SWZ_BY_THREAD:
		return thread;
	case SWZ_BY_RANK:
		return groups->threads[thread].rank;
	default:
		return groups->threads[thread].process;
	}
}

static void add_parts(struct making *making, const struct swz_report *report,
		      const struct swz_patterns *filters)
{
	const struct swz_groups *groups = making->groups;
	struct swz_group_table *table = making->table;
	size_t i;

	for (i = 0; i < groups->part_count; i++) {
		const struct swz_group_part *part = &groups->parts[i];
		struct swz_group_row *row;
		uint32_t column, at;

		/* (nothing is spent there, as its callers are not known) */
		if (part->function == SWZ_CATALOG_UNKNOWN ||
		    has_nothing(making, part) ||
		    (part->function == SWZ_CATALOG_OUTSIDE && report->joined &&
		     !part->self_ns) ||
		    (filters->count &&
		     !swz_patterns_match(filters, making->catalog,
					 part->function, NULL)))
			continue;
		at = row_of_part(making, part); /* may move them */
		row = &table->rows[at];
		row->counted |= part->function >= report->function_capacity ||
				!report->functions[part->function].uncounted;
		row->calls = swz_add_count(row->calls, part->calls);
		row->self_ns = swz_add(row->self_ns, part->self_ns);
		row->self_waiting_ns = swz_add(row->self_waiting_ns,
					       part->self_waiting_ns);
		if (!table->columns)
			continue;
		column = column_of(groups, part->thread);
		if (column == NONE)
			continue;
		if (row->inclusive_cells)
			row->inclusive_cells[column] = swz_add(
				row->inclusive_cells[column],
				part->inclusive_ns);
		row->cells[column] = swz_add(row->cells[column], part->self_ns);
		table->column_ns[column] = swz_add(table->column_ns[column],
						   part->self_ns);
	}
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
	making.row_of = swz_allocate(catalog->function_count,
				     sizeof(*making.row_of));
	for (i = 0; i < catalog->function_count; i++)
		making.row_of[i] = NONE;
	if (groups->rows == SWZ_BY_THREAD)
		make_thread_rows(&making);
	else if (groups->rows == SWZ_BY_PROCESS)
		make_process_rows(&making);
	add_parts(&making, report, filters);
	if (groups->rows == SWZ_BY_PROCESS)
		add_descendants(table);
	else if (groups->rows == SWZ_BY_THREAD)
		for (i = 0; i < table->count; i++)
			table->rows[i].inclusive_ns = table->rows[i].self_ns;
	else if (contexts->by_hit)
		find_inclusive_lines(&making, contexts, filters);
	else
		find_inclusive(&making, contexts, report);
	free(making.row_of);
	swz_map_free(&making.index);
}

void swz_group_table_free(struct swz_group_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		free(table->rows[i].cells);
		free(table->rows[i].inclusive_cells);
	}
	free(table->rows);
	free(table->column_ns);
	swz_intern_free(&table->strings);
	*table = (struct swz_group_table){0};
}
