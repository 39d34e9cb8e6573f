#!/bin/bash
# swizzle-dump -f html in headless Chromium, with real clicks and keys
# (tests/html/check.py), compared with what the other formats say.
. "$(dirname "$0")/lib.sh"
. "$TOP/tests/e2e/profiles.sh"

need python3 perl
need_targets pages libnames.so contexts
chromium=
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome chrome; do
	[ -z "$name" ] || [ -n "$chromium" ] || ! command -v "$name" >/dev/null ||
		chromium=$name
done
[ -n "$chromium" ] || skip 'needs chromium, which is not there'

check() { # PROFILE WHAT...
	timeout 300 python3 "$TOP/tests/html/check.py" "$DUMP" "$@" \
		>"$TMP/check" 2>&1 || fail "$(cat "$TMP/check")"
}

# Two bytes of a name that are no UTF-8.
cp "$TARGETS/libnames.so" "$TMP" || abort 'no library'
perl -pi -e 's/invalid_XX_bytes/invalid_\xff\xfe_bytes/g' "$TMP/libnames.so"
SCOPE=(-M pages -M libnames.so -M 'libgcc_s*')
LD_LIBRARY_PATH=$TMP "$RUN" "${SCOPE[@]}" -o "$TMP/profile" "$TARGETS/pages" \
	>"$TMP/out" || fail "pages: status $?"

it 'shows what the other formats say'
if [ -n "${TEST_TIMING:-}" ]; then
	check "$TMP/profile" table neighbours search hostile
else
	check "$TMP/profile" table sorting neighbours lines search chart threads \
		down up notes hostile themes
fi

it 'shows the standard error of estimates'
"$RUN" --timing sampled -M pages -o "$TMP/sampled" "$TARGETS/pages" 300000 >"$TMP/out"
check "$TMP/sampled" table sampled

it 'tells of folded contexts'
"$RUN" -M contexts --max-memory 1M -o "$TMP/folded" "$TARGETS/contexts" >"$TMP/out"
check "$TMP/folded" folded

it 'is named after the process'
capture "$DUMP" -f html "$TMP/profile"
assert_status 0
assert_empty out
page=swizzle.$(info_value "$TMP/profile" pid).html
assert_contains err "wrote $page"
assert_eq '<!doctype html>' "$(head -n 1 "$page")" 'first line'
assert_eq '</html>' "$(tail -n 1 "$page")" 'last line'

finish
