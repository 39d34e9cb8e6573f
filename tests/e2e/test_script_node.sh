# shellcheck shell=bash
# -m sample: the functions of a JavaScript program in node without any option,
# interpreted and compiled: their shares, the stacks that the program itself sees,
# the lines that they begin on; generators, closures, callbacks of built-in functions,
# methods, exceptions, coroutines.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need node
unset SWIZZLE_MODE
case $(node --version) in
v18.* | v20.* | v22.*) ;;
*) skip 'needs node 18, 20 or 22' ;;
esac
"$RUN" -q -m sample -o try true 2>err || skip "cannot sample here: $(cat err)"

SCRIPT=script.js
# (a function that is inlined is not seen)
OPTIONS=--no-turbo-inlining
program script.js >script.js

it 'shares of functions'
"$RUN" -q -m sample -o profile node $OPTIONS script.js >printed 2>err || fail "exit status $?"
assert_shares sixty thirty ten made generated awaited
# (the tables of the program, with 180,000 symbols, are read before it is executed, and
# rings last while the sampler has no processor)
assert_eq 0 "$("$DUMP" -f info profile | awk '/^lost samples:/ { print $3 }')" 'lost'

it 'the stacks that the program sees, below those of node itself'
assert_stacks spin "s/^.*;Module[^;]*;\(anonymous\):1( \(script.js\))?;/(anonymous);/; s/(\(anonymous\)):[0-9]+/\1/g"

it 'file and line'
assert_eq "$PWD/script.js" "$(row spin 9)" 'file'
assert_eq "$(grep -n '^function spin' script.js | cut -d : -f 1)" "$(row spin 10)" 'line'
assert_eq "$(grep -n 'generated(ms) {' script.js | cut -d : -f 1)" "$(row generated 10)" 'line of a method'

it 'nearly nothing is without a name'
"$DUMP" -q -f csv -o - profile >rows
awk -F , 'NR > 1 { all += $2 } $7 ~ /made at run time/ { ns += $2 } END { exit !(all && ns < all / 20) }' rows ||
	fail "$(grep 'made at run time' rows)"

# Their own lines (as to callees, shares are those of functions): each of the three
# loops in `leaf` has its part.
assert_loops() { # OPTION...
	program lines.js >lines.js
	"$RUN" -q -m sample -o lines_profile node --no-enable-lazy-source-positions --no-opt "$@" lines.js >out 2>err ||
		fail "exit status $?: $(cat err)"
	"$DUMP" -q -f csv --by line --script -o lines lines_profile
	awk -F , -v first="$(grep -n '// 60' lines.js | cut -d : -f 1)" '
		$6 ~ /\/lines.js$/ && $7 >= first - 2 && $7 <= first + 5 {
			all += $2
			part[int(($7 - first + 1) / 2)] += $2; n += $1 }
		END { print n, part[0] / all, part[1] / all, part[2] / all
		      for (i = 0; i < 3; i++) {
			      share = i ? i == 1 ? 0.3 : 0.1 : 0.6
			      off = part[i] / all - share
			      most = 0.04 + 4 * sqrt(share * (1 - share) / n)
			      bad += off > most || off < -most }
		      exit !(n >= 50 && !bad) }' lines >shares ||
		fail "samples, and shares, not 60, 30, 10 %: $(cat shares)"
}

it 'lines: of the interpreter'
assert_loops --no-sparkplug

it 'lines: of the baseline compiler'
assert_loops --always-sparkplug

it 'lines: of calls, in optimised code'
"$RUN" -q -m sample -o lines_profile node --no-enable-lazy-source-positions lines.js >out 2>err ||
	fail "exit status $?: $(cat err)"
"$DUMP" -q -f csv --by line --script -o lines lines_profile
awk -F , -v call="$(grep -n 's += between(' lines.js | cut -d : -f 1)" -v outer="$(grep -n '^outer(' lines.js | cut -d : -f 1)" '
	$6 ~ /\/lines.js$/ { incl[$7] = $3 }
	END { print incl[call], incl[outer]
	      exit !(incl[call] > 0.8 * incl[outer] && incl[call] <= incl[outer]) }' lines >shares ||
	fail "the line of the call, and that of its function's: $(cat shares)"

it 'functions that the compiler has put into others'
"$RUN" -q -m sample -o inlined_profile node lines.js >out 2>err || fail "exit status $?: $(cat err)"
"$DUMP" -q -f folded --script -o - inlined_profile | awk '
	{ ns = $NF; sub(/ [0-9]+$/, "") }
	/;fib$/ { all += ns; good += /;outer;between;fib(;fib)*$/ ? ns : 0 }
	END { print good, all; exit !(good > 0 && good >= 0.99 * all) }' >shares ||
	fail "ns in fib, below between, and all: $(cat shares)"
