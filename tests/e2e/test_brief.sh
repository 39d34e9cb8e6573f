# shellcheck shell=bash
# -f brief: 60 lines of plain text at most, with the figures of the table.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets workers

brief() { # OPTION...: into `out`, as plain text of few lines
	capture "$DUMP" -f brief "$@"
	assert_status 0
	[ "$1" = -n ] || assert_le "$(wc -l <out)" 60 lines
	assert_not_contains out $'\033'
}

it 'calls of each function are those of the table, with who calls it'
"$RUN" -q -m profile -o calls "$TARGETS/workers" >/dev/null || abort 'no profile'
brief -n 0 -s calls calls
mv out whole
dump_table calls
for name in shop::round 'shop::price(int)' main; do
	calls=$(row table calls "$name")
	[ -n "$calls" ] || fail "no row for $name"
	assert_contains whole "$name (workers): self "
	grep -F " $name (workers): " whole | grep -q " $calls calls\\{0,1\\}$" ||
		fail "calls of $name: $(grep -F "$name (" whole)"
done
awk '/ shop::price\(int\) / { getline; print }' whole >callers
assert_matches callers '^      called by .*[0-9]%'
assert_matches whole '^Not to be trusted, or missing:$'
assert_contains whole 'swizzle-dump -f tree -F '
brief calls
assert_matches out '^Functions, 10 of [1-9][0-9]'

it 'counts alone have no times'
"$RUN" -q -m count -o counts "$TARGETS/workers" >/dev/null
brief counts
assert_not_contains out 'self '
assert_not_contains out 'Waiting'
assert_contains out 'swizzle-dump -f graph counts'

it 'counts and samples: what waits'
"$RUN" -q -m both -o both bash -c 'sleep 0.3' >/dev/null
brief both
assert_matches out '^Waiting, '
assert_matches out 'times by samples'

it 'waiting that was not recorded is not 0'
brief calls
assert_matches out '^Waiting(: not recorded|, )'
finish
