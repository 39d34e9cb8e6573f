# shellcheck shell=bash
# -m sample --engine perf: where the sampler comes too late to read all that the
# kernel says, code that was mapped meanwhile, and a program that was executed, are
# known all the same.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
unset SWIZZLE_MODE
"$RUN" -q -m sample --engine perf -o try true 2>/dev/null ||
	skip 'perf_event_open is not permitted here'

program works.h >works.h
cat >later.c <<'END'
#include "works.h"
WORK(in_library)
END
program program.c >program.c
gcc -O1 -fPIC -shared -o liblater.so later.c || abort 'not built'
gcc -O1 -o program program.c -ldl || abort 'not built'
cp program other

# It says what it samples.
sampler_of() { # PID
	local process
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/exe")" != "$RUN" ] ||
			! tr '\0' ' ' <"$process/cmdline" | grep -q "^swizzle-run: samples $1 " ||
			echo "${process#/proc/}"
	done
}

# Stops the sampler when the program says so, and lets it go on likewise.
delayed() { # OUTPUT ARGUMENT...
	local output=$1 sampler='' line
	shift
	mkfifo in out.$$
	"$RUN" -q -m sample --engine perf -o "$output" "$@" <in >out.$$ &
	local pid=$!
	exec 7>in 8<out.$$
	while read -r line <&8; do
		case $line in
		stop)
			sampler=$(sampler_of $pid)
			kill -STOP "$sampler" || fail 'no sampler'
			echo >&7
			;;
		continue) kill -CONT "$sampler" ;;
		esac
	done
	exec 7>&- 8<&-
	wait $pid
	rm -f in out.$$
}

column() { # PROFILE FUNCTION COLUMN
	"$DUMP" -q -f csv -o - "$1" |
		awk -F , -v name="$2" -v column="$3" '$7 == name { print $column }'
}

lost() { # PROFILE
	"$DUMP" -f info "$1" | awk '/^lost samples:/ { print $3 + 0 }'
}

it 'a library that is loaded meanwhile'
delayed "$TMP/loads" ./program
assert_ge "$(lost loads)" 50 'samples that were lost'
assert_ge "$(column loads in_library 3)" 700000000 'ns of in_library'
assert_ge "$(column loads main 3)" 1000000000 'ns below main'
assert_ge 5 "$("$DUMP" -f info loads | sed -n 's/^cut stacks: \([0-9]*\) .*/\1/p')" 'stacks that are cut'

it 'a program that is executed meanwhile'
mkdir executes
delayed "$TMP/executes/" ./program ./other
"$DUMP" -q --by process -f csv -o - executes >processes
assert_eq 1 "$(grep -c '[/]other' processes)" 'profiles of the other program'
assert_ge "$(column executes after 3)" 700000000 'ns of after'
finish
