# shellcheck shell=bash
# Where there is no /proc, as in many a chroot, all is hooked and counted as ever.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need unshare mount
need_targets fib late liblate.so threads longjmp growing tailcalls shape
# the dynamic linker has no $ORIGIN then
export LD_LIBRARY_PATH=$TARGETS

without_proc() { # COMMAND...
	local options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	# shellcheck disable=SC2016 # for that shell
	unshare "${options[@]}" sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
}
without_proc test ! -e /proc/self 2>/dev/null || skip 'no mount name spaces here'

# The functions and how often each was called.
calls_in() { # PROFILE-OR-DIRECTORY
	"$DUMP" -q -f text "$1" 2>/dev/null |
		awk '!/^#/ && $1 ~ /^[0-9]+$/ { print $1, $4 }' | sort
}

compare() { # PROGRAM [ARG...]
	it "without /proc: ${1##*/} ${*:2}"
	rm -rf with without
	mkdir with without
	"$RUN" -o with/ "$@" >native.out 2>native.err </dev/null
	native=$?
	capture without_proc "$RUN" -o without/ "$@" </dev/null
	assert_status $native
	assert_same native.out out
	assert_empty err
	assert_eq "$(ls with | wc -l)" "$(ls without | wc -l)" profiles
	calls_in with >with.calls
	calls_in without >without.calls
	assert_ge "$(wc -l <with.calls)" 3 'functions'
	assert_same with.calls without.calls
	for profile in without/*; do
		assert_complete "$profile"
	done
}

compare "$TARGETS/fib"
assert_matches info "^executable: $TARGETS/fib\$"
assert_matches info "^$TARGETS/fib +[0-9]+ +[1-9][0-9]* +0\$"
compare "$TARGETS/late" once
assert_calls "$(echo without/*)" late_leaf 11
compare "$TARGETS/threads" together 40
compare "$TARGETS/longjmp"
compare "$TARGETS/tailcalls"
compare "$TARGETS/growing" 2 fork

it 'a program by its name in the working directory, and by a script'
cd "$TARGETS" || exit 1
capture without_proc "$RUN" -o "$TMP/profile" ./shape
cd "$TMP" || exit 1
assert_status 0
assert_complete profile
assert_matches info "^executable: $TARGETS/(\./)?shape\$"
for how in "$TARGETS/fib" "/usr/bin/env $TARGETS/fib"; do
	echo "#! $how" >script
	chmod +x script
	rm -rf without
	capture without_proc "$RUN" -o without/ ./script
	assert_status 0
	assert_eq 1 "$(calls_of without main)" 'calls of main'
done

for program in perl sqlite3 /usr/bin/python3; do
	have "without /proc: $program" $program || continue
	path=$program
	program=${program##*/}
	printf 'print "x";\n' >x.perl
	printf 'select 1 + 1;\n' >x.sqlite3
	printf 'print(sorted(map(str, range(2000)))[-1])\n' >x.python3
	"$path" <x.$program >native.out
	rm -f profile
	capture without_proc "$RUN" -o profile "$path" <x.$program
	assert_status 0
	assert_same native.out out
	assert_empty err
	assert_complete profile
	patched=$(awk '$3 ~ /^[0-9]+$/ && /^\// { sum += $3 } END { print sum + 0 }' info)
	assert_ge "$patched" 500 'functions hooked'
done

finish
