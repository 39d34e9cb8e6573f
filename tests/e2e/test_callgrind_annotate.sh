# shellcheck shell=bash
# callgrind_annotate reads what swizzle-dump writes, and its figures are ours.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need callgrind_annotate
need_targets fib exceptions longjmp tailcalls processes shape threads ends

plain_number() { # 1,234,567 (100.0%) ...
	echo "${1%% *}" | tr -d ,
}

# Reads the callgrind file: no warning, its total is ours, nothing above it.
check_file() { # CALLGRIND-FILE TOTAL
	local shown largest
	for inclusive in no yes; do
		callgrind_annotate --inclusive=$inclusive --threshold=100 \
			--show-percs=no "$1" >annotated 2>annotated.err ||
			fail "callgrind_annotate: status $?"
		assert_empty annotated.err
		shown=$(plain_number "$(sed -n 's/ *PROGRAM TOTALS.*//p' annotated | xargs)")
		assert_eq "$2" "$shown" "PROGRAM TOTALS of $1"
	done
	largest=$(sed '1,/PROGRAM TOTALS/d' annotated |
		awk '$1 ~ /^[0-9,]+$/ { gsub(",", "", $1); print $1 }' |
		sort -n | tail -n 1)
	assert_ge "$2" "${largest:-0}" "largest inclusive time in $1"
	# in this order, which KCachegrind wants
	assert_eq '# callgrind format' "$(head -n 1 "$1")"
	# (what waited comes behind it)
	assert_eq "$2" "$(awk '$1 == "summary:" { print $2; exit }' "$1")" summary
}

total_of() { # PROFILE [OPTION...]
	local profile=$1
	shift
	"$DUMP" -q -f text "$@" "$profile" |
		sed -n 's/^# total \([0-9]*\) ns.*/\1/p' | head -n 1
}

check_profile() { # PROFILE [with the cost of calls, too]
	local file
	"$DUMP" -f callgrind -o cg "$1" 2>dump.err || fail "swizzle-dump: status $?"
	assert_empty dump.err
	check_file cg "$(total_of "$1")"
	[ -n "${2:-}${TEST_LONG:-}" ] || return 0
	"$DUMP" -f callgrind --no-compensate -o cg "$1"
	check_file cg "$(total_of "$1" --no-compensate)"
}

check_run() { # PROGRAM [ARG...]
	it "${*##*/}"
	rm -f profile
	"$RUN" -o profile -- "$@" >/dev/null 2>&1
	check_profile profile "${first:-}"
}

first=yes check_run "$TARGETS/fib"
# calls of fib(30) by each of its two call sites, and from main
"$DUMP" -f callgrind -o cg profile
assert_eq 2692537 "$(awk '/^calls=/ { sub("calls=", "", $1); sum += $1 }
	END { print sum - 1 }' cg)" 'calls on the edges to fib'
check_run "$TARGETS/fib" 3
check_run "$TARGETS/exceptions" deep
check_run "$TARGETS/exceptions" rethrow
check_run "$TARGETS/longjmp" reenter
check_run "$TARGETS/longjmp" altstack
check_run "$TARGETS/tailcalls" chain
check_run "$TARGETS/tailcalls" recursion
check_run "$TARGETS/tailcalls" mutual 100000
check_run "$TARGETS/shape"
check_run "$TARGETS/threads" short 200
check_run "$TARGETS/ends" abort
check_run /usr/bin/perl -e 'print "$_\n" for sort { $a <=> $b } map { $_ ** 2 % 97 } 1 .. 500'

it 'a filtered run'
"$RUN" -o profile -F 'alpha' -H beta "$TARGETS/shape" >/dev/null
check_profile profile

it 'each of the files of several processes'
"$RUN" -o d/ "$TARGETS/processes" fork >/dev/null
for file in d/*; do
	check_profile "$file"
done

it 'several processes in one file'
"$DUMP" -f callgrind -o cg d/ 2>dump.err
assert_empty dump.err
check_file cg "$("$DUMP" -f text d/ | sed -n 's/^# total \([0-9]*\) ns.*/\1/p')"

it 'one file per thread'
"$RUN" -o profile "$TARGETS/fib" 3 >/dev/null
rm -f cg*
"$DUMP" -f callgrind --by thread,files -o cg profile 2>dump.err
assert_empty dump.err
assert_eq 4 "$(ls cg* | wc -l)" files
for file in cg*; do
	check_file "$file" "$(awk '$1 == "summary:" { print $2 }' "$file")"
done

it 'one part per thread'
"$DUMP" -f callgrind --by thread,parts -o cg profile 2>dump.err
assert_empty dump.err
assert_eq 4 "$(grep -c '^part: ' cg)" parts
assert_eq 4 "$(grep -c '^thread: ' cg)" threads
assert_eq 4 "$(grep -c '^summary: ' cg)" summaries
# compressed names are defined anew in each part
awk '/^part: / { delete known }
	match($0, /^(c?(fn|ob|fl|fi|fe))=\([0-9]+\)/) {
		key = substr($0, RSTART, RLENGTH)
		kind = key ~ /fn=/ ? "fn" : key ~ /ob=/ ? "ob" : "file"
		sub(/^[^=]*=/, "", key)
		if (length($0) > RSTART + RLENGTH) known[kind key] = 1
		else if (!((kind key) in known)) print NR ": " $0
	}' cg >undefined
assert_empty undefined

finish
