# shellcheck shell=bash
# --caller FUNCTION: the function, and the paths that lead to it; nothing else, in no
# format.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets paths

# alpha 3 times, of which each calls left twice; delta 6 times, one in the other.
assert_paths() { # of the file table
	assert_eq 1 "$(row table calls main)" main
	assert_eq 3 "$(row table calls alpha)" alpha
	assert_eq 6 "$(row table calls left)" left
	assert_eq 7 "$(row table calls goal)" goal
	assert_eq 6 "$(row table calls delta)" delta
	for function in under other right beta; do
		assert_eq '' "$(row table calls $function)" $function
	done
}

total() { # TABLE: of all
	sed -n 's/^# total \([0-9]*\) ns.*/\1/p' "$1"
}

"$RUN" -q -o calls "$TARGETS/paths"
"$RUN" -q -m trace -o trace "$TARGETS/paths"
for profile in calls trace; do
	it "the table of $profile"
	capture "$DUMP" -q -f text -C goal $profile
	assert_status 0
	cp out table
	assert_paths
	it "times of what is left out are its callers', in $profile"
	"$DUMP" -q -f text $profile >whole
	assert_eq "$(total whole)" "$(total table)" total
	# (two figures that are rounded to ns are up to 1 more than their rounded sum)
	assert_ge "$(row table self goal)" "$(($(row whole self goal) + $(row whole self under) - 1))" \
		'goal, with under'
	for format in callgrind tree folded csv json pprof html speedscope dot sqlite graph; do
		it "$format of $profile"
		capture "$DUMP" -q -f $format -o "of.$format" --caller goal $profile
		assert_status 0
		case $format in
		pprof | sqlite | html | graph) ;;
		*)
			assert_matches "of.$format" '(^|[^a-z])goal([^a-z]|$)'
			grep -E '(^|[^a-z])(under|other|right|beta)([^a-z]|$)' "of.$format" >others
			assert_empty others
			;;
		esac
	done
done

it 'folded: each path ends in goal, or is the beginning of one that does'
"$DUMP" -q -f folded -C goal calls | sed 's/ [0-9]*$//' >folded
grep -c 'goal$' folded >count
assert_eq 2 "$(cat count)" 'paths that end in goal'

it 'events of a trace'
"$DUMP" -q -f chrome -C goal -o chrome trace
python3 - chrome >counts <<'END'
import collections, json, sys
with open(sys.argv[1]) as file:
    events = json.load(file)
events = events['traceEvents'] if isinstance(events, dict) else events
counts = collections.Counter(e['name'] for e in events if e.get('ph') in 'BX')
print(*(f'{name}={counts[name]}' for name in ('goal', 'left', 'alpha', 'delta', 'under', 'other', 'right', 'beta')))
END
assert_eq 'goal=7 left=6 alpha=3 delta=6 under=0 other=0 right=0 beta=0' "$(cat counts)"
"$DUMP" -q -f calls -C goal trace >text
grep -wE 'under|other|right|beta' text >others
assert_empty others
assert_eq 7 "$(grep -cw goal text)" 'calls of goal'

it 'several functions, patterns, with another filter'
"$DUMP" -q -f text -C under -C 'bet*' calls >table
assert_eq 14 "$(row table calls under)"
assert_eq 4 "$(row table calls beta)"
assert_eq '' "$(row table calls other)"
"$DUMP" -q -f folded -C goal -N alpha calls >folded
assert_not_contains folded alpha
assert_contains folded delta

it 'swizzle-run --caller: the profile says what is to be shown'
"$RUN" -q --caller goal -o profile "$TARGETS/paths"
dump_table profile
assert_paths
"$DUMP" -q -f text --caller '*' profile >table
assert_eq 19 "$(row table calls other)" 'with all'
"$DUMP" -q -f info profile >info
assert_contains info goal

it 'what is not shown is counted'
all=$(awk -F , 'NR > 1 { sum += $1 } END { print sum }' <("$DUMP" -q -f csv calls))
shown=$(awk -F , 'NR > 1 { sum += $1 } END { print sum }' <("$DUMP" -q -f csv -C goal calls))
assert_ge $((all - shown)) 30 'calls that are not shown'
"$DUMP" -q -f text -C goal calls >table
assert_contains table "# not shown: $((all - shown)) calls, whose time is their callers'"
"$DUMP" -q -f json -C goal calls >json
assert_contains json "\"not_shown\":$((all - shown))"
"$DUMP" -q -f text calls >table
assert_not_contains table 'not shown'

it 'swizzle-run --caller with samples'
for how in '-m sample' '-m both'; do
	rm -f profile*
	# shellcheck disable=SC2086
	"$RUN" -q $how -C goal -o profile "$TARGETS/paths" 3000
	samples=profile
	[ ! -e profile.samples ] || samples=profile.samples
	"$DUMP" -q -f folded $samples >folded
	assert_matches folded ';goal '
	grep -E ';(under|other|right|beta)[; ]' folded >others
	assert_empty others
	"$DUMP" -q -f text $samples >table
	assert_matches table "^# not shown: [1-9][0-9]* samples, whose time is their callers'\$"
	"$DUMP" -q -f text -C '*' $samples >whole
	assert_eq "$(total whole)" "$(total table)" total
	assert_eq "$(awk '/^ *[0-9]/ { n += $1 } END { print n }' whole)" \
		"$(awk '/^ *[0-9]/ { n += $1 } END { print n }' table)" samples
done

it 'a process that runs already, whatever it was started with'
SWIZZLE_CALLER=beta "$TARGETS/paths" 10000000 &
program=$!
"$RUN" -q -m sample -C goal -o profile -p $program --for 1s
"$RUN" -q -m sample -o other -p $program --for 300ms
kill $program
wait $program 2>/dev/null
"$DUMP" -q -f info profile | grep caller >info
assert_eq 'caller: goal' "$(cat info)"
"$DUMP" -q -f folded profile >folded
assert_matches folded ';goal '
"$DUMP" -q -f info other >info
assert_not_contains info 'caller:'

it 'samples'
"$RUN" -q -m sample -o samples "$TARGETS/paths" 3000
"$DUMP" -q -f folded samples >whole
"$DUMP" -q -f folded -C goal samples >folded
assert_matches whole ';(other|right|beta)'
assert_matches folded ';goal '
grep -E ';(under|other|right|beta)[; ]' folded >others
assert_empty others

it 'bad input'
capture "$DUMP" -f text -C no_such_function calls
assert_status 0
assert_contains err 'no_such_function'
capture "$DUMP" -f text -C '' calls
assert_refused 2 'option -C: the pattern is empty'
capture "$DUMP" -f raw -C goal calls
assert_refused 2 '-F, -N, -H, -C and --script'
capture "$RUN" --caller '' "$TARGETS/paths"
assert_refused 2 'the pattern is empty'

finish
