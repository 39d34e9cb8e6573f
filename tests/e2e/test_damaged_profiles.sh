# shellcheck shell=bash
# swizzle-dump on files that are no profiles, or no longer: a message and a
# status, or what is left of it with a warning; never a crash.
#   SEEDS   how many files with random bytes [60]
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
status=0
need_targets fib shape exceptions

no_crash() { # of the last capture: status 0, 1 or 2, messages in our words
	[ "$status" -le 2 ] || fail "status $status; stderr:
$(excerpt err)"
	grep -v '^swizzle: ' err >strange
	[ ! -s strange ] || fail "strange message:
$(excerpt strange)"
}

refuses() { # TEXT FILE: says so in one line, status 1, and writes nothing
	capture timeout 120 "$DUMP" -f text "$2"
	assert_refused 1 "$1"
	assert_eq 1 "$(wc -l <err)" 'lines of the message'
	rm -f cg
	capture timeout 120 "$DUMP" -o cg "$2"
	assert_refused 1 "$1"
	assert_missing cg
}

it 'what is no file'
refuses 'No such file' missing
mkdir directory
refuses 'no profile' directory
mkdir empty && cd empty || exit 1
capture "$DUMP" -f text
assert_refused 1 'swizzle.out'
cd ..
mkfifo fifo
capture timeout 120 "$DUMP" -f text fifo
assert_ne 124 "$status" 'status (hangs on a FIFO)'
no_crash
refuses '' /dev/null

it 'what is no profile'
: >zero
refuses 'empty' zero
echo 'Dear reader, this is no profile.' >letter
refuses 'not a' letter
head -c 100000 /dev/urandom >noise
refuses 'not a' noise
refuses 'not a' "$DUMP"
printf 'SWZPROF\n' >magic
refuses '' magic
{ printf 'SWZPROF\n'; head -c 8184 /dev/zero; } >zeros
refuses '' zeros
{ printf 'SWZPROF\n'; head -c 100000 /dev/urandom; } >noise
refuses '' noise

it 'what may not be read'
"$RUN" -o profile "$TARGETS/exceptions" rethrow >/dev/null
cp profile unreadable
chmod 0 unreadable
if [ "$(id -u)" -ne 0 ]; then
	refuses 'ermission' unreadable
elif chmod 755 "$TMP" && nobody_executes "$TMP" "$DUMP"; then
	capture setpriv --reuid 65534 --clear-groups "$DUMP" -f text \
		"$TMP/unreadable"
	assert_refused 1 'ermission'
fi

it 'a directory that is not writable for the result'
capture "$DUMP" -o /nowhere/at/all profile
assert_refused 1 '/nowhere/at/all'
capture bash -c '"$0" -f text profile >/dev/full' "$DUMP"
assert_status 1
assert_matches err '^swizzle: '

user_ms() { # COMMAND...: the processor time that it takes, the least of three
	local TIMEFORMAT=%U time least=
	for _ in 1 2 3; do
		time=$({ time "$@" >/dev/null 2>&1; } 2>&1)
		time=$((10#${time/./}))
		[ -n "$least" ] && [ $time -ge $least ] || least=$time
	done
	echo $least
}

it 'where nothing more can be written it does not go on'
SWIZZLE_TIMING='' "$RUN" -q -m trace -o trace "$TARGETS/fib" >/dev/null
for format in chrome perfetto speedscope html; do
	whole=$(user_ms "$DUMP" -q -f $format -o /dev/null trace)
	begun=$(user_ms "$DUMP" -q -f $format -o /dev/full trace)
	assert_le $((2 * begun)) "$whole" "$format: ms"
	capture "$DUMP" -q -f $format -o /dev/full trace
	assert_refused 1 'No space left on device'
	assert_eq 1 "$(wc -l <err)" 'lines of the message'
done
rm -f trace
"$RUN" -q -o threads "$TARGETS/fib" 3 >/dev/null
capture "$DUMP" -q -f callgrind --by thread,parts -o /dev/full threads
assert_refused 1 'No space left on device'
assert_eq 1 "$(wc -l <err)" 'lines of the message'

# What is written to FD (1, 2) has no reader.
unread() { # FD COMMAND...
	perl -e '
		my $fd = shift;
		pipe(my $reader, my $writer) or die;
		close $reader;
		$SIG{PIPE} = "DEFAULT";
		open($fd == 1 ? STDOUT : STDERR, ">&", $writer) or die;
		exec @ARGV;
	' "$@"
}

it 'a pipe that nobody reads: ends like cat'
capture unread 1 "$DUMP" -f text profile
assert_status 141
assert_empty err
it 'messages that nobody reads: the file is finished'
rm -f cg
capture unread 2 "$DUMP" profile -o cg letter
assert_status 1
assert_exists cg

it 'a newer version, and an older one'
cp profile other
printf '\377' | dd of=other bs=1 seek=8 conv=notrunc 2>/dev/null
refuses 'other: recorded by a newer swizzle (file format 255, ' other
printf '\003' | dd of=other bs=1 seek=8 conv=notrunc 2>/dev/null
refuses 'other: recorded by an older swizzle (file format 3, ' other
assert_matches err ': record it again$'

used=$(info_value profile used | cut -d' ' -f1)
it 'truncated: shows what is there'
for size in 1 7 8 100; do
	head -c $size profile >part
	refuses '' part
done
head -c 4095 profile >part
capture "$DUMP" -f text part
assert_refused 1 'nothing usable'
for size in 4096 4097 4160 5000 8192 12345 $((used / 4)) $((used / 2)) $((used - 1)); do
	head -c "$size" profile >part
	for format in $FORMATS; do
		capture timeout 120 "$DUMP" -f $format -o converted part
		no_crash
		[ -s err ] || fail "no word about the missing bytes ($size of $used, $format)"
	done
done
head -c "$used" profile >part
assert_readable part

it 'a hole of a terabyte'
cp profile part
printf '\377\377\377\377\377\377\377\177' |
	dd of=part bs=1 seek=24 conv=notrunc 2>/dev/null # used_bytes
if truncate -s 1T part 2>/dev/null; then
	capture timeout 120 "$DUMP" -f text part
	assert_status 0
	assert_contains err 'truncated'
	cp out holed
	assert_contains holed '# damaged profiles: 1'
	"$DUMP" -f text profile >out
	assert_same out <(sed '/^# damaged profiles: 1$/d' holed)
fi

it 'pages of zeros'
for ((at = 0; at < used; at += 4096)); do
	cp profile holed
	dd if=/dev/zero of=holed bs=4096 seek=$((at / 4096)) count=1 \
		conv=notrunc 2>/dev/null
	for format in text $(echo "$FORMATS" | sed -n "$((at / 4096 % 3 + 1))~3p"); do
		capture timeout 120 "$DUMP" -f $format -o converted holed
		no_crash
	done
	capture timeout 120 "$DUMP" -f tree --bottom-up holed
	no_crash
done

it 'random bytes'
"$RUN" -o profile "$TARGETS/shape" >/dev/null
used=$(info_value profile used | cut -d' ' -f1)
for seed in $(seq ${SEEDS:-60}); do
	perl -e '
		my ($seed, $used) = @ARGV;
		local $/;
		binmode(STDIN); binmode(STDOUT);
		srand($seed);
		my $file = substr(<STDIN>, 0, $used);
		# some lone bytes, some whole words that are all wrong
		for (1 .. 1 + rand(12)) {
			my $at = int(rand(4) < 1 ? rand(256) : rand($used));
			substr($file, $at, 1) = chr(int(rand(256)));
		}
		for (1 .. rand(4)) {
			my $at = 8 * int(rand($used / 8 - 1));
			substr($file, $at, 8) =
				pack("Q", (0, 1, ~0, 1 << 63, $used)[rand(5)]);
		}
		print $file;
	' "$seed" "$used" <profile >wrong
	# each third of the formats, another third for the next seed
	for format in $(echo "$FORMATS" | sed -n "$((seed % 3 + 1))~3p"); do
		capture timeout 120 "$DUMP" -f $format -o converted wrong
		[ "$status" -le 2 ] || { cp wrong "wrong.$seed"; echo "seed $seed"; }
		no_crash
	done
done

it 'a program that is gone, no program, or another one'
cp "$TARGETS/fib" program
"$RUN" -o named ./program >/dev/null
assert_calls named main 1
addresses() { # REASON
	capture timeout 120 "$DUMP" -f text named
	assert_status 0
	assert_contains err "program $1; its functions are shown by address"
	assert_not_contains out main
}
mv program moved
addresses 'cannot be read'
mkfifo program
addresses 'cannot be read'
rm program
echo text >program
addresses 'is not an ELF file'
cp "$TARGETS/shape" program
addresses 'has changed since it was profiled (other build-id)'
if have 'one without a build-id' gcc; then
	echo 'int f(void) { return 0; } int main(void) { return f(); }' >f.c
	gcc -O0 -Wl,--build-id=none -o program f.c
	"$RUN" -o named ./program
	assert_calls named f 1
	gcc -O2 -Wl,--build-id=none -o program f.c
	capture "$DUMP" -f text named
	assert_status 0
	assert_contains err 'program has no build-id and is newer than the profile'
fi

it 'one bad file among good ones'
"$DUMP" -f text profile >whole
for bad in letter nosuch; do
	capture "$DUMP" profile $bad
	assert_status 1
	assert_matches err "^swizzle: $bad: "
	assert_same whole out
done
capture "$DUMP" -f raw nosuch profile
assert_status 1
assert_matches err '^swizzle: nosuch: '
"$DUMP" -f raw profile >raw
assert_same raw out
capture "$DUMP" -f text profile ./nosuch/
assert_status 1
assert_matches err '^swizzle: ./nosuch/: '

it 'standard files that are closed'
cp "$TARGETS/exceptions" gone
"$RUN" -o gone.profile ./gone rethrow >/dev/null 2>&1
rm gone
"$DUMP" -f json --by thread,parts -o output gone.profile 2>&-
assert_eq 0 $? status
assert_not_contains output 'swizzle: '
"$DUMP" -q -f archive -o archive gone.profile
"$DUMP" -f text archive <&- >&- 2>err
assert_eq 1 $? 'status where there is no standard output'
assert_contains err 'cannot write standard output'

finish
