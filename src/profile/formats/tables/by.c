/* Tables by another key than functions (--by): the rows are chosen and sorted,
 * then written as text, csv or JSON. */

#include "profile/formats/tables/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/groups.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/columns.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/common/section.h"

/* --- which rows there are ------------------------------------------------ */

/* The rows of a table by a key, and their order. Processes are sorted among
 * their brothers only: the table of processes is a tree. */

static const char *const key_names[] = {
	[SWZ_BY_NOTHING] = "nothing", [SWZ_BY_FUNCTION] = "function",
	[SWZ_BY_MODULE] = "module",   [SWZ_BY_PROCESS] = "process",
	[SWZ_BY_THREAD] = "thread",   [SWZ_BY_FILE] = "file",
	[SWZ_BY_LINE] = "line",       [SWZ_BY_CAUSE] = "cause",
	[SWZ_BY_RANK] = "rank",
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
	/* of threads and processes; of the latter with those below them */
	const struct swz_thread_times *times;
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

	if (ordering->sort == SWZ_SORT_WAITING)
		order = ordering->times
				? descending((uint64_t)ordering->times[x]
						     .waiting_ns,
					     (uint64_t)ordering->times[y]
						     .waiting_ns)
				: descending((uint64_t)a->self_waiting_ns,
					     (uint64_t)b->self_waiting_ns);
	else if (ordering->sort == SWZ_SORT_CPU && ordering->times)
		order = descending((uint64_t)ordering->times[x].processor_ns,
				   (uint64_t)ordering->times[y].processor_ns);
	else if (ordering->sort == SWZ_SORT_INCLUSIVE)
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

/* To be freed. Parents are before their children. */
static struct swz_thread_times *sum_times(const struct swz_by_rows *rows)
{
	struct swz_thread_times *times = swz_allocate(rows->count,
						      sizeof(*times));
	size_t i;

	for (i = rows->count; i-- > 0;) {
		const struct swz_group_row *row = &rows->table.rows[i];

		swz_thread_times_add(&times[i], swz_by_times(rows, row));
		if (!row->thread && row->process->parent != SWZ_INDEX_NONE)
			swz_thread_times_add(&times[row->process->parent],
					     &times[i]);
	}
	return times;
}

static void sort(struct swz_by_rows *rows, const struct swz_by_section *by,
		 enum swz_sort key)
{
	struct ordering ordering = {&rows->table, key, NULL};
	bool is_tree = by->groups->rows == SWZ_BY_PROCESS;
	struct swz_thread_times *times = NULL;
	size_t done = 0, i;

	if (is_tree || by->groups->rows == SWZ_BY_THREAD)
		ordering.times = times = sum_times(rows);
	if (is_tree && key == SWZ_SORT_DEFAULT)
		ordering.sort = SWZ_SORT_CPU;

	for (i = 0; i < rows->count; i++)
		rows->order[i] = (uint32_t)i;
	if (is_tree)
		sort_tree(rows, &ordering, SWZ_INDEX_NONE, &done);
	else if (rows->count > 1)
		qsort_r(rows->order, rows->count, sizeof(*rows->order),
			compare_rows, &ordering);
	free(times);
}

/* Processes count with all beneath them: none is shown without its parent. */
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
	rows->bound_ns = by->section->report->without_times
				 ? SWZ_TIME_UNKNOWN
				 : by->section->report->bound_ns;
	sort(rows, by,
	     options->sort == SWZ_SORT_DEFAULT && rows->bound_ns < 0
		     ? SWZ_SORT_CALLS
		     : options->sort);
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
	rows->timed = !rows->has_source && !rows->table.columns &&
		      by->groups->timed != SWZ_INDEX_NONE;
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

int64_t swz_by_percentile(const struct swz_by_rows *rows,
			  const struct swz_group_row *row,
			  enum swz_percentile which)
{
	const struct swz_group_calls *calls = row->thread
						      ? &row->thread->calls
						      : &row->process->calls;

	return rows->timed ? swz_percentile_ns(&calls->times, which,
					       calls->min_ns, calls->max_ns)
			   : -1;
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

/* --- columns ------------------------------------------------------------- */

struct by_table {
	const struct swz_by_section *by;
	const struct swz_by_rows *rows;
};

enum { OF_SELF, OF_INCLUSIVE };

static struct swz_field get_calls(const void *table, const void *row,
				  int argument)
{
	const struct by_table *t = table;
	const struct swz_group_row *r = row;

	(void)argument;
	return swz_field_count(r->counted || !t->by->section->report->joined,
			       r->calls);
}

/* A time of 0 was hit by no sample; -m count knows no times. */
static struct swz_field get_time(const void *table, const void *row, int of)
{
	int64_t bound_ns = ((const struct by_table *)table)->rows->bound_ns;
	const struct swz_group_row *r = row;
	int64_t ns = of == OF_SELF ? r->self_ns : r->inclusive_ns;
	struct swz_field field = swz_field_number(bound_ns >= 0, ns);

	field.bound_ns = ns ? 0 : bound_ns;
	return field;
}

static struct swz_field get_waiting(const void *table, const void *row, int of)
{
	const struct swz_group_row *r = row;

	return swz_field_number(
		((const struct by_table *)table)->rows->shows_waiting,
		of == OF_SELF ? r->self_waiting_ns : r->inclusive_waiting_ns);
}

enum { OF_WALL, OF_PROCESSOR, OF_WAITING, OF_UNKNOWN };

static struct swz_field get_times(const void *table, const void *row, int of)
{
	const struct swz_by_rows *rows = ((const struct by_table *)table)->rows;
	const struct swz_thread_times *times = swz_by_times(rows, row);
	struct swz_field field;

	/* nothing runs without any */
	if (of == OF_PROCESSOR)
		return swz_field_number(rows->has_times && times->known &&
						times->processor_ns,
					times->processor_ns);
	if (of == OF_WAITING)
		return swz_field_number(rows->has_times && times->known,
					times->waiting_ns);
	field = swz_field_number(rows->has_times,
				 of == OF_UNKNOWN && times->known
					 ? times->unknown_ns
					 : times->wall_ns);
	field.at_least = of == OF_WALL && times->wall_is_bound;
	return field;
}

static struct swz_field get_percentile(const void *table, const void *row,
				       int which)
{
	int64_t ns = swz_by_percentile(((const struct by_table *)table)->rows,
				       row, (enum swz_percentile)which);

	return swz_field_number(ns >= 0, ns);
}

static struct swz_field get_bound(const void *table, const void *row,
				  int argument)
{
	(void)argument;
	return swz_field_number(!((const struct swz_group_row *)row)->self_ns,
				((const struct by_table *)table)
					->by->section->report->bound_ns);
}

enum { OF_FUNCTION, OF_MODULE };

static struct swz_field get_name(const void *table, const void *row, int of)
{
	const struct swz_group_row *r = row;

	(void)table;
	return swz_field_text(of == OF_FUNCTION ? r->name : r->module_name);
}

enum column {
	CALLS,
	SELF,
	INCLUSIVE,
	SELF_WAITING,
	INCLUSIVE_WAITING,
	WALL,
	PROCESSOR,
	WAITING,
	UNKNOWN, /* either running or waiting */
	P50,     /* of the function that is timed */
	P90,
	P99,
	P999,
	BOUND,
	FUNCTION,
	MODULE
};

static void add(struct swz_columns *columns, enum column column)
{
	static const struct swz_column all[] = {
		[CALLS] = {NULL, NULL, 12, get_calls, 0},
		[SELF] = {"self_ns", "self", 15, get_time, OF_SELF},
		[INCLUSIVE] = {"incl_ns", "incl", 15, get_time, OF_INCLUSIVE},
		[SELF_WAITING] = {"self_waiting_ns", "self-wait", 15,
				  get_waiting, OF_SELF},
		[INCLUSIVE_WAITING] = {"incl_waiting_ns", "incl-wait", 15,
				       get_waiting, OF_INCLUSIVE},
		[WALL] = {"wall_ns", "wall", 15, get_times, OF_WALL},
		[PROCESSOR] = {"processor_ns", "processor", 15, get_times,
			       OF_PROCESSOR},
		[WAITING] = {"waiting_ns", "waiting", 15, get_times,
			     OF_WAITING},
		[UNKNOWN] = {"unknown_ns", "?", 15, get_times, OF_UNKNOWN},
		[P50] = {"p50_ns", "p50", 15, get_percentile, SWZ_P50},
		[P90] = {"p90_ns", "p90", 15, get_percentile, SWZ_P90},
		[P99] = {"p99_ns", "p99", 15, get_percentile, SWZ_P99},
		[P999] = {"p999_ns", "p99.9", 15, get_percentile, SWZ_P999},
		[BOUND] = {"bound_ns", NULL, 15, get_bound, 0},
		[FUNCTION] = {"function", NULL, 0, get_name, OF_FUNCTION},
		[MODULE] = {"module", NULL, 0, get_name, OF_MODULE},
	};

	swz_columns_add(columns, &all[column]);
}

static struct swz_columns columns_of(const struct by_table *table)
{
	return (struct swz_columns){.counted = swz_counted(table->by->section),
				    .table = table};
}

/* Threads and processes have times of their own; functions and their like have
 * waiting beside their times. */
static void add_times(struct swz_columns *columns,
		      const struct swz_by_rows *rows, bool unknown)
{
	if (rows->has_source) {
		add(columns, SELF_WAITING);
		add(columns, INCLUSIVE_WAITING);
		return;
	}
	add(columns, WALL);
	add(columns, PROCESSOR);
	add(columns, WAITING);
	if (unknown)
		add(columns, UNKNOWN);
	if (!rows->timed)
		return;
	add(columns, P50);
	add(columns, P90);
	add(columns, P99);
	add(columns, P999);
}

/* --- by rank: how functions differ between ranks ------------------------- */

enum { LEAST, MEAN, MOST, PERCENT, RANK, FIGURES };

static struct swz_field get_imbalance(const void *table, const void *row,
				      int figure)
{
	const struct swz_imbalance *x = swz_imbalance_of(row,
							 figure >= FIGURES);
	struct swz_field field = swz_field_number(true, x->least_ns);

	figure %= FIGURES;
	field.tenths = figure == PERCENT;
	if (figure == MEAN)
		field.number = x->mean_ns;
	else if (figure == MOST)
		field.number = x->most_ns;
	else if (figure == PERCENT)
		field.number = x->tenths;
	else if (figure == RANK)
		field.number = swz_slowest_rank(
			((const struct by_table *)table)->by, x);
	return field;
}

/* The figures of self or inclusive time, one after the other. */
static void add_imbalance(struct swz_columns *columns, bool inclusive)
{
	static const struct swz_column all[] = {
		{"self_min_ns", "min", 15, get_imbalance, LEAST},
		{"self_mean_ns", "mean", 15, get_imbalance, MEAN},
		{"self_max_ns", "max", 15, get_imbalance, MOST},
		{"self_imbalance_percent", "%", 9, get_imbalance, PERCENT},
		{"self_max_rank", "rank", 7, get_imbalance, RANK},
		{"incl_min_ns", "min", 15, get_imbalance, FIGURES + LEAST},
		{"incl_mean_ns", "mean", 15, get_imbalance, FIGURES + MEAN},
		{"incl_max_ns", "max", 15, get_imbalance, FIGURES + MOST},
		{"incl_imbalance_percent", "%", 9, get_imbalance,
		 FIGURES + PERCENT},
		{"incl_max_rank", "rank", 7, get_imbalance, FIGURES + RANK},
	};
	size_t i;

	for (i = 0; i < FIGURES; i++)
		swz_columns_add(columns, &all[(inclusive ? FIGURES : 0) + i]);
}

enum { RANK_LEAST, RANK_MOST, RANK_OF_MOST, RANK_FIGURES };

static struct swz_field get_rank_percentile(const void *table, const void *row,
					    int figure)
{
	const struct swz_group_row *r = row;
	const struct swz_rank_percentile *x =
		&r->spread->percentiles[figure / RANK_FIGURES];
	struct swz_field field = swz_field_number(x->count, x->least_ns);

	figure %= RANK_FIGURES;
	if (figure == RANK_MOST)
		field.number = x->most_ns;
	else if (figure == RANK_OF_MOST)
		field.number = ((const struct by_table *)table)
				       ->by->groups->ranks[x->most_at]
				       .rank;
	return field;
}

#define RANK_PERCENTILE(which, title, name) \
	{name "_min_ns", title, 15, get_rank_percentile, \
	 (which)*RANK_FIGURES + RANK_LEAST}, \
		{name "_max_ns", "max", 15, get_rank_percentile, \
		 (which)*RANK_FIGURES + RANK_MOST}, \
	{ \
		name "_max_rank", "rank", 7, get_rank_percentile, \
			(which)*RANK_FIGURES + RANK_OF_MOST \
	}

/* The percentiles of the ranks' own calls (--percentiles): the least and the
 * most of them, and which rank has that; FIRST to LAST. */
static void add_rank_percentiles(struct swz_columns *columns,
				 const struct swz_groups *groups,
				 enum swz_percentile first,
				 enum swz_percentile last)
{
	static const struct swz_column all[] = {
		RANK_PERCENTILE(SWZ_P50, "p50: min", "p50"),
		RANK_PERCENTILE(SWZ_P90, "p90: min", "p90"),
		RANK_PERCENTILE(SWZ_P99, "p99: min", "p99"),
		RANK_PERCENTILE(SWZ_P999, "p99.9: min", "p999"),
	};
	size_t i = (size_t)first * RANK_FIGURES;

	if (!groups->timed_count)
		return;
	for (; i < ((size_t)last + 1) * RANK_FIGURES; i++)
		swz_columns_add(columns, &all[i]);
}

/* --- text ---------------------------------------------------------------- */

/* As the table of functions: plain digits, times in ns, names last. */

/* So many threads or processes have columns of their own; a line of more is
 * hard to read. csv has all. */
#define MOST_COLUMNS 8u

static void put_command_text(FILE *stream,
			     const struct swz_group_process *process)
{
	swz_put_command(stream, process->profile);
}

static void put_times_heading(FILE *stream, bool samples)
{
	if (samples)
		return;
	fputs("# wall, processor, waiting: with the cost of the hooks; ?: not "
	      "known which of the two, after the last reading\n",
	      stream);
}

static void put_thread_text(FILE *stream, const struct swz_group_row *row)
{
	fprintf(stream, " %10" PRId32 " %10" PRId32 "  ",
		row->thread->thread->record.tid,
		row->process->profile->header.pid);
	swz_put_text(stream, row->name[0] ? row->name : "-");
}

static void put_process_text(FILE *stream, const struct swz_group_row *row)
{
	fprintf(stream, " %8" PRIu32 " %10" PRId32 "  %*s",
		row->process->children, row->process->profile->header.pid,
		(int)(2 * (row->level < 64 ? row->level : 64)), "");
	put_command_text(stream, row->process);
}

/* Names of functions may hold spaces; the module comes behind two of them. */
static void put_source(FILE *stream, enum swz_group_key key,
		       const struct swz_group_row *row)
{
	fputs("  ", stream);
	if (key == SWZ_BY_MODULE)
		swz_put_text(stream,
			     row->module ? row->module_name : row->name);
	else
		swz_put_text(stream, row->name);
	if (row->line)
		fprintf(stream, ":%d", row->line);
	if (key == SWZ_BY_MODULE ||
	    (key != SWZ_BY_FUNCTION && key != SWZ_BY_CAUSE && !row->module))
		return;
	fputs("  ", stream);
	swz_put_text(stream, row->module_name);
}

static void put_label_text(FILE *stream, enum swz_group_key key,
			   const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD)
		put_thread_text(stream, row);
	else if (key == SWZ_BY_PROCESS)
		put_process_text(stream, row);
	else
		put_source(stream, key, row);
	putc('\n', stream);
}

static void put_label_heading(FILE *stream, enum swz_group_key key)
{
	if (key == SWZ_BY_THREAD)
		fprintf(stream, " %10s %10s  thread\n", "tid", "pid");
	else if (key == SWZ_BY_PROCESS)
		fprintf(stream, " %8s %10s  command\n", "children", "pid");
	else if (key == SWZ_BY_FUNCTION)
		fputs("  function  module\n", stream);
	else if (key == SWZ_BY_CAUSE)
		fputs("  cause  module\n", stream);
	else
		fprintf(stream, "  %s\n", swz_by_name(key));
}

static void put_columns_heading(FILE *stream, const struct swz_by_section *by,
				const struct swz_by_rows *rows, size_t own)
{
	size_t i;

	for (i = 0; i < own; i++) {
		char *name = swz_by_column_name(by, rows, i);

		fprintf(stream, "# %" PRId32 ": ",
			swz_by_column_id(by, rows, i));
		swz_put_text(stream, name);
		putc('\n', stream);
		free(name);
	}
	if (own < rows->table.columns)
		fprintf(stream, "# others: %zu %s\n", rows->table.columns - own,
			by->groups->columns == SWZ_BY_RANK ? "further ranks"
			: by->groups->columns == SWZ_BY_THREAD
				? "threads that have less time"
				: "processes that have less time");
}

/* The self time of each row in each thread or process. */
static void write_matrix(FILE *stream, const struct swz_by_section *by,
			 const struct swz_by_rows *rows)
{
	size_t own = rows->table.columns, i, j;

	if (own > MOST_COLUMNS)
		own = MOST_COLUMNS - 1;
	put_columns_heading(stream, by, rows, own);
	fprintf(stream, "%15s", "self");
	for (i = 0; i < own; i++)
		fprintf(stream, " %13" PRId32, swz_by_column_id(by, rows, i));
	if (own < rows->table.columns)
		fprintf(stream, " %13s", "others");
	put_label_heading(stream, by->groups->rows);
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];
		int64_t rest = row->self_ns;

		fprintf(stream, "%15" PRId64, row->self_ns);
		for (j = 0; j < own; j++) {
			int64_t ns = row->cells[rows->columns[j]];

			rest -= ns;
			fprintf(stream, " %13" PRId64, ns);
		}
		if (own < rows->table.columns)
			fprintf(stream, " %13" PRId64, rest);
		put_label_text(stream, by->groups->rows, row);
	}
}

static void write_rows(FILE *stream, const struct swz_by_section *by,
		       const struct swz_by_rows *rows,
		       const struct swz_table_options *options)
{
	enum swz_group_key key = by->groups->rows;
	const struct by_table table = {by, rows};
	struct swz_columns columns = columns_of(&table);
	bool waits = rows->shows_waiting &&
		     swz_shows_waiting(by->section->report, options);
	size_t i;

	if (rows->has_times)
		put_times_heading(stream, by->section->report->samples);
	if (rows->shows_waiting)
		swz_put_waiting_note(stream, by->section->report, waits);
	add(&columns, CALLS);
	add(&columns, SELF);
	if (key != SWZ_BY_THREAD)
		add(&columns, INCLUSIVE);
	if (rows->has_times || waits)
		add_times(&columns, rows,
			  !rows->has_times || swz_by_any_unknown(rows));
	swz_columns_put_titles(stream, &columns);
	put_label_heading(stream, key);
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];

		swz_columns_put_text(stream, &columns, row);
		put_label_text(stream, key, row);
	}
}

/* All of the table, its titles included. */
static void write_imbalance(FILE *stream, const struct swz_by_section *by,
			    const struct swz_by_rows *rows, enum swz_sort sort)
{
	bool of_inclusive = sort == SWZ_SORT_INCLUSIVE;
	const struct by_table table = {by, rows};
	struct swz_columns columns = columns_of(&table);
	size_t i;

	fprintf(stream,
		"# %s time by rank, of %zu ranks; %%: the maximum above the "
		"mean; rank: which has the maximum\n",
		of_inclusive ? "inclusive" : "self", by->groups->rank_count);
	add(&columns, CALLS);
	add(&columns, of_inclusive ? INCLUSIVE : SELF);
	add_imbalance(&columns, of_inclusive);
	add_rank_percentiles(&columns, by->groups, SWZ_P99, SWZ_P99);
	add(&columns, FUNCTION);
	add(&columns, MODULE);
	swz_columns_put_titles(stream, &columns);
	putc('\n', stream);
	for (i = 0; i < rows->count; i++) {
		swz_columns_put_text(stream, &columns,
				     &rows->table.rows[rows->order[i]]);
		putc('\n', stream);
	}
}

void swz_write_text_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options)
{
	struct swz_by_rows rows;

	swz_by_rows_make(&rows, by, options);
	swz_put_heading(stream, by->section);
	if (by->section->report->sampled)
		fputs("# sampled: counts are exact, times are estimates\n",
		      stream);
	if (by->groups->imbalance)
		write_imbalance(stream, by, &rows, options->sort);
	else if (rows.table.columns)
		write_matrix(stream, by, &rows);
	else
		write_rows(stream, by, &rows, options);
	swz_by_rows_free(&rows);
}

/* --- csv ----------------------------------------------------------------- */

/* One row a line, all columns of a matrix. What is not known is empty. */

/* A field that swz_put_csv() would have to put together first. */
static void put_command_csv(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	putc('"', stream);
	if (!profile->argument_count)
		swz_put_csv_part(stream, profile->executable);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(' ', stream);
		swz_put_csv_part(stream, profile->arguments[i]);
	}
	putc('"', stream);
}

static const char *label_heading(enum swz_group_key key)
{
	switch (key) {
	case SWZ_BY_FUNCTION:
		return "function,module";
	case SWZ_BY_CAUSE:
		return "cause,module";
	case SWZ_BY_MODULE:
		return "module";
	case SWZ_BY_PROCESS:
		return "children,level,pid,parent,command";
	case SWZ_BY_THREAD:
		return "tid,pid,thread";
	case SWZ_BY_FILE:
		return "file,module";
	default:
		return "file,line,module";
	}
}

static void put_label_csv(FILE *stream, enum swz_group_key key,
			  const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD) {
		fprintf(stream, "%" PRId32 ",%" PRId32 ",",
			row->thread->thread->record.tid,
			row->process->profile->header.pid);
		swz_put_csv(stream, row->name);
	} else if (key == SWZ_BY_PROCESS) {
		fprintf(stream,
			"%" PRIu32 ",%" PRIu32 ",%" PRId32 ",%" PRId32 ",",
			row->process->children, row->level,
			row->process->profile->header.pid,
			row->process->profile->header.parent_pid);
		put_command_csv(stream, row->process->profile);
	} else {
		swz_put_csv(stream, row->name);
		if (key == SWZ_BY_LINE)
			putc(',', stream);
		if (key == SWZ_BY_LINE && row->line)
			fprintf(stream, "%d", row->line);
		if (key != SWZ_BY_MODULE) {
			putc(',', stream);
			swz_put_csv(stream, row->module ? row->module : "");
		}
	}
	putc('\n', stream);
}

static void put_matrix_heading(FILE *stream, const struct swz_by_section *by,
			       const struct swz_by_rows *rows)
{
	size_t i;

	fputs("self_ns,", stream);
	for (i = 0; i < rows->table.columns; i++) {
		uint32_t at = rows->columns[i];
		const struct swz_group_thread *thread;

		if (by->groups->columns == SWZ_BY_RANK) {
			fprintf(stream, "rank %" PRIu32 ",",
				by->groups->ranks[at].rank);
		} else if (by->groups->columns == SWZ_BY_THREAD) {
			thread = &by->groups->threads[at];
			fprintf(stream, "\"%" PRId32 " ",
				thread->thread->record.tid);
			swz_put_csv_part(stream, thread->thread->name);
			fputs("\",", stream);
		} else {
			fprintf(stream, "%" PRId32 ",",
				by->groups->processes[at].profile->header.pid);
		}
	}
}

static struct swz_columns csv_columns(const struct by_table *table)
{
	struct swz_columns columns = columns_of(table);

	add(&columns, CALLS);
	add(&columns, SELF);
	if (table->by->groups->imbalance) {
		add_imbalance(&columns, false);
		add(&columns, INCLUSIVE);
		add_imbalance(&columns, true);
		add_rank_percentiles(&columns, table->by->groups, SWZ_P50,
				     SWZ_P999);
		return columns;
	}
	add(&columns, INCLUSIVE);
	add_times(&columns, table->rows, true);
	if (table->by->section->report->joined)
		add(&columns, BOUND);
	return columns;
}

static void put_matrix_csv(FILE *stream, const struct swz_by_rows *rows,
			   const struct swz_group_row *row)
{
	size_t i;

	swz_put_integer(stream, row->self_ns);
	for (i = 0; i < rows->table.columns; i++)
		fprintf(stream, ",%" PRId64, row->cells[rows->columns[i]]);
}

void swz_write_csv_by(FILE *stream, const struct swz_by_section *by,
		      const struct swz_table_options *options)
{
	struct swz_by_rows rows;
	const struct by_table table = {by, &rows};
	struct swz_columns columns;
	bool is_matrix;
	size_t i;

	swz_by_rows_make(&rows, by, options);
	columns = csv_columns(&table);
	is_matrix = rows.table.columns && !by->groups->imbalance;
	if (is_matrix) {
		put_matrix_heading(stream, by, &rows);
	} else {
		swz_columns_put_names(stream, &columns);
		putc(',', stream);
	}
	fprintf(stream, "%s\n", label_heading(by->groups->rows));
	for (i = 0; i < rows.count; i++) {
		const struct swz_group_row *row =
			&rows.table.rows[rows.order[i]];

		if (is_matrix)
			put_matrix_csv(stream, &rows, row);
		else
			swz_columns_put_csv(stream, &columns, row);
		putc(',', stream);
		put_label_csv(stream, by->groups->rows, row);
	}
	swz_by_rows_free(&rows);
}

/* --- json ---------------------------------------------------------------- */

/* An object with the key, the total and an array of rows. What is not known is
 * null. */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

static void put_thread_json(struct swz_json *json,
			    const struct swz_group_thread *thread)
{
	swz_json_number(json, "tid", thread->thread->record.tid);
	swz_json_number(json, "pid", thread->profile->header.pid);
	swz_json_text(json, "thread", thread->thread->name);
}

static void put_process_json(struct swz_json *json,
			     const struct swz_group_process *process)
{
	swz_json_number(json, "pid", process->profile->header.pid);
	swz_json_number(json, "parent", process->profile->header.parent_pid);
	swz_json_command(json, "command", process->profile);
}

static void put_label_json(struct swz_json *json, enum swz_group_key key,
			   const struct swz_group_row *row)
{
	if (key == SWZ_BY_THREAD) {
		put_thread_json(json, row->thread);
	} else if (key == SWZ_BY_PROCESS) {
		put_process_json(json, row->process);
		swz_json_integer(json, "children", row->process->children);
		swz_json_integer(json, "level", row->level);
	} else {
		if (key != SWZ_BY_MODULE)
			swz_json_text(json,
				      key == SWZ_BY_FUNCTION ? "function"
				      : key == SWZ_BY_CAUSE  ? "cause"
							     : "file",
				      row->name);
		if (key == SWZ_BY_LINE)
			swz_json_number(json, "line", row->line);
		swz_json_text(json, "module",
			      key == SWZ_BY_MODULE ? row->name : row->module);
	}
}

static void put_costs_json(struct swz_json *json, const struct by_table *table,
			   const struct swz_group_row *row)
{
	bool joined = table->by->section->report->joined;
	struct swz_columns columns = columns_of(table);

	if (!table->rows->table.columns || table->by->groups->imbalance) {
		add(&columns, CALLS);
		add(&columns, INCLUSIVE);
	}
	if (!table->rows->table.columns) {
		if (joined && !row->self_ns)
			add(&columns, BOUND);
		add_times(&columns, table->rows, true);
	}
	if (table->by->groups->imbalance) {
		add_imbalance(&columns, false);
		add_imbalance(&columns, true);
		add_rank_percentiles(&columns, table->by->groups, SWZ_P50,
				     SWZ_P999);
	}
	swz_columns_put_json(json, &columns, row);
}

static void put_columns(struct swz_json *json, const struct swz_by_section *by,
			const struct swz_by_rows *rows)
{
	size_t i;

	swz_json_string(json, "columns_by", swz_by_name(by->groups->columns));
	swz_json_open(json, "columns", "[");
	for (i = 0; i < rows->table.columns; i++) {
		uint32_t at = rows->columns[i];

		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_number(json, "self_ns", rows->table.column_ns[at]);
		if (by->groups->columns == SWZ_BY_RANK) {
			swz_json_integer(json, "rank",
					 by->groups->ranks[at].rank);
			swz_json_text(json, "host", by->groups->ranks[at].host);
		} else if (by->groups->columns == SWZ_BY_THREAD) {
			put_thread_json(json, &by->groups->threads[at]);
		} else {
			put_process_json(json, &by->groups->processes[at]);
		}
		swz_json_close(json, "}");
	}
	swz_json_close(json, "]");
}

static void put_row_json(struct swz_json *json, const struct swz_by_section *by,
			 const struct swz_by_rows *rows,
			 const struct swz_group_row *row)
{
	size_t i;

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_known(json, "self_ns", rows->bound_ns >= 0, row->self_ns);
	put_costs_json(json, &(const struct by_table){by, rows}, row);
	put_label_json(json, by->groups->rows, row);
	if (rows->table.columns) {
		swz_json_open(json, "cells_ns", "[");
		for (i = 0; i < rows->table.columns; i++)
			swz_json_number(json, NULL,
					row->cells[rows->columns[i]]);
		swz_json_close(json, "]");
	}
	swz_json_close(json, "}");
}

void swz_write_json_by(FILE *stream, const struct swz_by_section *by,
		       const struct swz_table_options *options)
{
	struct swz_json json = {.stream = stream};
	struct swz_by_rows rows;
	size_t i;

	swz_by_rows_make(&rows, by, options);
	swz_json_open(&json, NULL, "{");
	swz_json_string(&json, "creator", "swizzle-" SWZ_VERSION);
	swz_json_string(&json, "by", swz_by_name(by->groups->rows));
	swz_json_integer(&json, "profiles", by->section->profile_count);
	swz_json_integer(&json, "threads", by->section->report->thread_count);
	swz_json_known(&json, "total_ns", rows.bound_ns >= 0,
		       by->section->report->total_ns);
	swz_put_loss_members(&json, by->section);
	if (rows.table.columns)
		put_columns(&json, by, &rows);
	swz_json_open(&json, "rows", "[");
	for (i = 0; i < rows.count; i++)
		put_row_json(&json, by, &rows, &rows.table.rows[rows.order[i]]);
	swz_json_close(&json, "\n]}\n");
	swz_by_rows_free(&rows);
}
