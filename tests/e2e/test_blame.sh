# shellcheck shell=bash
# swizzle-dump --blame, and the marks of -f calls: who returned an error first,
# and who handed it on, as the program itself says it.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets blamed changed adjusted
export SWIZZLE_MODE=trace

ways() { # FILE: a line for each error, without times and marks
	awk '/^#/ { next }
	!NF { if (way != "") print way; way = ""; next }
	{ sub(/^ *[0-9.]+ +([0-9.]+ [^ ]?s  +)?/, ""); sub(/  <- .*/, "")
	  way = way (way == "" ? "" : " < ") $0 }' "$1"
}

record() { # FILE
	capture "$RUN" -q -A 'load@arg1/i32,retval/i64' \
		-A 'read_header@arg1/i32,retval/i32' -A 'close_file@arg1/i32,retval/i32' \
		-A 'try_once@arg1/i32,retval/i32' -A 'poll_it@arg1/i32,retval/i32' \
		-A 'find@arg1/i32,retval/i32' -A 'translate@arg1/i32,retval/i32' \
		-A 'thrower@arg1/i32,retval/i32' -A 'passes@arg1/i32,retval/i32' \
		-A 'run@arg1/i32,retval/i32' -o "$1" "$TARGETS/blamed"
	assert_status 0
}

it 'follows each error as the program does'
record profile
sort out >expected
assert_eq 7 "$(wc -l <expected)"
"$DUMP" -q -f calls --blame profile >blame || fail 'blame'
ways blame | sort >got
assert_same expected got
assert_contains blame '# 7 errors in '
assert_eq 6 "$(grep -c '  <- first returned here$' blame)"
assert_matches blame 'thrower\(arg1 = 9\) ! int  <- first left here$'
assert_eq 7 "$(grep -c '  <- not handed on$' blame)"

it 'marks the same calls in -f calls'
"$DUMP" -q -f calls profile >calls
for file in blame calls; do
	sed -n 's/^.*[ }] \([a-z_]*\)[ (].*<- first.*/\1/p' "$file" | sort >$file.first
done
sed 's/[ (].*//' expected | sort >expected.first
assert_same expected.first blame.first
assert_same expected.first calls.first
assert_matches calls 'load = -22  <- read_header$'
assert_matches calls 'passes ! int  <- thrower$'

it 'says where a compiler has hidden who was first'
capture "$RUN" -q -A 'adds@arg1/i32,retval/i32' -A 'plain@arg1/i32,retval/i32' \
	-o hidden "$TARGETS/changed"
assert_status 0
hidden='  <- first returned here, or by refuses.isra.0, whose result is not recorded'
"$DUMP" -q --blame hidden >blame
assert_contains blame "adds(arg1 = 1) = -22$hidden"
assert_matches blame ' passes[.]constprop[.]0  <- its result is not recorded$'
assert_matches blame 'plain\(arg1 = 2\) = -5  <- first returned here$'
"$DUMP" -q -f calls hidden >calls
assert_contains calls "} adds = -22$hidden"
assert_matches calls 'plain\(arg1 = 2\) = -5  <- first returned here$'

it 'a thunk and a wrapper that jump on are one call with what they lead to'
capture "$RUN" -q --args='both::load' --args=inner --args=run -o adjusted "$TARGETS/adjusted"
assert_status 0
"$DUMP" -q --blame adjusted >blame
ways blame | sed -E 's/0x[0-9a-f]+/P/g; s/\*of = \{[^}]*\}/OBJECT/' | sort >got
cat >jumps <<'END'
both::load(this = P, file = 2) [through non-virtual thunk to both::load(int)] = -22 < run(of = P, OBJECT, n = 2) = -22 < main
inner(n = 3) [through outer, wrapper] = -5 < run(of = P, OBJECT, n = 1) = -5 < main
END
assert_same jumps got
assert_eq 2 "$(grep -c '  <- first returned here$' blame)"
assert_eq 0 "$(grep -cE '(load|inner).*not handed on' blame)"
"$DUMP" -q -f calls adjusted >calls
assert_not_contains calls '} wrapper'
assert_eq 3 "$(grep -c '  both::load(this' calls)"
# what is asked for is there
"$DUMP" -q -f calls -F wrapper adjusted >calls
assert_eq 2 "$(grep -c ' wrapper {' calls)"
assert_eq 2 "$(grep -c '  inner(n = [23])' calls)"
# with values each is a call
"$RUN" -q --args='[!_]*' -o adjusted "$TARGETS/adjusted" >out
"$DUMP" -q --blame adjusted >blame
assert_contains blame 'wrapper(n = 2) = -5'

it 'takes what an error is from the configuration'
printf '[func@try_once]\nexceptional = no\n[func@run]\nexceptional = retval,==,3\n' >errors
"$DUMP" -q --blame --config errors profile >blame
assert_eq 0 "$(ways blame | grep -c try_once)"
assert_eq 'run(arg1 = 2) = 3 < main' "$(ways blame | grep '^run')"
assert_contains blame '# 6 errors in '

it 'follows what the options choose'
"$DUMP" -q --blame -F poll_it profile >blame
ways blame >got
grep -e '^try' expected >few
echo 'poll_it(arg1 = 3) = -11' >>few
assert_same few got

it 'is coloured where the other formats are'
"$DUMP" -q --blame --color=always profile >blame
assert_contains blame "$(printf '\033[33m  <- first returned here')"
assert_contains blame "$(printf '\033[1;31m= -22')"

it 'says what it does not know'
"$RUN" -q -F main -o plain "$TARGETS/blamed" >out
"$DUMP" -q --blame plain >blame
assert_eq 'thrower ! exception < passes ! exception < run' "$(ways blame)"
assert_contains blame '# 1 error in '
assert_contains blame '# no results are shown'
finish
