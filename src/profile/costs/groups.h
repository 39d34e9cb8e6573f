#ifndef SWZ_PROFILE_COSTS_GROUPS_H
#define SWZ_PROFILE_COSTS_GROUPS_H

/* How evenly a time is spread over the ranks of a parallel program. Those that
 * wait for the slowest one lose what it has more than the mean. The ranks come
 * one after the other, as the times of thousands may not have room. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/call_tree.h"
#include "profile/costs/contexts.h"
#include "profile/file/ranks.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/flows/flows.h"
#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"

struct swz_imbalance {
	int64_t least_ns;
	int64_t mean_ns; /* rounded down */
	int64_t most_ns;
	size_t most_at; /* the first that has so much */
	int64_t tenths; /* of a percent: most / mean - 1, rounded */
	int64_t sum_ns;
	size_t count; /* of those that were seen: 0 up to the latest */
};

/* The time of number AT, which is none before the latest. What is left out has
 * none. Begins with zeros. */
void swz_imbalance_add(struct swz_imbalance *imbalance, size_t at, int64_t ns);

/* There are COUNT of them, at least one. */
void swz_imbalance_end(struct swz_imbalance *imbalance, size_t count);

/* --- threads, processes, ranks ------------------------------------------- */

/* The costs of a report by something else than functions: modules, source files
 * or lines, threads, processes. Each thread's costs of each function are kept,
 * and every row is a sum of them: so the rows of every key add up to the same
 * total, to the nanosecond. */

enum swz_group_key {
	SWZ_BY_NOTHING,
	SWZ_BY_FUNCTION,
	SWZ_BY_MODULE,
	SWZ_BY_PROCESS,
	SWZ_BY_THREAD,
	SWZ_BY_FILE,
	SWZ_BY_LINE,
	SWZ_BY_CAUSE, /* what was done for which function: groups.h */
	SWZ_BY_RANK   /* columns only */
};

/* The times of the calls of the function that is timed (--percentiles). */
struct swz_group_calls {
	struct swz_call_times times; /* none: of several functions */
	int64_t min_ns, max_ns;
};

/* A thread, and what was recorded in it. */
struct swz_group_thread {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	uint32_t process; /* into swz_groups.processes */
	uint32_t rank;    /* into swz_groups.ranks; NONE: it has none */
	struct swz_thread_times times;
	struct swz_group_calls calls;
};

struct swz_group_process {
	const struct swz_profile *profile;
	uint32_t parent; /* SWZ_INDEX_NONE: it is none of these. The process
			  * that it was before exec is its parent, too */
	uint32_t children;
	uint32_t depth;
	struct swz_thread_times times; /* wall_ns: from the start of its first
					* thread to its end; the rest: sums */
	struct swz_group_calls calls;
};

/* A thread's costs of one function. */
struct swz_group_part {
	uint32_t thread;
	uint32_t function; /* of the catalog */
	uint32_t place;    /* of it, which samples hit; or SWZ_PLACE_UNKNOWN */
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns;
	int64_t self_waiting_ns;
	struct swz_group_calls *timed; /* how long they took, with
					* swz_groups.imbalance; or NULL */
};

/* The processes of a parallel program that have one number. */
struct swz_group_rank {
	uint32_t rank;
	int32_t pid;      /* the least of them, and its host */
	const char *host; /* NULL: not known */
};

/* A sum of profiles that has costs by rank. */
struct swz_group_sum {
	struct swz_binding *binding;
	bool *threads; /* by its profile's: whether they are wanted */
	bool all;      /* all that have a rank are */
};

struct swz_groups {
	struct swz_group_thread *threads;
	size_t thread_count, thread_capacity;
	struct swz_group_process *processes; /* each before its children */
	size_t process_count, process_capacity;
	struct swz_group_part *parts;
	size_t part_count, part_capacity;
	struct swz_group_rank *ranks; /* in their order */
	size_t rank_count, rank_capacity;
	struct swz_group_sum *sums;
	size_t sum_count, sum_capacity;
	/* The one function whose calls have times; SWZ_INDEX_NONE: none or
	 * several do, so that a row's percentiles would be of nothing. After
	 * swz_groups_end(). */
	uint32_t timed;
	size_t timed_count; /* functions, in all threads */
	enum swz_group_key rows;
	enum swz_group_key columns; /* SWZ_BY_NOTHING, _THREAD, _PROCESS or
				     * _RANK */
	bool imbalance;     /* of functions by ranks: how these differ */
	bool without_cells; /* nobody looks at what single columns have */
};

/* A percentile of the calls of the ranks that have such times. */
struct swz_rank_percentile {
	int64_t least_ns, most_ns;
	size_t most_at;
	size_t count; /* ranks; 0: the times of none are known */
};

/* How a row's times differ between ranks. */
struct swz_group_spread {
	struct swz_imbalance self, inclusive;
	struct swz_rank_percentile percentiles[SWZ_PERCENTILES_SHOWN];
	size_t column;                 /* the latest, not yet in these: */
	int64_t self_ns, inclusive_ns; /* what it has */
	struct swz_group_calls timed;
};

/* A row. What has no meaning for the key is NULL or 0. */
struct swz_group_row {
	const char *name;        /* the function's, file's or thread's */
	const char *module;      /* its path; NULL: unknown */
	const char *module_name; /* as tables show it, or "-" */
	int line;                /* 0: none */
	const struct swz_group_thread *thread;
	const struct swz_group_process *process;
	bool counted; /* some function's calls were */
	uint64_t calls;
	int64_t self_ns;
	int64_t inclusive_ns; /* of a process: with its descendants; a thread's
			       * is its self_ns */
	int64_t self_waiting_ns; /* of these times: it did not run. Of
				  * functions, modules, files and lines */
	int64_t inclusive_waiting_ns;
	int64_t *cells;                  /* self_ns by column; NULL: see
					  * swz_groups.without_cells */
	struct swz_group_spread *spread; /* swz_groups.imbalance only */
	uint32_t level;                  /* in the tree of processes */
};

struct swz_group_table {
	struct swz_group_row *rows; /* of processes: parents before children */
	size_t count;
	size_t columns;     /* threads, processes or ranks */
	int64_t *column_ns; /* what of them is in the rows */
	struct swz_intern strings;
};

/* Adds the times of calls, and the shortest and the longest. */
void swz_group_calls_add(struct swz_group_calls *to,
			 const struct swz_call_times *times, int64_t min_ns,
			 int64_t max_ns);

/* Adds a process, of which there may be no thread; its threads come next. */
void swz_groups_add_process(struct swz_groups *groups,
			    const struct swz_profile *profile);

/* Adds a thread of PROFILE and its costs; REPORT is of it alone. PROCESS: the
 * profile that its process was added by, most often the same. */
void swz_groups_add(struct swz_groups *groups,
		    const struct swz_profile *process,
		    const struct swz_profile *profile,
		    const struct swz_profile_thread *thread,
		    const struct swz_report *report);

/* Adds the ranks of a sum (swz_profile.ranks), which must outlive the groups.
 * THREADS, by its profile's: whether they are wanted; it is taken over. ALL:
 * none was left out that has a rank. */
void swz_groups_add_sum(struct swz_groups *groups, struct swz_binding *binding,
			bool *threads, bool all);

/* All threads are there: finds which process is whose child. */
void swz_groups_end(struct swz_groups *groups);
void swz_groups_free(struct swz_groups *groups);

/* By cause CONTEXTS are those of swz_causes_place(). A row is of the function
 * that made the posting calls; what nobody has posted has a row, too.
 *
 * With CONTEXTS that are by_hit a line's inclusive time is that of all stacks
 * that the line is in: it was hit, or it has called something.
 *
 * The rows, in no order but that of processes. Names are resolved, CONTEXTS are
 * summed and REPORT is of all threads. Of functions that FILTERS leave out (if
 * there are any) nothing is in them. */
void swz_group_table_make(struct swz_group_table *table,
			  const struct swz_groups *groups,
			  const struct swz_catalog *catalog,
			  const struct swz_report *report,
			  const struct swz_contexts *contexts,
			  const struct swz_patterns *filters);
void swz_group_table_free(struct swz_group_table *table);

/* --- a table of groups --------------------------------------------------- */

/* The catalog's function of what a rank has spent (swz_profile_rank_costs()) in
 * the profile of BINDING. */
static inline uint32_t swz_rank_function(struct swz_binding *binding,
					 const struct swz_rank_cost *cost)
{
	if (cost->function == SWZ_FUNCTION_ROOT)
		return SWZ_CATALOG_OUTSIDE;
	return cost->function >= SWZ_RANK_LEAST_SPECIAL
		       ? swz_binding_function(binding, SWZ_INDEX_NONE,
					      cost->function)
		       : swz_binding_function(binding, cost->function, 0);
}

/* --- causes --------------------------------------------------------------- */

/* Work that a thread does for another one has a second parent: the call that
 * posted it (a job that was queued, a request that was written, a thread that
 * was created). The contexts of all threads are put together so that such work
 * hangs below that call, as --flows have recorded it, across threads and
 * processes. Every call and every ns stays one: sums are those of the contexts
 * by callers. docs/flows.md says what counts as posted. */

struct swz_causes;

struct swz_causes *swz_causes_begin(void);
void swz_causes_free(struct swz_causes *causes); /* NULL is fine */

/* A thread, the flows' THREAD of PROCESS, and its contexts, which are by unit
 * and become CAUSES' own. */
void swz_causes_add(struct swz_causes *causes, uint32_t process,
		    uint32_t thread, const struct swz_profile *profile,
		    struct swz_contexts *own);

/* Puts the contexts of all threads into TO, which has its root alone. FLOWS may
 * be NULL. RANGE: of whose events the contexts are, or NULL. */
void swz_causes_place(struct swz_causes *causes, const struct swz_flows *flows,
		      const struct swz_range *range, struct swz_contexts *to);

#endif
