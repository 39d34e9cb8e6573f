# shellcheck shell=bash
# Functions whose first bytes span two pages, which no other process can write at
# once: swizzle-ctl has their trampolines lead past the hooks, and the program's own
# library restores them at the end, whoever is killed meanwhile.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/attach.sh"
CTL=$BUILD/bin/swizzle-ctl
need_built "$CTL"
need python3
need_targets spanning
LIBRARY=$TARGETS/libspanning.so
FUNCTIONS='frame_1 frame_2 frame_3 frame_4 long_1 long_2 long_3 long_4 marked_1 marked_3
	loop_1 loop_2 loop_4'
COUNT=$(echo "$FUNCTIONS" | wc -w)

start_profiled() { # OPTION...
	start_program "$RUN" -q -o profile "$@" -- "$TARGETS/spanning"
}

ctl() { # COMMAND...: of $program
	capture "$CTL" "$@" $program
	assert_status 0
	assert_empty out
	assert_empty err
}

of_status() { # FIELD
	"$CTL" --json status $program |
		python3 -c "import json, sys; print(json.load(sys.stdin)[0]['$1'])"
}

assert_calls() { # COUNT [OTHER]: of each of the functions
	"$DUMP" -q -f csv profile | awk -F, -v names="$(echo "$FUNCTIONS" | xargs)" '{ sum[$7] += $1 }
		END { n = split(names, of, " "); while (n) print sum[of[n--]] + 0 }' >counted
	assert_eq "$COUNT" "$(grep -c -x -e "$1" -e "${2:-$1}" counted)" "functions with $1 calls"
}

run() { # TIMES
	tell "run $1" "ran $1, wrong 0"
}

for mode in '' '-m trace'; do
	it "stopped, started, detached ${mode:+with $mode}"
	# shellcheck disable=SC2086
	start_profiled $mode
	assert_ge "$(of_status lasting)" "$COUNT" 'jumps that last'
	run 10
	for _ in 1 2; do
		ctl stop
		assert_eq out "$(of_status hooks)"
		run 100
		ctl start
		run 5
	done
	"$CTL" stop $program
	"$CTL" status $program >text
	assert_matches text '^jumps that stay, and lead past their hooks: [1-9][0-9]*$'
	"$CTL" start $program
	ctl detach
	assert_code_restored
	assert_eq 0 "$(of_status lasting)"
	assert_not_contains "/proc/$program/maps" 'r-xp 00000000 00:00 0 $'
	run 100
	end_program
	assert_calls 20
done

it 'threads call them all the time'
start_profiled
tell 'spin 4' spinning
for _ in $(seq 10); do
	ctl stop
	ctl start
done
ctl detach
assert_code_restored
tell rest 'wrong 0'
end_program

it 'a library that is loaded later, unloaded and loaded again'
cp "$LIBRARY" copy.so
start_profiled
tell "open $TMP/copy.so" opened
run 3
ctl stop
run 100
ctl start
run 4
tell close closed
tell "open $TMP/copy.so" opened
run 2
ctl detach
assert_code_restored
run 100
end_program
assert_calls 9

it 'the same while it is stopped'
start_profiled
tell "open $TMP/copy.so" opened
run 3
ctl stop
tell close closed
tell "open $TMP/copy.so" opened
run 100
ctl start
run 4
ctl detach
assert_code_restored
run 100
end_program
# (at another place than before it is new, and what spans two pages is left out)
assert_calls 7 3

it 'what is not written at the start is left out, and counted'
start_profiled --off
assert_eq 0 "$(of_status lasting)"
python3 "$TOP/tests/e2e/compare_code.py" $program >code
assert_not_contains code spanning
ctl start
run 10
end_program
assert_calls 0
"$DUMP" -q -f info profile >text
assert_matches text "^ *cannot be changed at once while it may run +$COUNT\$"

if have 'swizzle-ctl is killed before each of its writes' strace; then
	start_profiled
	tell 'spin 1' spinning # (more would only take its processor from swizzle-ctl)
	for what in stop start detach; do
		for n in $(seq 200); do
			{
				strace -q -f -o trace.log -e trace=pwrite64 \
					-e "inject=pwrite64:signal=SIGKILL:when=$n" \
					"$CTL" $what $program >/dev/null
			} 2>/dev/null
			grep -q 'killed by SIGKILL' trace.log || break
		done
		kill -0 $program || abort "it has not survived $what, $n"
		assert_ge "$n" 4 "writes of $what"
	done
	tell rest 'wrong 0'
	assert_code_restored
	run 10
	end_program

	it 'nothing that swizzle-ctl writes into code spans two pages'
	start_profiled
	for what in stop start detach; do
		strace -q -f -o "trace.$what" -e trace=pwrite64 "$CTL" $what $program
	done
	end_program
	cat >look.py <<'END'
import re, sys
some = 0
for line in sys.stdin:
    found = re.search(r', (\d+), (0x[0-9a-f]+|\d+)\) += (\d+)', line)
    if found:
        length, at = int(found[1]), int(found[2], 0)
        some += 1
        if length < 8 and at % 4096 + length > 4096:
            print(line)
        assert found[3] == found[1]
print(some >= 10)
END
	cat trace.* | python3 look.py >out
	assert_eq True "$(cat out)"
fi

finish
