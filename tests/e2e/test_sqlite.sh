# shellcheck shell=bash
# swizzle-dump -f sqlite: the figures of csv and json, the calls of chrome, and the
# questions of docs/sqlite.md. sqlite3 and Python's own sqlite3 read it back. (Filters,
# and parts of the time: tests/unit/test_dump_traces.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 sqlite3 gcc
need_targets workers names processes

base() { # BASE OPTION...: silently, without errors
	local base=$1
	shift
	capture "$DUMP" -f sqlite -o "$base" "$@"
	assert_status 0
	assert_empty err
	assert_empty out
	assert_eq ok "$(sqlite3 "$base" 'PRAGMA integrity_check')" 'the base'
	assert_eq '' "$(sqlite3 "$base" 'PRAGMA foreign_key_check')" 'references'
}

sql() { # BASE QUERY
	sqlite3 -batch "$1" "$2" 2>&1
}

same() { # WHAT BASE FILE
	python3 "$TOP/tests/e2e/read_sqlite.py" "$@" >wrong 2>&1 ||
		fail "$1: $(head -n 20 wrong)"
}

agree() { # OPTION... PROFILE...: all figures are those of csv and json
	base base "$@"
	"$DUMP" -q -f csv -o all.csv "$@"
	"$DUMP" -q -f csv --by thread,parts -o threads.csv "$@"
	"$DUMP" -q -f json -o all.json "$@"
	same functions base all.csv
	same threads base threads.csv
	same graph base all.json
}

it 'a profile: the figures of csv and json'
"$RUN" -m profile -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'
agree profile
assert_eq 'profile 5' "$(sql base "SELECT mode || ' ' || count(*) FROM threads t
	JOIN processes p ON p.id = t.process")" threads
agree --no-compensate --demangle=full -H 'shop::*' profile

it 'a trace: its calls are those of chrome'
"$RUN" -m trace --switches -o traced "$TARGETS/workers" >/dev/null || abort 'no trace'
agree traced
"$DUMP" -q -f chrome -o traced.json traced
same events base traced.json
assert_eq '' "$(sql base "SELECT f.name, f.calls, count(e.id) FROM functions f LEFT JOIN
	events e ON e.function = f.id AND e.began IS NULL GROUP BY f.id
	HAVING f.calls <> count(e.id)")" 'calls that are no events'
assert_eq 100 "$(sql base "SELECT count(*) FROM named_events
	WHERE name = 'shop::refuse' AND ended = 'exception'")" 'calls ended by exceptions'
# a range in which something happens
base base traced
range=$(sql base "SELECT printf('--from %.9f --to %.9f', min(start_ns) / 1e9,
	(max(start_ns) + min(start_ns)) / 2e9) FROM named_events WHERE name LIKE 'shop::%'")
# shellcheck disable=SC2086 # two options
{
	agree $range traced
	"$DUMP" -q -f chrome $range -o part.json traced
	base part $range traced
}
same events base part.json
# the processor time is known of whole threads only
known='SELECT count(*), count(processor_ns) = count(*), count(processor_ns) = 0 FROM threads'
threads=$(sql base 'SELECT count(*) FROM threads')
base all traced
assert_eq "$threads|1|0" "$(sql all "$known")" 'processor time of all'
assert_eq "$threads|0|1" "$(sql part "$known")" 'processor time of a part'
assert_ge "$(sql base "SELECT count(*) FROM events WHERE began = 'earlier'")" 1 \
	'calls from before'

it 'calls that last longer than any number of others'
cat >many.c <<-'END'
	__attribute__((noinline, noclone)) int inner(int n) { __asm__ volatile(""); return n + 1; }
	__attribute__((noinline, noclone)) int outer(int n)
	{
		for (int i = 0; i < 300000; i++)
			n = inner(n);
		return n + 1;
	}
	int main(void) { return outer(1) == 0; }
END
gcc -O1 -o many many.c || abort 'no program'
"$RUN" -m trace -o many.trace ./many || abort 'no trace'
base base many.trace
assert_eq '300000 0 1' "$(sql base "SELECT count(*), sum(duration_ns IS NULL), min(parent =
	(SELECT id FROM named_events WHERE name = 'outer')) FROM named_events
	WHERE name = 'inner'" | tr '|' ' ')" 'calls of inner'
assert_eq 1 "$(sql base "SELECT o.duration_ns >= sum(i.duration_ns) AND o.ended IS NULL
	FROM named_events o JOIN events i ON i.parent = o.id WHERE o.name = 'outer'")" outer
assert_eq 'main|outer|inner' "$(sql base "WITH RECURSIVE stack(id, parent, name) AS (
	SELECT id, parent, name FROM named_events WHERE id = (SELECT max(id) FROM named_events
	WHERE name = 'inner') UNION ALL SELECT e.id, e.parent, e.name FROM named_events e
	JOIN stack s ON e.id = s.parent) SELECT name FROM stack ORDER BY id" | paste -s -d '|')" \
	'a stack'

it 'names with whatever is in them'
"$RUN" -o named "$TARGETS/names" >/dev/null || abort 'no profile'
base base named
assert_eq '8 7 6' "$(sql base "SELECT group_concat(calls, ' ') FROM (SELECT calls FROM functions
	WHERE name IN ('café', 'latin' || char(65533), 'tab' || char(9) || 'here')
	ORDER BY name DESC)")" 'calls of odd names'
agree named

it 'several processes have one clock'
mkdir several
"$RUN" -m trace -o several/ "$TARGETS/processes" >/dev/null 2>&1
agree several
"$DUMP" -q -f chrome -o several.json several
same events base several.json
assert_ge "$(sql base 'SELECT count(*) FROM processes')" 2 processes
assert_eq 1 "$(sql base 'SELECT min(start_ns) = 0 AND count(DISTINCT start_ns) > 1
	FROM processes')" 'starts of processes'

it 'samples are no calls'
cat >busy.c <<-'END'
	__attribute__((noinline)) void spin(void)
	{
		for (volatile long i = 0; i < 30000000; i++)
			;
	}
	int main(void) { spin(); }
END
gcc -O1 -o busy busy.c || abort 'no program'
"$RUN" -m sample -o sampled ./busy 2>/dev/null || abort 'no samples'
base base sampled
"$DUMP" -q -f csv -o all.csv sampled
same functions base all.csv
assert_eq 'samples' "$(sql base "SELECT value FROM about WHERE key = 'counts'")" about
assert_eq 1 "$(sql base 'SELECT count(calls) = 0 AND sum(samples) > 0 FROM functions')" calls
"$RUN" -o counted ./busy || abort 'no profile'
capture "$DUMP" -f sqlite -o base --times sampled counted
assert_status 0
"$DUMP" -q -f csv --times sampled -o all.csv counted
same functions base all.csv
assert_eq 0 "$(sql base 'SELECT count(*) FROM threads')" 'threads of two runs'
assert_ge "$(sql base 'SELECT count(*) FROM edges')" 1 edges

it 'threads of a run that was counted and sampled'
"$RUN" -q -m both -o run "$TARGETS/threads" >/dev/null || abort 'no profile'
base base run
"$DUMP" -q -f csv --by thread -o threads.csv run
assert_eq "$(awk -F , 'NR > 1 { print $9, $1, $2 }' threads.csv | sort)" "$(sql base "
	SELECT tid || ' ' || sum(calls) || ' ' || total_ns FROM threads
	JOIN thread_functions ON thread = threads.id GROUP BY threads.id" | sort)" \
	'tid, calls and time of each'
assert_eq 0 "$(sql base 'SELECT count(*) FROM functions f WHERE self_ns != (SELECT sum(self_ns)
	FROM thread_functions WHERE function = f.id)')" 'functions whose threads have another sum'
assert_eq 'both 0' "$(sql base "SELECT mode || ' ' || start_ns FROM processes")" processes
assert_eq 0 "$(sql base 'SELECT count(*) FROM threads WHERE start_ns < 0 OR end_ns < start_ns')" \
	'threads out of their time'

it 'a process that executes another program: one time line, for threads and processes'
cat >again.c <<-'END'
	#include <unistd.h>
	__attribute__((noinline, noclone)) void step(void) { __asm__ volatile(""); }
	int main(int argc, char **argv)
	{
		for (volatile long i = 0; i < 10000000; i++)
			if (i % 100 == 0)
				step();
		if (argc < 3)
			execl(argv[0], argv[0], "1", argc > 1 ? "2" : NULL, NULL);
		return 0;
	}
END
gcc -O1 -o again again.c || abort 'no program'
"$RUN" -q -m both -o execs/ ./again || abort 'no profile'
base base execs
assert_eq 3 "$(sql base 'SELECT count(*) FROM processes')" processes
assert_eq '' "$(sql base 'SELECT id, start_ns, started_unix_ns FROM processes WHERE start_ns !=
	started_unix_ns - (SELECT min(started_unix_ns) FROM processes)')" 'two starts of one'
assert_eq 3 "$(sql base 'SELECT count(*) FROM threads')" threads
assert_eq '' "$(sql base 'SELECT t.id, t.start_ns, p.start_ns, t.end_ns, p.duration_ns
	FROM threads t JOIN processes p ON p.id = t.process WHERE t.start_ns < p.start_ns OR
	t.end_ns > p.start_ns + p.duration_ns + 1000')" 'threads out of their process'

it 'the processor time of a thread that was killed is not 0'
cat >killed.c <<-'END'
	#include <signal.h>
	#include <unistd.h>
	__attribute__((noinline)) void nap(void) { usleep(20000); }
	int main(void) { nap(), nap(), kill(getpid(), SIGKILL); }
END
gcc -O1 -o killed killed.c || abort 'no program'
("$RUN" -q -m profile -o killed.profile ./killed) 2>/dev/null
base base killed.profile
assert_eq 1 "$(sql base 'SELECT count(*) FROM threads')" threads
assert_eq '' "$(sql base 'SELECT * FROM threads WHERE processor_ns = 0')" 'threads of no time'
for profile in killed.profile run execs; do
	base base "$profile"
	"$DUMP" -q -f csv --by thread -o threads.csv "$profile"
	assert_eq "$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 { print $at["tid"] "|" $at["processor_ns"] }' threads.csv | sort)" \
		"$(sql base 'SELECT tid, processor_ns FROM threads' | sort)" "processor time, $profile"
done

it 'a whole file or none'
echo before >kept
(ulimit -f 200 && "$DUMP" -f sqlite -o kept many.trace) >out 2>err
assert_eq 1 $? status
assert_matches err '^swizzle: cannot write kept: '
assert_eq before "$(cat kept)" 'the file that was there'
"$DUMP" -f sqlite -o kept many.trace &
dump=$!
sleep 0.3
kill -TERM $dump 2>/dev/null
wait $dump 2>/dev/null
case $(head -c 6 kept) in
before | SQLite) ;;
*) fail 'half a file' ;;
esac
assert_eq '' "$(find . -name 'kept.tmp*')" 'what is left behind'
(cd several && "$DUMP" -f sqlite ../profile) 2>err
assert_matches err '^swizzle: wrote swizzle\.[0-9]*\.sqlite$'
if [ -c /dev/full ]; then
	SQLITE_TMPDIR=/nowhere TMPDIR=/nowhere capture "$DUMP" -f sqlite -o base profile
	assert_status 0
fi

it 'the questions of docs/sqlite.md have answers'
gcc -g -O1 -pthread -o words "$TOP/docs/example/words.c" || abort 'no program'
for file in 1 2 3; do
	seq $((1000 * file)) $((1000 * file + 2000)) >text.$file
done
"$RUN" -m trace --switches --args -o words.trace ./words text.* >/dev/null || abort 'no trace'
base words.sqlite words.trace
awk -v number=0 '/^```sql$/ { on = 1; number++; next } /^```$/ { on = 0 }
	on { print >("question." number) }' "$TOP/docs/sqlite.md"
questions=0
for question in question.*; do
	sqlite3 -batch -bail -header words.sqlite <"$question" >answer 2>&1 ||
		fail "$question: $(cat answer)"
	questions=$((questions + 1))
	# (waits are of a machine that happens to have any)
	grep -q waits "$question" || assert_ge "$(wc -l <answer)" 2 "$question: rows"
done
assert_ge $questions 10 'questions'

finish
