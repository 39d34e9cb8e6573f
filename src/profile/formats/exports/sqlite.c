/* A database for questions in SQL (docs/sqlite.md). Rows are written as
 * sections come; what is known only at the end, such as names and sums over all
 * threads, follows then. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/trace.h"
#include "profile/file/records.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/exports/exports.h"
#include "util/memory.h"
#include "util/output.h"

/* --- the tables ---------------------------------------------------------- */

/* The tables, as `.schema` of sqlite3 shows them. */

#define COSTS \
	"  calls INTEGER,               -- NULL: not known, or see samples\n" \
	"  samples INTEGER,             -- of swizzle-run -m sample\n" \
	"  self_ns INTEGER,             -- NULL: no times (-m count)\n" \
	"  incl_ns INTEGER,             -- with what it calls; the same\n"

#define FUNCTION_COSTS \
	COSTS \
	"  min_ns INTEGER,              -- the shortest call; NULL: not " \
	"known\n" \
	"  max_ns INTEGER,              -- the longest call; NULL: not " \
	"known\n" \
	"  unwound INTEGER,             -- calls that an exception ended\n" \
	"  self_waiting_ns INTEGER,     -- beside self_ns; NULL: not known\n" \
	"  incl_waiting_ns INTEGER,     -- beside incl_ns; NULL: not known\n" \
	"  p50_ns INTEGER,              -- of the calls of timed_calls, " \
	"half\n" \
	"                               -- take no longer; NULL: not known\n" \
	"                               -- (swizzle-run --percentiles)\n" \
	"  p90_ns INTEGER,\n" \
	"  p99_ns INTEGER,\n" \
	"  p999_ns INTEGER,\n" \
	"  timed_calls INTEGER          -- those that have ended\n"

#define EDGE_COSTS \
	"  calls INTEGER,               -- NULL: not known, or see samples\n" \
	"  samples INTEGER,             -- of the callee and what it calls\n" \
	"  incl_ns INTEGER,             -- of the callee, called from here;\n" \
	"                               -- NULL: no times (-m count)\n" \
	"  incl_waiting_ns INTEGER,     -- beside incl_ns; NULL: not known\n" \
	"  via_jump INTEGER,            -- of calls: through a tail call of\n" \
	"                               -- what is called there; NULL: not\n" \
	"                               -- known (-m count alone knows)\n"

/* Before any row: the tables; after all of them: indexes, and views that show
 * names in the place of numbers. */
static const char sqlite_tables[] =
	"CREATE TABLE about (           -- what this database is\n"
	"  key TEXT PRIMARY KEY,\n"
	"  value TEXT NOT NULL\n"
	") WITHOUT ROWID;\n"

	"CREATE TABLE processes (\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  pid INTEGER NOT NULL,\n"
	"  parent_pid INTEGER NOT NULL,\n"
	"  executable TEXT NOT NULL,\n"
	"  command TEXT NOT NULL,       -- with its arguments\n"
	"  directory TEXT NOT NULL,\n"
	"  profile TEXT NOT NULL,       -- the file's name\n"
	"  mode TEXT NOT NULL,          -- profile, trace, sample, count\n"
	"                               -- or both (of these two)\n"
	"  started_unix_ns INTEGER NOT NULL, -- since 1970\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  duration_ns INTEGER,         -- NULL: its end is not known, as\n"
	"                               -- of one that was killed\n"
	"  lost_calls INTEGER NOT NULL  -- that are in no count\n"
	");\n"

	"CREATE TABLE threads (\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  process INTEGER NOT NULL REFERENCES processes,\n"
	"  tid INTEGER NOT NULL,\n"
	"  name TEXT NOT NULL,\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  end_ns INTEGER,              -- NULL: not known\n"
	"  total_ns INTEGER,            -- all self times of the thread\n"
	"  processor_ns INTEGER,        -- that it ran; NULL: not known, as\n"
	"                               -- of a part (--from, --to)\n"
	"  untraced_calls INTEGER NOT NULL, -- without an event: no room\n"
	"  short_calls INTEGER NOT NULL -- the same: --min-time\n"
	");\n"

	"CREATE TABLE modules (         -- the program and its libraries\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT NOT NULL,\n"
	"  path TEXT NOT NULL,\n"
	"  build_id TEXT                -- NULL: it has none\n"
	");\n"

	"CREATE TABLE functions (       -- with the sums of all threads\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT NOT NULL,\n"
	"  module INTEGER REFERENCES modules, -- NULL: [outside] and the like\n"
	"  file TEXT,                   -- NULL: not known\n"
	"  line INTEGER,\n"
	"  bound_ns INTEGER,            -- self_ns is 0, and less than "
	"this\n" FUNCTION_COSTS ");\n"

	"CREATE TABLE thread_functions (\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  function INTEGER NOT NULL REFERENCES functions,\n" FUNCTION_COSTS
	", PRIMARY KEY (thread, function)\n"
	") WITHOUT ROWID;\n"

	"CREATE TABLE call_times (      -- how many calls took so long\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  function INTEGER NOT NULL REFERENCES functions,\n"
	"  ns INTEGER NOT NULL,         -- within 0.8 %, or half a ns\n"
	"  calls INTEGER NOT NULL,\n"
	"  PRIMARY KEY (thread, function, ns)\n"
	") WITHOUT ROWID;\n"

	"CREATE TABLE slow_calls (      -- that --slow has kept\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  rule TEXT NOT NULL,          -- the pattern of its function\n"
	"  start_ns INTEGER NOT NULL,   -- or somewhat earlier\n"
	"  duration_ns INTEGER,         -- NULL: it has not ended\n"
	"  ordinary INTEGER NOT NULL,   -- 1: chosen by chance\n"
	"  cut INTEGER NOT NULL         -- 1: later events had no room\n"
	");\n"

	"CREATE TABLE places (          -- in the source, where calls are "
	"made\n"
	"  id INTEGER PRIMARY KEY,      -- 0: not known\n"
	"  file TEXT,\n"
	"  line INTEGER,\n"
	"  inlined TEXT,                -- the inlined function it is in, if "
	"any\n"
	"  outer_line INTEGER           -- where that was inlined\n"
	");\n"

	"CREATE TABLE edges (           -- who calls whom, from where\n"
	"  caller INTEGER NOT NULL REFERENCES functions,\n"
	"  callee INTEGER NOT NULL REFERENCES functions,\n"
	"  place INTEGER NOT NULL REFERENCES places,\n" EDGE_COSTS
	"  PRIMARY KEY (caller, callee, place)\n"
	") WITHOUT ROWID;\n"

	"CREATE TABLE thread_edges (\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  caller INTEGER NOT NULL REFERENCES functions,\n"
	"  callee INTEGER NOT NULL REFERENCES functions,\n"
	"  place INTEGER NOT NULL REFERENCES places,\n" EDGE_COSTS
	"  PRIMARY KEY (thread, caller, callee, place)\n"
	") WITHOUT ROWID;\n"

	"CREATE TABLE contexts (        -- paths of calls\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  thread INTEGER REFERENCES threads, -- NULL: all of them (--times)\n"
	"  parent INTEGER REFERENCES contexts, -- NULL: a thread's root\n"
	"  function INTEGER NOT NULL REFERENCES functions,\n"
	"  place INTEGER NOT NULL REFERENCES places,\n"
	"  depth INTEGER NOT NULL,      -- of the root 0\n" COSTS
	"  self_waiting_ns INTEGER,     -- beside self_ns; NULL: not known\n"
	"  incl_waiting_ns INTEGER,     -- beside incl_ns; NULL: not known\n"
	"  unwound INTEGER,             -- calls that an exception ended\n"
	"  folded INTEGER NOT NULL,     -- 1: its time is in the context of "
	"the\n"
	"                               -- same function further up\n"
	"  topmost INTEGER NOT NULL     -- 1: the function is not further up\n"
	");\n"

	"CREATE TABLE events (          -- of a trace: each call\n"
	"  id INTEGER PRIMARY KEY,      -- in each thread in the order of "
	"time\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  parent INTEGER REFERENCES events, -- the call it was made by\n"
	"  context INTEGER NOT NULL REFERENCES contexts,\n"
	"  function INTEGER NOT NULL REFERENCES functions,\n"
	"  depth INTEGER NOT NULL,      -- calls around it\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  duration_ns INTEGER,\n"
	"  began TEXT,                  -- NULL: a call; else it is none: "
	"resumed,\n"
	"                               -- earlier, not traced\n"
	"  ended TEXT                   -- NULL: by a return; else how\n"
	");\n"

	/* (VALUES is a word of SQL) */
	"CREATE TABLE call_values (     -- arguments and results (-A, --args)\n"
	"  event INTEGER NOT NULL REFERENCES events,\n"
	"  moment TEXT NOT NULL,        -- entry or return\n"
	"  position INTEGER NOT NULL,   -- among those of the moment, from 1\n"
	"  name TEXT NOT NULL,          -- *n: of what n points at; result,\n"
	"                               -- retval (of -A), exception\n"
	"  value TEXT NOT NULL,         -- as -f calls shows it\n"
	"  number NUMERIC,              -- NULL: it is no number\n"
	"  text TEXT                    -- of a string; NULL: it is none\n"
	");\n"

	"CREATE TABLE context_values (  -- the same where there are no calls\n"
	"  context INTEGER NOT NULL REFERENCES contexts,\n"
	"  site INTEGER NOT NULL,       -- a line may have several calls\n"
	"  moment TEXT NOT NULL,        -- entry or return\n"
	"  name TEXT NOT NULL,\n"
	"  calls INTEGER NOT NULL,      -- of which it is\n"
	"  last TEXT,                   -- of the last call; NULL: torn\n"
	"  low TEXT,                    -- of all calls; NULL: it is no "
	"number\n"
	"  high TEXT,\n"
	"  low_number NUMERIC,\n"
	"  high_number NUMERIC\n"
	");\n"

	"CREATE TABLE waits (           -- when threads did not run "
	"(--switches)\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  thread INTEGER NOT NULL REFERENCES threads,\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  duration_ns INTEGER NOT NULL,\n"
	"  kind TEXT NOT NULL           -- waiting or preempted\n"
	");\n"

	"CREATE TABLE marks (           -- swizzle_mark() and the like\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  process INTEGER NOT NULL REFERENCES processes,\n"
	"  thread INTEGER REFERENCES threads, -- NULL: of the whole process\n"
	"  at_ns INTEGER NOT NULL,      -- since the first process's start\n"
	"  text TEXT NOT NULL\n"
	");\n";

static const char sqlite_indexes[] =
	"CREATE INDEX functions_name ON functions (name);\n"
	"CREATE INDEX thread_functions_function ON thread_functions "
	"(function);\n"
	"CREATE INDEX edges_callee ON edges (callee);\n"
	"CREATE INDEX contexts_parent ON contexts (parent);\n"
	"CREATE INDEX contexts_function ON contexts (function);\n"
	"CREATE INDEX waits_time ON waits (thread, start_ns);\n"
	"CREATE INDEX marks_time ON marks (process, at_ns);\n"
	"CREATE INDEX events_parent ON events (parent);\n"
	"CREATE INDEX events_time ON events (thread, start_ns);\n"
	"CREATE INDEX events_function ON events (function, duration_ns);\n"
	"CREATE INDEX call_values_event ON call_values (event);\n"
	"CREATE INDEX context_values_context ON context_values (context);\n"

	"CREATE VIEW named_functions AS\n"
	"  SELECT f.*, m.name AS module_name FROM functions f\n"
	"  LEFT JOIN modules m ON m.id = f.module;\n"
	"CREATE VIEW named_edges AS\n"
	"  SELECT a.name AS caller_name, b.name AS callee_name, p.file, "
	"p.line, "
	"e.*\n"
	"  FROM edges e JOIN functions a ON a.id = e.caller\n"
	"  JOIN functions b ON b.id = e.callee JOIN places p ON p.id = "
	"e.place;\n"
	"CREATE VIEW named_events AS\n"
	"  SELECT e.id, f.name, t.name AS thread_name, e.start_ns, "
	"e.duration_ns,\n"
	"    e.start_ns + e.duration_ns AS end_ns, e.thread, e.parent, "
	"e.context,\n"
	"    e.function, e.depth, e.began, e.ended\n"
	"  FROM events e JOIN functions f ON f.id = e.function\n"
	"  JOIN threads t ON t.id = e.thread;\n"
	"CREATE VIEW named_values AS\n"
	"  SELECT f.name AS function_name, v.*, e.start_ns, e.duration_ns\n"
	"  FROM call_values v JOIN events e ON e.id = v.event\n"
	"  JOIN functions f ON f.id = e.function;\n";

/* --- the database -------------------------------------------------------- */

/* The parts of the writer of SQLite databases. docs/sqlite.md explains the
 * tables. */

/* A database for questions in SQL. Each thread has its own rows; sums over all
 * threads, names and what else is known only when all were seen follow. The
 * numbers of functions, modules and places are those of the catalog. */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* In the database's header: what file(1) and others know it by, and of which
 * version its tables are. */
#define APPLICATION_ID "0x53575a4c" /* "SWZL" */
#define SCHEMA_VERSION "1"

struct base {
	struct swz_database *database;
	struct swz_statement *thread_function, *edge, *thread_edge, *context,
		*wait, *mark, *context_value, *call_time;
	struct swz_sqlite_events *events;
	const struct swz_catalog *catalog;
	struct swz_report totals; /* of all threads; without edges */
	bool *used; /* by the catalog's index: functions that contexts have */
	size_t used_count;
	struct swz_profile **processes;
	size_t process_count, process_capacity;
	struct swz_profile *const *sampled; /* whose times these are */
	size_t sampled_count;
	size_t untraced_count;     /* processes that are no traces */
	int64_t threads, contexts; /* rows that were written */
	bool compensated, joined, waits;
	bool one_run; /* joined: threads are known, too */
	/* of traces: what is missing at the ends of some thread, or between */
	bool begins_late, ends_early, short_calls;
};

/* ---- figures ---- */

/* Calls and samples of a function, of which one is known at most. */
static void put_counts(struct swz_statement *row,
		       const struct swz_report *report, bool counted,
		       uint64_t count)
{
	if (counted && !report->samples)
		swz_statement_count(row, count);
	else
		swz_statement_null(row);
	if (counted && report->samples)
		swz_statement_count(row, count);
	else
		swz_statement_null(row);
}

/* Times are not known where calls were counted only. */
static void put_if(struct swz_statement *row, bool known, int64_t number)
{
	if (known)
		swz_statement_integer(row, number);
	else
		swz_statement_null(row);
}

static void put_time(struct swz_statement *row, const struct swz_report *report,
		     int64_t ns)
{
	put_if(row, !report->without_times, ns);
}

static void put_waiting(struct swz_statement *row,
			const struct swz_report *report, int64_t ns)
{
	put_if(row, report->knows_waiting, ns);
}

static void put_function_costs(struct swz_statement *row,
			       const struct swz_report *report, uint32_t index)
{
	struct swz_report_function costs = swz_report_function(report, index);
	int p;

	put_counts(row, report, swz_is_counted(report, index), costs.calls);
	put_time(row, report, costs.self_ns);
	put_time(row, report, costs.inclusive_ns);
	put_if(row, costs.min_ns != 0, costs.min_ns);
	put_if(row, costs.max_ns != 0, costs.max_ns);
	put_if(row, swz_report_sees_ends(report), swz_signed(costs.unwound));
	put_waiting(row, report, costs.self_waiting_ns);
	put_waiting(row, report, costs.inclusive_waiting_ns);
	for (p = 0; p < SWZ_PERCENTILES_SHOWN; p++) {
		int64_t ns = swz_percentile_ns(&costs.times,
					       (enum swz_percentile)p,
					       costs.min_ns, costs.max_ns);

		put_if(row, ns >= 0, ns);
	}
	put_if(row, costs.times.count, swz_signed(costs.times.calls));
}

/* ---- a thread ---- */

static void put_call_times(struct base *base, uint32_t function,
			   const struct swz_call_times *times)
{
	struct swz_statement *row = base->call_time;
	size_t i;

	for (i = 0; i < times->count; i++) {
		swz_statement_integer(row, base->threads);
		swz_statement_integer(row, function);
		swz_statement_integer(row, times->items[i].ns);
		swz_statement_count(row, times->items[i].calls);
		swz_statement_run(row);
	}
}

static void put_thread_functions(struct base *base,
				 const struct swz_report *report)
{
	struct swz_statement *row = base->thread_function;
	uint32_t i;

	for (i = 0; i < report->function_capacity; i++) {
		if (!report->functions[i].present)
			continue;
		swz_statement_integer(row, base->threads);
		swz_statement_integer(row, i);
		put_function_costs(row, report, i);
		swz_statement_run(row);
		put_call_times(base, i, &report->functions[i].times);
	}
}

static void put_edges(struct base *base, const struct swz_report *report,
		      bool of_thread)
{
	struct swz_statement *row = of_thread ? base->thread_edge : base->edge;
	size_t i;

	for (i = 0; i < report->edge_count; i++) {
		const struct swz_report_edge *edge = &report->edges[i];

		if (of_thread)
			swz_statement_integer(row, base->threads);
		swz_statement_integer(row, edge->caller);
		swz_statement_integer(row, edge->callee);
		swz_statement_integer(row, edge->place);
		put_counts(
			row, report,
			swz_is_counted_there(report, edge->callee, edge->calls),
			edge->calls);
		put_time(row, report, edge->inclusive_ns);
		put_waiting(row, report, edge->waiting_ns);
		if (report->without_times || report->calls_by_edge)
			swz_statement_count(row, edge->jumps);
		else
			swz_statement_null(row);
		swz_statement_run(row);
	}
}

static void mark_used(struct base *base, uint32_t function)
{
	size_t count = base->used_count;

	if (function >= count) {
		base->used_count = function + count / 2 + 64;
		base->used = swz_reallocate(base->used, base->used_count,
					    sizeof(*base->used));
		memset(base->used + count, 0,
		       (base->used_count - count) * sizeof(*base->used));
	}
	base->used[function] = true;
}

static void put_contexts(struct base *base, const struct swz_section *section)
{
	const struct swz_contexts *contexts = section->contexts;
	struct swz_statement *row = base->context;
	size_t i;

	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		swz_statement_integer(row, base->contexts + (int64_t)i);
		if (section->thread)
			swz_statement_integer(row, base->threads);
		else
			swz_statement_null(row);
		if (i)
			swz_statement_integer(row,
					      base->contexts + context->parent);
		else
			swz_statement_null(row);
		swz_statement_integer(row, context->function);
		swz_statement_integer(row, context->place);
		swz_statement_integer(row, context->depth);
		put_counts(row, section->report,
			   swz_is_counted_there(section->report,
						context->function,
						context->calls),
			   context->calls);
		put_time(row, section->report, context->self_ns);
		put_time(row, section->report, context->inclusive_ns);
		put_waiting(row, section->report, context->self_waiting_ns);
		put_waiting(row, section->report,
			    context->inclusive_waiting_ns);
		put_time(row, section->report, swz_signed(context->unwound));
		swz_statement_integer(row, context->folded);
		swz_statement_integer(row, context->topmost);
		swz_statement_run(row);
		mark_used(base, context->function);
	}
}

/* The ticks at time 0 in the clock of PROFILE. */
static uint64_t origin_in(const struct swz_section *section,
			  const struct swz_profile *profile)
{
	int64_t after_ns;

	if (!section->started_ns)
		return section->origin;
	after_ns = (int64_t)(profile->header.start_realtime_ns -
			     section->started_ns);
	return profile->header.start_ticks -
	       (uint64_t)swz_scale(after_ns, profile->clock_ticks,
				   profile->clock_ns);
}

static int64_t process_start_ns(const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;

	if (section->started_ns)
		return (int64_t)(profile->header.start_realtime_ns -
				 section->started_ns);
	return swz_sqlite_ns(section, swz_profile_origin(profile));
}

static void put_process(struct base *base, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_file_header *header = &profile->header;
	char *command = swz_command_text(profile);
	struct swz_statement *row = swz_statement_prepare(
		base->database, "INSERT INTO processes VALUES "
				"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	swz_statement_count(row, base->process_count);
	swz_statement_integer(row, header->pid);
	swz_statement_integer(row, header->parent_pid);
	swz_statement_text(row, profile->executable);
	swz_statement_text(row, command);
	swz_statement_text(row, profile->cwd);
	swz_statement_text(row, profile->name);
	swz_statement_word(row, header->flags & SWZ_FILE_SAMPLES  ? "sample"
				: header->flags & SWZ_FILE_TRACED ? "trace"
				: header->flags & SWZ_FILE_COVER  ? "cover"
				: header->flags & SWZ_FILE_COUNTS
					? (base->one_run ? "both" : "count")
					: "profile");
	swz_statement_count(row, header->start_realtime_ns);
	swz_statement_integer(row, process_start_ns(section));
	if (swz_profile_end_known(profile))
		swz_statement_integer(
			row, swz_profile_ns(profile,
					    (int64_t)swz_profile_duration_ticks(
						    profile)));
	else
		swz_statement_null(row);
	swz_statement_count(row, header->lost_calls);
	swz_statement_run(row);
	swz_statement_free(row);
	free(command);
}

/* The number of the process at INDEX of the section's, which is written if it
 * is new. */
static int64_t process_of(struct base *base, const struct swz_section *section,
			  size_t index)
{
	struct swz_section of = *section;
	size_t i;

	for (i = 0; i < base->process_count; i++)
		if (base->processes[i] == section->profiles[index])
			return (int64_t)i + 1;
	swz_grow(&base->processes, &base->process_capacity, i,
		 sizeof(struct swz_profile *));
	base->processes[base->process_count++] = section->profiles[index];
	of.profile = section->profiles[index];
	of.origin = origin_in(section, of.profile);
	base->untraced_count += !swz_profile_traced(of.profile);
	put_process(base, &of);
	swz_sqlite_put_marks(base->mark, &of, (int64_t)base->process_count, 0,
			     true);
	return (int64_t)base->process_count;
}

static void note_extent(struct base *base, const struct swz_profile *profile,
			const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = swz_event_extent(profile, thread);

	base->begins_late |= extent.from > thread->record.start_ticks;
	base->ends_early |= extent.to < thread->last_ticks;
}

static void put_slow_calls(struct base *base, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	struct swz_statement *row;
	size_t i;

	if (!profile->kept_call_count)
		return;
	row = swz_statement_prepare(
		base->database,
		"INSERT INTO slow_calls VALUES (?, ?, ?, ?, ?, ?)");
	for (i = 0; i < profile->kept_call_count; i++) {
		const struct swz_kept_call *call = &profile->kept_calls[i];

		if (call->owner != section->thread->index ||
		    call->rule >= profile->slow_rule_count)
			continue;
		swz_statement_integer(row, base->threads);
		swz_statement_text(row,
				   profile->slow_rules[call->rule].pattern);
		swz_statement_integer(row, swz_sqlite_ns(section, call->from));
		if (call->ticks)
			swz_statement_integer(
				row,
				swz_profile_ns(profile, (int64_t)call->ticks));
		else
			swz_statement_null(row);
		swz_statement_integer(row, call->state == SWZ_CALL_ORDINARY);
		swz_statement_integer(row, call->cut);
		swz_statement_run(row);
	}
	swz_statement_free(row);
}

static void put_thread(struct base *base, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_profile_thread *thread = section->thread;
	struct swz_thread_times times = section->thread_times
						? *section->thread_times
						: swz_thread_times(profile,
								   thread);
	int64_t process = process_of(base, section, 0);
	struct swz_section own = *section;
	struct swz_statement *row = swz_statement_prepare(
		base->database, "INSERT INTO threads VALUES "
				"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	own.origin = origin_in(section, profile);
	swz_statement_integer(row, ++base->threads);
	swz_statement_integer(row, process);
	swz_statement_integer(row, thread->record.tid);
	swz_statement_text(row, thread->name);
	swz_statement_integer(row,
			      swz_sqlite_ns(&own, thread->record.start_ticks));
	if (times.wall_is_bound)
		swz_statement_null(row);
	else
		swz_statement_integer(row,
				      swz_sqlite_ns(&own, thread->last_ticks));
	put_time(row, section->report, section->report->total_ns);
	/* as --by thread: nothing runs for no time; a part's is not known */
	if (times.known && times.processor_ns && !section->range)
		swz_statement_integer(row, times.processor_ns);
	else
		swz_statement_null(row);
	swz_statement_count(row, thread->record.untraced);
	swz_statement_count(row, thread->record.short_calls);
	swz_statement_run(row);
	swz_statement_free(row);
	base->waits |= thread->record.switches_from != 0;
	base->short_calls |= thread->record.short_calls != 0;
	if (swz_profile_traced(profile))
		note_extent(base, profile, thread);
	put_slow_calls(base, &own);
	swz_sqlite_put_marks(base->mark, &own, process, base->threads, false);
}

void swz_sqlite_section(struct swz_writer *writer,
			const struct swz_section *section)
{
	struct base *base = writer->state;
	const struct swz_report *report = section->report;

	base->catalog = section->catalog;
	base->compensated = section->compensated;
	base->joined |= section->joined != NULL;
	base->sampled = section->sampled;
	base->sampled_count = section->sampled_count;
	if (section->joined && section->thread) {
		base->one_run = true;
		put_thread(base, section);
		put_thread_functions(base, report);
		return;
	}
	swz_report_merge(&base->totals, report);
	base->totals.joined = report->joined;
	base->totals.bound_ns = report->bound_ns;
	if (section->thread) {
		put_thread(base, section);
		put_thread_functions(base, report);
	} else {
		uint32_t i;

		for (i = 0; i < section->profile_count; i++)
			process_of(base, section, i);
		/* (the totals have room for those that are there) */
		for (i = 0; i < report->function_capacity &&
			    i < base->totals.function_capacity;
		     i++)
			base->totals.functions[i].uncounted =
				report->functions[i].uncounted;
	}
	put_edges(base, report, section->thread);
	put_contexts(base, section);
	if (section->thread && swz_profile_traced(section->profile))
		swz_sqlite_events_add(base->events, section, base->threads,
				      base->contexts);
	if (section->thread)
		swz_sqlite_put_context_values(base->context_value, section,
					      base->contexts);
	if (section->thread)
		swz_sqlite_put_waits(base->wait, section, base->threads);
	base->contexts += (int64_t)section->contexts->count;
}

/* ---- what all threads have in common ---- */

static void put_build_id(struct swz_statement *row,
			 const struct swz_catalog_module *module)
{
	char digits[2 * sizeof(module->build_id) + 1];
	size_t i;

	for (i = 0; i < module->build_id_bytes; i++)
		snprintf(digits + 2 * i, 3, "%02x", module->build_id[i]);
	swz_statement_text(row, i ? digits : NULL);
}

static void put_modules(struct base *base)
{
	struct swz_statement *row = swz_statement_prepare(
		base->database, "INSERT INTO modules VALUES (?, ?, ?, ?)");
	size_t i;

	for (i = 0; i < base->catalog->module_count; i++) {
		const struct swz_catalog_module *module =
			&base->catalog->modules[i];

		swz_statement_count(row, i + 1);
		swz_statement_text(row, module->name);
		swz_statement_text(row, module->path);
		put_build_id(row, module);
		swz_statement_run(row);
	}
	swz_statement_free(row);
}

static void put_file(struct swz_statement *row, const char *file, int line)
{
	swz_statement_text(row, file);
	if (file && line > 0)
		swz_statement_integer(row, line);
	else
		swz_statement_null(row);
}

static void put_functions(struct base *base)
{
	const struct swz_report *totals = &base->totals;
	const struct swz_catalog *catalog = base->catalog;
	struct swz_statement *row = swz_statement_prepare(
		base->database, "INSERT INTO functions VALUES "
				"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
				"?, ?, ?, ?, ?, ?)");
	uint32_t i;

	for (i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *function =
			&catalog->functions[i];
		int64_t self_ns = swz_report_function(totals, i).self_ns;
		int64_t bound_ns = swz_bound_of(totals, i, self_ns);

		if (!swz_report_function(totals, i).present &&
		    !(i < base->used_count && base->used[i]))
			continue;
		swz_statement_integer(row, i);
		swz_statement_text(row, function->name);
		if (function->module < catalog->module_count)
			swz_statement_integer(row,
					      (int64_t)function->module + 1);
		else
			swz_statement_null(row);
		put_file(row, function->file, function->line);
		if (bound_ns > 0)
			swz_statement_integer(row, bound_ns);
		else
			swz_statement_null(row);
		put_function_costs(row, totals, i);
		swz_statement_run(row);
	}
	swz_statement_free(row);
}

static void put_places(struct base *base)
{
	struct swz_statement *row = swz_statement_prepare(
		base->database, "INSERT INTO places VALUES (?, ?, ?, ?, ?)");
	size_t i;

	for (i = 0; i < base->catalog->place_count; i++) {
		const struct swz_catalog_place *place =
			&base->catalog->places[i];

		swz_statement_count(row, i);
		put_file(row, place->file, place->line);
		swz_statement_text(row, place->inlined);
		if (place->inlined && place->outer_line > 0)
			swz_statement_integer(row, place->outer_line);
		else
			swz_statement_null(row);
		swz_statement_run(row);
	}
	swz_statement_free(row);
}

static void put_note(struct swz_statement *about, const char *key,
		     const char *value)
{
	swz_statement_word(about, key);
	swz_statement_text(about, value);
	swz_statement_run(about);
}

static void put_figure(struct swz_statement *about, const char *key,
		       uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_note(about, key, digits);
}

static const char *about_events(const struct base *base)
{
	if (base->joined)
		return "none: counts and samples (swizzle-run -m trace records "
		       "them)";
	if (!base->process_count)
		return "none: no thread was recorded";
	if (base->untraced_count == base->process_count)
		return "none: not recorded (swizzle-run -m trace records them)";
	if (base->untraced_count)
		return "of some processes only: see processes.mode";
	if (base->begins_late)
		return "the newest calls only (swizzle-run --ring)";
	if (base->ends_early)
		return "as many calls as there was room for (swizzle-run "
		       "--max-size): see threads.untraced_calls";
	return base->short_calls ? "those that took long enough (swizzle-run "
				   "--min-time): see threads.short_calls"
				 : "all calls";
}

static void put_losses(struct base *base, struct swz_statement *about)
{
	struct swz_section all = {.profiles = base->processes,
				  .profile_count = base->process_count,
				  .sampled = base->sampled,
				  .sampled_count = base->sampled_count};
	struct swz_losses losses = swz_losses_find(&all);
	const char *name;
	uint64_t count;
	size_t i;

	for (i = 0; (name = swz_loss_at(&losses, i, &count)) != NULL; i++)
		put_figure(about, name, count);
}

static void put_about(struct base *base)
{
	const struct swz_report *totals = &base->totals;
	struct swz_statement *about = swz_statement_prepare(
		base->database, "INSERT INTO about VALUES (?, ?)");

	put_note(about, "schema", SCHEMA_VERSION);
	put_note(about, "creator", "swizzle " SWZ_VERSION);
	put_note(about, "counts", totals->samples ? "samples" : "calls");
	put_note(about, "times",
		 totals->without_times ? "none: not recorded (-m count)"
		 : base->joined || totals->samples ? "by samples"
		 : !base->compensated ? "wall clock, with the cost of the hooks"
				      : "wall clock, without the hooks");
	put_note(about, "timed",
		 totals->without_times ? "no calls"
		 : totals->sampled     ? "some calls: times are estimates"
				       : "all calls");
	put_note(about, "events", about_events(base));
	put_note(about, "event_times",
		 "wall clock, with the cost of the hooks");
	put_note(about, "waits",
		 base->waits ? "recorded"
			     : "none: not recorded (swizzle-run -m trace "
			       "--switches records them)");
	if (!totals->without_times)
		put_figure(about, "total_ns", (uint64_t)totals->total_ns);
	if (swz_tells_running(totals))
		put_figure(about, "unknown_ns", (uint64_t)totals->unknown_ns);
	put_figure(about, "threads", totals->thread_count);
	put_figure(about, "folded_recursion", totals->folded_recursion);
	put_figure(about, "split_functions", swz_report_split(totals));
	put_figure(about, "missing_switches", totals->missing_switches);
	put_figure(about, "dropped_contexts", totals->dropped_nodes);
	put_figure(about, "repaired_contexts", totals->repaired_nodes);
	put_figure(about, "not_shown", totals->not_shown);
	put_losses(base, about);
	swz_statement_free(about);
}

/* ---- the file ---- */

void swz_sqlite_begin(struct swz_writer *writer)
{
	struct base *base = swz_allocate(1, sizeof(*base));
	struct swz_database *database = swz_database_begin(writer->path);

	writer->state = base;
	base->database = database;
	base->contexts = 1;
	swz_database_run(database, "PRAGMA application_id = " APPLICATION_ID ";"
				   "PRAGMA user_version = " SCHEMA_VERSION ";");
	swz_database_run(database, sqlite_tables);
	base->thread_function = swz_statement_prepare(
		database, "INSERT INTO thread_functions VALUES "
			  "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	base->edge = swz_statement_prepare(
		database, "INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	base->thread_edge = swz_statement_prepare(
		database,
		"INSERT INTO thread_edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	base->context = swz_statement_prepare(
		database, "INSERT INTO contexts VALUES "
			  "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	base->wait = swz_statement_prepare(
		database, "INSERT INTO waits (thread, start_ns, duration_ns, "
			  "kind) VALUES (?, ?, ?, ?)");
	base->mark = swz_statement_prepare(
		database, "INSERT INTO marks (process, thread, at_ns, text) "
			  "VALUES (?, ?, ?, ?)");
	base->context_value = swz_statement_prepare(
		database, "INSERT INTO context_values VALUES "
			  "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	base->call_time = swz_statement_prepare(
		database, "INSERT INTO call_times VALUES (?, ?, ?, ?)");
	base->events = swz_sqlite_events_begin(database);
}

static void finish(struct base *base)
{
	if (base->catalog) {
		put_modules(base);
		put_functions(base);
		put_places(base);
	}
	put_about(base);
	swz_database_run(
		base->database,
		"INSERT INTO edges SELECT caller, callee, place, "
		"sum(calls), sum(samples), sum(incl_ns), "
		"sum(incl_waiting_ns), sum(via_jump) FROM thread_edges "
		"GROUP BY caller, callee, place");
	swz_progress_stage("making indexes", 1);
	swz_database_run(base->database, sqlite_indexes);
	swz_progress_end();
}

void swz_sqlite_end(struct swz_writer *writer)
{
	struct base *base = writer->state;

	finish(base);
	swz_statement_free(base->thread_function);
	swz_statement_free(base->edge);
	swz_statement_free(base->thread_edge);
	swz_statement_free(base->context);
	swz_statement_free(base->wait);
	swz_statement_free(base->mark);
	swz_statement_free(base->context_value);
	swz_statement_free(base->call_time);
	swz_sqlite_events_free(base->events);
	writer->failure = swz_database_end(base->database);
	swz_report_free(&base->totals);
	free(base->processes);
	free(base->used);
	free(base);
	writer->state = NULL;
}
