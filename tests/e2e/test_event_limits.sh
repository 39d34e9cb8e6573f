# shellcheck shell=bash
# Less of a trace: --min-time, --max-depth, --sample-events; compressed output; what
# is said before much is written; parts of a database that add up to the whole.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gzip zstd sqlite3
need_targets workers fib

"$RUN" -m trace -o traced "$TARGETS/workers" >/dev/null || abort 'no trace'
"$DUMP" -q -f chrome -o all.json traced
ns=$(python3 "$TOP/tests/e2e/read_limits.py" threshold all.json) || abort 'no threshold'
calls=$("$DUMP" -q -f sqlite -o all.sqlite traced &&
	sqlite3 all.sqlite 'SELECT count(*) FROM events')

calls_in() { # FILE: of read_events.py
	awk -F '  ' 'NF > 2 { sum += $2 } END { print sum + 0 }' "$1"
}

leaves() { # NS DEPTH N OPTION...
	local what=("$1" "$2" "$3")
	shift 3
	it "what is left with $*"
	capture "$DUMP" -f chrome "$@" -o some.json traced
	assert_status 0
	assert_matches err "^swizzle: [0-9]+ of $calls calls were left out \(--min-time, --max-depth, --sample-events\)\$"
	assert_eq 1 "$(wc -l <err)" 'one line'
	python3 "$TOP/tests/e2e/read_limits.py" same all.json some.json "${what[@]}" >wrong 2>&1
	assert_empty wrong
	assert_contains some.json "\"callsLeftOut\":$(sed 's/[^0-9]*\([0-9]*\).*/\1/' err)"
	for format in perfetto speedscope; do
		"$DUMP" -q -f $format "$@" -o some.$format traced
	done
	assert_ge "$(stat -c %s some.perfetto)" 500 'bytes of perfetto'
	python3 "$TOP/tests/e2e/read_events.py" chrome some.json >chrome.out 2>&1
	python3 "$TOP/tests/e2e/read_events.py" speedscope some.speedscope >speedscope.out 2>&1
	assert_ge "$(calls_in chrome.out)" 2 'calls of chrome'
	assert_eq "$(calls_in chrome.out)" "$(calls_in speedscope.out)" 'calls of speedscope'
}
leaves "$ns" 0 1 --min-time "${ns}ns"
leaves "$ns" 0 1 -t "$ns"
leaves 0 2 1 --max-depth 2
leaves 0 0 7 --sample-events 7
leaves "$ns" 3 1 -t "${ns}ns" --max-depth 3
leaves 0 3 5 -D 3 --sample-events 5

it 'calls: the first ones, and those that take a time'
ends() { # FILE: calls that have an end in it
	grep -c -E '^ *[0-9. ]* [0-9.]+ [nmu]?s ' "$1"
}
capture "$DUMP" -q -f calls traced
cp out all.calls
assert_ge "$(ends all.calls)" 100 calls
for n in 1 2 7 30; do
	capture "$DUMP" -q -f calls -n $n traced
	assert_status 0
	assert_eq $n "$(ends out)" "calls with -n $n"
	assert_contains out "# the first $n call"
	grep -v -e '^#' out >first
	# each of them is a line of the whole, in that order
	grep -v -e '^#' all.calls | grep -xF -f first | head -n "$(wc -l <first)" >same
	assert_eq "$(wc -l <first)" "$(wc -l <same)" 'lines of the whole'
done
capture "$DUMP" -q -f calls -n 0 traced
assert_same all.calls out
capture "$DUMP" -f calls -t "${ns}ns" traced
assert_matches err '^swizzle: [0-9]+ of [0-9]+ calls were left out'
assert_ge "$(ends out)" 1 'calls that are left'
assert_le "$(ends out)" $(($(ends all.calls) - 1)) 'calls that are left'
capture "$DUMP" -q -f calls -t 1us traced
assert_eq 0 "$(grep -c -E '^ *[0-9. ]* [0-9.]+ ns ' out)" 'shorter calls'

it '--calls-of with no match is an error'
capture "$DUMP" --calls-of round traced
assert_refused 1 "--calls-of 'round' matches no function that was recorded; did you mean 'shop::round'?"
capture "$DUMP" --calls-of round --calls-of shop::round traced
assert_status 0
assert_contains out 'shop::round'

it 'times have units everywhere'
"$DUMP" -q -f calls --from 0.001 --to 0.5 traced >seconds
for range in '--from 1ms --to 500ms' '--from 1000us --to 0.5s' '--from 1000000ns --to 500ms'; do
	# shellcheck disable=SC2086 # words
	capture "$DUMP" -q -f calls $range traced
	assert_same seconds out
done
capture "$DUMP" -q -f calls --from 0ms traced
assert_status 0
for wrong in 1xs 0xs ms 1mss; do
	capture "$DUMP" -f calls --from $wrong traced
	assert_refused 2 'not a time in seconds or percent'
done

it 'what is given wrongly, or to a format without events'
for time in 10x -1 '' us 1e30s; do
	capture "$DUMP" -f chrome -t "$time" -o out.json traced
	assert_refused 2 'not a time (10us, 2ms)'
done
capture "$DUMP" -f text -t 1us traced
assert_refused 2 'the format text has no use for -t, --min-time and --sample-events'
capture "$DUMP" -f html --max-depth 3 -o x traced
assert_refused 2 'the format html has no use for -D, --depth and --max-depth'
"$RUN" -m profile -o profile "$TARGETS/workers" >/dev/null
capture "$DUMP" -f speedscope -t 1us -o x profile
assert_refused 1 'not a trace'

it 'what is compressed by its name'
for format in chrome perfetto text callgrind html json; do
	"$DUMP" -q -f $format -o plain traced
	for ending in gz zst; do
		capture "$DUMP" -q -f $format -o packed.$ending traced
		assert_status 0
		assert_empty err
	done
	gzip -dc packed.gz >unpacked || fail "$format: gzip: status $?"
	assert_same plain unpacked
	zstd -q -dc packed.zst >unpacked || fail "$format: zstd: status $?"
	assert_same plain unpacked
done
"$DUMP" -q -f text --by module -o packed.gz traced
gzip -dc packed.gz >unpacked
"$DUMP" -q -f text --by module -o plain traced
assert_same plain unpacked
"$DUMP" -q -f pprof -o once.pb.gz traced # which is compressed by itself
gzip -dc once.pb.gz | head -c 2 | od -An -tx1 >first
assert_not_contains first '1f 8b'
for name in archive:a.gz sqlite:a.db.zst pprof:a.zst; do
	capture "$DUMP" -q -f "${name%:*}" -o "${name#*:}" traced
	assert_status 2
	assert_contains err "the format ${name%:*} is not compressed by the name"
	[ ! -e "${name#*:}" ] || fail "$name was written"
done
echo before >kept.gz
(ulimit -f 50 && "$DUMP" -q -f chrome -o kept.gz traced) >out 2>err
assert_eq 1 $? status
assert_matches err '^swizzle: cannot write kept\.gz: File too large$'
assert_eq before "$(cat kept.gz)" 'the file that was there'
assert_eq '' "$(find . -name 'kept.gz?*')" 'what is left behind'

it 'much is said before it is written'
"$RUN" -m trace -o much "$TARGETS/fib" 3 >/dev/null || abort 'no trace'
capture "$DUMP" -f chrome --max-depth 2 -o much.json much
assert_status 0
assert_matches err '^swizzle: the trace has about 16 million events, up to 1\.3 GB as chrome\. --from, --to, --tid, --min-time, --max-depth and --sample-events make it less; -o FILE\.zst compresses it$'
assert_le "$(stat -c %s much.json)" 100000 bytes
capture "$DUMP" -f perfetto --max-depth 2 -o much.perfetto much
assert_not_contains err ' GB'
capture "$DUMP" -q -f chrome --max-depth 2 -o much.json much
assert_empty err

it 'databases of parts of the time add up to the whole'
for part in 0 1 2 3; do
	"$DUMP" -q -f sqlite --from $((part * 25))% --to $(((part + 1) * 25))% \
		-o part.$part.sqlite traced || fail "part $part: status $?"
done
sum=0
for part in 0 1 2 3; do
	sum=$((sum + $(sqlite3 part.$part.sqlite 'SELECT count(*) FROM events WHERE began IS NULL')))
done
assert_eq "$calls" $sum calls
for part in part.*.sqlite; do
	sqlite3 -header -csv "$part" 'SELECT thread_name, name, start_ns, duration_ns,
		depth FROM named_events WHERE began IS NULL' | gzip >"${part%.sqlite}.csv.gz"
done
assert_eq "$calls" "$(zcat part.*.csv.gz | grep -v -c '^thread_name,')" 'rows of CSV'

finish
