/* Which rows a table by a key has, and their order. Processes are sorted among
 * their brothers only: the table of processes is a tree. */

#include "profile/formats/by_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

static const char *const key_names[] = {
	[SWZ_BY_NOTHING] = "nothing", [SWZ_BY_FUNCTION] = "function",
	[SWZ_BY_MODULE] = "module",   [SWZ_BY_PROCESS] = "process",
	[SWZ_BY_THREAD] = "thread",   [SWZ_BY_FILE] = "file",
	[SWZ_BY_LINE] = "line",       [SWZ_BY_RANK] = "rank",
};

const char *swz_by_name(enum swz_group_key key)
{
	return key_names[key];
}

enum swz_group_key swz_by_find(const char *name)
{
	size_t i;

	for (i = SWZ_BY_FUNCTION; i < sizeof(key_names) / sizeof(*key_names);
	     i++)
		if (strcmp(name, key_names[i]) == 0)
			return (enum swz_group_key)i;
	return SWZ_BY_NOTHING;
}

struct ordering {
	const struct swz_group_table *table;
	enum swz_sort sort;
};

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_names(const struct swz_group_row *a,
			 const struct swz_group_row *b)
{
	int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (!order)
		order = strcmp(a->module ? a->module : "",
			       b->module ? b->module : "");
	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	const struct swz_group_row *a = &ordering->table->rows[x];
	const struct swz_group_row *b = &ordering->table->rows[y];
	int order = 0;

	if (ordering->sort == SWZ_SORT_INCLUSIVE)
		order = descending((uint64_t)a->inclusive_ns,
				   (uint64_t)b->inclusive_ns);
	else if (ordering->sort == SWZ_SORT_CALLS)
		order = descending(a->calls, b->calls);
	else if (ordering->sort != SWZ_SORT_NAME)
		order = descending((uint64_t)a->self_ns, (uint64_t)b->self_ns);
	if (!order)
		order = compare_names(a, b);
	return order ? order : x < y ? -1 : x > y;
}

/* The latter is behind the former with all that came from it: parents and
 * children stay together. */
static void sort_tree(struct swz_by_rows *rows, struct ordering *ordering,
		      uint32_t parent, size_t *done)
{
	size_t count = rows->table.count, found = 0, i;
	uint32_t *children = swz_allocate(count, sizeof(*children));

	for (i = parent == SWZ_INDEX_NONE ? 0 : parent + 1; i < count; i++)
		if (rows->table.rows[i].process->parent == parent)
			children[found++] = (uint32_t)i;
	if (found > 1)
		qsort_r(children, found, sizeof(*children), compare_rows,
			ordering);
	for (i = 0; i < found; i++) {
		rows->order[(*done)++] = children[i];
		if (rows->table.rows[children[i]].process->children)
			sort_tree(rows, ordering, children[i], done);
	}
	free(children);
}

static void sort(struct swz_by_rows *rows, const struct swz_by_section *by,
		 enum swz_sort key)
{
	struct ordering ordering = {&rows->table, key};
	bool is_tree = by->groups->rows == SWZ_BY_PROCESS;
	size_t done = 0, i;

	for (i = 0; i < rows->count; i++)
		rows->order[i] = (uint32_t)i;
	/* processes are in the order of their start already */
	if (is_tree && key != SWZ_SORT_DEFAULT)
		sort_tree(rows, &ordering, SWZ_INDEX_NONE, &done);
	else if (!is_tree && rows->count > 1)
		qsort_r(rows->order, rows->count, sizeof(*rows->order),
			compare_rows, &ordering);
}

/* Of processes what is beneath them counts: none is shown without its parent.
 */
static void limit(struct swz_by_rows *rows, const struct swz_by_section *by,
		  const struct swz_table_options *options)
{
	bool inclusive = options->sort == SWZ_SORT_INCLUSIVE ||
			 by->groups->rows == SWZ_BY_PROCESS;
	double total = (double)by->section->report->total_ns;
	size_t all = rows->count, i;

	rows->count = 0;
	for (i = 0; i < all; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];
		int64_t ns = inclusive ? row->inclusive_ns : row->self_ns;

		if ((double)ns * 100.0 < options->percent_limit * total)
			continue;
		if (options->rows && rows->count == options->rows)
			break;
		rows->order[rows->count++] = rows->order[i];
	}
}

static int compare_columns(const void *left, const void *right, void *context)
{
	const int64_t *ns = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (ns[a] != ns[b])
		return ns[a] > ns[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

void swz_by_rows_make(struct swz_by_rows *rows, const struct swz_by_section *by,
		      const struct swz_table_options *options)
{
	enum swz_group_key key = by->groups->rows;
	size_t i;

	*rows = (struct swz_by_rows){0};
	swz_group_table_make(&rows->table, by->groups, by->section->catalog,
			     by->section->report, by->section->contexts,
			     &options->filters);
	rows->count = rows->table.count;
	rows->order = swz_allocate(rows->count, sizeof(*rows->order));
	sort(rows, by, options->sort);
	limit(rows, by, options);
	rows->columns = swz_allocate(rows->table.columns,
				     sizeof(*rows->columns));
	for (i = 0; i < rows->table.columns; i++)
		rows->columns[i] = (uint32_t)i;
	/* (ranks stay in their order) */
	if (rows->table.columns > 1 && by->groups->columns != SWZ_BY_RANK)
		qsort_r(rows->columns, rows->table.columns,
			sizeof(*rows->columns), compare_columns,
			rows->table.column_ns);
	rows->has_source = key != SWZ_BY_THREAD && key != SWZ_BY_PROCESS;
	rows->has_times = !rows->has_source && !by->section->range;
	rows->shows_waiting = rows->has_source &&
			      by->section->report->knows_waiting;
}

void swz_by_rows_free(struct swz_by_rows *rows)
{
	swz_group_table_free(&rows->table);
	free(rows->order);
	free(rows->columns);
	*rows = (struct swz_by_rows){0};
}

const struct swz_thread_times *swz_by_times(const struct swz_by_rows *rows,
					    const struct swz_group_row *row)
{
	(void)rows;
	return row->thread ? &row->thread->times : &row->process->times;
}

bool swz_by_any_unknown(const struct swz_by_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (swz_by_times(rows, &rows->table.rows[rows->order[i]])
			    ->unknown_ns)
			return true;
	return false;
}

int32_t swz_by_column_id(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column)
{
	const struct swz_groups *groups = by->groups;
	uint32_t at = rows->columns[column];

	if (groups->columns == SWZ_BY_RANK)
		return (int32_t)groups->ranks[at].rank;
	return groups->columns == SWZ_BY_THREAD
		       ? groups->threads[at].thread->record.tid
		       : groups->processes[at].profile->header.pid;
}

char *swz_by_column_name(const struct swz_by_section *by,
			 const struct swz_by_rows *rows, size_t column)
{
	const struct swz_groups *groups = by->groups;
	uint32_t at = rows->columns[column];
	const struct swz_group_thread *thread;

	if (groups->columns == SWZ_BY_RANK) {
		const char *host = groups->ranks[at].host;

		return swz_print("rank %" PRIu32 "%s%s", groups->ranks[at].rank,
				 host ? " on " : "", host ? host : "");
	}
	if (groups->columns != SWZ_BY_THREAD)
		return swz_command_text(groups->processes[at].profile);
	thread = &groups->threads[at];
	return swz_print("thread %s of process %" PRId32, thread->thread->name,
			 thread->profile->header.pid);
}
