# shellcheck shell=bash
# swizzle-dump -f rings: the segments of the rings against what a program says of
# its own calls, and against the times that -f chrome has.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gcc g++ dot
need_targets fib workers
export SWIZZLE_MODE=trace

read_rings() { # what, files
	python3 "$TOP/tests/e2e/read_rings.py" "$@"
}

# It counts its calls, and says of each: function, the counts at its begin and
# end, the levels of calls inside, the functions that it has called.
program order.c >order.c
gcc -O1 -g -o order order.c || abort 'no program'
"$RUN" -q -A 'work@arg1/i32' -o order.trace ./order >truth || abort 'no trace'
assert_ge "$(grep -c . truth)" 25 'calls'

it 'with a tick for each call the rings are what the program says'
capture "$DUMP" -q -f rings -F main --ring-clock calls -o calls.svg order.trace
assert_status 0
assert_empty err
read_rings calls calls.svg >got 2>err || fail "$(tail -n 1 err)"
sort -k2n truth >expected
assert_same expected got
! have xmllint xmllint || xmllint --noout calls.svg || fail 'not well-formed'

it 'a path has one colour, another path another'
read_rings colours calls.svg truth >got 2>&1 || fail "$(tail -n 1 got)"
assert_ge "$(cat got)" 4 'paths of work'

it 'of calls that call nothing the colour is what they return, or their arguments'
program leaves.c >leaves.c
gcc -O1 -g -o leaves leaves.c || abort 'no program'
"$RUN" -q --args='[en]*' -o leaves.trace ./leaves || fail "status $?"
"$DUMP" -q -f rings -F main --ring-clock calls -o leaves.svg leaves.trace || fail "status $?"
read_rings paths leaves.svg even >got
printf 'calls nothing, returns %s\n' '= 0' '< 0' '> 0' '< 0' '> 0' '< 0' >expected
assert_same expected got
read_rings paths leaves.svg none >got
printf 'calls nothing, n %s\n' '< 0' '= 0' '> 0' '> 0' '> 0' '> 0' >expected
assert_same expected got

it 'with -F the clock is of what is shown; arrows have the colour of their caller'
"$DUMP" -q -f rings -F work -o work.svg order.trace || fail "status $?"
python3 - work.svg <<'END' || fail 'the clock, or an arrow'
import re, sys
text = open(sys.argv[1]).read()
begin, end = (int(re.search(f'data-{k}="(-?\\d+)"', text)[1]) for k in ('begin', 'end'))
times = [tuple(map(int, m)) for m in re.findall(r'data-from="(-?\d+)" data-to="(-?\d+)"', text)]
assert begin == min(a for a, _ in times) and end == max(b for _, b in times), (begin, end, times)
discs = dict(re.findall(r'data-name="(\w+)".*?<circle r="[\d.]+" fill="rgb[^"]*" stroke="([^"]*)"', text, re.S))
edges = re.findall(r'class="edge".*? stroke="([^"]*)" marker-end.*?<title>(\w+) to', text)
assert len(edges) >= 3 and all(discs[name] == colour for colour, name in edges), (discs, edges)
END

it 'colours are by arguments'
capture "$DUMP" -q -f rings -F main --ring-clock calls --ring-paths arguments \
	-o arguments.svg order.trace
assert_status 0
read_rings paths arguments.svg work >got
printf '%s\n' '> 0' '> 0' '> 0' '> 0' '< 0' '= 0' '> 0' '< 0' '> 0' '> 0' |
	sed 's/^/arg1 /' >expected
assert_same expected got

it 'with real time they begin and end when chrome says'
capture "$DUMP" -q -f rings -F main -o time.svg order.trace
assert_status 0
"$DUMP" -q -f chrome -F main -o chrome order.trace
read_rings chrome time.svg chrome >got 2>&1 || fail "$(tail -n 1 got)"
assert_eq "$(($(grep -c . truth) + 1))" "$(cat got)" 'calls compared'

it 'what is left out is said'
capture "$DUMP" -q -f rings -F main -n 2 -o few.svg order.trace
assert_status 0
assert_eq 2 "$(grep -c '<g class="function"' few.svg)" 'functions'
assert_contains few.svg 'order: 2 of 5 functions, with the most self time'
shown=$(read_rings sum few.svg | awk '{ n += $2 } END { print n + 0 }')
assert_contains few.svg "Left out: $(($(grep -c . truth) + 1 - shown)) calls"

it 'many calls make few segments, and all are counted'
"$RUN" -q -o fib.trace "$TARGETS/fib" >out || abort 'no trace of fib'
capture "$DUMP" -q -f rings -o fib.svg fib.trace
assert_status 0
assert_eq "fib $(calls_of fib.trace fib)" "$(read_rings sum fib.svg | grep '^fib ')"
assert_le "$(grep -c '<path class="call"' fib.svg)" 15000 'segments'
[ "$(wc -c <fib.svg)" -lt 5000000 ] || fail 'a large picture'

it 'calls of all threads are there'
"$RUN" -q -o workers.trace "$TARGETS/workers" >out || abort 'no trace of workers'
"$DUMP" -q -f rings -n 0 -o workers.svg workers.trace || fail "status $?"
read_rings sum workers.svg | grep -E '^[a-z_]+ [0-9]+$' >got
assert_ge "$(grep -c . got)" 2 'functions'
while read -r name calls; do
	assert_eq "$(calls_of workers.trace "$name")" "$calls" "calls of $name"
done <got

it 'names are escaped'
cat >names.cc <<'END'
struct A { int n; };
template <class T> __attribute__((noinline)) bool operator<(const T &a, int b)
{
	static volatile int sink;
	sink = b;
	return a.n < sink;
}
int main(int argc, char **) { return A{argc} < 0; }
END
g++ -O1 -g -o names names.cc || abort 'no program'
"$RUN" -q -o names.trace ./names || abort 'no trace'
"$DUMP" -q -f rings --demangle full -o names.svg names.trace || fail "status $?"
read_rings sum names.svg >got
assert_contains got 'bool operator< <A>(A const&, int)'

it 'without graphviz there is a message, and nothing is written'
echo before >kept.svg
PATH=/nowhere capture "$DUMP" -q -f rings -o kept.svg order.trace
assert_refused 1 'install the package graphviz'
assert_eq before "$(cat kept.svg)"
mkdir broken
printf '#!/bin/sh\necho graph 1 x\n' >broken/dot
chmod +x broken/dot
PATH=$PWD/broken:$PATH capture "$DUMP" -q -f rings -o kept.svg order.trace
assert_refused 1 'no layout that can be read'
printf '#!/bin/sh\nexit 3\n' >broken/dot
PATH=$PWD/broken:$PATH capture "$DUMP" -q -f rings -o kept.svg order.trace
assert_refused 1 'failed with status 3'

if have 'the picture in a browser' chromium; then
	"$DUMP" -q -f rings -o zoom.svg order.trace
	timeout 300 python3 - "$TOP/tests/html" zoom.svg <<-'END' || fail 'no zoom'
		import os, sys
		sys.path.insert(0, sys.argv[1])
		import browser
		BOX = 'document.documentElement.getAttribute("viewBox").split(" ").map(Number)'
		with browser.Browser(800, 600) as page:
		    page.call('Page.navigate', url='file://' + os.path.abspath(sys.argv[2]))
		    page.wait('document.documentElement.getAttribute("height") === "100%"')
		    whole = page.eval(BOX)
		    page.mouse('mouseWheel', 500, 300, deltaX=0, deltaY=-500)
		    page.wait('%s[2] < %r' % (BOX, whole[2]))
		    zoomed = page.eval(BOX)
		    assert zoomed[0] > 0 and zoomed[0] + zoomed[2] < whole[2], zoomed
		    page.mouse('mousePressed', 400, 300, button='left', clickCount=1)
		    page.mouse('mouseMoved', 300, 300, button='left', buttons=1)
		    page.mouse('mouseReleased', 300, 300, button='left', clickCount=1)
		    page.wait('%s[0] > %r' % (BOX, zoomed[0]))
		    assert page.eval(BOX)[2] == zoomed[2]
		    page.key('0')
		    assert page.eval(BOX) == whole, page.eval(BOX)
		    assert not page.complaints, page.complaints
	END
fi

it 'wrong options are refused'
capture "$DUMP" -f rings --ring-clock cals order.trace
assert_refused 2 "did you mean 'calls'"
capture "$DUMP" -f rings --ring-paths callers order.trace
assert_refused 2 'There are: callees, arguments'
capture "$DUMP" -f text --ring-clock calls order.trace
assert_refused 2 'no use for --ring-clock'
"$RUN" -q -m profile -o sums ./names || abort 'no profile'
capture "$DUMP" -f rings -o sums.svg sums
assert_refused 1 'trace'

finish
