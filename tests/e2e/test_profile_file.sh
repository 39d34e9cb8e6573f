# shellcheck shell=bash
# The profile as a file: how long it is, whose it is, and where it cannot be.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets ends growing processes fib shape
need perl

size_of() { # FILE
	stat -c %s "$1"
}

# What is used, a quarter (of a small one, a half) more, and the least step.
assert_no_longer_than_needed() { # PROFILE
	local used size
	used=$(info_value "$1" used)
	used=${used%% *}
	size=$(size_of "$1")
	assert_ge "${used:-0}" 4096 "used of $1"
	assert_ge "$size" "$used" "size of $1"
	if [ "$used" -le $((2 << 20)) ]; then
		assert_le "$size" $((used + used / 2 + (128 << 10))) "size of $1"
	else
		assert_le "$size" $((used + used / 4 + (4 << 20))) "size of $1"
	fi
}

# ------------------------------------------------------------------ length

for way in _exit 9 15 abort fault; do
	it "a file is no longer than it need be: $way"
	rm -f profile
	"$RUN" -q -o profile "$TARGETS/ends" $way >/dev/null 2>&1
	assert_calls profile work 1000
	assert_no_longer_than_needed profile
	assert_le "$(size_of profile)" 262144 'size'
	"$DUMP" -f info profile >info
	assert_contains info 'end: by _exit, exec or a signal'
	assert_not_contains info 'flags:'
done
"$RUN" -q -o profile "$TARGETS/ends" exit >/dev/null 2>&1
"$DUMP" -f info profile >info
assert_contains info 'flags: ended'
assert_contains info 'end: in order'
assert_le "$(size_of profile)" 262144 'size'

# changing PROFILE cut|grow: forks while that, its own, is being cut, or lets it become longer
# before the child has looked at it.
program changing.c >changing.c
gcc -O1 -I"$TOP/include" -o changing changing.c || abort 'not built'
for what in cut grow; do
	it "a child whose parent's file changes before the child has looked at it: $what"
	for mode in profile count trace; do
		rm -f changed*
		"$RUN" -q -m $mode -o changed ./changing changed $what
		assert_eq 0 $? "$mode: exit status"
		assert_eq 2 "$(find . -name 'changed*' | wc -l)" "$mode: profiles"
	done
done

it 'a cut changes the end of what is used: room that is taken meanwhile is not had'
"$DUMP" -q -f raw profile >raw
assert_matches raw '^chunk at .*: PADDING \(16\), 64 bytes'

for options in '' '-m trace' '-m trace --ring --max-size 1M' '-m trace --max-size 3M'; do
	for way in '' _exit kill; do
		it "four threads make it grow: $options $way"
		rm -f profile
		"$TARGETS/growing" 4 >native.out
		# shellcheck disable=SC2086 # several options
		"$RUN" -o profile $options "$TARGETS/growing" 4 $way >out 2>err
		assert_same native.out out
		assert_empty err
		"$DUMP" -q -f text profile >table
		for function in level_0 level_7 level_12; do
			assert_eq 16384 "$(row table calls $function)" "calls of $function"
		done
		assert_eq 0 "$(info_value profile 'lost calls')" 'lost calls'
		assert_eq 0 "$(info_value profile 'folded calls')" 'folded calls'
		assert_ge "$(info_value profile contexts)" $((4 * 8191)) contexts
		assert_no_longer_than_needed profile
		[ -n "$way" ] || assert_complete profile
	done
done

it 'those of forked children'
rm -rf d
"$RUN" -q -o d/ perl -e '
	for (1 .. 20) { my $p = fork; next if $p; kill 9, $$ if $_ % 2; use POSIX; POSIX::_exit(0) }
	1 while wait > 0' >/dev/null
assert_eq 21 "$(ls d | wc -l)" profiles
for profile in d/*; do
	assert_no_longer_than_needed "$profile"
done

it 'a child that is forked when its parent has grown far'
rm -rf d
capture "$RUN" -o d/ "$TARGETS/growing" 3 fork
assert_status 0
assert_empty err
assert_eq 2 "$(ls d | wc -l)" profiles
for profile in d/*; do
	assert_complete "$profile"
	assert_no_longer_than_needed "$profile"
	assert_ge "$(info_value "$profile" contexts)" 8191 contexts
done
"$DUMP" -q -f text d >table
assert_eq 16384 "$(row table calls level_12)" 'calls of level_12'

# Starts $TARGETS/growing, which waits; sets $process.
start_waiting() { # PROFILE [SWIZZLE-RUN-OPTION...]
	local profile=$1
	shift
	rm -f gate
	mkfifo gate
	"$RUN" -o "$profile" "$@" "$TARGETS/growing" 2 wait <gate >out 2>err &
	process=$!
	exec 3>gate
	wait_until grep -q "$TARGETS/growing" "$profile" 2>/dev/null
	wait_until recorded "$profile"
}
recorded() { # PROFILE
	"$DUMP" -q -f text "$1" 2>/dev/null | grep -q ' main '
}
let_go() {
	echo >&3
	exec 3>&-
	wait $process
	# shellcheck disable=SC2034 # assert_status asks
	status=$?
}

it 'a file that is moved grows where it is'
rm -rf profile d
mkdir d
start_waiting profile
mv profile d/elsewhere
let_go
assert_status 0
assert_empty err
assert_missing profile
assert_complete d/elsewhere
assert_calls d/elsewhere level_0 8192 level_12 8192
assert_no_longer_than_needed d/elsewhere

it 'a file that is removed does not: one line says so'
start_waiting profile
rm profile
let_go
assert_status 0
assert_same <("$TARGETS/growing" 2) out
assert_eq 1 "$(wc -l <err)" 'lines on stderr'
assert_matches err '^swizzle: .*/profile: the file was removed, or .* may be lost$'
start_waiting profile -q
rm profile
let_go
assert_status 0
assert_empty err

# ------------------------------------------------------------------- owner

it 'a profile that is being written is left alone'
rm -f profile*
start_waiting profile
"$DUMP" -f info profile >info
assert_contains info "end: none yet, process $process runs"
before=$(stat -c %i profile)
capture "$RUN" -o profile "$TARGETS/fib"
assert_status 0
assert_matches err '^swizzle: .*/profile is being written by another process: writing .*/profile\.[0-9]+$'
assert_eq "$before" "$(stat -c %i profile)" 'inode'
assert_eq 2 "$(ls profile* | wc -l)" profiles
for other in profile.*; do
	assert_complete "$other"
	assert_calls "$other" main 1
done

# Where a lock does not outlive its descriptor (overlayfs) the header tells.
it 'nor a copy of it, which has no lock, but names its writer'
cp profile copy
capture "$RUN" -o copy "$TARGETS/fib"
assert_matches err '/copy is being written by another process'
it 'but one that names another process of that number'
cp profile copy
# its start, in clock ticks since the system's
at=$(perl -0777 -ne '
	open(my $stat, "<", "/proc/'$process'/stat"); my $line = <$stat>;
	$line =~ s/.*\) //s; my $start = (split / /, $line)[19];
	print index(substr($_, 0, 4096), pack("Q", $start))' copy)
assert_ge "$at" 100 'place of the start in the header'
printf '\1' | dd of=copy bs=1 seek=$((at + 7)) conv=notrunc 2>/dev/null
rm -f copy.*
capture "$RUN" -o copy "$TARGETS/fib"
assert_empty err
assert_complete copy

it 'one whose writer was killed makes room'
kill -9 $process
wait $process 2>/dev/null
exec 3>&-
rm -f profile.*
"$DUMP" -f info profile >info
assert_contains info 'end: by _exit, exec or a signal'
capture "$RUN" -o profile "$TARGETS/fib"
assert_status 0
assert_empty err
assert_complete profile
assert_eq profile "$(echo profile*)" profiles

nameless_files() { # succeeds where they can be
	/usr/bin/python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_RDWR)' 2>/dev/null
}

it 'one that is killed before it has written the header leaves no file'
if command -v strace >/dev/null && nameless_files; then
	for call in pwrite64 linkat; do
		rm -f early* log
		capture strace -q -o log -e trace=$call -e inject=$call:signal=KILL:when=1 \
			"$RUN" -o early "$TARGETS/fib"
		assert_matches log "^$call\("
		assert_matches log 'killed by SIGKILL'
		assert_eq 'early*' "$(echo early*)" "files after $call"
		capture timeout 60 strace -f -q -o log -e trace=$call \
			-e inject=$call:signal=KILL:when=1 \
			"$RUN" -m sample -o early "$TARGETS/fib"
		assert_matches log 'killed by SIGKILL'
		assert_eq 'early*' "$(echo early*)" "files of a sampler after $call"
	done
else
	echo 'not tested: a kill before the header, without strace or O_TMPFILE'
fi

# All are there until the last has started: none is lost, and each is whole.
it 'sixteen that start at the same moment have a profile each'
rm -f same* gate
mkfifo gate
processes=()
for i in {1..16}; do
	"$RUN" -q -o same "$TARGETS/growing" 1 wait <gate >/dev/null 2>&1 &
	processes+=($!)
done
exec 3>gate
enough() { [ "$(ls same* 2>/dev/null | wc -l)" -ge 16 ]; }
wait_until enough
for profile in same*; do
	wait_until recorded "$profile" || fail "$profile: nothing recorded"
done
for i in {1..16}; do
	echo >&3
done
exec 3>&-
for process in "${processes[@]}"; do
	wait $process
	assert_eq 0 $? "status of $process"
done
assert_exists same
assert_eq 16 "$(ls same* | wc -l)" profiles
for profile in same*; do
	assert_complete "$profile"
	assert_calls "$profile" level_0 4096
done

# ------------------------------------------------------------------- place

refused() { # OUTPUT STATUS TEXT
	it "-o $1"
	capture "$RUN" -o "$1" "$TARGETS/shape"
	assert_refused "$2" "$3"
}

before=$(find /dev -maxdepth 1 | sort)
for output in /dev/null /dev/stdout /dev/nothing; do
	refused $output 126 "$output: a profile can only be written to a regular file"
done
refused - 2 'a profile cannot be written to standard output'
mkfifo pipe
refused pipe 126 'pipe: a profile can only be written to a regular file'
[ -p pipe ] || fail 'the named pipe is gone'
refused missing/profile 126 'missing/profile: there is no directory '
refused /proc/self/profile 126 'cannot write a profile to /proc/self/: '
it 'the library itself makes none in /dev, nor in place of a pipe'
capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT=/dev/null "$TARGETS/shape"
assert_status 0
assert_contains err 'swizzle: SWIZZLE_OUTPUT: no profile is written to /dev: not profiled'
assert_eq "$before" "$(find /dev -maxdepth 1 | sort)" 'files in /dev'
capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_OUTPUT="$TMP/pipe" SWIZZLE_FRESH=1 \
	"$TARGETS/shape"
assert_status 0
assert_contains err 'pipe is not a profile and is left alone'
[ -p pipe ] || fail 'the named pipe is gone'

it 'a limit that leaves no room for a file'
capture bash -c 'ulimit -f 8; exec "$@"' - "$RUN" -o limited "$TARGETS/shape"
assert_refused 126 'files may have no more than 8192 bytes (ulimit -f)'
assert_missing limited

mkdir small
if [ "$(id -u)" -ne 0 ] || ! mount -t tmpfs -o size=512k none small 2>/dev/null; then
	echo 'not tested: read-only and full disks, no such mount'
	finish
fi
it 'a disk that fills up: said when it happens, once, and by its cause'
capture "$RUN" -o small/profile "$TARGETS/growing" 4
assert_status 0
assert_same <("$TARGETS/growing" 4) out
assert_eq 1 "$(wc -l <err)" 'lines on stderr'
assert_matches err '^swizzle: .*/small/profile: the disk is full; calls from now on may be lost\. '
"$DUMP" -f info small/profile >info 2>dump.err
assert_matches info '^incomplete: the disk was full$'
assert_contains dump.err 'small/profile: incomplete: the disk was full'
assert_not_contains dump.err 'no memory'
assert_ge "$(info_value small/profile 'lost calls')" 1 'lost calls'

it 'a profile is replaced on a disk that is full'
dd if=/dev/zero of=small/rest bs=4096 2>/dev/null
capture "$RUN" -q -o small/profile "$TARGETS/growing" 4
assert_status 0
assert_empty err
assert_same <("$TARGETS/growing" 4) out
dd if=/dev/zero of=small/more bs=4096 2>/dev/null
capture "$RUN" -o small/another "$TARGETS/growing" 4
assert_refused 126 'cannot write a profile to '
assert_contains err 'No space left on device'
it 'so with a trace'
rm -f small/*
capture "$RUN" -m trace -o small/profile "$TARGETS/growing" 1
assert_status 0
assert_eq 1 "$(grep -c 'the disk is full' err)" 'lines on stderr'
it 'and where it is full at the start, nothing runs'
rm -f small/*
dd if=/dev/zero of=small/all bs=4k 2>/dev/null
capture "$RUN" -o small/profile "$TARGETS/shape"
assert_refused 126 'cannot write a profile to '
assert_contains err 'No space left on device'
assert_missing small/profile
mount -o remount,ro small
it 'a directory that may not be written to'
capture "$RUN" -o small/profile "$TARGETS/shape"
assert_refused 126 'small/: Read-only file system'
capture "$RUN" -o small/ "$TARGETS/shape"
assert_refused 126 'small/: Read-only file system'
capture env SWIZZLE_OUTPUT="$TMP/small/profile" "$RUN" "$TARGETS/shape"
assert_refused 126 'small/: Read-only file system'
cd small || exit 1
capture "$RUN" "$TARGETS/shape"
cd ..
assert_refused 126 'small/: Read-only file system'
umount small

finish
