# shellcheck shell=bash
# --open of swizzle-run and swizzle-dump: the page is shown in a browser, or a line says how.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib
unset DISPLAY WAYLAND_DISPLAY BROWSER

cat >browser <<'END'
#!/bin/sh
printf '%s\n' "$*" >"$SEEN.part"
mv "$SEEN.part" "$SEEN"
END
chmod +x browser
cp browser xdg-open
export SEEN=$TMP/seen

shown() { # PAGE...: what the browser was given
	wait_until [ -e "$SEEN" ] || fail 'no browser'
	assert_eq "$*" "$(cat "$SEEN")" 'the page'
	rm -f "$SEEN"
}

it 'swizzle-run shows the page when the program ends'
BROWSER=$TMP/browser capture "$RUN" -o profile --open "$TARGETS/fib" 5
assert_status 0
page=$(echo "$TMP"/swizzle.*.html)
shown "$page"
assert_matches err "^swizzle: wrote ${page##*/}$"
assert_contains "$page" '<html'
capture "$TARGETS/fib" 5
cp out plain
rm "$page"
BROWSER=$TMP/browser capture "$RUN" -q -o profile --open "$TARGETS/fib" 5
assert_same plain out
shown "$TMP"/swizzle.*.html

it 'swizzle-dump, with $BROWSER as others take it, or xdg-open'
BROWSER="$TMP/browser --new %s --end:other" capture "$DUMP" -q --open -o 'a page.html' profile
assert_status 0
shown "--new $TMP/a page.html --end"
DISPLAY=:7 PATH=$TMP:$PATH capture "$DUMP" -q -f graph --open -o graph.html profile
shown "$TMP/graph.html"

it 'without a display, and with a browser that is not there'
capture "$DUMP" --open -o p.html profile
assert_status 0
assert_matches err "^swizzle: no browser here[.] Where there is one: scp [^ ]*:'$TMP/p.html' [.] && xdg-open 'p.html'$"
BROWSER=nosuch capture "$DUMP" --open -o p.html profile
assert_status 0
assert_contains err 'BROWSER in the environment: there is no nosuch'
assert_contains err 'no browser here'
assert_missing "$SEEN"

it 'what is no page'
capture "$DUMP" --open -f text profile
assert_refused 2 '--open shows a page: -f html, graph, calls-html or rings'
capture "$DUMP" --open -o - profile
assert_refused 2 "--open needs a file: -o '-' is standard output"
finish
