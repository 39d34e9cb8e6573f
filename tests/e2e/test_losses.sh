# shellcheck shell=bash
# What samples and traces have lost is beside the figures in each format, of all
# profiles that are shown together; and times are called what they are. (Lost calls
# and those that are not shown: tests/unit/test_dump_trees.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc python3 sqlite3
need_targets workers patient fib

# The header of a profile says what was lost.
program lose.c >lose.c
gcc -I"$TOP/include" -o lose lose.c || abort 'no program that loses calls'

about() { # KEY OPTION... PROFILE...: of a database
	local key=$1
	shift
	"$DUMP" -q -f sqlite -o base "$@"
	sqlite3 base "SELECT value FROM about WHERE key = '$key'"
}

it 'samples: how many were lost, and what their times are'
types() { # FILE: of a pprof file
	python3 -c '
import gzip, sys
sys.path.insert(0, sys.argv[1])
import protobuf_fields
fields = list(protobuf_fields.fields(gzip.open(sys.argv[2]).read()))
texts = [value.decode() for number, value in fields if number == 6]
print(*(texts[dict(protobuf_fields.fields(value))[1]]
        for number, value in fields if number == 1))' "$TOP/tests/e2e" "$1"
}
sample() { # NAME [OPTION]
	"$RUN" -q -m sample --engine pause ${2:+"$2"} -o "$1" "$TARGETS/patient" 300 \
		>/dev/null || abort 'no samples'
	"$DUMP" -q -f pprof -o "$1.pprof" "$1"
	"$DUMP" -q -f otlp -o "$1.otlp" "$1"
	"$DUMP" -q -f callgrind -o "$1.callgrind" "$1"
	"$DUMP" -q -f text "$1" >"$1.text"
}
sample running --no-wall
sample all
assert_matches running.text '^# total [0-9]+ ns in [0-9]+ threads? of processor time;'
assert_matches all.text '^# total [0-9]+ ns in [0-9]+ threads? of processor time;'
assert_matches all.text '^# running [0-9]+ ns, waiting [1-9][0-9]{8} ns$'
assert_contains running.callgrind 'desc: Clock: processor time, sampled'
assert_contains all.callgrind 'events: ns Wait samples'
assert_eq 'samples cpu' "$(types running.pprof)"
assert_eq 'samples cpu waiting' "$(types all.pprof)"
sample again
./lose running 3 && ./lose again 4 || abort 'nothing is lost'
"$DUMP" -q -f text running again >out
assert_matches out '^# samples: [0-9]+, lost 7, missed [0-9]+, of these stacks cut [0-9]+$'
"$DUMP" -q -f callgrind -o out running again
assert_matches out '^desc: samples: [0-9]+, lost 7, '
"$DUMP" -q -f json running again >out
assert_contains out '"lost_samples":7,'
"$DUMP" -q -f table running again >out
assert_contains out 'Note: 7 samples were lost.'
assert_eq 7 "$(about lost_samples running again)" sqlite

it 'samples whose times are joined with counts'
"$RUN" -q -o counts "$TARGETS/patient" 300 >/dev/null
sample joined
./lose joined 7 && ./lose counts 3 || abort 'nothing is lost'
for format in text tree table callgrind json; do
	"$DUMP" -q -f $format -o "$format" --times joined counts
done
for format in text tree; do
	assert_matches $format '^# samples: [0-9]+, lost 7, missed '
	assert_contains $format '# lost calls: 3'
done
assert_matches callgrind '^desc: samples: [0-9]+, lost 7, missed '
assert_contains table 'Note: 7 samples were lost.'
assert_contains json '"lost_samples":7,'
assert_eq 7 "$(about lost_samples --times joined counts)" sqlite

it 'a database says which calls of a trace it has'
"$RUN" -q -m trace --min-time 10s -o trace "$TARGETS/workers" >/dev/null
assert_matches <(about events trace) '--min-time'
"$RUN" -q -m trace --max-size 1M -o trace "$TARGETS/fib" >/dev/null
assert_matches <(about events trace) '--max-size'
lost=$(about lost_events trace)
assert_ge "$lost" 1000 'lost events'
"$DUMP" -q -f text trace >out
assert_contains out "# lost events: $lost"
"$RUN" -q -m trace --max-size 1M --ring -o trace "$TARGETS/fib" >/dev/null
assert_matches <(about events trace) '--ring'

it 'the page has the marks of the threads and of the time that are shown'
program marked.c >marked.c
gcc -O1 -I"$TOP/include" -o marked marked.c -pthread || abort 'no program'
"$RUN" -q -o marks ./marked
"$DUMP" -q -f text marks >out
tid=$(awk '$1 == "#" && $4 == "other" { print $3 }' out)
assert_ge "${tid:-0}" 2 'thread of the second mark'
page_marks() { # OPTION... PROFILE: those of the page
	"$DUMP" -q -f html -o page.html "$@"
	python3 -c '
import base64, json, re, zlib
page = open("page.html").read()
text = re.search("data-name=\"description\">([^<]*)<", page).group(1)
profile, = json.loads(zlib.decompress(base64.b64decode(text)))["profiles"]
print(profile["markCount"], *(mark[2] for mark in profile["marks"]))'
}
assert_eq '2 of main other' "$(page_marks marks)"
assert_eq '1 other' "$(page_marks --tid "$tid" marks)"

"$RUN" -q -m trace -o marks ./marked
"$DUMP" -q -f text marks >out
at=$(awk '$1 == "#" && $4 == "other" { print $2 }' out)
assert_ge "${#at}" 11 'time of the second mark'
for range in "--from $at" "--to $at"; do
	# shellcheck disable=SC2086
	assert_matches <(page_marks $range marks) '^1 (of main|other)$'
done
finish
