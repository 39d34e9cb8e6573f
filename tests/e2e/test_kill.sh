# shellcheck shell=bash
# SIGKILL at any moment: the profile is readable, and a later kill of the same
# program never finds fewer calls than an earlier one.
#   KILLS   how many [40]
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets steady
KILLS=${KILLS:-40}

kill_after() { # MICROSECONDS: after its first output; 0: from the start
	perl -MTime::HiRes=usleep -e '
		my ($delay, $early, @command) = @ARGV;
		pipe(my $from, my $to);
		my $pid = fork();
		if (!$pid) {
			close($from);
			open(STDOUT, ">&", $to);
			exec { $command[0] } @command;
		}
		close($to);
		sysread($from, my $go, 3) unless $early;
		usleep($delay);
		kill("KILL", $pid);
		waitpid($pid, 0);
		exit(($? & 127) == 9 ? 0 : 1);
	' "$@" || fail "the program was not killed"
}

it 'while the program runs'
last=0
for ((i = 0; i < KILLS; i++)); do
	# two kills 60 ms apart or more are ordered, each of them random
	delay=$((i % 10 * 80000 + RANDOM % 20000))
	rm -f profile
	kill_after $delay 0 "$RUN" -o profile "$TARGETS/steady"
	assert_readable profile
	calls=$(calls_of profile fib)
	ticks=$(calls_of profile tick)
	rounds=$(calls_of profile round_of)
	[ $((i % 10)) -ne 0 ] || last=0
	assert_ge "$calls" "$last" "calls after $delay us"
	last=$calls
	# fib(15) is 1973 calls, 987 of them leaves; a round may be under way
	assert_le $((rounds * 1973 - calls)) 1973 'calls that are missing'
	assert_le $((calls - rounds * 1973)) 0 'calls that are too many'
	assert_le $((rounds * 987 - ticks)) 987 'leaves that are missing'
	assert_le $((ticks - rounds * 987)) 0 'leaves that are too many'
done

it 'while the profiler itself begins'
for ((i = 0; i < KILLS / 2; i++)); do
	rm -f profile
	kill_after $((RANDOM % 40000)) 1 "$RUN" -o profile "$TARGETS/steady"
	[ -e profile ] || continue
	# a file whose header was not yet written is refused, in words
	capture "$DUMP" -f text profile
	case $status in
	0) ;;
	*)
		assert_matches err '^swizzle: '
		[ "$status" -lt 126 ] || fail "swizzle-dump: status $status"
		;;
	esac
done

finish
