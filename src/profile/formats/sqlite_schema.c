/* The tables, as `.schema` of sqlite3 shows them. */

#include "profile/formats/sqlite.h"

#define COSTS \
	"  calls INTEGER,               -- NULL: not known, or see samples\n" \
	"  samples INTEGER,             -- of swizzle-run -m sample\n" \
	"  self_ns INTEGER NOT NULL,\n" \
	"  incl_ns INTEGER NOT NULL,    -- with what it calls\n"

#define FUNCTION_COSTS \
	COSTS \
	"  min_ns INTEGER NOT NULL,     -- the shortest call; 0: not known\n" \
	"  max_ns INTEGER NOT NULL,     -- the longest call; 0: not known\n" \
	"  unwound INTEGER NOT NULL,    -- calls that an exception ended\n" \
	"  self_waiting_ns INTEGER,     -- of self_ns; NULL: not known\n" \
	"  incl_waiting_ns INTEGER      -- of incl_ns; NULL: not known\n"

#define EDGE_COSTS \
	"  calls INTEGER,               -- NULL: not known, or see samples\n" \
	"  samples INTEGER,             -- of the callee and what it calls\n" \
	"  incl_ns INTEGER NOT NULL,    -- of the callee, called from here\n" \
	"  incl_waiting_ns INTEGER,     -- of incl_ns; NULL: not known\n"

const char swz_sqlite_tables[] =
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
	"  mode TEXT NOT NULL,          -- profile, trace or sample\n"
	"  started_unix_ns INTEGER NOT NULL, -- since 1970\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  duration_ns INTEGER NOT NULL,\n"
	"  lost_calls INTEGER NOT NULL  -- that are in no count\n"
	");\n"

	"CREATE TABLE threads (\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  process INTEGER NOT NULL REFERENCES processes,\n"
	"  tid INTEGER NOT NULL,\n"
	"  name TEXT NOT NULL,\n"
	"  start_ns INTEGER NOT NULL,   -- since the first process's start\n"
	"  end_ns INTEGER NOT NULL,\n"
	"  total_ns INTEGER NOT NULL,   -- all self times of the thread\n"
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
	"  self_waiting_ns INTEGER,     -- of self_ns; NULL: not known\n"
	"  incl_waiting_ns INTEGER,     -- of incl_ns; NULL: not known\n"
	"  unwound INTEGER NOT NULL,    -- calls that an exception ended\n"
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

const char swz_sqlite_indexes[] =
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
