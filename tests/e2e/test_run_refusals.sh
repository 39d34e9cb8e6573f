# shellcheck shell=bash
# swizzle-run refuses what LD_PRELOAD cannot reach: a clear message, status 126
# (127: not found), and the program is not started.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN"
need cc

mkdir -p tree/bin tree/lib
cp "$RUN" tree/bin/swizzle-run
echo 'extern int nothing; int nothing;' | cc -shared -fPIC -o tree/lib/libswizzle.so -x c -
RUN=$TMP/tree/bin/swizzle-run

cat >marker.c <<'END'
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	return close(open("started", O_CREAT | O_WRONLY, 0600));
}
END
cc -o marker marker.c || abort 'cannot compile'

refuses() { # STATUS TEXT PROGRAM
	it "$3"
	rm -f started
	capture "$RUN" "$3"
	assert_refused "$1" "$2"
	assert_eq 1 "$(wc -l <"$TMP/err")" 'lines of the message'
	assert_contains "$TMP/err" "swizzle: $3"
	assert_missing started
}

it 'accepts the program that the refused ones are made of'
capture "$RUN" ./marker
assert_status 0
assert_exists started

it 'static programs'
cc -static -o static marker.c && refuses 126 \
	'./static: cannot be profiled: statically linked. Link it dynamically' ./static
cc -static-pie -o static-pie marker.c && refuses 126 'statically linked' ./static-pie

# A 64-byte file header: class, data, type, machine, with no program headers.
elf_header() { # CLASS TYPE MACHINE FILE
	{
		printf '\177ELF%b\001\001' "\\0$1"
		printf '\0\0\0\0\0\0\0\0\0%b\0%b\0\001\0\0\0' "\\0$2" "\\0$3"
		printf '\0%.0s' {1..40}
	} >"$4"
	chmod +x "$4"
}

it 'other machines'
elf_header 1 2 3 i386
assert_eq 64 "$(wc -c <i386)" 'size of the header'
refuses 126 '32-bit' ./i386
if echo 'int main(void){return 0;}' | cc -m32 -o real32 -x c - 2>/dev/null; then
	refuses 126 '32-bit' ./real32
fi
elf_header 2 2 267 arm64 # octal: 183, EM_AARCH64
refuses 126 'architecture' ./arm64
elf_header 2 1 76 object # 62, EM_X86_64
refuses 126 'not a program' ./object
elf_header 2 2 76 headless
refuses 126 'statically linked' ./headless

it 'damaged ELF files: a message, and no noise from the shell'
for size in 4 5 16 32 63; do
	head -c $size marker >short
	chmod +x short
	refuses 126 './short' ./short
done
# Program headers at an offset far beyond the file, and thousands of them.
{
	head -c 32 marker
	printf '\377\377\377\377\377\377\377\177'
	tail -c +41 marker | head -c 16
	printf '\377\377'
	tail -c +59 marker
} >wild
chmod +x wild
refuses 126 'statically linked' ./wild

it 'what is not a program'
printf 'bin\0ary' >binary
printf 'data' >data
mkdir directory
chmod +x binary
refuses 126 'not an ELF program' ./binary
refuses 126 'permission denied' ./data
refuses 126 'is a directory' ./directory
refuses 127 'not found' ./missing
refuses 127 'not found' no-such-program-anywhere
refuses 127 'not found' ./marker/x
mkdir path
cp data path/denied
PATH=$TMP/path:$PATH refuses 126 'permission denied' denied

it 'scripts whose interpreter cannot be profiled'
printf '#!%s/static\n' "$TMP" >by-static
printf '#!/usr/bin/env static\n' >by-env
printf '#!/no/such/interpreter\n' >by-missing
printf '#!/usr/bin/env no-such-interpreter\n' >by-env-missing
printf '#!\n' >by-nothing
printf '#!%s/loop\n' "$TMP" >loop
printf '#!%s/data\n' "$TMP" >by-data
chmod +x by-* loop
if [ -e static ]; then
	refuses 126 'statically linked' ./by-static
	PATH=$TMP:$PATH refuses 126 'statically linked' ./by-env
fi
refuses 126 'was not found' ./by-missing
refuses 127 'not found' ./by-env-missing
refuses 126 'no interpreter' ./by-nothing
refuses 126 'too many levels' ./loop
refuses 126 'permission denied' ./by-data

it 'what env -S reads otherwise than as words is left to it'
runs() { # LINE: a script with this first line
	printf '#!/usr/bin/env %s\n:\n' "$1" >by-env-split
	chmod +x by-env-split
	rm -f started
	PATH=$TMP:$PATH capture "$RUN" ./by-env-split
	assert_status 0
	assert_empty err
	assert_exists started
}
if /usr/bin/env -S true 2>/dev/null; then
	runs '-S marker'
	runs '-S A="b c" marker'
	runs '-S "marker" -x'
	# shellcheck disable=SC2016 # env's variable
	DIRECTORY=$TMP runs '-S ${DIRECTORY}/marker'
	runs '-S marker # and a comment'
	runs "-S PATH=$TMP marker"
	runs '-Smarker another'
fi

it 'musl programs'
if echo 'int main(void){return 0;}' |
	cc -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 -o musl -x c -; then
	refuses 126 'musl' ./musl
fi

it 'a program that may be executed but not read is run'
cp marker unreadable
chmod 111 unreadable
rm -f started
capture "$RUN" ./unreadable
assert_status 0
assert_exists started

it 'many program headers, elsewhere in the file'
# What patchelf and the like do: the table moves to the end of the file.
size=$(wc -c <marker)
pad=$(((8 - size % 8) % 8))
number=$(od -An -tu2 -j 56 -N 2 marker | tr -d ' ')
{
	head -c 32 marker
	for shift in 0 8 16 24 32 40 48 56; do
		printf '%b' "\\0$(printf %o $(((size + pad) >> shift & 255)))"
	done
	tail -c +41 marker
	head -c $pad /dev/zero
	tail -c +65 marker | head -c $((number * 56))
} >moved
chmod +x moved
capture "$RUN" ./moved
assert_not_contains "$TMP/err" 'static'

# Programs that gain privileges: a copy owned by somebody else is enough, and
# only root can make one.
if [ "$(id -u)" = 0 ] && cp marker setuid && cp marker setgid &&
	chown 65534 setuid && chmod u+s setuid &&
	chgrp 65534 setgid && chmod g+s setgid; then
	refuses 126 './setuid: cannot be profiled: setuid. Run swizzle as its owner' ./setuid
	refuses 126 'setgid' ./setgid
	cp marker own
	chmod u+s own
	it 'setuid to oneself gains nothing'
	capture "$RUN" ./own
	assert_status 0
	chmod 755 "$TMP" tree tree/* "$RUN"
	if command -v setcap >/dev/null && cp marker capable &&
		chmod 755 capable && setcap cap_net_raw+ep capable &&
		nobody_executes "$RUN" "$TMP/capable"; then
		it 'file capabilities'
		capture setpriv --reuid=65534 --clear-groups "$RUN" ./capable
		assert_refused 126 'file capabilities'
	fi
fi

it 'a working directory that is gone'
mkdir gone
(
	cd gone && rmdir "$TMP/gone" || exit
	"$RUN" -o profile true >"$TMP/out" 2>"$TMP/err"
	echo $? >"$TMP/gone.status"
)
assert_eq 126 "$(cat gone.status)"
assert_contains err 'the working directory is not there any more'

finish
