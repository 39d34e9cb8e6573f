# shellcheck shell=bash
# swizzle-ctl stop, start and detach on programs that swizzle-run has started: while
# recording is stopped no function is hooked, and the code is that of the files;
# counts are those of the calls that were made while it was not.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/attach.sh"
CTL=$BUILD/bin/swizzle-ctl
need_built "$CTL"
need python3
need_targets attached restless served marks
LIBPART=$TARGETS/libpart.so

start_profiled() { # OPTION...
	start_program "$RUN" -q -o profile "$@" -- "$TARGETS/attached"
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

# What stays: the dynamic linker's calls that tell of libraries, and functions of libc
# and of the unwinder that lead to wrappers; jumps that span two pages
# (test_spanning.sh). No other function of the program or of libstdc++ is hooked.
assert_native() {
	python3 "$TOP/tests/e2e/compare_code.py" $program lasting >code 2>&1
	assert_matches code '^[1-9][0-9]* texts compared$'
	grep ' differ' code | grep -Ev '/(ld-linux|libc|libgcc_s|libm)[-.][^/]*: [1-9]?[0-9]?[0-9] bytes' >others
	assert_empty others
	assert_eq out "$(of_status hooks)"
}

for mode in '' '--timing sampled' '-m trace'; do
	it "stopped, started, detached ${mode:+with $mode}"
	# shellcheck disable=SC2086
	start_profiled $mode
	assert_eq 'in place' "$(of_status hooks)"
	tell 'run 100' 'ran 100'
	for _ in 1 2 3; do
		ctl stop
		assert_native
		tell 'run 1000' 'ran 1000'
		tell 'throw 100' 'wrong 0'
		ctl start
		assert_eq 'in place' "$(of_status hooks)"
		tell 'run 10' 'ran 10'
	done
	ctl detach
	assert_code_restored
	tell 'run 1000' 'ran 1000'
	tell 'throw 100' 'wrong 0'
	end_program
	assert_eq 130 "$(calls step)" 'calls of step'

	it "--off, started, stopped ${mode:+with $mode}"
	# shellcheck disable=SC2086
	start_profiled --off $mode
	assert_native
	tell 'run 100' 'ran 100'
	tell 'throw 100' 'wrong 0'
	ctl start
	tell 'run 10' 'ran 10'
	tell 'throw 100' 'wrong 0'
	ctl stop
	assert_native
	tell 'run 1000' 'ran 1000'
	end_program
	assert_eq 10 "$(calls step)" 'calls of step'
done

it 'time that passes while it is stopped is nobody else'\''s'
start_profiled
tell 'run 1' 'ran 1'
ctl stop
sleep 1
tell 'run 1' 'ran 1'
ctl start
tell 'run 1' 'ran 1'
end_program
dump_table profile
"$DUMP" -q -f csv -o out profile
assert_ge "$(awk -F , '$7 == "[paused]" { print $2 + $11 }' out)" 900000000 'ns in [paused]'
assert_le "$(row table self main)" 900000000 'ns in main'

# The unwinder's functions, with their calls.
unwinder() { # PROFILE
	"$DUMP" -q -f csv -o - -n 0 "$1" | awk -F , '$7 ~ /^_Unwind_/ { print $1, $7 }' |
		sort
}

it 'the first exception goes through hooked frames while it is stopped'
start_profiled
tell 'throw 1000' 'wrong 0'
end_program
unwinder profile >expected
assert_ge "$(wc -l <expected)" 3 'functions of the unwinder'
start_profiled
tell 'hold 20' 'holding'
ctl stop
tell go 'wrong 0'
ctl start
tell 'throw 1000' 'wrong 0'
end_program
# the library calls some of them, too: those are nobody's calls
unwinder profile >found
assert_same expected found

it 'eight threads that throw, while it is stopped and started'
start_profiled
echo throwing >&8
for _ in $(seq 15); do
	ctl stop
	ctl start
	kill -0 $program || abort 'it did not survive'
done
ctl detach
assert_code_restored
tell stop 'wrong 0'
end_program

it 'a library that is loaded while it is stopped'
start_profiled --off
tell "load 100 $LIBPART" 'loaded 5150'
ctl start
tell "load 50 $LIBPART" 'loaded 1325'
ctl stop
tell "load 10 $LIBPART" 'loaded 65'
assert_native
end_program
assert_eq 50 "$(calls part_work)" 'calls into the library'

it 'children that are forked while it is stopped'
rm -f profile profile.*
start_profiled --off -o 'profile.%p'
tell 'fork 1000' 'child 7'
ctl start
tell 'fork 10' 'child 7'
ctl stop
tell 'fork 1000' 'child 7'
end_program
sum=0
for profile in profile.*; do
	sum=$((sum + $(calls step "$profile")))
done
assert_eq 10 "$sum" 'calls of step in children'

it 'a child that was forked while it was stopped is started with its tree'
cat >forks.py <<'END'
import os, sys, time
r, w = os.pipe()
child = os.fork()
print(os.getpid(), flush=True)
while not os.path.exists('stop'):
    time.sleep(0.01)
    sorted(range(100))
if child:
    os.waitpid(child, 0)
END
rm -f stop profile.*
# (a shim for many versions would be profiled, too)
python=$(python3 -c 'import sys; print(sys.executable)')
"$RUN" -q --off -o 'profile.%p' "$python" forks.py >pids 2>err &
program=$!
two_pids() { [ -s pids ] && [ "$(wc -l <pids)" -eq 2 ]; }
wait_until two_pids || fail 'there are no two processes'
capture "$CTL" start --tree $program
assert_status 0
two_profiles() { [ "$(set -- profile.*; echo $#)" -eq 2 ]; }
wait_until two_profiles || fail "there are $(ls profile.*)"
: >stop
wait $program
assert_eq 0 $? status
assert_empty err

it 'a program that resumes recording itself keeps its hooks'
capture "$RUN" -q --off -o profile "$TARGETS/marks"
assert_status 0
assert_empty err

it 'a restless program: threads, children, signals, libraries that come and go'
begin_restless "$RUN" -q -o 'restless.%p' "$TARGETS/restless" "$LIBPART"
wait_until test -e restless.$program
for _ in $(seq 25); do
	ctl stop
	ctl start
done
ctl detach
assert_code_restored
end_restless
assert_eq 0 $? "the program's exit status: $(cat printed)"
assert_empty program.err

it 'the controller is killed at any moment: the next one finds all as it should be'
start_profiled
echo throwing >&8
for round in $(seq 40); do
	what=stop
	[ $((round % 2)) -eq 0 ] || what=start
	"$CTL" $what $program 2>>killed.err &
	controller=$!
	sleep "0.0$(printf %02d $((round * 7 % 40)))"
	kill -KILL $controller 2>/dev/null
	wait $controller 2>/dev/null
done
kill -0 $program || fail 'the program has ended'
tell stop 'wrong 0'
ctl stop
assert_native
ctl start
assert_eq 'in place' "$(of_status hooks)"
tell 'run 7' 'ran 7'
for round in $(seq 10); do
	"$CTL" detach $program 2>>killed.err &
	controller=$!
	sleep "0.0$(printf %02d $((round * 3)))"
	kill -KILL $controller 2>/dev/null
	wait $controller 2>/dev/null
done
ctl detach
assert_code_restored
tell 'run 7' 'ran 7'
end_program
assert_eq 7 "$(calls step)" 'calls of step'

it '-v says how long the threads were stopped'
start_profiled
for what in stop start detach; do
	capture "$CTL" -v $what $program
	assert_status 0
	assert_empty out
	assert_matches err "^swizzle: $program \\(attached\\): (hooks taken out|functions hooked): all threads stopped [1-9][0-9]* times?: the longest for [0-9.]+ ms"
done
capture "$CTL" --verbose detach $program
assert_empty err
end_program

if have 'where ptrace is not possible, the hooks stay and heed the request' strace; then
	start_profiled
	strace -q -p $program -o trace.log 2>/dev/null &
	tracer=$!
	if wait_until grep -q '^TracerPid:.[1-9]' /proc/$program/status; then
		capture "$CTL" -v stop $program
		assert_matches err 'its hooks stay in place and follow the request: a debugger has it'
		assert_eq 'in place' "$(of_status hooks)"
		"$CTL" status $program >text
		assert_contains text 'a call costs about 4 ns'
		tell 'run 100' 'ran 100'
		ctl start
		tell 'run 5' 'ran 5'
	fi
	kill $tracer
	wait $tracer 2>/dev/null
	end_program
	assert_eq 5 "$(calls step)" 'calls of step'

	it '--off, and no ptrace when it is to be started'
	start_profiled --off
	strace -q -p $program -o trace.log 2>/dev/null &
	tracer=$!
	if wait_until grep -q '^TracerPid:.[1-9]' /proc/$program/status; then
		capture "$CTL" start $program
		assert_status 1
		assert_contains err 'cannot be hooked again: a debugger has it'
	fi
	kill $tracer
	wait $tracer 2>/dev/null
	ctl start
	tell 'run 5' 'ran 5'
	end_program
	assert_eq 5 "$(calls step)" 'calls of step'
fi

it '--off where ptrace will not be permitted: hooked from the start'
SWIZZLE_OFF=hooked start_profiled
assert_eq 'in place' "$(of_status hooks)"
tell 'run 100' 'ran 100'
ctl start
tell 'run 5' 'ran 5'
end_program
assert_eq 5 "$(calls step)" 'calls of step'

finish
