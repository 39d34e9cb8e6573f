#!/bin/bash
# swizzle-dump -f html in headless Chromium, with real clicks and keys
# (tests/html/check.py), compared with what the other formats say.
# run: first
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/e2e/profiles.sh"

need python3 perl strip
need_targets late liblate.so flows pages shares fib libnames.so contexts exceptions tailcalls fibers running stages slow_calls
need_chromium

# Two bytes of a name that are no UTF-8.
cp "$TARGETS/libnames.so" "$TMP" || abort 'no library'
cp "$TARGETS"/liblate*.so "$TMP" || abort 'no library'
perl -pi -e 's/invalid_XX_bytes/invalid_\xff\xfe_bytes/g' "$TMP/libnames.so"

record() { # PROFILE OPTION... -- TARGET [ARG...]
	local profile=$1
	shift
	LD_LIBRARY_PATH=$TMP "$RUN" -o "$TMP/$profile" "$@" >"$TMP/out" ||
		fail "$profile: status $?"
}

# Halves what a call costs. A busy machine measures too much; then contexts would have less
# than no time. They have none, and the page, which merges some, leaves away less than others.
lower_cost() { # PROFILE
	python3 - "$TMP/$1" "$DUMP" <<'END' || fail "no costs in $1"
import struct, subprocess, sys
data = bytearray(open(sys.argv[1], 'rb').read())
raw = subprocess.run([sys.argv[2], '-q', '-f', 'raw', '-n', '1', sys.argv[1]],
                     stdout=subprocess.PIPE, check=True).stdout.decode(errors='replace')
number = {line.split()[0]: line.split()[1] for line in raw.splitlines()
          if len(line.split()) > 1}
costs = [int(number['cost_' + where]) for where in ('inside', 'outside')]
at = data.index(struct.pack('<QQ', *costs), 0, 4096)
struct.pack_into('<QQ', data, at, *(cost // 2 for cost in costs))
open(sys.argv[1], 'wb').write(data)
END
}
SCOPE=(-M pages -M libnames.so -M 'libgcc_s*')
record profile "${SCOPE[@]}" -- "$TARGETS/pages"
record sampled --timing sampled -M pages -- "$TARGETS/pages" 1200000
record folded --max-memory 1M -M contexts -- "$TARGETS/contexts"
record imports --imports -M running -- "$TARGETS/running"
# two processes, of which the first has a long command
mkdir "$TMP/both"
record both/ -M dash -M bash -M pages -- sh -c '"$0"; exit 0 "$1"' "$TARGETS/pages" \
	"$(printf 'long %.0s' {1..100})"
# Sources below another root: as they were, gone, no text, long and newer.
source=$(readlink -f "$TOP/tests/targets/pages.cc")
for root in same gone binary long; do
	mkdir -p "$TMP/$root$TARGETS" "$TMP/$root${source%/*}"
	cp "$TARGETS/pages" "$TMP/$root$TARGETS"
done
printf 'a\0b\n' >"$TMP/binary$source"
{ cat "$source" && awk 'BEGIN { while (i++ < 4000) print "// more" }'; } \
	>"$TMP/long$source"
touch -d '+1 hour' "$TMP/long$source"
wanted=(
	profile --no-source nosource :
	profile "--symfs=$TMP/binary" binarysource :
	profile "--symfs=$TMP/long" longsource :
	profile table neighbours search empty hostile :
	sampled table sampled figures_fit :
	folded folded :
	both merged :
	imports waiting
)
if [ -z "${TEST_TIMING:-}" ]; then
	record trace -m trace "${SCOPE[@]}" -- "$TARGETS/pages"
	strip -g -o "$TMP/bare-fib" "$TARGETS/fib" || abort 'strip fails'
	record bare -M bare-fib -- "$TMP/bare-fib" 10 $'turned\xe2\x80\xae\xffend'
	record samples -m sample -- "$TARGETS/shares"
	record stages -m sample -- "$TARGETS/stages"
	record exceptions -m trace -M exceptions -- "$TARGETS/exceptions" next
	record jumps -m trace -M tailcalls -- "$TARGETS/tailcalls" mutual 1000
	record full -m trace --max-size 1M -M fib -- "$TARGETS/fib"
	record ring -m trace --max-size 1M --ring -M fib -- "$TARGETS/fib"
	record many -m trace "${SCOPE[@]}" -- "$TARGETS/pages" 30000
	record switches -m trace --switches -M running -- "$TARGETS/running"
	mkdir "$TMP/woken"
	record woken/ -m trace --flows -- "$TARGETS/flows" sockets
	record fib -m trace -M fib -- "$TARGETS/fib"
	record late -m trace -- "$TARGETS/late"
	record joined -m both -M pages -- "$TARGETS/pages" 1200000
	record kept -m trace --slow handle:100us -- "$TARGETS/slow_calls" causes 2000
	record percent -m trace --percentiles -M tailcalls -- "$TARGETS/tailcalls" mutual 1000
	for profile in trace ring many full fib late; do
		lower_cost $profile
	done
	record fibers -m trace -M fibers -- "$TARGETS/fibers" switch asm 10 20
	wanted+=(
		: profile sorting lines source chart inverted sandwich names threads many_children down up notes themes contrast widths roles keyboard
		: trace table timeline threads search hostile range
		: trace --notrace=twice --hide=catcher table whole
		: trace header tips ruler
		: trace state low
		: bare table shown
		: late own_work own_tips
		: fib large parts absent
		: many large whole table range tips timeline low
		: samples samples
		: stages sampled_range
		: woken flows causes
		: exceptions whole
		: jumps whole
		: percent call_times
		: kept explained explained_places
		: joined counting
		: fibers whole
		: full table untraced
		: ring large untraced
	)
	[ -z "${TEST_LONG:-}" ] || wanted+=(
		: profile --notrace=twice --hide=catcher table down
		: trace --no-compensate table neighbours range
		: trace --from=25% --to=99.9% table
		: full large table untraced
		: fib --from=10% --to=30% large table
		: ring table untraced
	)
	if "$DUMP" -f raw "$TMP/switches" | grep -q '^chunk at .*: SWITCHES'; then
		wanted+=(: switches table waiting off : switches large waiting off)
	fi
fi
it 'shows what the other formats say'
timeout 500 python3 "$TOP/tests/html/check.py" "$DUMP" "${wanted[@]}" \
	>"$TMP/check" 2>&1 || fail "$(cat "$TMP/check")"
[ -z "${TEST_TIMES:-}" ] || cat "$TMP/check"

it 'is named after the process'
capture "$DUMP" -f html "$TMP/profile"
assert_status 0
assert_empty out
page=swizzle.$(info_value "$TMP/profile" pid).html
assert_contains err "wrote $page"
assert_eq '<!doctype html>' "$(head -n 1 "$page")" 'first line'
assert_eq '</html>' "$(tail -n 1 "$page")" 'last line'

it 'says so where no thread was recorded'
python3 - "$TMP/profile" "$TMP/empty" <<'END' || fail 'no such profile'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
used, at, found = len(data), 4096, 0
while at + 24 <= used:
    magic, kind, size = struct.unpack_from('<IIQ', data, at)
    if magic != struct.unpack_from('<I', data, 4096)[0] or not size:
        at += 64
        continue
    # threads, their contexts and what exceptions have ended
    if kind in (4, 5, 6):
        struct.pack_into("<I", data, at + 4, 16)  # padding
        found += 1
    at += size
open(sys.argv[2], 'wb').write(data)
sys.exit(found < 2)
END
capture "$DUMP" -f html -o empty.html "$TMP/empty"
assert_status 0
assert_contains err 'no thread was recorded'
timeout 100 python3 - "$TOP/tests/html" empty.html <<'END' >"$TMP/check" 2>&1 || fail "$(cat "$TMP/check")"
import sys
sys.path.insert(0, sys.argv[1])
import browser
with browser.Browser() as page:
    page.open(sys.argv[2], "document.querySelector('#loading.failed')")
    text = page.eval("document.querySelector('#loading').innerText")
    assert 'No thread was recorded' in text, text
    assert not page.complaints, page.complaints
END
for format in csv json speedscope folded dot pprof; do
	rm -f part
	capture "$DUMP" -f $format --by thread,parts -o part "$TMP/empty"
	assert_status 0
	assert_exists part
done

finish
