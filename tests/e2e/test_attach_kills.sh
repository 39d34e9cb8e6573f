# shellcheck shell=bash
# What attaches, and what is attached to, is killed at any moment: of attaching,
# recording, detaching. KILL_ROUNDS: so many times each (make check-attach-kills).
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/attach.sh"
need python3
need_targets attached
ROUNDS=${KILL_ROUNDS:-12}

# How long one takes from its start to its end, in ms.
measure() {
	local begin
	begin=$(date +%s%N)
	"$RUN" -q -o profile.whole -p $program --for 50ms 2>err
	assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
	whole=$((($(date +%s%N) - begin) / 1000000 + 20))
}

rest_some_of() { # MS
	sleep "$(awk -v ms=$((RANDOM % $1 + 1)) 'BEGIN { print ms / 1000 }')"
}

# At any moment; once when there is a profile.
rest_in_round() { # ROUND PROFILE
	if [ "$1" -eq 1 ]; then
		wait_until test -e "$2" || fail "$2 does not come"
	else
		rest_some_of "$whole"
	fi
}

# One that was begun, and one that was finished.
assert_readable() { # PROFILE
	[ -e "$1" ] || return 0
	"$DUMP" -q -f info -o info "$1" 2>err ||
		fail "$1 cannot be read: $(cat err)"
	readable=$((readable + 1))
}

it 'the controller is killed: the program goes on, the next one ends what was begun'
start_program "$TARGETS/attached"
measure
echo throwing >&8
readable=0
for round in $(seq "$ROUNDS"); do
	"$RUN" -q -o "controller.$round" -p $program --for 50ms 2>>killed.err &
	controller=$!
	rest_in_round "$round" "controller.$round"
	kill -KILL $controller 2>/dev/null
	wait $controller 2>/dev/null
	kill -0 $program || abort "the program has ended in round $round"
	assert_readable "controller.$round"
done
assert_ge $readable 1 'profiles to be read'
attach
detach
tell stop 'wrong 0'
tell 'run 10' 'ran 10'
end_program

it 'the program is killed: the controller ends, the profile can be read'
readable=0
for round in $(seq "$ROUNDS"); do
	start_program "$TARGETS/attached"
	[ "$round" -ne 1 ] || measure
	echo throwing >&8
	"$RUN" -q -o "program.$round" -p $program --for 50ms 2>err &
	controller=$!
	rest_in_round "$round" "program.$round"
	kill -KILL $program
	wait $program 2>/dev/null
	wait $controller
	code=$?
	[ $code -eq 0 ] || [ $code -eq 126 ] ||
		fail "round $round: swizzle-run's exit status $code: $(cat err)"
	exec 8>&- 9<&-
	assert_readable "program.$round"
done
assert_ge $readable 1 'profiles to be read'

finish
