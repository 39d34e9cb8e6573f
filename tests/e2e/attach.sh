# shellcheck shell=bash
# Sourced after lib.sh by tests that attach to tests/targets/attached.cc.

# ------------------------------------------------------- the program, told lines

start_program() { # PROGRAM ARGUMENT...: $program is its process
	rm -f to from
	mkfifo to from
	"$@" <to >from 2>program.err &
	program=$!
	exec 8>to 9<from
	expect ready
}

expect() { # ANSWER
	local answer=
	read -r -t $((60 * PATIENCE)) answer <&9
	assert_eq "$1" "$answer" 'the answer'
}

tell() { # LINE ANSWER
	echo "$1" >&8
	expect "$2"
}

end_program() {
	echo leave >&8
	expect left
	exec 8>&- 9<&-
	wait $program
	assert_eq 3 $? "the program's exit status"
	assert_empty program.err
}

# The program restless, until it is told to end; $? is its exit status.
begin_restless() { # COMMAND...
	mkfifo -m 600 restless.in
	"$@" <restless.in >printed 2>program.err &
	program=$!
	exec 7>restless.in
	rm restless.in
	wait_until has_executed
}

has_executed() { # $program is the shell no more
	! [ /proc/$program/exe -ef /proc/$$/exe ]
}

end_restless() {
	exec 7>&-
	wait $program
}

is_attached() {
	grep -q '^swizzle: attached: ' attach.err || ! kill -0 "$controller" 2>/dev/null
}

attach() { # OPTION...: to $program; returns when it is patched
	: >attach.err
	"$RUN" -v -o profile "$@" -p $program 2>attach.err >attach.out &
	controller=$!
	wait_until is_attached
	assert_contains attach.err 'swizzle: attached: '
}

detach() {
	kill -INT $controller
	wait $controller
	assert_eq 0 $? "swizzle-run's exit status"
	assert_contains attach.err 'swizzle: detached'
	assert_empty attach.out
	assert_code_restored
}

# No byte of what is executed differs from the file that it came from.
# shellcheck disable=SC2120 # test_attach.sh passes one
assert_code_restored() { # [PID]
	python3 "$TOP/tests/e2e/compare_code.py" "${1:-$program}" >code 2>&1 ||
		fail "code was not restored: $(cat code)"
	assert_matches code '^[1-9][0-9]* texts compared$'
}

calls() { # FUNCTION [PROFILE]
	"$DUMP" -q -f csv -o - "${2:-profile}" |
		awk -F , -v name="$1" '$7 == name { sum += $1 } END { print sum + 0 }'
}
