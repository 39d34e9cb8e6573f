# Sourced by each tests/e2e/test_*.sh (bash). Gives it a directory of its own
# that is removed at the end ($TMP, also the current one), the programs under
# test, and assertions. A test is a list of
#
#	it "says what must hold"
#	capture swizzle-run --help      # sets $status, files out and err
#	assert_status 0
#
# A failed assertion prints what is wrong and where, is counted, and the test
# goes on; `finish` at the end of the test (or leaving it) makes the status.
# shellcheck shell=bash

set -u

# The names that the kernel has for them, without symbolic links.
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
BUILD=${SWIZZLE_BUILD:-$TOP/build}
RUN=$BUILD/bin/swizzle-run
# SWIZZLE_DUMP=build/asan/bin/swizzle-dump runs the tests on the checked build.
DUMP=${SWIZZLE_DUMP:-$BUILD/bin/swizzle-dump}
LIBSWIZZLE=$BUILD/lib/libswizzle.so
TARGETS=$BUILD/test/targets
export TOP BUILD RUN DUMP LIBSWIZZLE TARGETS

# Tests speak English, and nothing that the caller has set gets in.
export LC_ALL=C
for name in $(compgen -e SWIZZLE_); do
	unset "$name"
done
unset LD_PRELOAD
# No pager waits for a key that nobody presses.
export PAGER=cat
# The line that ends a run is for test_summary, which takes this back.
export SWIZZLE_SUMMARY=0
# Those of swizzle-dump about names are for test_advice.
export SWIZZLE_ADVICE=0
# Nor does anything get into the user's plan cache.
export XDG_CACHE_HOME=$BUILD/test/cache
mkdir -p "$XDG_CACHE_HOME"
[ -z "${TEST_TIMING:-}" ] || export SWIZZLE_TIMING=$TEST_TIMING
# What most tests are about is what the full hooks record.
export SWIZZLE_MODE=${TEST_MODE:-profile}
[ -z "${TEST_SHARING:-}" ] || export SWIZZLE_TEST_OWN_THUNKS=0
[ -z "${TEST_LEADING:-}" ] || export SWIZZLE_TEST_OWN_FRAMES=0
[ -z "${TEST_WORKERS:-}" ] || export SWIZZLE_TEST_WORKERS=$TEST_WORKERS

TMP=$(mktemp -d "${TMPDIR:-/tmp}/swizzle-test.XXXXXX") || exit 1
failures=0
current=
status=0
keep_status=
cd "$TMP" || exit 1
TMP=$(pwd -P)
failed=$TMP.failed # is there if something failed, be it in a subshell

at_exit() {
	local code=$?
	cd /
	if [ -n "${KEEP:-}" ]; then
		echo "kept: $TMP"
	else
		chmod -R u+rwX "$TMP" 2>/dev/null
		rm -rf "$TMP"
	fi
	if [ -z "$keep_status" ] && [ "$code" -eq 0 ] && ! all_well; then
		code=1
	fi
	rm -f "$failed"
	exit "$code"
}
trap at_exit EXIT

it() { # "what must hold": names the assertions that follow
	tell_time
	current=$1
}

# With TEST_TIMES: what the assertions since the last `it` took.
begun=${EPOCHREALTIME/[.,]/}
tell_time() {
	local now=${EPOCHREALTIME/[.,]/}
	[ -z "${TEST_TIMES:-}" ] ||
		printf '%6d ms  %s\n' $(((now - begun) / 1000)) "${current:-before all}" >&2
	begun=$now
}

fail() { # MESSAGE: counts a failure; the test goes on
	failures=$((failures + 1))
	: >"$failed"
	local frame=0
	while [ "${BASH_SOURCE[$frame]##*/}" = lib.sh ]; do
		frame=$((frame + 1))
	done
	echo "${BASH_SOURCE[$frame]##*/}:${BASH_LINENO[$((frame - 1))]}:" \
		"${current:+$current: }$1"
}

all_well() {
	[ $failures -eq 0 ] && [ ! -e "$failed" ]
}

abort() { # MESSAGE: the rest of the test makes no sense
	fail "$1"
	exit 1
}

# A measurement that a busy machine may spoil: made anew, up to TIMES, where an assertion in
# it fails. (It runs in a process of its own: what it sets is lost.)
measure_again() { # TIMES COMMAND...
	local times=$1 try
	shift
	for ((try = 1; try <= times; try++)); do
		if (
			failures=0 failed=$TMP.failed.try
			rm -f "$failed"
			"$@"
			all_well
		) >"$TMP/.measured" 2>&1; then
			cat "$TMP/.measured"
			rm -f "$TMP.failed.try"
			return
		fi
	done
	rm -f "$TMP.failed.try"
	fail "$times times in vain, the last time:
$(cat "$TMP/.measured")"
}

skip() { # REASON (what has failed before remains a failure)
	echo "$1"
	all_well || exit 1
	keep_status=yes
	exit 77
}

finish() {
	tell_time
	all_well || exit 1
	exit 0
}

need() { # PROGRAM...: skips the test where one is missing
	local program
	for program; do
		command -v "$program" >/dev/null ||
			skip "needs $program, which is not there"
	done
}

# The browser in which pages are looked at, as tests/html/browser.py finds it.
has_chromium() {
	local name
	for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome chrome; do
		[ -z "$name" ] || ! command -v "$name" >/dev/null || return 0
	done
	return 1
}

need_chromium() {
	has_chromium || skip 'needs chromium, which is not there'
}

have() { # WHAT PROGRAM|FILE...: names what follows; says what is not there
	local what=$1 thing
	shift
	for thing; do
		if [ ! -e "$thing" ] && ! command -v "$thing" >/dev/null; then
			echo "not tested: $what, without ${thing##*/}"
			return 1
		fi
	done
	it "$what"
}

need_built() { # FILE...: skips the test if it has not been built (yet)
	local file
	for file; do
		[ -e "$file" ] || skip "${file#"$TOP"/} is not built"
	done
}

# gdb that takes no notice of it when somebody stops all processes for a while.
# shellcheck disable=SC2034 # of the tests
GDB=(gdb -q -nx -batch -ex 'handle SIGSTOP nostop noprint nopass'
	-ex 'handle SIGCONT nostop noprint nopass')

# As root: can another user, who is nobody here, execute these files? Not where
# a directory above them is closed.
nobody_executes() { # FILE...
	local file
	for file; do
		setpriv --reuid 65534 --clear-groups test -x "$file" 2>/dev/null ||
			return
	done
}

# The run-time libraries of older sanitizers have no room where addresses are as
# random as some kernels make them: their programs fail, now and then.
too_random_for_sanitizers() {
	local bits=0
	[ ! -r /proc/sys/vm/mmap_rnd_bits ] || read -r bits </proc/sys/vm/mmap_rnd_bits
	[ "$bits" -gt 28 ]
}

# An assertion that does not exist asserts nothing, and what waits so does not wait:
# that ends the test. (bash calls this in a process of its own.)
command_not_found_handle() {
	echo "$1: command not found" >&2
	case $1 in assert* | wait_*) kill $$ ;; esac
	return 127
}

# Debian's awk is mawk. It takes {2} for two braces, knows none of gawk's functions,
# and prints what is beyond 2^31 with six digits: as with "%d", where it stops there.
# (An awk that knows more would not tell on who wrote for it.)
mawk_cannot='[^ ][{][0-9]+,?[0-9]*[}]|printf[^;]*%[0-9]*d'
mawk_cannot+='|strtonum|gensub|systime|strftime|asorti?\(|PROCINFO|IGNORECASE'
awk() {
	local word
	for word; do
		if [[ $word =~ $mawk_cannot ]]; then
			echo "mawk cannot: $word" >&2
			kill $$
			return 1
		fi
	done
	command awk -v OFMT=%.15g -v CONVFMT=%.15g "$@"
}

# Runs a command; $status is its exit status, the files out and err in $TMP
# hold what it printed. Standard input is the caller's.
capture() {
	"$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
}

# Limits of time are there to end what hangs: TEST_PATIENCE multiplies them.
PATIENCE=${TEST_PATIENCE:-3}
timeout() { # SECONDS COMMAND...
	local seconds=$1
	shift
	command timeout -k 10 $((seconds * PATIENCE)) "$@"
}

# Waits until a command succeeds: for some minutes, however slow the machine is.
wait_until() { # COMMAND...
	local end=$((SECONDS + 60 * PATIENCE))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

succeeds_or_ended() { # PID COMMAND...
	"${@:2}" || ! kill -0 "$1" 2>/dev/null
}

wait_while_it_runs() { # PID COMMAND...: until it succeeds. False if the process has ended
	wait_until succeeds_or_ended "$@" && "${@:2}"
}

# A source file of this test's own, in tests/e2e/programs/ (short ones stand in the test).
program() { # NAME
	local test=${0##*/test_}
	cat "$TOP/tests/e2e/programs/${test%.sh}/$1" || abort "no program $1"
}

# The tail of a file, for messages.
excerpt() {
	if [ -s "$1" ]; then
		head -n 20 "$1" | sed 's/^/    | /'
	else
		echo '    | (empty)'
	fi
}

assert_eq() { # EXPECTED ACTUAL [WHAT]
	[ "$1" = "$2" ] || fail "${3:-value}: expected '$1', got '$2'"
}

assert_ne() { # UNEXPECTED ACTUAL [WHAT]
	[ "$1" != "$2" ] || fail "${3:-value}: must not be '$1'"
}

assert_ge() { # ACTUAL MINIMUM [WHAT]
	[ "$1" -ge "$2" ] || fail "${3:-value}: $1 is less than $2"
}

assert_le() { # ACTUAL MAXIMUM [WHAT]
	[ "$1" -le "$2" ] || fail "${3:-value}: $1 is more than $2"
}

assert_status() { # EXPECTED: of the last capture
	if [ "$1" != "$status" ]; then
		fail "exit status: expected $1, got $status; stderr:
$(excerpt "$TMP/err")"
	fi
}

# Of most files all is read by the shell itself, as a process takes 5 ms and there are ten
# thousand such assertions. (It leaves NULs out.) In $text; false if that is not all.
MOST_TEXT=16000
read_text() { # FILE
	text=
	[ -f "$1" ] && [ -r "$1" ] || return
	IFS= read -r -N $MOST_TEXT text <"$1"
	[ ${#text} -lt $MOST_TEXT ]
}

assert_contains() { # FILE TEXT (a fixed string)
	local text
	read_text "$1"
	[[ $2 != *$'\n'* && $text = *"$2"* ]] ||
		grep -a -q -F -e "$2" -- "$1" || fail "${1##*/} lacks '$2':
$(excerpt "$1")"
}

assert_not_contains() { # FILE TEXT
	local text
	assert_exists "$1"
	[[ $2 != *$'\n'* ]] && read_text "$1" && [[ $text != *"$2"* ]] && return
	if grep -a -q -F -e "$2" -- "$1"; then
		fail "${1##*/} holds '$2':
$(excerpt "$1")"
	fi
}

assert_matches() { # FILE EXTENDED-REGEXP
	grep -a -q -E -e "$2" -- "$1" || fail "${1##*/} has no line like /$2/:
$(excerpt "$1")"
}

assert_empty() { # FILE: a file, that is. Of a pipe nobody could say so
	[ -f "$1" ] || fail "$1 is no file"
	[ ! -s "$1" ] || fail "${1##*/} should be empty:
$(excerpt "$1")"
}

# Lines in the order that `sort OPTION...` makes; one alone, or none, would always be.
assert_sorted() { # FILE [OPTION]...
	local file=$1
	shift
	assert_ge "$(wc -l <"$file")" 2 "lines of $file"
	sort -c "$@" "$file" 2>"$TMP/unsorted" || fail "${file##*/} is not sorted:
$(excerpt "$TMP/unsorted")"
}

assert_exists() { # FILE
	[ -e "$1" ] || fail "$1 is not there"
}

assert_missing() { # FILE
	[ ! -e "$1" ] || fail "$1 should not be there"
}

assert_same() { # FILE FILE
	local second=$2

	if [ ! -f "$second" ]; then # a pipe can be read once
		second=$TMP/.second
		cat -- "$2" >"$second"
	fi
	cmp -s -- "$1" "$second" || fail "${1##*/} and ${2##*/} differ:
$(diff -a "$1" "$second" | head -n 20 | sed 's/^/    | /')"
}

# Every message of ours is one line that begins with "swizzle: ".
assert_refused() { # STATUS TEXT: of the last capture
	assert_status "$1"
	assert_empty "$TMP/out"
	assert_contains "$TMP/err" "$2"
	assert_matches "$TMP/err" '^swizzle: '
}

# Runs a program natively and under swizzle-run: same output, same status.
# The profile is in $TMP/profile; more options: RUN_OPTIONS=(...).
RUN_OPTIONS=()
# A copy of PROFILE as if of another process: one that began NUMBER ns later. (Of
# the same process all is counted once.) Of several numbers copies NEW.NUMBER.
other_process() { # PROFILE NEW NUMBER...
	/usr/bin/python3 - "$DUMP" "$@" <<'END' || fail "no copy of $1"
import struct, subprocess, sys
dump, profile, new, *numbers = sys.argv[1:]
data = bytearray(open(profile, "rb").read())
raw = subprocess.run([dump, "-f", "raw", "-n", "1", profile],
                     stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")
begin = next(int(line.split()[1]) for line in raw.splitlines()
             if line.split()[:1] == ["start_realtime_ns"])
at = data.index(struct.pack("<Q", begin), 0, 4096)
for number in numbers:
    data[at:at + 8] = struct.pack("<Q", begin + int(number))
    open(f"{new}.{number}" if numbers[1:] else new, "wb").write(data)
END
}

assert_same_as_native() { # PROGRAM [ARG...]
	local native
	"$@" >"$TMP/native.out" 2>"$TMP/native.err" </dev/null
	native=$?
	rm -f "$TMP/profile"
	"$RUN" -o "$TMP/profile" ${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} -- "$@" \
		>"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	assert_status $native
	assert_same "$TMP/native.out" "$TMP/out"
	assert_same "$TMP/native.err" "$TMP/err"
}

# The number in column COLUMN of the row whose function is NAME in a text
# table of swizzle-dump (calls self inclusive function module).
table_value() { # FILE FUNCTION COLUMN
	awk -v name="$2" -v column="$3" '
		NR == 1 || /calls/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= NF; i++) if ($i == name) { print $at[column]; exit } }
	' "$1"
}
