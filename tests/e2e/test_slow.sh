# shellcheck shell=bash
# --slow keeps the slow calls of a function and nothing else; --why says what
# makes one of them slow.
. "${BASH_SOURCE%/*}/lib.sh"
need python3
export SWIZZLE_MODE=trace
SLOW=$TARGETS/slow_calls

watching() { # OPTION... -- ARGUMENT...
	RUN_OPTIONS=()
	while [ "$1" != -- ]; do
		RUN_OPTIONS+=("$1")
		shift
	done
	assert_same_as_native "$SLOW" "${@:2}"
}

rule() { # PATTERN: what the profile says of its calls
	"$DUMP" -f info profile >info || fail 'info'
	grep -F "slow calls of $1 " info
}

watched() { # PATTERN: calls that were watched
	rule "$1" | sed 's/.* of \([0-9,]*\) calls.*/\1/; s/,//g'
}

slow() { # PATTERN: of these
	rule "$1" | sed 's/[^:]*: \([0-9,]*\) of .*/\1/; s/,//g'
}

it 'all calls are watched, and the slow ones kept'
watching --slow handle:100us -- causes 2000
assert_eq 2000 "$(watched handle)" 'calls that were watched'
assert_ge "$(slow handle)" 15 'slow calls: five of each kind'
"$DUMP" -f text profile >text
assert_eq 2000 "$(awk '$NF == "slow_calls" && $(NF-1) == "handle" { print $1 }' text)" \
	'calls in the tree, kept or not'
"$DUMP" -f calls profile >calls
assert_ge "$(grep -cE '^# +[0-9]+ .* handle  in ' calls)" 15 'listed calls'
assert_matches calls 'ordinary ones?, chosen by chance'

it 'sqlite and json have the kept calls'
"$DUMP" -q -f sqlite -o base profile || fail 'sqlite'
"$DUMP" -q -f json -o json profile || fail 'json'
python3 - "$(grep -cE '^# +[0-9]+ .* handle  in ' calls)" <<'END' || fail 'slow_calls'
import json, sqlite3, sys
base = sqlite3.connect("base")
listed = json.load(open("json"))["parts"][0]["slow_calls"]
stored = base.execute("SELECT rule, start_ns, duration_ns, ordinary, cut FROM slow_calls"
                      " ORDER BY ordinary, duration_ns DESC, start_ns").fetchall()
assert [(c["rule"], c["start_ns"], c["duration_ns"], c["ordinary"], c["cut"])
        for c in listed] == stored, (listed[:3], stored[:3])
slow, least, open_ones = base.execute(
    "SELECT count(*), min(duration_ns), sum(duration_ns IS NULL) FROM slow_calls"
    " WHERE rule = 'handle' AND NOT ordinary").fetchone()
assert slow == int(sys.argv[1]) and least >= 50000 and not open_ones, (slow, least)
[ordinary] = base.execute("SELECT count(*) FROM slow_calls WHERE ordinary").fetchone()
assert ordinary > 0
# each is a call among the events
[found] = base.execute(
    "SELECT count(*) FROM slow_calls AS s WHERE EXISTS (SELECT * FROM named_events AS e"
    " WHERE e.thread = s.thread AND e.name = 'handle' AND"
    " abs(e.duration_ns - s.duration_ns) < 1000)").fetchone()
assert found == slow + ordinary, (found, slow, ordinary)
END

it 'each kept call has what it called, whole'
# a slow search has 6,000 steps, any other ten; and one in compute, one in nap
"$DUMP" -f calls profile | awk '
	/^#/ { next }
	/ handle \{$/ { steps = 0; next }
	/ step$/ { steps++; next }
	/\} handle$/ { print steps }' | sort | uniq -c | awk '{ print $2 }' >steps
printf '12\n6002\n' >wanted
assert_same wanted steps

it 'why: a callee, a loop, and a sleep are told apart'
for call in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	"$DUMP" --json --why handle --call "$call" profile >>all.json
	"$DUMP" --why handle --call "$call" profile >"why.$call" || fail 'why'
done
python3 - <<'END' || fail 'causes'
import json, sys
found = set()
decoder, text, at = json.JSONDecoder(), open("all.json").read(), 0
while at < len(text):
    why, at = decoder.raw_decode(text, at)
    at += 1
    extra = why["extra_ns"]
    for cause in why["causes"]:
        if cause["extra_ns"] < extra / 5:
            continue
        found.add((cause["cause"], cause.get("function"), cause.get("callee")))
    # what the causes explain is the difference, but for what is less
    total = sum(cause["extra_ns"] for cause in why["causes"])
    if not 0.95 * extra <= total <= 1.05 * extra + 1000:
        sys.exit("the causes add up to %d of %d" % (total, extra))
wanted = {("ran longer", "compute", None),
          ("went round more often", "search", "step"),
          ("waited", "nap", None)}
if "waiting_known" in why and not why["waiting_known"]:
    wanted.discard(("waited", "nap", None))
if not wanted <= found:
    sys.exit("found %s" % sorted(map(str, found)))
END
assert_matches why.1 '^slow +[0-9.]+ ms  handle'
assert_matches why.1 '^ordinary '

it 'a function that jumps to another one: its calls are listed, not what they call'
watching --slow handle_first:100us -- tail 2000
assert_eq 2000 "$(watched handle_first)" 'calls that were watched'
"$DUMP" -f calls profile >calls
assert_eq "$(slow handle_first)" "$(grep -cE '^# +[0-9]+ .* handle_first  in ' calls)" 'listed calls'
"$DUMP" --why handle_first profile >why
assert_matches why '^slow +[0-9.]+ ms  handle_first'

it 'why: also of a trace that has all calls'
watching -F handle -- causes 800
"$DUMP" --why handle profile >why
assert_matches why '^# 800 calls of handle'
assert_matches why 'The slow call takes'

it 'a percentile is found while the program runs'
watching --slow handle:p99 --keep 3 -- causes 4000
assert_eq 4000 "$(watched handle)" 'calls that were watched'
assert_matches info '\(p99\)'
assert_ge "$(slow handle)" 10 'slow calls'
assert_le "$(slow handle)" 400 'slow calls'
assert_matches info 'the 3 slowest are kept'

it 'thousands of slow calls take the room of a few'
watching --slow handle:20us --keep 5 -- storm 3000
assert_eq 12000 "$(watched handle)" 'calls that were watched'
assert_eq 12000 "$(slow handle)" 'slow calls'
assert_matches info 'the 5 slowest are kept'
assert_le "$(stat -c %s profile)" 6000000 'bytes'

it 'no more room than --max-size'
watching --slow handle:20us --keep 1000 --max-size 1M -- storm 300
assert_eq 1200 "$(watched handle)" 'calls that were watched'
"$DUMP" -f info profile >info
assert_le "$(sed -n 's/^trace: \([0-9]*\) bytes.*/\1/p' info)" 1048576 'bytes of events'
"$DUMP" -f calls -n 5 profile >calls 2>err
assert_empty err

it 'calls that are left by exceptions and longjmp'
watching --slow 'handle_*:1s' -- leave
# a call that a longjmp leaves has ended when the next one begins
assert_ge "$(watched 'handle_*')" 199 'calls that were watched'
assert_le "$(watched 'handle_*')" 200 'calls that were watched'
assert_eq 0 "$(slow 'handle_*')" 'slow calls'

it 'the outermost of a recursion; a watched call within another'
watching --slow 'handle_nested:1s' --slow 'outer:1s' --slow 'handle:50us' -- nested
assert_eq 50 "$(watched handle_nested)" 'outermost calls'
assert_eq 800 "$(watched outer)" 'calls of outer'
assert_eq 800 "$(watched handle)" 'calls of handle, within outer'
assert_ge "$(slow handle)" 6 'slow calls of handle'
"$DUMP" -f calls profile >calls
assert_matches calls 'outer \{$'

it 'a forked child has its own'
"$RUN" -q --slow handle:20us -o 'fork.%p' "$SLOW" forks >out || fail 'status'
for file in fork.*; do
	mv "$file" profile
	watched handle
done | sort -n >counts
printf '800\n801\n' >wanted
assert_same wanted counts

it 'what is open when the process is killed'
mkfifo told
"$RUN" -q --slow outer:1s -o profile "$SLOW" open >told 2>/dev/null &
program=$!
read -r _ <told
"$DUMP" -f info profile >/dev/null
kill -KILL $program
wait $program 2>/dev/null
"$DUMP" -f calls profile >calls 2>err || fail 'calls of a killed program'
"$DUMP" -f info profile >info
assert_not_contains info 'damaged'

it 'arguments of what is kept'
watching -A 'handle@arg1/u32,retval/i32' --slow handle:200us -- causes 800
"$DUMP" -f calls profile >calls
assert_matches calls '^# +1 .*handle\(arg1 = [0-9]+\)  in '
assert_matches calls 'handle = [01]$'

it 'options that do not fit'
for option in handle handle: :5ms handle:p handle:p100 handle:0ms '!x:1ms' 'a[:1ms'; do
	capture "$RUN" --slow "$option" true
	assert_status 2
done
capture "$RUN" --slow handle:1ms -F main true
assert_status 2
capture "$RUN" --slow handle:1ms --ring true
assert_status 2
SWIZZLE_MODE=profile capture "$RUN" --slow handle:1ms true
assert_status 2
capture "$RUN" --keep 5 true
assert_status 2
finish
