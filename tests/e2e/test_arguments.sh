# shellcheck shell=bash
# -A: arguments and results as the program itself prints them, in all formats
# that have them; bad pointers; exceptions; what only calls of other functions
# pay: nothing.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets values values_throw workers processes
export SWIZZLE_MODE=trace

SPEC='add@arg1/i32,arg2/i32,arg3/i32,arg4/i32,retval/i32
many@arg1,arg2,arg3,arg4,arg5,arg6,arg7,arg8,retval
mixed@arg1/i32,fparg1,arg2/u8,fparg2/32,arg3/x,retval/f
nine@fparg1/f64,fparg8,fparg9,retval/f64
wide@arg1/i32,retval/f80
text@arg1/s,arg2/i32,retval/s
bad@arg1/s,retval/i32
last@arg1/i32,retval/i32'

arguments() { # FILE: the calls with values, without times
	sed -nE 's/^ *[0-9.]* +[0-9.]+ .?.?s +(\}? ?)//; s/  <- .*//; s/ *\[.*\]//; /\(.*=/p' "$1"
}

it 'records what the program prints'
"$TARGETS/values" >expected
for option in --cache --cache --no-cache; do # written, read, neither
	IFS='
'
	set --
	for item in $SPEC; do
		set -- "$@" -A "$item"
	done
	unset IFS
	capture "$RUN" -q $option "$@" --string-bytes 40 -o profile "$TARGETS/values"
	assert_status 0
	assert_same expected out
	"$DUMP" -f calls profile >calls || fail 'calls'
	arguments calls >got
	assert_same expected got
done
assert_ge "$(wc -l <got)" 14 'calls'
assert_complete profile

it 'takes several functions in one option, and patterns'
capture "$RUN" -q -A 'la[r-t]*@arg1/i32;ad?@arg4/i32%rcx,retval/x32' -o profile \
	"$TARGETS/values"
assert_status 0
"$DUMP" -f calls profile | sed -n 's/ \[through .*\]//; s/.* \(add(.*\|last(.*\)/\1/p' >got
printf '%s\n' 'add(arg4 = 2147483647) = 0x80000001' 'last(arg1 = 5)' >expected
assert_same expected got

it 'shows the same in every format'
"$RUN" -q -A 'text@arg1/s,arg2/i32,retval/s' -o profile "$TARGETS/values" >out
"$DUMP" -q -f chrome -o chrome profile
python3 - chrome >got <<'END'
import json, sys
begun = None
for event in json.load(open(sys.argv[1]))['traceEvents']:
    if event['ph'] == 'B':
        begun = event
    elif event['ph'] == 'E' and event.get('args') and begun['name'] == 'text':
        arguments = ', '.join(f'{k} = {v}' for k, v in begun['args'].items())
        print(f'text({arguments}) = {event["args"]["retval"]}')
END
grep '^text' out >expected
assert_same expected got
assert_eq 3 "$(wc -l <got)"
"$DUMP" -q -f perfetto -o perfetto profile
python3 "$TOP/tests/e2e/read_events.py" perfetto perfetto >/dev/null || fail 'perfetto'
grep -q '"hello"' perfetto || fail 'no argument in perfetto'

it 'shows the exception where there is one'
capture "$RUN" -q -A '*most@arg1/i32,retval/i32' -A 'middle@arg1/i32,retval/i32' \
	-o profile "$TARGETS/values_throw"
assert_status 0
"$DUMP" -f calls profile >calls
assert_contains calls 'innermost(arg1 = 0) = 0'
assert_contains calls 'innermost(arg1 = 1)'
assert_contains calls 'innermost ! shape_error'
assert_contains calls '} middle ! shape_error'
assert_contains calls 'innermost ! int'
capture "$RUN" -q -A 'outermost@arg1/S,arg2/i32,retval/i32' -o profile \
	"$TARGETS/values_throw"
"$DUMP" -f calls profile >calls
assert_contains calls 'outermost(arg1 = "short", arg2 = 0) {'
assert_contains calls 'outermost(arg1 = "a name that is longer than what fits in place", arg2 = 2) {'
assert_contains calls '} outermost = -7'

it 'says who returned an error first'
assert_matches calls '\} outermost = -1  <- first returned here'

it 'shows a stack with its arguments'
"$DUMP" --calls-of middle -s start profile >table
at=$(awk '!/^#/ { print $1; exit }' table)
"$DUMP" --at "$at" profile >stack # within a microsecond of its begin
assert_contains stack 'outermost(arg1 = "short", arg2 = 0)'
assert_matches stack '^#[0-9]+ +main '

it 'counts single calls'
"$DUMP" --calls-of innermost profile >table
assert_eq 3 "$(grep -c ' from middle$' table)"
assert_contains table '# 3 calls, 2 exceptional'
"$DUMP" --calls-of '*most' -n 1 profile >table
assert_eq 1 "$(grep -vc '^#' table)"
assert_contains table '# 6 calls, 1 shown'

it 'needs no values'
"$RUN" -q -o profile "$TARGETS/values" >out
"$DUMP" -f calls profile >calls
assert_matches calls ' add$'
assert_matches calls ' \} main$'
"$DUMP" -f calls -D 1 profile >calls
assert_not_contains calls add
"$DUMP" -f calls -F tail profile >calls
assert_contains calls last
assert_not_contains calls add

it 'keeps threads and processes apart'
assert_same_as_native "$TARGETS/workers"
capture "$RUN" -q -A '*@arg1/x64,retval/x64' -o profile "$TARGETS/workers"
assert_status 0
"$DUMP" -f calls profile >calls
assert_eq "$("$DUMP" -f info profile | awk '/^ +tid +name/ { on = 1; next }
	on && NF < 3 { exit } on { n++ } END { print n }')" "$(grep -c '^# .*thread' calls)"
assert_eq 0 "$(grep -v '^#' calls | grep -c 'arg1.*arg1')"
assert_complete profile

it 'bounds what is kept by --max-size and --ring'
capture "$RUN" -q -A '*@arg1/x64,retval/x64' --max-size 1M --ring -o profile \
	"$TARGETS/workers"
assert_status 0
"$DUMP" -q -f calls profile >calls || fail 'calls of a ring'
assert_le "$(stat -c %s profile)" 4000000

it 'says what had no room'
capture "$RUN" -q -A '*@arg1/x64,retval/x64' --max-size 1M -o profile \
	"$TARGETS/workers"
assert_status 0
capture "$DUMP" -f calls -o calls profile
assert_status 0
assert_matches err 'profile: [0-9]+ times arguments or results had no room'
lost=$(sed -n 's/.*profile: \([0-9]*\) times.*/\1/p' err)
"$DUMP" -f raw -n 1 profile >raw
assert_matches raw "lost_values +$lost "

it 'shows the first rows of all, of many calls'
program many.c >many.c
gcc -O1 -o many many.c
capture "$RUN" -q -m trace -A 'work@arg1/i32,retval/i32' -o profile ./many
assert_status 0
for order in incl start; do
	"$DUMP" --calls-of work -s $order -n 0 profile | grep -v '^#' >all
	assert_eq 1000 "$(wc -l <all)" 'calls'
	assert_eq 100 "$(grep -c '= -' all)" 'negative results'
	for count in 1 5 100; do
		"$DUMP" --calls-of work -s $order -n $count profile >some
		head -n $count all >expected
		grep -v '^#' some >got
		assert_same expected got
		assert_contains some "# 1,000 calls, $count shown, 100 exceptional"
	done
done

it 'says what is wrong'
capture "$RUN" -m trace -A add "$TARGETS/values"
assert_refused 2 "is not FUNCTION@SPEC"
capture "$RUN" -m trace -A 'add@arg1/q' "$TARGETS/values"
assert_refused 2 "'arg1/q' is no argument"
capture "$RUN" -m trace -A 'add@arg1/f16' "$TARGETS/values"
assert_refused 2 "is no argument"
capture "$RUN" -m trace -A 'add@arg0' "$TARGETS/values"
assert_refused 2 "is no argument"
capture "$RUN" -m profile --timing sampled -A 'add@arg1' "$TARGETS/values"
assert_refused 2 'no --timing sampled'
capture "$RUN" -m trace --string-bytes 9999 "$TARGETS/values"
assert_refused 2 '2048'
capture "$RUN" -A 'nothing@arg1' -o profile "$TARGETS/values"
assert_contains err "-A 'nothing' matches no function"

finish
