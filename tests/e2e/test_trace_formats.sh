# shellcheck shell=bash
# What swizzle-dump makes of the events of a trace, read back by readers of
# their own: nested, in order, and with the calls that the table has. (Filters, parts of
# the time, archives: tests/unit/test_dump_traces.c and test_dump_files.c.)
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 perl
need_targets longjmp workers
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

it 'one thread, filters and a part of the time: all formats have the same'
assert_same_as_native "$TARGETS/workers"
tid=$("$DUMP" -f info profile | awk '/^ +tid +name/ { getline; getline; print $1 }')
all_formats profile --tid "$tid" -H shop::basket::add
for format in chrome speedscope perfetto; do
	assert_eq 1 "$(sed 's/  .*//' $format.calls | grep -v '^ended' | sort -u | wc -l)" threads
	# what was open before is there, too
	"$DUMP" -f $format -o part --from 30% --to 70% -H shop::round \
		-N shop::countdown profile
	read_events $format part 2>err | sum_up >$format.sum
	assert_empty err
	assert_not_contains $format.sum shop::round
	assert_not_contains $format.sum shop::countdown
	assert_same chrome.sum $format.sum
done

it 'the default names'
(cd "$TMP" && rm -f swizzle.* && "$DUMP" -q -f chrome profile && "$DUMP" -q -f perfetto profile)
assert_eq 1 "$(find . -maxdepth 1 -name 'swizzle.*.trace.json' | wc -l)" 'chrome'
assert_eq 1 "$(find . -maxdepth 1 -name 'swizzle.*.perfetto-trace' | wc -l)" 'perfetto'

it 'what is ended in the midst of a file leaves nothing of it'
other_process profile copy {1..150}
mkdir ended
has_begun() {
	[ "$(find ended -name 'out.*')" ]
}
begin() { # SIGNAL DISPOSITION
	rm -f ended/out.*
	echo old >ended/out
	perl -e '$SIG{$ARGV[0]} = $ARGV[1]; exec @ARGV[2 .. $#ARGV]' "$@" "$DUMP" -q -f chrome \
		-o ended/out copy.* &
	child=$!
	wait_while_it_runs $child has_begun || abort 'nothing is written'
	kill -s "$1" $child
	wait $child 2>/dev/null
	# shellcheck disable=SC2034 # of assert_status
	status=$?
}
for signal in INT TERM HUP; do
	begin $signal DEFAULT
	assert_status $((128 + $(kill -l $signal)))
	assert_eq out "$(ls ended)" "files after SIG$signal"
	assert_eq old "$(cat ended/out)"
done
begin HUP IGNORE
assert_status 0

finish
