# shellcheck shell=bash
# swizzle-run --report: the answer in one command. The program runs as a child; its
# output, its status and its signals are its own.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib steady
unset SWIZZLE_SUMMARY SWIZZLE_TIMING SWIZZLE_REPORT
export SWIZZLE_MODE=profile
export TERM=dumb

# Rows of a table: CALLS FUNCTION
assert_table_of() { # FUNCTION FILE
	assert_matches "$2" '^100% is [0-9.]+ [nmµu]?s'
	assert_matches "$2" "^ *[<0-9.]+% .*  $1 "
}

it 'the table on standard error, the rest as without swizzle'
"$TARGETS/fib" >native
capture "$RUN" --report -o one "$TARGETS/fib"
assert_status 0
assert_same native "$TMP/out"
assert_table_of fib "$TMP/err"
assert_contains "$TMP/err" 'swizzle-dump -f html one'
assert_eq 1 "$(grep -c ' wall-clock time' "$TMP/err")" tables
"$DUMP" -q -f table one >table
calls=$(awk 'NF > 2 && $(NF - 1) == "fib" { print $(NF - 2) }' table)
assert_matches "$TMP/err" " $calls  fib "

it 'options of swizzle-dump'
capture "$RUN" --report='-f csv -n 1 -s calls' -o one "$TARGETS/fib"
assert_eq "$(printf '%s' "$calls" | tr -d ,)" \
	"$(awk -F, '$7 == "fib" { print $1 }' "$TMP/err")" calls
SWIZZLE_REPORT='-n 1' capture "$RUN" -q -o one "$TARGETS/fib"
assert_table_of fib "$TMP/err"
assert_matches "$TMP/err" '^1 of [0-9]+ functions'
SWIZZLE_REPORT=0 capture "$RUN" -q -o one "$TARGETS/fib"
assert_empty "$TMP/err"

it 'wrong options are refused before the program runs'
for wrong in --no-such '-f no-such' '-s no-such' -n; do
	rm -f one
	capture "$RUN" -q --report="$wrong" -o one "$TARGETS/fib"
	assert_status 2
	assert_matches "$TMP/err" '^swizzle: (unknown )?option -'
	assert_empty "$TMP/out"
	assert_missing one
done

it 'files of this run alone, by the names that the user gave'
mkdir -p runs/deep
"$RUN" -q -o runs/deep/ sh -c :
capture "$RUN" --report='-f table' -o runs/deep/ sh -c "'$TARGETS/fib' & '$TARGETS/fib'; wait"
assert_matches "$TMP/err" '^4 profiles of 3 processes, 4 threads, '
assert_not_contains "$TMP/err" "sh -c :"
assert_eq 5 "$(find runs -type f | wc -l)" files
capture "$RUN" --report='--by process' -o runs/tree.%p sh -c "'$TARGETS/fib'; exit 4"
assert_status 4
assert_matches "$TMP/err" "^ *[0-9.]+%.*  sh -c '?.*fib"
assert_matches "$TMP/err" "^ *[<0-9.]+%.*    ([^ ]*/)?fib"

it 'ends by the signal that ended the program'
capture "$RUN" -q --report -o killed sh -c 'kill -TERM $$'
assert_status 143
assert_matches "$TMP/err" ' wall-clock time'

it 'what is sent to us goes to the program'
# shellcheck disable=SC2016
"$RUN" -q --report -o told sh -c 'trap "echo told; exit 7" USR1; echo ready
	while :; do sleep 0.05; done' >said 2>err &
run=$!
wait_until grep -q ready said
kill -USR1 $run
wait $run
assert_eq 7 $? 'exit status'
assert_matches said '^told$'
assert_matches err ' wall-clock time'

it 'the program goes on if we are killed'
rm -f said err
"$RUN" -q --report -o alone sh -c 'echo ready; sleep 0.5; echo finished' >said 2>err &
run=$!
wait_until grep -sq ready said
kill -KILL $run
wait $run 2>/dev/null
wait_until grep -q finished said || fail 'it has ended, too'
assert_empty err

it 'the program starts as it does without a report'
show='grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; ls /proc/self/fd; env | grep SWIZZLE_REPORT'
for before in ':' 'trap "" CHLD INT' 'exec 0<&-' 'exec 0<&- 2>&-'; do
	bash -c "$before; \"\$0\" -q -o p sh -c '$show'" "$RUN" >plain
	bash -c "$before; \"\$0\" -q -o p --report sh -c '$show'" "$RUN" >reported 2>err
	assert_same plain reported
done
echo words | "$RUN" -q --report -o p cat >said 2>err
assert_matches said '^words$'
bash -c 'trap "" CHLD; "$0" -q --report -o p sh -c "exit 5"' "$RUN" 2>err
assert_eq 5 $? 'exit status where children are not waited for'

it 'a program whose own status is one of ours'
capture "$RUN" -q --report -o own sh -c 'exit 127'
assert_status 127
assert_matches "$TMP/err" ' wall-clock time'

it 'no table where nothing was run'
capture "$RUN" --report -o none ./no-such
assert_status 127
assert_eq 1 "$(wc -l <"$TMP/err")" lines
capture "$RUN" --report --list "$TARGETS/fib"
assert_status 0
assert_empty "$TMP/err"
capture "$RUN" --report -o ./no/such/ -N '' "$TARGETS/fib"
assert_status 2

it 'samples, and both'
capture "$RUN" -q -m sample --report -o sampled "$TARGETS/fib"
if [ "${status:-}" != 126 ]; then
	assert_status 0
	assert_matches "$TMP/err" ' [0-9,]+ samples?$'
	capture "$RUN" -q -m both --report -o joined "$TARGETS/fib"
	assert_status 0
	assert_matches "$TMP/err" '^Note: counts are exact, times by samples'
	assert_eq 1 "$(grep -c ' wall-clock time' "$TMP/err")" tables
else
	echo "not tested: samples: $(head -n 1 "$TMP/err")"
fi

it 'a process that runs already'
"$TARGETS/steady" round &
steady=$!
wait_until grep -q -x steady /proc/$steady/comm
capture "$RUN" -q -p $steady --for 200ms --report -o attached
if [ $status -ne 126 ]; then
	assert_status 0
	assert_matches "$TMP/err" ' wall-clock time'
else
	echo "not tested: -p: $(head -n 1 "$TMP/err")"
fi
kill $steady
wait $steady 2>/dev/null

it 'a process that is killed meanwhile: its time lasts until then'
sleep 100 &
sleeping=$!
wait_until grep -q -x sleep /proc/$sleeping/comm
"$RUN" -p $sleeping -o slept 2>err &
run=$!
if wait_until sh -c "test -e slept || ! kill -0 $run 2>/dev/null" && [ -e slept ]; then
	sleep 0.8
	kill -KILL $sleeping
	wait $run
	assert_eq 0 $? 'exit status'
	said=$(sed -n 's/.* in \([0-9]*\)\.[0-9]* ms,.*/\1/p; s/.* in \([0-9]*\)\.\([0-9]*\) s,.*/\1\20/p' err)
	took=$("$DUMP" -f info slept | awk '/^duration:/ { print int($2 * 1000) }')
	assert_ge "$took" 700 "ms of the profile"
	assert_le "$took" $((said + 15)) "ms of the profile ($said of the line)"
else
	echo "not tested: -p: $(head -n 1 err)"
fi
kill $sleeping 2>/dev/null

finish
