# shellcheck shell=bash
# Programs that a profiled one executes, and for which we cannot be preloaded:
# they see what they see natively.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets executes
PROGRAM=$TARGETS/executes
WAYS='execve execv execvp execvpe execl execle execlp posix_spawn posix_spawnp
vfork system popen fexecve fexecve_path execveat execveat_empty execveat_here'

# A copy of ours, whose library can be removed.
tree() {
	mkdir -p tree/bin tree/lib
	cp "$RUN" tree/bin
	cp "$LIBSWIZZLE" tree/lib
}

# What it is that the program executes: all of its environment but what is ours.
printf '#!/bin/sh\nenv | grep -v -e ^SWIZZLE_ -e ^_= | sort\nexit 3\n' >variables
printf '#!%s/variables\n' "$TMP" >script
chmod +x variables script

assert_same_environment() { # WAY PATH [FILE]
	"$PROGRAM" "$@" >native.out 2>native.err
	native=$?
	tree
	capture tree/bin/swizzle-run -q -o d/ -- "$PROGRAM" "$@"
	assert_status "$native"
	assert_same native.out out
	assert_same native.err err
}

for way in $WAYS; do
	it "a library that is not there any more, $way"
	assert_same_environment "$way" ./variables "$TMP/tree/lib/libswizzle.so"
	assert_eq 3 "$native" 'native status'
	assert_matches native.out '^PATH='
	assert_empty native.err
done
assert_same_environment execv ./script "$TMP/tree/lib/libswizzle.so"

it 'a library that the program may not read, but we still can'
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true; then
	tree
	capture tree/bin/swizzle-run -q -o d/ -- \
		setpriv --reuid 65534 --clear-groups env
	assert_status 0
	assert_empty err
	assert_matches out '^PATH='
	assert_not_contains out LD_PRELOAD
else
	echo 'no case of another user: not run by root'
fi

it 'more variables than fit onto the stack'
for ((i = 0; i < 3000; i++)); do
	export "variable_$i=$i"
done
assert_same_environment vfork ./variables "$TMP/tree/lib/libswizzle.so"
assert_matches out '^variable_2999=2999$'
assert_same_environment execv ./variables "$TMP/tree/lib/libswizzle.so"
for ((i = 0; i < 3000; i++)); do
	unset "variable_$i"
done

it "others' libraries stay in LD_PRELOAD"
echo 'extern int nothing; int nothing;' |
	cc -shared -fPIC -o libother.so -x c - || abort 'cc failed'
export LD_PRELOAD="$TMP/libother.so $TMP/libother.so"
assert_same_environment execv ./variables "$TMP/tree/lib/libswizzle.so"
assert_contains out "LD_PRELOAD=$LD_PRELOAD"
unset LD_PRELOAD

it 'where we can be loaded, we are'
tree
rm -rf d
capture tree/bin/swizzle-run -q -o d/ -- "$PROGRAM" execv ./script
assert_status 3
assert_matches out "^LD_PRELOAD=$TMP/tree/lib/libswizzle.so\$"
rm -rf d
mkdir d
capture "$RUN" -q -o d/ -- "$PROGRAM" vfork "$PROGRAM"
assert_eq 2 "$(ls d | wc -l)" profiles

it 'an environment without us is told, once, of programs that could have us'
told='/variables is not profiled: it is started with an environment without LD_PRELOAD=libswizzle.so'
for command in "env -i $TMP/variables" "env LD_PRELOAD=$TMP/libother.so $TMP/variables"; do
	# shellcheck disable=SC2086 # words
	capture "$RUN" -o d/ -- $command
	assert_status 3
	assert_eq "swizzle: $TMP$told" "$(cat err)" "$command"
	# shellcheck disable=SC2086 # words
	capture "$RUN" -q -o d/ -- $command
	assert_empty err
	# shellcheck disable=SC2086 # words
	capture "$RUN" --no-follow -o d/ -- $command
	assert_empty err
done
it 'a program without us is sampled in a run with samples: that is told'
capture "$RUN" -m both -o alone/ -- env -i "$TMP/variables"
assert_status 3
assert_contains err "swizzle: $TMP/variables is sampled alone, its calls are not counted: it is started with an environment without LD_PRELOAD=libswizzle.so"
assert_not_contains err 'not profiled'
capture "$RUN" -o d/ -- env -i ./nonesuch
assert_not_contains err 'not profiled'

if [ "$(id -u)" = 0 ]; then
	it 'a program that gets other rights ignores us: that is told'
	cp "$(type -P true)" other_user
	chown 65534 other_user
	chmod 4755 other_user
	capture "$RUN" -o d/ -- env ./other_user
	assert_status 0
	assert_eq 1 "$(grep -c '^swizzle: ./other_user is not profiled: it is set-user-ID' err)" lines
	chown "$(id -u)" other_user # the same rights
	chmod 4755 other_user
	capture "$RUN" -o d/ -- env ./other_user
	assert_not_contains err 'not profiled'
fi
capture "$RUN" -o d/ -- python3 -c 'import subprocess as s
for i in range(3): s.run(["/bin/true"], env={})'
assert_eq 1 "$(grep -c '/bin/true is not profiled' err)" 'three times'

it 'programs of 32 bits, also as interpreters'
program bits.s >bits.s
printf '#! %s/bits and more\n' "$TMP" >script32
printf '#!%s/script32' "$TMP" >script32_twice
chmod +x script32 script32_twice
if as --32 -o bits.o bits.s && ld -m elf_i386 -o bits bits.o; then
	./bits >/dev/null
	if [ $? = 5 ]; then
		for way in $WAYS; do
			for program in bits script32 script32_twice; do
				it "32 bits: $program, $way"
				capture "$RUN" -q -o d/ -- "$PROGRAM" $way \
					"$TMP/$program"
				assert_status 5
				assert_empty err
				assert_matches out '^PATH='
				assert_not_contains out 'LD_PRELOAD'
			done
		done
	else
		echo 'no case of 32 bits: the kernel does not execute them'
	fi
else
	echo 'no case of 32 bits: as and ld do not make them'
fi

it 'a program of musl, which would not run with us'
# In place of musl's dynamic linker: what it is started with, and status 5.
program linker.s >linker.s
mkdir -p "root/${LIBSWIZZLE%/*}" root/lib
cp "$LIBSWIZZLE" "root/${LIBSWIZZLE%/*}"
if [ "$(id -u)" = 0 ] && chroot / true; then
	as -o linker.o linker.s && ld -o root/lib/ld-musl-x86_64.so.1 linker.o &&
		echo 'int main(void) { return 0; }' |
		cc -pie -fPIE -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 \
			-o root/program -x c - || abort 'not built'
	capture "$RUN" -q -o d/ -- chroot root /program
	assert_status 5
	assert_empty err
	assert_matches out '^PATH='
	assert_not_contains out LD_PRELOAD
else
	echo 'no case of musl: not run by root'
fi

it 'wrong pointers are refused by the kernel'
tree
"$PROGRAM" wrong ./variables >native.out
capture tree/bin/swizzle-run -q -o d/ -- "$PROGRAM" wrong ./variables
assert_same native.out out
assert_empty err
assert_eq 9 "$(grep -c ': [BNI]' out)" 'refusals'

finish
