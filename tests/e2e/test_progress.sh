# shellcheck shell=bash
# Long work says how far it is, on a terminal only: one line that is gone at the
# end. (SWIZZLE_PROGRESS_AFTER=0 makes all work long.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets contexts
need script perl
export SWIZZLE_CACHE=0 # what was planned before is no long work

# What a command writes to a terminal that is its stdin, stdout and stderr goes
# to the file `terminal`, as the terminal gets it.
on_terminal() { # COMMAND
	script -qec "$1" /dev/null </dev/null >terminal 2>err
	# shellcheck disable=SC2034 # for assert_status
	status=$?
	assert_empty err
}

# What can be read on the terminal afterwards (\r goes back, and what is written
# then takes the place of what was there), in the file `screen`.
make_screen() {
	perl -e '
		local $/;
		for my $line (split /\n/, <>, -1) {
			my ($screen, $at) = ("", 0);
			for my $c (split //, $line) {
				if ($c eq "\r") { $at = 0; next }
				$screen .= " " while length($screen) < $at;
				substr($screen, $at++, 1) = $c;
			}
			$screen =~ s/ +$//;
			print "$screen\n" if length $screen;
		}' terminal >screen
}

# Percentages that the terminal has seen of TEXT, one a line: they rise.
percents() { # TEXT
	tr '\r' '\n' <terminal | sed -n "s/^swizzle: $1: \([0-9]*\) %.*/\1/p"
}

export SWIZZLE_PROGRESS_AFTER=0

it 'planning is shown on a terminal, and nothing of it is left'
on_terminal "'$RUN' -o profile '$TARGETS/contexts'"
assert_status 0
assert_matches terminal 'swizzle: planning: [0-9]+ % \(contexts\)'
make_screen
"$TARGETS/contexts" >native
assert_same native screen
percents planning | sort -nc 2>err
assert_empty err
assert_le "$(percents planning | tail -n 1)" 100 'percent'

it '--list on a terminal'
on_terminal "'$RUN' --list '$TARGETS/contexts'"
make_screen
"$RUN" --list "$TARGETS/contexts" >native
assert_same native screen

it 'not with -q, and not where stderr is no terminal'
on_terminal "'$RUN' -q -o profile '$TARGETS/contexts'"
assert_not_contains terminal planning
on_terminal "'$RUN' -o profile '$TARGETS/contexts' 2>err.file"
assert_not_contains terminal planning
assert_empty err.file
on_terminal "'$RUN' -o profile '$TARGETS/contexts' >out.file"
assert_matches terminal 'swizzle: planning: '
"$TARGETS/contexts" >native
assert_same native out.file
capture "$RUN" -o profile "$TARGETS/contexts"
assert_empty err

it 'not from the background'
on_terminal "set -m; '$RUN' -o profile '$TARGETS/contexts' & wait"
assert_not_contains terminal planning
assert_not_contains terminal Stopped

it 'not within a second'
unset SWIZZLE_PROGRESS_AFTER
SWIZZLE_PROGRESS_AFTER=60000 on_terminal \
	"'$RUN' -o profile '$TARGETS/contexts' && '$DUMP' -o cg profile"
assert_not_contains terminal '%'
export SWIZZLE_PROGRESS_AFTER=0

it 'swizzle-dump shows how far it is, and leaves nothing of it'
"$RUN" -q -o second "$TARGETS/contexts" >/dev/null
"$RUN" -q -o third "$TARGETS/contexts" >/dev/null
for format in callgrind text; do
	on_terminal "'$DUMP' -f $format -o converted profile second third"
	assert_status 0
	assert_matches terminal 'swizzle: reading profiles: [0-9]+ %'
	make_screen
	assert_empty screen
	"$DUMP" -f $format -o plain profile second third 2>err
	assert_empty err
	assert_same plain converted
done
on_terminal "'$DUMP' -f text profile"
make_screen
"$DUMP" -f text profile >native
assert_same native screen
on_terminal "'$DUMP' -f info profile"
make_screen
"$DUMP" -f info profile | sed '/^$/d' >native
assert_same native screen
on_terminal "'$DUMP' -q -f text profile"
assert_not_contains terminal '%'

it 'a warning of swizzle-dump has a line of its own'
head -c "$(($(stat -c %s second) / 2))" second >half
on_terminal "'$DUMP' -f text -o converted profile half third"
make_screen
assert_matches screen '^swizzle: half: truncated'
assert_eq 1 "$(wc -l <screen)" 'lines on the screen'

# Who writes to a terminal from there is stopped, if it is told so.
it 'a line of ours does not stop a program in the background'
on_terminal "stty tostop; set -m
	'$RUN' -v -o profile '$TARGETS/contexts' >background & wait \$!
	echo status \$?; kill -9 %1 2>/dev/null"
assert_contains terminal 'status 0'
assert_contains terminal 'functions hooked; profile'
assert_eq "$("$TARGETS/contexts")" "$(cat background)" output

finish
