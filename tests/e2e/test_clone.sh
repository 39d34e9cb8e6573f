# shellcheck shell=bash
# scripts/swizzle-run in a clone, where it cannot build: it says what to do, leaves
# nothing behind, and its status is the one for a program that cannot be run.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN" "$DUMP" "$LIBSWIZZLE"

# A machine with these commands alone, and what the test makes of the rest.
mkdir commands
for command in sh bash env head basename dirname readlink flock mkdir tail nproc cat grep; do
	ln -s "$(command -v $command)" commands/ || abort "no $command"
done
fake() { # COMMAND TEXT: a script
	printf '#!/bin/sh\n%s\n' "$2" >"commands/$1"
	chmod 755 "commands/$1"
}
bare() { # COMMAND...: without a terminal
	capture env PATH="$TMP/commands" "$@" </dev/null
}
clone() { # DIRECTORY: the scripts of one, which is not built
	mkdir -p "$1"
	cp -r "$TOP/scripts" "$1"
}

clone tree
it 'without apt: which packages are needed'
fake id 'echo 1000'
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches err '^swizzle: there is no apt here: '
assert_matches err '^swizzle needs these packages .*: gcc .* libdw-dev .* check$'
assert_empty out

it 'as an ordinary user without sudo: the command for root'
fake dpkg-query 'exit 1'
fake apt-get "echo \"\$@\" >>$TMP/apt; exit 100"
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches err '^swizzle: only root can install packages, and there is no sudo\.$'
assert_matches err '^As root: apt-get install gcc .* libdw-dev .* check$'
assert_missing apt

it 'with a sudo that asks, without a terminal'
fake sudo 'exit 1'
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches err 'sudo asks for a password, and there is no terminal\.$'
assert_missing apt

it 'where apt-get fails: the last lines say what is missing'
fake id 'echo 0'
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches apt '^-q update$'
assert_matches apt ' install '
assert_eq 'swizzle: apt-get could not install all packages; it says why above.' \
	"$(tail -n 2 err | head -n 1)"
assert_matches err '^As root: apt-get install gcc .* libdw-dev .* check$'

it 'where only some packages are missing, only these are named'
# shellcheck disable=SC2016 # the script's own
fake dpkg-query 'for last; do :; done; case $last in libdw-dev | check) exit 1 ;; esac; echo installed'
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches err '^As root: apt-get install libdw-dev check$'

it 'a package that this release does not have, under its other name'
# shellcheck disable=SC2016
fake dpkg-query 'for last; do :; done; case $last in clang-14 | clang | perl) exit 1 ;; esac; echo installed'
# shellcheck disable=SC2016
fake apt-cache '[ "$2" != clang-14 ]'
bare tree/scripts/install-deps --test --print
assert_eq 'clang perl ' "$(tr '\n' ' ' <out)"
# shellcheck disable=SC2016
fake apt-cache '[ "$2" = clang-14 ]'
bare tree/scripts/install-deps --test --print
assert_eq 'clang-14 perl ' "$(tr '\n' ' ' <out)"
# shellcheck disable=SC2016
fake dpkg-query 'for last; do :; done; case $last in clang-14) exit 1 ;; esac; echo installed'
bare tree/scripts/install-deps --test --print
assert_empty out

it 'where the build fails: its last lines, and where all of them are'
fake dpkg-query 'echo installed'
fake make 'echo "works.c: no such word" >&2; exit 2'
bare tree/scripts/swizzle-run true
assert_status 126
assert_matches err '^works\.c: no such word$'
assert_matches err '^swizzle: the build failed; all it said is in /.*/tree/build/swizzle-run\.log$'

it 'in a path that LD_PRELOAD cannot name nothing is built'
for path in 'with space' 'with:colon' "with\$dollar"; do
	clone "$path"
	bare "$path/scripts/swizzle-run" true
	assert_status 126
	assert_contains err "$path: LD_PRELOAD cannot name a path with a space"
	assert_missing "$path/build"
done

if [ "$(id -u)" = 0 ]; then
	other() { setpriv --reuid 65534 --clear-groups "$@"; }
else
	other() { "$@"; }
fi
chmod 755 .
clone theirs
chmod -R a+rX,a-w theirs
if have 'a clone of another user' setpriv && other test -x theirs/scripts/swizzle-run; then
	capture other theirs/scripts/swizzle-run true
	assert_status 126
	assert_matches err '/theirs/build is not built, and you may not write there\.'
	assert_matches err ' run /.*/theirs/scripts/swizzle-run once, or you copy /.*/theirs$'
	assert_eq 1 "$(wc -l <err)"

	it 'there, built: it runs, and the demo writes elsewhere'
	chmod u+w theirs
	mkdir theirs/build
	cp -r "$BUILD/bin" "$BUILD/lib" theirs/build
	chmod -R a+rX,a-w theirs
	mkdir -m 777 work
	capture other env TMPDIR="$TMP/work" HOME="$TMP/work" theirs/scripts/demo "$BASH" -c true
	assert_status 0
	assert_matches out ' functions?[;.]'
	assert_exists "$(echo work/swizzle-demo.*/profile)"
	chmod -R u+w theirs
fi

finish
