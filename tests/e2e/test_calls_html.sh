#!/usr/bin/env bash
# -f calls-html and --file-per-invocation: the pages show what the program says of
# its calls.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 g++
need_targets changed

program program.cc >program.cc
# shellcheck disable=SC2015 # abort if it fails
g++ -g -O1 -o program program.cc || abort 'no program'

record() { # ROUNDS PROFILE
	"$RUN" -q -m trace --args='leaf' --args='fails' --args='throws' --args='fib' --args='work' \
		-o "$2" ./program "$1" >"$2.truth" || abort 'no profile'
}
# The calls that the program tells of.
dump() {
	"$DUMP" -q -F work -N '__cxa*' -N '_Unwind*' -N 'std::*' "$@"
}
record 20 profile
record 400 large

it 'is written as one page'
capture "$DUMP" -f calls-html profile
assert_status 0
assert_empty out
page=swizzle.$(info_value profile pid).calls.html
assert_contains err "wrote $page"
assert_eq '<!doctype html>' "$(head -n 1 "$page")" 'first line'
assert_eq '</html>' "$(tail -n 1 "$page")" 'last line'

it 'writes a file for each call, and an index'
dump -f calls --file-per-invocation -o texts/ profile || fail 'no texts'
assert_eq 20 "$(find texts -name '0*.txt' | wc -l)" 'files'
grep -P '^0\twork' profile.truth >roots
awk '!/^#/ { sub(/.*  /, ""); print }' texts/index.txt >rows
awk -F '\t' '{ print $2 " " $3 }' roots >wanted
assert_same wanted rows
assert_matches texts/00002.txt 'work\(n = 1\).* \{$|! int'
without_times() { # those differ by a column
	sed 's/^[0-9. ]*\([mun]*s\)* *//'
}
dump -f calls profile | sed -n '/ work(n = 5)/,/} work/p' | without_times >part
sed 1,2d texts/00006.txt | without_times >file
assert_ge "$(wc -l <part)" 10 'lines'
assert_same part file

it 'says which calls have no file'
capture "$DUMP" -F work -f calls-html --file-per-invocation -n 7 -o few large
assert_status 0
assert_contains err 'wrote an index and 7 files into few'
assert_contains err '393 of 400 calls are in the index alone: -n N writes more files'
assert_eq 7 "$(find few -name '0*.html' | wc -l)" 'files'

it 'leaves out the shortest calls of a trace that is too large, and says so'
capture "$DUMP" -F work -f calls-html -n 300 -o cut.html large
assert_status 0
assert_matches err '[0-9]+ of [0-9]+ calls were left out, those shorter than [0-9]+ ns'

need_chromium

look() { # WHAT PAGE TRUTH [MORE]...
	timeout 300 python3 "$TOP/tests/html/calls.py" "$@" >wrong 2>&1 ||
		fail "$(head -n 20 wrong)"
}

it 'shows what the program says of its calls'
dump -f calls-html -o whole.html profile
look whole whole.html profile.truth "$TMP/whole.png"

it 'says where errors come from as -f calls does'
capture "$RUN" -q -m trace -A 'adds@arg1/i32,retval/i32' \
	-A 'plain@arg1/i32,retval/i32' -A 'main@retval/i32' -o errors "$TARGETS/changed"
assert_status 0
"$DUMP" -q -f calls errors >errors.calls
assert_contains errors.calls '  <- first returned here, or by refuses.isra.0'
assert_matches errors.calls '  <- first returned here$'
"$DUMP" -q -f calls-html -o errors.html errors
look errors errors.html errors.calls

it 'shows the longest of too many'
dump -f calls-html -n 300 -o cut.html large
look cut cut.html large.truth 300

it 'has a page for each call'
dump -f calls-html --file-per-invocation -o pages profile
look index pages profile.truth work 20 "$TMP/index.png"
dump -f calls-html --file-per-invocation -n 5 -o few profile
look index few profile.truth work 5

finish
