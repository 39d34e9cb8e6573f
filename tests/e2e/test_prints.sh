# shellcheck shell=bash
# --prints: what the program prints, as it is seen where it goes; functions of its own
# that print; the bands of the page.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gcc
need_targets flows values
export XDG_CONFIG_HOME=$PWD/none

program prints.c >prints.c
gcc -g -O1 -fno-builtin -o prints prints.c || abort 'no program'
./prints >native.out 2>native.err
cat >bands.conf <<'END'
[func@log_*]
prints = text
prefix = "> "
colour = magenta
band = logging
[func@step]
list_args = yes
band = steps
colour = green
END
for n in 1 2 3 4; do
	case $n in 2) echo two ;; 4) echo even ;; *) echo odd ;; esac
	printf '%s\n' "step $n of 4" "error $n" abcdef
done >lines
printf '%s\n' 'odd|abcdef|two|abcdef|odd|abcdef|even|abcdef|formatted and 42' 'two|lines' \
	'at once' >>lines

printed() { # FILE: the texts of -f calls that go to a terminal or a log
	sed -nE 's/.*(puts|fputs|fwrite|log_message)\(.*text = "(.*)"\).*/\2/p
		s/.* write\(fd = [12], text = "(.*)"\).*/\1/p' "$1" |
		sed 's/\\n/|/g; s/|$//' | grep .
}

it 'records what the program prints, which stays the same'
for cache in --cache --cache --no-cache; do
	capture "$RUN" -q -m trace $cache --prints --config bands.conf --string-bytes 200 \
		-o profile ./prints
	assert_status 0
	assert_same native.out out
	assert_same native.err err
	"$DUMP" -f calls profile >calls || fail 'calls'
	printed calls >got
	# (the outer call of "at once" and the inner one)
	sed '$p' lines >expected
	assert_same expected got
	assert_contains calls ' puts(text = '
	assert_contains calls 'write(fd = '
	assert_contains calls 'text = "not shown") = 9'
	assert_not_contains calls 'malloc'
done

it 'costs nothing without the option'
"$RUN" -q -m trace --args -o plain ./prints >/dev/null 2>&1
"$DUMP" -f calls plain >calls
assert_not_contains calls write
capture "$RUN" -m profile --prints ./prints
assert_refused 2 'option --prints is for --mode trace only'

it 'with --flows, what woke what stays known'
"$RUN" -q -m trace --flows --prints -o flows/ "$TARGETS/flows" pipes >flows.out ||
	fail "status $?"
"$DUMP" -f calls -o flows.calls flows/* 2>err || fail 'calls'
python3 "$TOP/tests/e2e/read_flows.py" calls flows.calls >got.arrows 2>err || fail "$(cat err)"
awk '$2 == ">" { n[$1] += $4 } END { for (c in n) print "woken by " c ": " n[c] }' flows.out |
	sort >want
sort got.arrows >got
assert_same want got
assert_matches flows.calls 'write\(fd = [0-9]+.*, text = "'

it 'says what is wrong in the configuration'
printf '[func@x]\nprints =\n' >wrong.conf
capture "$DUMP" -f calls --config wrong.conf profile
assert_refused 2 'wrong.conf:2: prints: a value is missing'

if has_chromium; then
	it 'the page has bands of them'
	timeout 200 python3 "$TOP/tests/html/bands.py" "$DUMP" profile bands.conf lines \
		>wrong 2>&1 || fail "$(cat wrong)"
fi

finish
