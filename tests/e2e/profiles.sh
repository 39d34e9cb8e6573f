# Sourced after lib.sh by tests that look into profiles: what swizzle-dump says
# about a file, as assertions. Every dump must be silent: a profile that the
# runtime wrote is never "damaged" to the reader.
# shellcheck shell=bash

need_built "$RUN" "$DUMP" "$LIBSWIZZLE"

# The names are the first words of the list; those that show events are for
# traces only, samples one by one for samples, and code for what has a file.
FORMATS=$("$DUMP" -f help | awk "!/ a trace's events|^(samples|asm|cover|never|lcov|order|sections) /"' { print $1 }')

need_targets() { # NAME...: skips the test where `make tests` was not run
	local name
	for name; do
		need_built "$TARGETS/$name"
	done
}

# The text table of PROFILE, in the file `table`.
dump_table() { # PROFILE [OPTION...]
	local profile=$1
	shift
	"$DUMP" -f text "$@" "$profile" >"$TMP/table" 2>"$TMP/dump.err" ||
		fail "swizzle-dump -f text: status $?"
	assert_empty "$TMP/dump.err"
}

# One column of the rows of functions, a line for each: empty if there is none, but not
# where there is no table. Names may hold spaces: columns of names are two spaces apart.
# Alike names add up.
row() { # TABLE COLUMN(calls|self|incl) FUNCTION...
	awk -v column="$2" -v names="$(printf '%s\\n' "${@:3}")" '
		BEGIN {
			at = column == "calls" ? 1 : column == "self" ? 2 : 3
			count = split(names, name, "\n") - 1
		}
		/^#/ { next }
		/^ *(calls|runs) .* function  module$/ { numbers = NF - 2; next }
		{
			value = $at
			rest = $0
			for (i = 1; i <= numbers; i++)
				sub(/^ *[^ ]+/, "", rest)
			sub(/^  /, "", rest)
			sub(/  [^ ].*$/, "", rest)
			found[rest] = 1
			sum[rest] += value
		}
		END {
			for (i = 1; i <= count; i++)
				if (!numbers) print "(no table)"
				else if (name[i] in found) printf "%.0f\n", sum[name[i]]
				else print ""
		}
	' "$1"
}

# How many calls of FUNCTION the table says were ended by an exception.
unwound() { # TABLE FUNCTION
	awk -v name="$2" '
		/^# +[0-9]+  / {
			count = $2
			sub(/^# +[0-9]+  /, "")
			sub(/  [^ ].*$/, "")
			if ($0 == name) sum += count
		}
		END { printf "%.0f\n", sum }
	' "$1"
}

calls_of() { # PROFILE FUNCTION: 0 if it is not there
	local calls
	"$DUMP" -q -f text "$1" >"$TMP/calls.table" 2>/dev/null
	calls=$(row "$TMP/calls.table" calls "$2")
	echo "${calls:-0}"
}

# Calls by name: ${called[NAME]}, as `row` has them.
declare -A called
read_calls() { # TABLE FUNCTION...
	local counts_read i
	mapfile -t counts_read < <(row "$1" calls "${@:2}")
	assert_eq $(($# - 1)) ${#counts_read[@]} 'functions whose calls were read'
	called=()
	for ((i = 2; i <= $#; i++)); do
		called[${!i}]=${counts_read[i - 2]}
	done
}

# Exact counts; the profile is dumped once.
assert_calls() { # PROFILE FUNCTION COUNT [FUNCTION COUNT]...
	local asked=() i
	dump_table "$1"
	for ((i = 2; i < $#; i += 2)); do
		asked+=("${!i}")
	done
	read_calls "$TMP/table" "${asked[@]}"
	shift
	while [ $# -gt 0 ]; do
		assert_eq "$2" "${called[$1]:-0}" "calls of $1"
		shift 2
	done
}

# The total is not longer than the process lived, times its THREADS, and no
# function's time is negative or above the total.
assert_time_is_sane() { # PROFILE [THREADS]
	local total life
	assert_rows_are_sane "$1"
	total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' "$TMP/sane")
	life=$(info_value "$1" duration | awk -v n="${2:-1}" '{ printf "%.0f", $1 * 1e9 * n }')
	assert_le "${total:-0}" "$life" 'total time'
}

# The latter only.
assert_rows_are_sane() { # PROFILE
	local total
	"$DUMP" -q -f text "$1" >"$TMP/sane" 2>/dev/null
	total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' "$TMP/sane")
	[ -n "$total" ] || fail 'no total time'
	awk -v total="$total" '!/^#/ && !/function/ &&
		($2 < 0 || $3 < 0 || $2 > total || $3 > total)' \
		"$TMP/sane" >"$TMP/insane"
	assert_empty "$TMP/insane"
}

# Who is called by FUNCTION, sorted, by the callgrind file, which must have calls.
callees_of() { # PROFILE FUNCTION
	"$DUMP" -q -f callgrind -o - "$1" | awk -v function_="$2" '
		match($0, /^c?fn=\([0-9]+\)/) {
			id = substr($0, index($0, "("), RLENGTH - index($0, "(") + 1)
			if (length($0) > RLENGTH)
				name[id] = substr($0, RLENGTH + 2)
			if (/^fn/) caller = name[id]
			else called++
			if (/^cfn/ && caller == function_) print name[id]
		}
		END { if (!called) print "(no calls)" }' | sort -u | xargs
}

info_value() { # PROFILE KEY: of a "key: value" line
	"$DUMP" -q -f info "$1" 2>/dev/null | sed -n "s/^$2: *//p" | head -n 1
}

# Nothing was lost, the file is whole, and says that the process ended itself.
whole_info=$'\nflags:[^\n]*ended.*\nlost calls: 0\n'
assert_complete() { # PROFILE
	local text
	"$DUMP" -f info "$1" >"$TMP/info" 2>"$TMP/dump.err" ||
		fail "swizzle-dump -f info: status $?"
	assert_empty "$TMP/dump.err"
	read_text "$TMP/info" && [[ $text != *damaged* && $text =~ $whole_info ]] && return
	assert_matches "$TMP/info" '^flags:.*ended'
	assert_matches "$TMP/info" '^lost calls: 0$'
	assert_not_contains "$TMP/info" 'damaged'
}

# For assert_same_as_native; false where the run's own options rule them out: a
# trace has exact times.
use_options() { # OPTION...
	case "$*${TEST_MODE:-}${TEST_TIMING:-}" in
	*sampledtrace | *tracesampled) return 1 ;;
	esac
	# shellcheck disable=SC2034
	RUN_OPTIONS=("$@")
}

# In `formats` those that read the file most plainly, and three others in turn.
turn=0
take_formats() {
	local format others=() i
	formats=()
	for format in $FORMATS; do
		case $format in
		text | raw | info) formats+=("$format") ;;
		*) others+=("$format") ;;
		esac
	done
	for ((i = 0; i < 3 && i < ${#others[@]}; i++)); do
		formats+=("${others[turn++ % ${#others[@]}]}")
	done
}

# It can be converted, whatever happened to its process. (That recursion was folded
# is said where the format cannot say it.)
assert_readable() { # PROFILE
	local format formats
	take_formats
	for format in "${formats[@]}"; do
		"$DUMP" -f "$format" -o "$TMP/readable.$format" "$1" \
			2>"$TMP/dump.err" ||
			fail "swizzle-dump -f $format $1: status $?"
		[ ! -s "$TMP/dump.err" ] ||
			sed -i '/^swizzle: .* as calls were folded\. /d' "$TMP/dump.err"
		assert_empty "$TMP/dump.err"
	done
}

# The same for a profile that rightly says that something is missing.
assert_converts() { # PROFILE
	local format formats
	take_formats
	for format in "${formats[@]}"; do
		capture "$DUMP" -f "$format" -o "$TMP/converted.$format" "$1"
		assert_status 0
		[ ! -s err ] || ! grep -v '^swizzle: ' err || fail "strange message"
		assert_not_contains err 'truncated'
	done
}

# What the kernel said of a process: "exit N" or "signal N". A shell's $? does
# not tell exit(134) from abort().
end_of() { # PROGRAM [ARG...]: its output goes to `out` and `err`
	perl -e '
		my $pid = fork();
		if (!$pid) { exec { $ARGV[0] } @ARGV; exit 127 }
		waitpid($pid, 0);
		open(my $to, ">", "'"$TMP"'/end");
		print $to $? & 127 ? "signal " . ($? & 127) : "exit " . ($? >> 8);
	' "$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	cat "$TMP/end"
}

# Native and profiled: same output, same end. The profile is $TMP/profile.
assert_same_end() { # PROGRAM [ARG...]
	local native ours
	native=$(end_of "$@")
	mv "$TMP/out" "$TMP/native.out"
	mv "$TMP/err" "$TMP/native.err"
	rm -f "$TMP/profile"
	ours=$(end_of "$RUN" -o "$TMP/profile" \
		${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} -- "$@")
	assert_eq "$native" "$ours" "end of ${*##*/}"
	assert_same "$TMP/native.out" "$TMP/out"
	assert_same "$TMP/native.err" "$TMP/err"
}

# tests/targets/shape.c and its library
SHAPE_NAMES='main alpha beta gamma_ delta part_work part_inner'

assert_shape() { # PROFILE "COUNT..." of SHAPE_NAMES
	dump_table "$1"
	# shellcheck disable=SC2086 # names are words
	assert_eq "$2" "$(row table calls $SHAPE_NAMES | sed 's/^$/0/' | xargs)" \
		"calls of $SHAPE_NAMES"
}

# Kills the program so long after its first output, or after its start.
kill_after() { # MICROSECONDS EARLY(0|1) PROGRAM [ARG...]
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
	' "$@" || fail 'the program was not killed'
}

# black_box is stable since Rust 1.66; Debian 12 has 1.63, which has to be told that
# it is wanted.
compile_rust() { # SOURCE OPTION...
	rustc -A warnings "$@" 2>rustc.log ||
		RUSTC_BOOTSTRAP=1 rustc -A warnings \
			-Z 'crate-attr=feature(bench_black_box)' "$@"
}

# What COMMAND prints on a terminal of that size, without \r, in the file `screen`; the
# status is its own.
on_terminal() { # WIDTH HEIGHT COMMAND...
	python3 - "$@" >screen <<'END'
import fcntl, os, pty, struct, sys, termios, time
width, height = int(sys.argv[1]), int(sys.argv[2])
pid, end = pty.fork()
if pid == 0:
    while os.get_terminal_size(0).columns != width:
        time.sleep(0.01)
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
data = b""
while True:
    try:
        part = os.read(end, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
sys.stdout.buffer.write(data.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}
