#!/bin/bash
# swizzle-dump -f html --diff in headless Chromium (tests/html/compared.py),
# compared with what csv and json say of the same runs.
. "$(dirname "$0")/lib.sh"

need python3 g++
need_chromium

shows() { # WHAT OLD... -- NEW...
	timeout 300 python3 "$TOP/tests/html/compared.py" "$DUMP" "$@" >wrong 2>&1 ||
		fail "$* $(head -n 30 wrong)"
}

g++ -O1 -o slow "$TOP/tests/e2e/slower.cc" || abort 'no program'
"$RUN" -o once ./slow || abort 'no profile'
# one run whose clock ran at so many speeds
python3 "$TOP/tests/e2e/at_other_speeds.py" once before 0.98 1 1.02 -- \
	after 1.98 2 2.02 || abort 'no profiles'

it 'what takes twice as long is red, half as long green, the same grey'
shows slower before.* -- after.*
shows faster after.* -- before.*
shows noise before.* -- before.*

it 'one run of each: the noise is unknown'
shows unknown before.1 -- after.1

it 'two versions: what is new, and what is gone'
for version in old new; do
	mkdir $version
	later=()
	[ $version = old ] || later=(-DLATER)
	cp "$TOP/tests/e2e/versions.cc" half.cc
	g++ -O1 -g -pthread -DPART "${later[@]}" -c -o half.o half.cc &&
		g++ -O1 -g -pthread "${later[@]}" -c -o rest.o "$TOP/tests/e2e/versions.cc" &&
		g++ -pthread -o $version/prog rest.o half.o || abort 'no program'
	"$RUN" -o $version.1 $version/prog || abort 'no profile'
done
shows unknown old.1 -- new.1
assert_ge "$("$DUMP" -q -f csv --diff old.1 new.1 | grep -c ',new,\|,gone,')" 2 \
	'rows on one side only'

it 'threads are added up, or have a file for each name'
capture "$DUMP" -f html -o page --by thread,files --diff old.1 new.1
assert_status 0
assert_ge "$(find . -maxdepth 1 -name 'page*' | wc -l)" 3 pages

finish
