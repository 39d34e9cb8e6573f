#!/usr/bin/env bash
# dump_this: the fields of objects are what the program says that they are, at each
# entry and return; changes are those that there were.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 g++

program program.cc >program.cc
program read.py >read.py
cat >config <<'END'
[class@account]
dump_this = yes
[module@lib*]
show = no_calls
[func@std::*]
show = no_calls
[func@base::*]
show = no
END
for level in -O0 -O2; do
	it "shows what the program says, $level"
	g++ -g $level -o program program.cc || abort 'no program'
	"$RUN" -q -m trace --config config -F 'account::*' -o profile ./program >truth || abort 'no profile'
	"$DUMP" -q --config config -H '!account::*' -f calls profile >calls
	python3 read.py calls >shown || fail "$(head -n 5 shown)"
	assert_same truth shown
done

it 'says how the object of a call that failed differs'
assert_matches calls 'deposit\(.*n = 6\) = -1.*<- unlike the last that succeeded: .*open = false, not true'
assert_matches calls 'deposit\(.*n = 7\) = -1.*<- unlike the last that succeeded: .*state = CLOSED, not IDLE'
assert_matches calls 'look\(.*\) = 1  \*this: unchanged'

it 'marks changes by colour'
"$DUMP" -q --config config -H '!account::*' -f calls --color=always -o - profile >coloured
assert_matches coloured $'\033\\[[0-9;]*mwhere.height: 0.5 -> 1.25\033'

it 'shows the same in a page'
if has_chromium; then
	"$DUMP" -q --config config -H '!account::*' -f calls-html -o page.html profile
	timeout 300 python3 "$TOP/tests/html/calls.py" objects page.html calls "$TMP/page.png" \
		>wrong 2>&1 || fail "$(head -n 20 wrong)"
fi

it 'decides by a text in the object'
cp config deciding
printf '[func@account::deposit]\nonly_show_if = arg,*this.owner,==,"brief"\n' >>deciding
"$RUN" -q -m trace --config deciding -F 'account::*' -o profile ./program >/dev/null ||
	abort 'no profile'
"$DUMP" -q --config config -f calls profile >calls
assert_eq 1 "$(grep -c 'deposit(' calls)" 'deposits of brief'
assert_matches calls 'deposit\(.*owner = "brief".*n = 6\) = -1'

it 'shows the fields that were asked for'
cat >few <<'END'
[class@account]
dump_this = where.at,open
END
"$RUN" -q -m trace --config few -F 'account::*' -o profile ./program >/dev/null || abort 'no profile'
"$DUMP" -q -H '!account::*' -f calls profile >calls
assert_matches calls 'deposit\(this = 0x[0-9a-f]+, \*this = \{where.at.x = 1, where.at.y = 2, open = true\}, n = 3\) = 3  \*this: where.at.x: 1 -> 4$'

finish
