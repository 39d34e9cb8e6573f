# shellcheck shell=bash
# Whatever files are given, a process counts once: a file that is given twice, a
# copy, an archive, a part of it, a sum beside what it is of.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets workers

mkdir in
for name in a b c; do
	"$RUN" -q -o in/$name "$TARGETS/workers" >/dev/null
done
calls_of() { # FILE...: of one function; the program has 100
	capture "$DUMP" -f text "$@"
	assert_status 0
	row "$TMP/out" calls shop::round
}
assert_eq 100 "$(calls_of in/a)" calls
assert_eq 300 "$(calls_of in)" 'calls of three'

it 'a file that is given twice'
assert_eq 100 "$(calls_of in/a in/a)" calls
assert_eq 'swizzle: in/a: given twice, counted once' "$(cat err)"
assert_eq 300 "$(calls_of in in/b)" calls
assert_eq 'swizzle: in/b: given twice, counted once' "$(cat err)"
assert_eq 100 "$(calls_of -q in/a in/a)" calls
assert_empty err

it 'a copy, an archive, and a part'
cp in/a copy
"$DUMP" -q -f archive -o copy.swz in/a
head -c "$(($(stat -c %s in/a) / 2))" in/a >part
for other in copy copy.swz ./in/a; do
	assert_eq 100 "$(calls_of in/a $other)" "calls with $other"
	assert_eq "swizzle: $other: left out, as in/a has the same process" "$(cat err)"
done
assert_eq 100 "$(calls_of part in/a)" calls
assert_contains err 'swizzle: part: left out, as in/a has the same process'

it 'a sum beside what it is of'
"$DUMP" -q --merge-into sum in/a in/b
assert_eq 200 "$(calls_of sum in/a)" calls
assert_eq 'swizzle: in/a: left out, as sum has the same process' "$(cat err)"
assert_eq 200 "$(calls_of in/a sum)" calls
assert_eq 300 "$(calls_of in sum)" calls
assert_eq 200 "$(calls_of sum sum)" calls
assert_eq 'swizzle: sum: given twice, counted once' "$(cat err)"
"$DUMP" -q --merge-into other in/b in/c
calls_of sum other >twice
assert_eq 400 "$(cat twice)" calls
assert_eq 'swizzle: sum and other have processes in common, which count twice. Name the profiles that they are sums of' \
	"$(cat err)"

it 'samples and counts of one run are two'
if "$RUN" -q -m both -o both "$TARGETS/workers" >/dev/null 2>&1; then
	capture "$DUMP" -f text both both.samples
	assert_not_contains err 'left out'
fi

it 'formats that show files one by one show each'
capture "$DUMP" -f info in/a in/a
assert_empty err
assert_eq 2 "$(grep -c '^contexts:' out)" 'profiles'

finish
