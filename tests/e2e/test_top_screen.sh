# shellcheck shell=bash
# The screen of swizzle-top, in a terminal emulator: keys are typed, the screen
# is read. What it shows is what the program says of itself or what its profile
# says; the terminal is always as it was.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
SWTOP=$BUILD/bin/swizzle-top
need_built "$RUN" "$DUMP" "$SWTOP" "$LIBSWIZZLE"
need tmux script
need_targets callers fib steady wide_name
unset SWIZZLE_MODE TMUX NO_COLOR

mkdir tmux
echo 'set -g default-terminal screen' >tmux.conf
in_tmux() {
	TMUX_TMPDIR=$TMP/tmux tmux -u -L top -f tmux.conf "$@"
}
# it ends with its last session
in_tmux new-session -d -s kept 'sleep 3600' || abort 'no terminal'
trap 'in_tmux kill-server 2>/dev/null; at_exit' EXIT

start() { # COLUMNS LINES COMMAND: in a shell, in a terminal of that size
	in_tmux kill-session -t top 2>/dev/null
	in_tmux new-session -d -s top -x "$1" -y "$2" \
		"env LC_ALL=C.UTF-8 PS1='\$ ' sh" || abort 'no terminal'
	in_tmux send-keys -t top "stty -a | sed 1d >before; $3; echo \"left \$?\"" Enter
}
type_keys() {
	in_tmux send-keys -t top "$@"
}
look() {
	in_tmux capture-pane -t top -p "$@" >screen
}
shows() { # PATTERN
	look
	grep -qE -- "$1" screen
}
shows_not() {
	look
	! grep -qE -- "$1" screen
}
expect() { # PATTERN: is there, at the latest in a while
	wait_until shows "$1" || {
		fail "no $1 on the screen:"
		excerpt screen
	}
}
leaves() { # STATUS KEY...: and the terminal is as it was
	local wanted=$1
	shift
	[ $# -eq 0 ] || type_keys "$@"
	expect '^left [0-9]'
	assert_matches screen "^left $wanted\$"
	rm -f after
	type_keys 'stty -a | sed 1d >after; echo written' Enter
	expect '^written'
	assert_same before after
	assert_eq 0 "$(in_tmux display-message -p -t top '#{alternate_on}')" \
		'the screen is still there'
}
assert_shows_no() { # FILE PATTERN
	! grep -qE -- "$2" "$1" || fail "there is $2"
}
share() { # FUNCTION: the first figure of its row
	awk -v name="$1" '{ for (i = 1; i <= NF; i++) if ($i == name) {
		print $1 + 0; exit } }' screen
}
totals() { # SORT-OPTION...: the rows' second figures are in that order
	look
	sed -n '4,$p' screen | grep -oE '^ *[^ ]+ +[<0-9.]+%' | sed 's/.* //; s/[<%]//g' >totals
	[ "$(wc -l <totals)" -gt 2 ] && sort -c -n "$@" totals 2>/dev/null
}
assert_about() { # WHAT FOUND WANTED OFF
	awk -v a="$2" -v b="$3" -v off="$4" 'BEGIN {
		exit !(a != "" && a - b <= off && b - a <= off) }' </dev/null ||
		fail "$1: $2, not about $3"
}

it 'functions, callers and callees, threads, modules of a program'
start 80 24 "$SWTOP '$TARGETS/callers' 600000"
expect '^ *[0-9.]+% .* work +callers$'
expect '^ *[0-9.]+% +(100|99[.][0-9])% .* main '
assert_matches screen '^[0-9]+ .*callers .* samples/s .* last '
expect '^CPU +[0-9.]+%  processes 1  threads 1  samples [0-9,]+  lost '
assert_matches screen '^ +SELF +TOTAL +SAMPLES FUNCTION +MODULE$'
assert_eq work "$(sed -n '4{s/ *callers$//;s/.* //;p}' screen)" 'in the first row'
type_keys a Enter # since the beginning
expect '^ *[0-9.]+% .* right '
wait_until shows '  all ([5-9][.]|[0-9]{2}).* s' || fail 'not long enough'
type_keys p
expect FROZEN
assert_about left "$(share left)" 50 8
assert_about middle "$(share middle)" 30 8
assert_about right "$(share right)" 20 8
assert_eq 'called by left main' \
	"$(grep -A 2 'called by' screen | sed 's/^.* m\{0,1\}s//; s/ callers$//; s/- //' | xargs)"
cp screen frozen
sleep 1.5
look
assert_same frozen screen
type_keys p
wait_until shows_not FROZEN || fail 'it stays frozen'
type_keys Down Down Enter # of left
expect '^ *100% .* left +callers'
expect '^ *[0-9.]+% .*[+-] work'
type_keys Escape
expect '^ *100% .* work +callers'
type_keys t
expect '^ +PID +TID +CPU +TIME +SAMPLES THREAD$'
expect '^ *[0-9]+ +[0-9]+ +[0-9.]+% .* callers$'
type_keys m
expect '^ +SELF +TIME +SAMPLES FUNCTIONS MODULE$'
expect '^ *[0-9.]+% .* callers$'
type_keys Enter
expect '^of callers  Esc'
expect ' work +callers$'
assert_shows_no screen ' __libc_start_main '
type_keys Escape Escape
expect '^ +SELF +TOTAL'

it 'a filter, other orders, the list of keys, the delay'
type_keys / MAI
expect '^Only rows with: MAI'
expect '^ *[0-9.]+% +(100|99[.][0-9])% .* main +callers$'
assert_shows_no screen ' work '
type_keys Enter
expect '^/MAI  [0-9]+ rows, [0-9]+ not shown'
type_keys Escape
expect ' work +callers$'
type_keys '>' # TOTAL
expect ' work +callers$'
wait_until totals -r || fail 'not in the order of TOTAL'
type_keys r
wait_until totals || fail 'not in the reversed order'
type_keys '?'
look
for key in Up PgUp Home Enter Right Esc 'f t m' o / '< >' r a p d Ctrl-L '[?]' q; do
	expect "^$key"
done
type_keys Escape r '<' d 0 Enter
expect "^'0' is not a time from 0.1 to 86400 seconds"
type_keys d 0.5 Enter a
expect 'last [45][0-9]{2} ms'

it 'no key sends a signal'
type_keys k
expect '^swizzle-top sends no signals'
type_keys x
expect '^\? lists the keys'

it 'small terminals, and back'
for size in '20 5' '40 10' '1 1' '8 3' '200 50' '80 24'; do
	# shellcheck disable=SC2086 # two words
	set -- $size
	in_tmux resize-window -t top -x "$1" -y "$2"
	[ "$1" -lt 20 ] || expect ' work'
	sleep 0.2
done
expect '^ +SELF +TOTAL +SAMPLES FUNCTION +MODULE$'

it 'the program goes on when swizzle-top leaves'
pid=$(look && awk 'NR == 1 { print $1 }' screen)
leaves 0 q
look -J -S - # lines whole that are longer than the screen is wide
assert_matches screen "runs on as process $pid"
assert_matches "/proc/$pid/comm" '^callers$'
file=$(grep -oE '/[^ ]*swizzle-top\.out\.[A-Za-z0-9]+' screen | head -n 1)
assert_exists "$file"
kill "$pid"
rm -f "$file"

it 'Ctrl-C, Ctrl-\ and SIGTERM leave, Ctrl-Z stops, a crash restores'
"$TARGETS/steady" counter &
steady=$!
start 80 24 "$SWTOP -p $steady"
expect ' fib +steady$'
leaves 0 C-c
start 80 24 "$SWTOP -p $steady"
expect ' fib +steady$'
leaves 0 'C-\'
start 80 24 "$SWTOP -p $steady"
expect ' fib +steady$'
kill "$(pgrep -o -f "^$SWTOP -p $steady")"
leaves 0
for signal in SEGV:139 USR1:138; do
	start 80 24 "$SWTOP -p $steady"
	expect ' fib +steady$'
	kill -"${signal%:*}" "$(pgrep -o -f "^$SWTOP -p $steady")"
	leaves "${signal#*:}"
done
start 80 24 "set -m; $SWTOP -p $steady"
expect ' fib +steady$'
type_keys C-z
expect '^left [0-9]'
type_keys 'stty -a | sed 1d >after; echo stopped' Enter
expect '^stopped'
assert_same before after
type_keys fg Enter
expect ' fib +steady$'
type_keys Down '?'
expect '^q +leave'
type_keys q
expect '^stopped'
has_left() {
	! pgrep -f "^$SWTOP -p $steady" >/dev/null
}
wait_until has_left || fail 'it runs on'
rm -f after
type_keys 'stty -a | sed 1d >after; echo restored' Enter
expect '^restored'
assert_same before after
kill -0 $steady || fail 'the process has ended'

it 'one of the processes that run is chosen, and another one'
"$TARGETS/steady" other &
other=$!
start 100 24 "$SWTOP"
expect '^Which process is to be watched'
expect '^ +PID +CPU +TIME WATCH +COMMAND'
type_keys / targets/steady
expect "^ *$steady +[0-9.]+% .* samples .*/steady"
expect "^ *$other +[0-9.]+% .* samples .*/steady"
type_keys Enter
type_keys '<' '<' # from CPU to the command, then to WATCH
type_keys '>' '>' t
expect '^Choose a process first'
type_keys '?'
expect '^q +leave'
type_keys Escape
expect '^Which process is to be watched'
type_keys / "$steady" Enter
wait_until shows_not "^ *$other .*/steady" || fail 'the filter shows all'
# (other tests may have a process of that name)
type_keys Home Enter
expect "^$steady "
expect ' fib +steady'
assert_matches screen '^[?] keys  q leave  Esc processes'
type_keys t
expect '^ +PID +TID +CPU'
type_keys Escape
expect ' fib +steady'
type_keys Escape
expect '^Which process is to be watched'
# (at once: Enter finds the rows that the filter leaves; one of the two is not the first)
for process in "$other" "$steady"; do
	type_keys / "$process" Enter Home Enter
	expect "^$process "
	type_keys Escape
	expect '^Which process is to be watched'
done
type_keys / "$other" Enter Home Enter
expect "^$other "
expect ' fib +steady'
kill $other
wait $other 2>/dev/null
expect "^Process $other has ended. q leaves, Esc shows the others"
type_keys Escape
expect '^Which process is to be watched'
leaves 0 q
test -z "$(pgrep -x swizzle-sampler -P $$)" || fail 'a sampler is left'
start 100 24 "$SWTOP --rounds 1 -d 0.2"
leaves 0

it 'functions of one thread'
program threads.c >threads.c
gcc -O1 -pthread -o threads threads.c
for command in "./threads" "'$RUN' -q -m profile -o threads.profile ./threads"; do
	start 100 24 "$SWTOP $command"
	expect ' in_one +threads$'
	expect ' in_two +threads$'
	[ "$command" = ./threads ] || expect 'exact counts'
	type_keys t
	expect ' first$'
	type_keys / second Enter
	wait_until shows_not ' first$' || fail 'the filter shows all'
	type_keys Home Enter
	expect 'ONLY THREAD [0-9]+ '
	expect ' in_two +threads$'
	wait_until shows_not ' in_one ' || fail "there is another thread's function"
	type_keys m
	expect '^ *[0-9.]+% .* threads$'
	type_keys f
	expect ' in_two +threads$'
	assert_shows_no screen ' in_one '
	type_keys Escape
	expect ' first$'
	assert_shows_no screen 'ONLY THREAD'
	type_keys f
	expect ' in_one +threads$'
	expect ' in_two +threads$'
	pid=$(look && awk 'NR == 1 { print $1 }' screen)
	leaves 0 q
	output=$(readlink -f "/proc/$pid/fd/1")
	kill "$pid"
	rm -f "$output"
done

it 'a process that ends stays on the screen'
start 80 24 "$SWTOP -p $steady"
expect ' fib +steady$'
kill $steady
wait $steady 2>/dev/null
expect "^Process $steady has ended"
expect ' fib +steady$'
assert_matches screen ENDED
leaves 0 q

it 'the program has its exit status, and its output is there at the end'
start 80 24 "$SWTOP sh -c 'echo written; echo failed >&2; sleep 0.3; exit 7'"
expect 'has ended with status 7'
assert_shows_no screen '^written'
type_keys o
expect '^written$'
assert_matches screen '^failed$'
leaves 7 q
assert_matches screen '^failed$'
start 80 24 "$SWTOP -o kept sh -c 'echo written; exit 3'"
expect 'has ended with status 3'
leaves 3 q
assert_eq written "$(cat kept)"
start 80 24 "$SWTOP sh -c 'echo written; exit 0' >kept 2>&1"
expect 'has ended with status 0'
leaves 0 q
assert_eq written "$(cat kept)"

it 'so many rounds'
start 80 24 "$SWTOP --rounds 2 -d 0.2 '$TARGETS/callers' 1000 >own"
leaves 0

it 'exact counts of a program that runs under swizzle-run'
# (twelve threads: long enough to be seen)
start 80 24 "$SWTOP '$RUN' -q -m profile -o profile '$TARGETS/fib' 12"
expect 'has ended with status 0'
expect '^ +SELF +TOTAL +CALLS +MEAN FUNCTION +MODULE$'
calls=$("$DUMP" -q -f csv -o - profile | awk -F , '$7 == "fib" { print $1 }')
assert_ge "$calls" 1000000 'calls of fib'
look
assert_eq "$calls" "$(awk 'NF > 1 && $(NF - 1) == "fib" { gsub(",", ""); print $3 }' screen)" \
	'calls of fib'
leaves 0 q
"$RUN" -q -m profile -o profile "$TARGETS/steady" counter &
steady=$!
wait_until test -s counter
start 80 24 "$SWTOP -p $steady"
expect '^[0-9]+ .* exact counts '
expect '^ +SELF +TOTAL +CALLS/s +MEAN FUNCTION +MODULE$'
expect '^ *[0-9.]+% +[0-9.]+% +[0-9,]{5,} +[0-9.]+ ns tick +steady$'
leaves 0 q
kill $steady
wait $steady 2>/dev/null

it 'names that are wide, and texts that would move the cursor'
start 40 10 "$SWTOP '$TARGETS/wide_name'"
expect '長い名前'
assert_shows_no screen '時間' # it is cut
pid=$(awk 'NR == 1 { print $1 }' screen)
type_keys o
expect '^\?\[2Jescaped'
type_keys f
in_tmux resize-window -t top -x 80 -y 10
expect ' 長い名前の関数を計算する時間 +wide_name$'
leaves 0 q
start 80 10 "LC_ALL=C $SWTOP -p $pid"
expect ' \?+ +wide_name$'
leaves 0 q

it 'colours, unless they are not wanted'
start 80 10 "$SWTOP -p $pid"
expect ' main +wide_name$'
look -e
assert_matches screen $'\033\\[[0-9;]*31m'
leaves 0 q
start 80 10 "NO_COLOR=1 $SWTOP -p $pid"
expect ' main +wide_name$'
look -e
assert_matches screen $'\033\\[[0-9;]*m'
assert_shows_no screen $'\033\\[[0-9;]*3[1-7]m'
leaves 0 q

it 'terminals that can have no screen'
for name in '' dumb no-such-terminal; do
	TERM=$name script -qec "$SWTOP -p $pid" /dev/null >out 2>&1 </dev/null
	assert_eq 2 $? "exit status, TERM=$name"
	assert_matches out '^swizzle: no screen: .*TERM .*To print without one: swizzle-top -b'
done
TERM=screen capture "$SWTOP" -p "$pid"
assert_status 2
assert_matches err '^swizzle: no screen: standard output is not a terminal\. .* swizzle-top -b$'
assert_empty out
setsid "$SWTOP" touch started >out 2>err </dev/null
assert_eq 2 $? 'exit status'
assert_matches err '^swizzle: no screen: '
assert_missing started
kill "$pid"
rm -f "$(readlink -f /proc/"$pid"/fd/1)"

finish
