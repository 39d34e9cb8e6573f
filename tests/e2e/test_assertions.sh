# shellcheck shell=bash
# The assertions themselves: what is wrong fails a test, wherever it is asserted,
# and so does what there is nothing to say of.
. "${BASH_SOURCE%/*}/lib.sh"

# Runs a test that consists of these lines.
run_lines() { # LINES
	printf '. "%s/tests/e2e/lib.sh"\n. "%s/tests/e2e/profiles.sh"\n%s\nfinish\n' \
		"$TOP" "$TOP" "$1" >lines.sh
	capture bash lines.sh
}
passes() { # LINES
	run_lines "$1"
	assert_status 0
	assert_empty out
}
fails() { # LINES TEXT
	run_lines "$1"
	# shellcheck disable=SC2154 # of lib.sh
	[ "$status" -ne 0 ] || fail "passes: $1"
	cat err >>out
	assert_contains out "$2"
}

it 'an assertion in a pipe, in a subshell, in a command substitution'
passes 'echo one >a; echo one | assert_same a -'
fails 'echo one >a; echo two | assert_same a -' 'a and - differ'
fails '(assert_eq 1 2)' "expected '1', got '2'"
fails 'a=$(assert_eq 1 2 >&2)' "expected '1', got '2'"
fails 'assert_eq 1 2; skip reason' "expected '1', got '2'"
fails 'assert_equal 1 1' 'command not found'

it 'files that are not there, and pipes'
passes ': >a; assert_empty a; assert_not_contains a x'
fails 'assert_empty a' 'a is no file'
fails 'assert_empty <(echo x)' 'is no file'
fails 'assert_not_contains a x' 'a is not there'
fails 'assert_contains a x' "a lacks 'x'"

it 'an order in less than two lines'
passes 'printf "1\n2\n" >a; assert_sorted a -n'
fails 'printf "2\n1\n" >a; assert_sorted a -n' 'a is not sorted'
fails 'echo 1 >a; assert_sorted a -n' '1 is less than 2'

it 'a table that is none'
passes 'printf "  calls  self  incl  function  module\n  7  8  9  f  m\n" >a
	assert_eq 7 "$(row a calls f)"; assert_eq "" "$(row a calls g)"'
fails ': >a; assert_eq "" "$(row a calls g)"' '(no table)'

it 'awk programs that mawk cannot run, and sums of more than six digits'
passes 'assert_eq 3000000001 "$(awk "BEGIN { print 3000000000 + 1 }")"'
# shellcheck disable=SC2016
fails 'echo xx | awk "/x{2}/"' 'mawk cannot'
fails 'awk "BEGIN { print strtonum(1) }"' 'mawk cannot'
fails 'awk "BEGIN { printf \"%d\", 1 }"' 'mawk cannot'

it 'what a missing program leaves untested is told, and a failure where CI=true'
whole_run() { # CI PROGRAM SKIPPED: a test that has neither of the two
	printf '. "%s/tests/e2e/lib.sh"\nhave part %s || :\n[ -z "%s" ] || need %s\nfinish\n' \
		"$TOP" "$2" "$3" "$3" >test_of_ci.sh
	CI=$1 capture "$TOP/tests/run" "$TMP/test_of_ci.sh"
}
whole_run '' no_such_program ''
assert_status 0
assert_matches out '^part test_of_ci: not tested: part, without no_such_program$'
whole_run true kcachegrind ''
assert_status 0
whole_run true no_such_program ''
assert_status 1
whole_run true ls no_such_program
assert_status 1
assert_matches out '^skip test_of_ci: needs no_such_program'
whole_run true ls ''
assert_status 0

finish
