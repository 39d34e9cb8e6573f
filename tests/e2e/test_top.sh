# shellcheck shell=bash
# swizzle-top: shares are those of the program's own clock, exact counts are
# those of the profile, the program notices nothing, and what cannot be watched
# is refused.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
SWTOP=$BUILD/bin/swizzle-top
need_built "$RUN" "$DUMP" "$SWTOP" "$LIBSWIZZLE"
need python3
need_targets shares callers patient fib
unset SWIZZLE_MODE

# Where the kernel lets nobody take samples, pauses are all there is.
ENGINES=(pause)
if "$RUN" -q -m sample --engine perf -o try true 2>/dev/null; then
	ENGINES=(perf pause)
else
	echo 'not tested: --engine perf, which is not permitted here'
fi

own() { # NAME: what the program says of itself, ms
	awk -v name="$1" '$1 == name { print $2 }' "$TMP/own"
}

# All rounds together: "hits function", of functions, and "hits" of headings.
sums() { # FILE
	awk '/ (hits?|calls?), / && !/^20/ {
			gsub(",", "", $2); sum[$6] += $2 }
		END { for (name in sum) print sum[name], name }' "$1"
}

# COUNT is within PERMILLE of TOTAL from the share that PART has of ALL; or within
# three standard deviations, where a busy machine leaves room for few.
assert_share() { # WHAT COUNT TOTAL PART ALL PERMILLE
	awk -v n="$2" -v total="$3" -v part="$4" -v all="$5" -v permille="$6" 'BEGIN {
		if (total <= 0) exit 1
		off = n / total - part / all
		if (off < 0) off = -off
		p = part / all
		chance = 3000 * sqrt(p * (1 - p) / total)
		if (chance > permille) permille = chance
		exit off * 1000 > permille }' </dev/null ||
		fail "$1: $2 of $3, not about $4 of $5"
}

if [ "${ENGINES[0]}" = perf ]; then
	it '-b --event'
	"$SWTOP" -b -d 0.4 --percent-limit 0 --event task-clock "$TARGETS/shares" >out 2>err
	assert_eq 0 $? 'exit status'
	assert_empty err
	assert_ge "$(sums out | awk '$2 == "b" { print $1 }')" 5 'hits of b'
fi

for engine in "${ENGINES[@]}"; do
	permille=40
	[ "$engine" = perf ] || permille=120

	it "-b, $engine: shares of a program, with all its hits"
	"$SWTOP" -b -d 0.4 --percent-limit 0 --engine "$engine" sh -c \
		"'$TARGETS/shares' >own" >out 2>err
	assert_eq 0 $? 'exit status'
	assert_empty err
	assert_ge "$(grep -c '^20[0-9-]* [0-9:]*  [0-9.]* s: [0-9,]* ticks, [0-9,]* hits, [0-9,]* missed back traces$' out)" \
		2 'headings'
	sums out >hits
	total=$(awk '{ sum += $1 } END { print sum }' hits)
	assert_ge "$total" 20 'hits'
	assert_eq "$total" "$(awk '/^20/ { gsub(",", ""); for (i = 1; i < NF; i++)
		if ($(i + 1) == "hits") sum += $i } END { print sum }' out)" \
		'hits in the headings'
	# (each looks at the clock, which is in the kernel where the machine is slow)
	total=$(awk '$2 ~ /^[abc]$/ { sum += $1 } END { print sum }' hits)
	for function in a b c; do
		assert_share "$function" "$(awk -v f=$function '$2 == f { print $1 }' hits)" \
			"$total" "$(own $function)" 1000 $permille
	done
	it "-b, $engine: back traces lead to the root"
	awk '/^ +[0-9.]+% .* b  shares/ { on = 1; next } /^20|hits, / { on = 0 }
		on && /^            / { print $1 }' out >frames
	assert_eq 'b main' "$(head -n 2 frames | xargs)"
	assert_contains frames _start

	it "-b, $engine: a process that runs already is not interrupted"
	"$TARGETS/patient" 2500 >printed &
	pid=$!
	"$SWTOP" -b -d 0.5 --rounds 2 --engine "$engine" -p $pid >out 2>err
	assert_eq 0 $? 'exit status'
	assert_empty err
	kill -0 $pid || fail 'it has ended'
	wait $pid
	assert_eq 0 $? "the process's exit status"
	assert_eq 2 "$(grep -c '^20.* hits' out)" rounds
	assert_matches out ' work  patient$'
	assert_matches printed '^waits [0-9]{2,} interrupted 0 early 0$'
done

it '-b: the two thresholds'
"$SWTOP" -b -d 60 --percent-limit 20 "$TARGETS/shares" >out
sums out | cut -d ' ' -f 2 | sort >names # c has 10 %
assert_eq 'a b' "$(xargs <names)"
"$SWTOP" -b -d 60 --backtrace-percent 25 sh -c "'$TARGETS/callers' >own" >out
awk '/ work  callers$/ { on = 1; next } /^20|hits, / { on = 0 } on' out >traces
# left and middle are shown, right is not, and rarely a stack that was cut
assert_eq 'left middle' "$(grep -A 2 -E '^ +[0-9.]+% +[0-9,]+ hits?$' traces |
	grep -xE ' +(left|middle|right)' | xargs)"
assert_matches traces '^ +[0-9.]+% +[0-9]+ other back traces?$'
rest=$(awk '/ other back trace/ { print 10 * $1 }' traces)
assert_share 'right, of the others' "$rest" 1000 "$(own right)" 1000 60
"$SWTOP" -b -d 60 --backtrace-percent 0 "$TARGETS/callers" >out
assert_not_contains out 'other back trace'
assert_matches out ' right$'

it '-b: exact calls, all of them, where the program runs under swizzle-run'
"$SWTOP" -b -d 0.2 --percent-limit 0 "$RUN" -q -m profile -o profile "$TARGETS/fib" >out
assert_ge "$(grep -c '^20.* calls, ' out)" 1 'rounds of calls'
calls=$("$DUMP" -q -f csv -o - profile | awk -F , '$7 == "fib" { print $1 }')
assert_ge "$calls" 1000000 'calls of fib'
assert_eq "$calls fib" "$(sums out | grep ' fib$')"

it '-b: counts without times (-m count)'
"$SWTOP" -b -d 0.2 --percent-limit 0 "$RUN" -q -m count -o profile "$TARGETS/fib" 100 >out
assert_ge "$(grep -c '^20.* calls, no times' out)" 1 'rounds of calls'
assert_eq 0 "$(grep -c '^20.* calls, [0-9]' out)" 'rounds with a time'
assert_eq $((100 * calls)) "$(awk '$1 == "-" && $3 == "calls," && $5 == "fib" {
	gsub(",", "", $2)
	sum += $2 }
	END { printf "%.0f", sum }' out)" 'calls of fib in all rounds'

it 'samples of a run that is counted and sampled'
"$RUN" -q -m both -o pair "$TARGETS/steady" sampled &
profiled=$!
wait_until test -s sampled
capture "$SWTOP" -b -d 0.5 --rounds 1 --percent-limit 0 -p $profiled
assert_matches out '^20.* ticks, [1-9][0-9,]* hits, '
"$SWTOP" -b -d 0.3 >out
assert_matches out "^ *$profiled +[0-9.]+% +[0-9.]+ m?s samples $TARGETS/steady sampled$"
kill $profiled
wait $profiled 2>/dev/null

it '-b -p: the first round has the calls since it began'
rm -f begun
"$RUN" -q -m profile -o profile "$TARGETS/steady" begun &
profiled=$!
wait_until test -s begun
capture "$SWTOP" -b -d 0.5 --rounds 1 --percent-limit 0 -p $profiled
assert_status 0
assert_matches out '^20.* s: [1-9][0-9,]* calls, '
kill $profiled
wait $profiled 2>/dev/null

it '-b: samples of such a program, if they are wanted'
"$SWTOP" -b --samples "$RUN" -q -m profile -o profile "$TARGETS/fib" >out
assert_matches out '^20.* hits, '

it '-b: the program has its exit status, its environment and its descriptors'
for status in 0 7; do
	"$SWTOP" -b "$TARGETS/shares" exit $status >/dev/null
	assert_eq $status $? 'exit status'
done
for ((i = 0; i < 30; i++)); do # the sampler sees the end first, or swizzle-top
	"$SWTOP" -b sh -c 'exit 7' >/dev/null
	assert_eq 7 $? 'exit status of a short program'
done
env -i PATH="$PATH" env >native
env -i PATH="$PATH" "$SWTOP" -b env | sed '/^20/,$d' >found
assert_same native found
sh -c 'ls /proc/self/fd | wc -l' >native
"$SWTOP" -b sh -c 'ls /proc/self/fd | wc -l' | grep -x '[0-9][0-9]*' >found
assert_same native found

it 'a process with many threads'
python3 -c 'import threading, time
for i in range(1200):
	threading.Thread(target=time.sleep, args=(120,), daemon=True).start()
print("there", flush=True)
time.sleep(120)' >many &
pid=$!
wait_until grep -q there many
capture "$SWTOP" -b -d 0.5 --rounds 1 -p $pid
kill $pid
assert_status 0
! grep -q 'it takes a while' err || fail "$(cat err)"
assert_eq 1 "$(grep -c '^20' out)" rounds

it 'the list of processes'
"$TARGETS/steady" counter &
steady=$!
"$RUN" -q -m profile -o profile "$TARGETS/steady" counted &
profiled=$!
wait_until test -s counted
"$SWTOP" -b -d 0.3 >out 2>err &
own=$!
wait $own
assert_eq 0 $? 'exit status'
assert_empty err
assert_matches out '^ +PID +CPU +TIME WATCH +COMMAND$'
assert_matches out "^ *$steady +[0-9.]+% +[0-9.]+ m?s samples $TARGETS/steady counter$"
assert_matches out "^ *$profiled +[0-9.]+% +[0-9.]+ m?s exact   $TARGETS/steady counted$"
assert_eq 1 "$(grep -c 'WATCH' out)" 'lists'
! grep -q "^ *$own " out || fail 'it lists itself'
capture "$SWTOP" -b -d 0.2 --rounds 2
assert_eq 2 "$(grep -c 'WATCH' out)" 'lists'
kill $steady $profiled
wait $steady $profiled 2>/dev/null
# the kernel's own threads are none
if [ "$(awk '{ print ($9 % 4194304 >= 2097152) }' /proc/2/stat 2>/dev/null)" = 1 ]; then
	! grep -q '^ *2 ' out || fail 'it lists a thread of the kernel'
fi

it 'a process that ends meanwhile'
sleep 0.7 &
pid=$!
capture "$SWTOP" -b -d 60 -p $pid
assert_status 0
assert_empty err
assert_eq 1 "$(grep -c '^20' out)" rounds

it 'old names go on, and say so'
capture "$SWTOP" -b -d 0.2s -n 1 --min-percent 20 -p $$
assert_status 0
assert_contains err 'swizzle: option -n is called --rounds now'
assert_contains err 'swizzle: option --min-percent is called --percent-limit now'

it 'what cannot be watched is refused'
sleep 0.01 &
gone=$!
wait $gone
refuse() { # STATUS MESSAGE ARGUMENT...
	local status=$1 message=$2
	shift 2
	capture "$SWTOP" -b "$@"
	assert_status "$status"
	assert_matches err "^swizzle: $message"
	assert_empty out
}
refuse 2 "-p $gone: there is no such process" -p $gone
refuse 2 "option -p: '0' is not a number" -p 0
refuse 2 "option -p: either a process or a program" -p $$ true
refuse 2 'option -o is for a program that is started' -o x
refuse 2 "option -d: '0' is not a time" -d 0 true
refuse 2 "option -d: '1.x' is not a time" -d 1.x true
refuse 2 "option --rounds: '0' is not a number" --rounds 0 true
refuse 2 "option --percent-limit: '101' is not" --percent-limit 101 true
refuse 2 "option -r: '0' is not a number" -r 0 true
refuse 2 'unknown option --bacth; did you mean --batch' --bacth true
refuse 2 "option --engine: unknown engine 'pref'; did you mean 'perf'" --engine pref true
refuse 2 "option --event: unknown event 'cylces'; did you mean 'cycles'" --event cylces true
refuse 2 'option --event is for --engine perf' --event cycles --engine pause true
refuse 127 'no-such-program: not found' no-such-program
if [ "$(id -u)" = 0 ] && have "another user's process" setpriv; then
	sleep 60 &
	pid=$!
	chmod 755 "$TMP"
	capture setpriv --reuid=65534 --clear-groups "$SWTOP" -b -p $pid
	assert_status 126
	assert_matches err "^swizzle: -p $pid: the process belongs to another user"
	kill $pid
fi

it 'no folder is left'
sleep 60 &
pid=$!
"$SWTOP" -b -p $pid >out &
top=$!
# (others may run, too: a file of the process's is in its own)
has_folder() {
	folder=$(echo /dev/shm/swizzle-top.*/$pid)
	folder=${folder%/*}
	[ -d "$folder" ]
}
wait_until has_folder || fail 'there is no folder'
kill -KILL $top
wait $top 2>/dev/null
wait_until test ! -d "$folder" || fail "$folder is there"
kill -0 $pid || fail 'the process has ended'
kill $pid

finish
