# shellcheck shell=bash
# What swizzle-dump makes of the events of a trace, read back by readers of
# their own: nested, in order, and with the calls that the table has.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 perl
need_targets longjmp shape workers
export SWIZZLE_MODE=trace

read_events() { # FORMAT FILE
	python3 "$TOP/tests/e2e/read_events.py" "$@"
}

# calls and names, threads added up
sum_up() {
	perl -ne '$n{$2} += $1 if /^.*?  (\d+)  (.*)$/;
		END { print "$n{$_}  $_\n" for sort keys %n }'
}

functions() { # TABLE
	awk '!/^#/ && !/ function  module$/ && NF' "$1" |
		perl -ne 'print "$1  $2\n" if /^ *(\d+) +\d+ +\d+  (.*?)  / && $1' |
		sort -k2
}

all_formats() { # PROFILE OPTION...
	local format profile=$1
	shift
	"$DUMP" -f text --from 0 "$@" "$profile" >table || fail 'table'
	functions table >expected
	for format in chrome speedscope perfetto; do
		capture "$DUMP" -f $format -o $format "$@" "$profile"
		assert_status 0
		assert_empty err
		read_events $format $format >$format.calls 2>err ||
			fail "$format: $(tail -n 1 err)"
		sum_up <$format.calls | sort -k2 >$format.sum
		assert_same expected $format.sum
	done
}

it 'threads'
assert_same_as_native "$TARGETS/workers"
all_formats profile
for format in chrome speedscope perfetto; do
	assert_eq "$(awk '/^ +tid +name/ { on = 1; next } on && NF < 3 { exit }
			on { n++ } END { print n }' <("$DUMP" -f info profile))" \
		"$(python3 - $format <<'END'
import json, os, sys
format = sys.argv[1]
if format == 'chrome':
    events = json.load(open(format))['traceEvents']
    print(sum(e['ph'] == 'M' and e['name'] == 'thread_name' for e in events))
elif format == 'speedscope':
    print(len(json.load(open(format))['profiles']))
else:
    sys.path.insert(0, os.environ['TOP'] + '/tests/e2e')
    import read_events
    print(len(read_events.perfetto(format)))
END
)" "$format: threads"
done

it 'calls that an exception has ended are marked'
"$DUMP" -f info profile >info
unwound=$(sed -n 's/^ended by an exception: \([0-9]*\) calls/\1/p' info)
assert_ge "$unwound" 100 'calls ended by an exception'
for format in chrome perfetto; do
	assert_contains $format.calls "ended by exception: $unwound"
done

it 'and those that longjmp has'
assert_same_as_native "$TARGETS/longjmp" next
all_formats profile
for format in chrome perfetto; do
	assert_matches $format.calls '^ended by longjmp: [0-9]+$'
done

it 'one thread, and part of the time'
assert_same_as_native "$TARGETS/workers"
tid=$("$DUMP" -f info profile | awk '/^ +tid +name/ { getline; getline; print $1 }')
all_formats profile --tid "$tid"
for format in chrome speedscope perfetto; do
	assert_eq 1 "$(sed 's/  .*//' $format.calls | grep -v '^ended' | sort -u | wc -l)" threads
	"$DUMP" -f $format -o chosen --tid "$tid" --tid 'worker[s]' profile
	read_events $format chosen >chosen.calls 2>err || fail "$format: $(tail -n 1 err)"
	assert_eq 2 "$(sed 's/  .*//' chosen.calls | grep -v '^ended' | sort -u | wc -l)" \
		'threads by an id and a pattern'
	"$DUMP" -f $format -o part --from 40% --to 60% profile
	read_events $format part >part.calls 2>err || fail "$format: $(tail -n 1 err)"
	# those that begin there, and those that are open at its begin
	"$DUMP" -f text --from 40% --to 60% profile >table
	begun=$(functions table | awk '{ sum += $1 } END { print sum + 0 }')
	shown=$(sum_up <part.calls | awk '{ sum += $1 } END { print sum + 0 }')
	assert_ge "$shown" "$begun" 'calls'
	assert_le "$shown" $((begun + 5 * 20)) 'calls'
done

it 'filters: what they say of a profile'
# the calls of each function, by the last in each stack
filtered() { # PROFILE OPTION...
	local format profile=$1
	shift
	"$DUMP" -f folded -s calls --from 0 "$@" "$profile" |
		sed -E 's/^(.*;)?([^;]+) ([0-9]+)$/-  \3  \2/' | sum_up |
		sort -k2 >expected
	for format in chrome speedscope perfetto; do
		capture "$DUMP" -f $format -o $format "$@" "$profile"
		assert_status 0
		assert_empty err
		read_events $format $format >$format.calls 2>err ||
			fail "$format: $(tail -n 1 err)"
		sum_up <$format.calls | grep -v '^0 ' | sort -k2 >$format.sum
		assert_same expected $format.sum
	done
}
filtered profile
cp expected whole
count() { # FUNCTION: in `expected`
	sed -n "s/^\([0-9]*\)  $1$/\1/p" expected
}
filtered profile -N shop::round
assert_eq '' "$(grep shop:: expected)" 'what round called'
assert_eq 4 "$(count work)" work
filtered profile -H shop::round -H 'shop::bas*'
assert_eq '' "$(count shop::round)" 'round, hidden'
grep -v -e shop::round -e shop::basket::add whole | assert_same expected -
filtered profile -F shop::countdown
assert_eq '500  shop::countdown' "$(grep -v outside expected | grep -v -e even -e odd | xargs -n 2 echo | sed 's/ /  /')"
filtered profile -F shop::round -N shop::countdown -H 'shop::tw*'
assert_eq 100 "$(count shop::round)" round
assert_eq '' "$(grep -e countdown -e twice -e work expected)" 'the others'
filtered profile -q -F 'no such function'
assert_eq '' "$(cat expected)" 'nothing'
filtered profile --tid "$tid" -H shop::round
# in a part of the time what was open before is there, too; in all of them
for format in chrome speedscope perfetto; do
	"$DUMP" -f $format -o part --from 30% --to 70% -H shop::round \
		-N shop::countdown profile
	read_events $format part 2>err | sum_up >$format.sum
	assert_empty err
	assert_not_contains $format.sum shop::round
	assert_not_contains $format.sum shop::countdown
	assert_same chrome.sum $format.sum
done

it 'several processes in one file'
"$RUN" -o one "$TARGETS/longjmp" next >/dev/null
"$RUN" -o two "$TARGETS/longjmp" next >/dev/null
for format in chrome perfetto speedscope; do
	"$DUMP" -f $format -o $format one two
	read_events $format $format >both 2>err || fail "$format: $(tail -n 1 err)"
	sum_up <both >both.sum
	assert_contains both.sum '2  main'
done

it 'the default names, and what is no trace'
(cd "$TMP" && rm -f swizzle.* && "$DUMP" -q -f chrome profile && "$DUMP" -q -f perfetto profile)
assert_eq 1 "$(find . -maxdepth 1 -name 'swizzle.*.trace.json' | wc -l)" 'chrome'
assert_eq 1 "$(find . -maxdepth 1 -name 'swizzle.*.perfetto-trace' | wc -l)" 'perfetto'
SWIZZLE_MODE=profile "$RUN" -o counted "$TARGETS/shape" >/dev/null
for format in chrome perfetto; do
	capture "$DUMP" -f $format -o - counted
	assert_refused 1 'not a trace'
done

it 'what is ended in the midst of a file leaves nothing of it'
many=()
for i in {1..150}; do
	other_process profile copy.$i $i
	many+=("copy.$i")
done
mkdir ended
has_begun() {
	compgen -G 'ended/out.*' >/dev/null
}
for signal in INT TERM HUP; do
	echo old >ended/out
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$DUMP" -q -f chrome \
		-o ended/out "${many[@]}" &
	child=$!
	wait_until has_begun || abort 'nothing is written'
	kill -s $signal $child
	wait $child 2>/dev/null
	status=$?
	assert_status $((128 + $(kill -l $signal)))
	assert_eq out "$(ls ended)" "files after SIG$signal"
	assert_eq old "$(cat ended/out)"
	rm -f ended/out.*
done
perl -e '$SIG{HUP} = "IGNORE"; exec @ARGV' "$DUMP" -q -f chrome \
	-o ended/out "${many[@]:0:200}" &
child=$!
wait_until has_begun || abort 'nothing is written'
kill -s HUP $child
wait $child
assert_eq 0 $? 'status with SIGHUP ignored'
rm -f ended/out.*

it 'a limit on the size of files'
echo old >ended/out
( # which is a signal, too
	ulimit -f 1
	exec "$DUMP" -q -f chrome -o ended/out profile
) >out 2>err
status=$?
assert_refused 1 'File too large'
assert_eq old "$(cat ended/out)"
assert_eq out "$(ls ended)" files

it 'an archive is the profile again'
for mode in trace profile; do
	SWIZZLE_MODE=$mode assert_same_as_native "$TARGETS/workers"
	capture "$DUMP" -f archive --no-embed -o packed profile
	assert_status 0
	assert_empty err
	assert_le "$(stat -c %s packed)" "$(($(stat -c %s profile) / 3))" 'size'
	for format in info callgrind text; do
		"$DUMP" -f $format -o - profile | grep -v '^file:' >expected
		"$DUMP" -f $format -o - packed | grep -v '^file:' >got
		assert_ge "$(wc -l <expected)" 10 lines
		assert_same expected got
	done
done
SWIZZLE_MODE=trace "$RUN" -o profile "$TARGETS/workers"
"$DUMP" -f archive -o packed profile
for format in chrome perfetto; do
	"$DUMP" -f $format -o expected profile
	"$DUMP" -f $format -o got packed
	assert_same expected got
done
capture "$DUMP" -f archive -o two profile packed
assert_status 2

it 'an archive without room to unpack it'
TMPDIR=/nowhere capture "$DUMP" -f text packed
assert_refused 1 'in TMPDIR'

it 'a damaged archive is refused in words, or is what it was'
size=$(stat -c %s packed)
"$DUMP" -f text profile >expected
for part in 0 4 9 25 40 200; do
	head -c $((part < size ? part : size - 1)) packed >bad
	capture "$DUMP" -f text bad
	assert_status 1
	assert_matches err '^swizzle: '
done
head -c $((size - 20)) packed >bad
capture "$DUMP" -f text bad
assert_refused 1 'damaged archive'
for _ in $(seq 20); do
	at=$((RANDOM * 32768 + RANDOM))
	cp packed bad
	printf '\125\252\125' | dd of=bad bs=1 seek=$((at % (size - 3))) \
		conv=notrunc 2>/dev/null
	capture timeout 120 "$DUMP" -q -f text bad
	# shellcheck disable=SC2154 # by capture
	[ "$status" -le 1 ] || fail "status $status with damage at $((at % (size - 3)))"
	[ "$status" -eq 0 ] || assert_matches err '^swizzle: '
done

finish
