# shellcheck shell=bash
# Recursion: stacks as they were, each format the same inclusive times, and where
# calls are folded, said.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets recursion
program=$TARGETS/recursion

record() { # OPTION... -- ARG...: into `profile`
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	rm -f profile
	capture "$RUN" -q -o profile "${options[@]}" -- "$program" "${@:2}"
	assert_status 0
	assert_eq 'done' "$(cat out)" output
}

# Those below main that have any calls of their own, each once.
stacks() {
	"$DUMP" -q -f folded -s calls profile | sed -n 's/^main;\(.*\) [0-9]*$/\1/p' |
		sort -u | xargs
}

# What a reader of any format can add up is what the table shows.
all_agree() {
	local form list=()
	"$DUMP" -q -f text -o table profile || fail 'text'
	for form in csv json pprof callgrind tree; do
		"$DUMP" -q -f $form -o in.$form profile || fail "$form"
		list+=("$form,in.$form")
	done
	"$DUMP" -q -f folded -o in.folded profile || fail 'folded'
	# of a trace it would have the events
	"$DUMP" -q -f speedscope --by thread,parts -o in.speedscope profile ||
		fail 'speedscope'
	list+=("folded,in.folded,names,no-calls,folded-names"
		"speedscope,in.speedscope,names,no-calls")
	python3 "$TOP/tests/e2e/read_format.py" table "${list[@]}" >differences 2>&1 ||
		fail 'read_format.py'
	assert_empty differences
}

incl_of() { # FUNCTION: by the table
	dump_table profile --no-compensate
	row table incl "$1"
}

for timing in exact sampled; do
	[ "${TEST_MODE:-}" != trace ] || [ $timing = exact ] || continue
	it "a function that is on the stack twice: $timing"
	record --timing $timing -- mutual 1000
	assert_eq 'a a;b a;b;a a;b;a;c a;b;a;c;work' "$(stacks)" stacks
	assert_eq '0 calls' "$(info_value profile 'folded recursion')"
	assert_calls profile a 2000 b 1000 c 1000
	all_agree
	[ "$(incl_of b)" -ge "$(incl_of c)" ] || fail 'b has less time than c in it'
done

it 'through another function'
record -- branch 100
assert_eq 'parse parse;value parse;value;leaf parse;value;list parse;value;list;value parse;value;list;value;leaf' \
	"$(stacks)" stacks
assert_calls profile value 300 list 100 leaf 200 parse 200
all_agree

it '--recursion 1: every recursive call is folded, and what that changes is said'
record --recursion 1 -- mutual 1000
assert_eq 'a a;b a;b;a a;c a;c;work' "$(stacks)" stacks
assert_eq '1000 calls' "$(info_value profile 'folded recursion')"
assert_calls profile a 2000 b 1000 c 1000
[ "$(incl_of b)" -ge "$(incl_of c)" ] || fail 'b has less time than c in it'
assert_matches table '^# folded recursion: 1000 calls are in a context further up$'
assert_matches table '^# incl of 1 function is more than the contexts below add up to'
capture "$DUMP" -f folded profile
assert_matches err '^swizzle: 1 function has less inclusive time here than in -f text, as calls were folded\. '
capture "$DUMP" -f tree profile
assert_empty err
assert_matches out '^ *1000 +0 +0 +0.00 +a  recursion  \(folded\)$'
for key in function module process; do
	capture "$DUMP" -f csv --by $key profile
	assert_empty err # it has the time of the table
done
"$DUMP" -q -f json profile >json
assert_contains json '"folded_recursion":1000,"split_functions":1'

it 'one deep in the other: as deep as --recursion says'
record -- deep 90
assert_eq 16 "$("$DUMP" -f tree profile | grep -c '  down  recursion$')" contexts
assert_eq '75 calls' "$(info_value profile 'folded recursion')"
assert_calls profile down 91
all_agree
record --recursion 200 -- deep 90
assert_eq 91 "$("$DUMP" -f tree profile | grep -c ' down  recursion$')" contexts
assert_eq '0 calls' "$(info_value profile 'folded recursion')"
all_agree

it 'a binary recursion has few contexts'
record -- tree 16
assert_calls profile branch_out 65535
contexts=$(info_value profile contexts)
assert_le 31 "$contexts" contexts
assert_le "$contexts" 400 contexts
all_agree

it 'wrong numbers'
for wrong in 0 x 1.5 -1; do
	capture "$RUN" --recursion=$wrong true
	assert_status 2
	assert_contains err "--recursion: '$wrong' is not a number from 1 to 1048576"
done
SWIZZLE_RECURSION=x capture "$RUN" -o unused true
assert_refused 2 "SWIZZLE_RECURSION in the environment: 'x' is not a number from 1 to 1048576"

finish
