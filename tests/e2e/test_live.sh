# shellcheck shell=bash
# --live and --follow print calls while they happen, all of them, and nobody who
# reads them holds the program.
. "${BASH_SOURCE%/*}/lib.sh"
need python3
need_built "$TARGETS/step_by_step"
export SWIZZLE_MODE=trace
STEPS=$TARGETS/step_by_step
VALUES=(-A 'step@arg1/i32,retval/i32' -A 'leaf@arg1/i32,retval/i32')
CHILDREN=()

end_children() {
	local code=$?
	exec 5>&-
	for child in ${CHILDREN[@]+"${CHILDREN[@]}"}; do
		kill "$child" 2>/dev/null
	done
	return "$code"
}
trap 'end_children; at_exit' EXIT

# The texts of calls and ends of each thread, in their order.
texts() { # FILE COLUMN: where the call's text begins
	python3 - "$1" "$2" <<'END'
import collections, re, sys
texts, thread, column = collections.defaultdict(list), None, int(sys.argv[2])
for line in open(sys.argv[1]):
    head = re.match(r"# .*thread (\d+)", line)
    if head:
        thread = head.group(1)
    if line[0] == "#":
        continue
    if column > 20:
        thread = line[20:30].strip()
    text = re.sub(r"  <- .*", "", line[column:].strip())
    leaf = re.match(r"(\w+)((?:\(.*?\))?)((?: = .*)?)$", text)
    # a call that was open when somebody looked takes two lines
    if leaf and not text.endswith("{"):
        texts[thread] += [leaf.group(1) + leaf.group(2) + " {",
                          "} " + leaf.group(1) + leaf.group(3)]
    else:
        texts[thread].append(text)
for thread in sorted(texts):
    for text in texts[thread]:
        print(thread, text)
END
}

it 'a call is printed while it is open'
mkfifo input
"$RUN" -q "${VALUES[@]}" --live=lines -o profile "$STEPS" 3 20000 <input &
run=$!
CHILDREN+=("$run")
exec 5>input
wait_until grep -q 'step(arg1 = 0) {' lines || fail 'step 0 was not printed'
wait_until grep -q 'leaf(arg1 = 0) = 0' lines || fail 'leaf was not printed'
assert_not_contains lines '} step'
printf x >&5
wait_until grep -q 'step(arg1 = 1) {' lines || fail 'step 1 was not printed'
assert_eq 1 "$(grep -c '} step = 1' lines)" 'steps that have ended'
exec 5>&-
wait "$run"
assert_eq 1 $? 'the exit status'

it 'all calls are printed once, in the order of each thread'
"$DUMP" -f calls profile >calls || fail 'calls'
texts calls 20 >wanted
texts lines 30 >found
assert_ge "$(wc -l <wanted)" 300000 'calls that there are'
assert_same wanted found

# (One that calls nothing has its line at its end. A thread may lose its processor
# between a call and its record, on a busy machine for longer than lines wait: that one
# line is out of order. Thread by thread it would be three in four lines.)
it 'the calls of threads come in the order of their times'
awk '!/^#/ && $1 ~ /[.][0-9]/ && / [{]$/ { print $1 }' lines >moments
python3 - moments >in_order <<'END' || fail 'no times'
import bisect, sys
times = [float(line) for line in open(sys.argv[1])]
in_order = [] # the last ones of the longest rising lists of each length
for t in times:
    at = bisect.bisect_right(in_order, t)
    in_order[at:at + 1] = [t]
print(len(times), len(times) - len(in_order))
END
read -r calls early <in_order
assert_ge "$calls" 40000 'calls'
assert_le "$early" $((calls / 200)) 'calls out of the order of time'

it 'a trace that has ended is shown, too'
"$DUMP" --follow profile >followed || fail 'follow'
texts followed 30 >found
assert_same wanted found
"$DUMP" --follow -D 2 profile >followed || fail 'follow -D'
assert_eq 0 "$(grep -c leaf followed)" 'calls below the second level'
assert_ge "$(grep -c inner followed)" 1 'calls of the second level'

it 'nobody has to read it'
mkfifo lines.fifo
exec 6<>lines.fifo
capture timeout 60 "$RUN" -q --live=lines.fifo -o stuck "$STEPS" 2 20000 \
	</dev/null
assert_status 0
"$DUMP" -f text stuck >text
assert_eq 40000 "$(awk '$(NF-1) == "inner" { print $1 }' text)" \
	'calls of a program whose lines nobody reads'
exec 6<&-
# (the follower ends with its reader)
"$RUN" -q --live -o closed "$STEPS" 2 20000 </dev/null 2>&1 | head -n 1 >first
assert_eq 0 "${PIPESTATUS[0]}" 'the status, where the reader is gone'
assert_matches first '^# step_by_step, process'

it 'child processes are followed, too'
"$RUN" -q -F main --live=lines -o tree/ sh -c "'$STEPS' </dev/null; '$STEPS' </dev/null; :"
assert_eq 2 "$(grep -c '^# step_by_step, process' lines)" 'processes'
assert_eq 2 "$(grep -c '} main$' lines)" 'their calls'

it 'a process that runs already'
mkfifo later
"$STEPS" <later &
steps=$!
CHILDREN+=("$steps")
exec 5>later
if "$RUN" --check 2>/dev/null | grep -q '^ *no.*-p '; then
	echo 'no -p here'
else
	"$RUN" -q -p "$steps" "${VALUES[@]}" --live=attached -o attached.out &
	run=$!
	CHILDREN+=("$run")
	seen() { # one call is open when the hooks come: it has none
		printf x >&5
		grep -qE 'step\(arg1 = [0-9]+\) \{' attached 2>/dev/null
	}
	wait_until seen || fail 'no step was printed'
	kill -TERM "$run"
	wait "$run" || fail 'the status of -p'
fi
exec 5>&-
wait "$steps"

it 'what cannot be followed is said'
capture "$DUMP" --follow nothing
assert_refused 1 'No such file'
capture "$DUMP" --follow
assert_refused 2 'needs the name of a profile'
capture "$DUMP" --follow -f html profile
assert_refused 2 'no use for -f html'
capture "$RUN" --live --slow 'step:1ms' -o p "$STEPS"
assert_refused 2 'does not go with --slow'
SWIZZLE_MODE=profile capture "$RUN" --live -o p "$STEPS"
assert_refused 2 'for --mode trace only'
