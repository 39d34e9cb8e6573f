# shellcheck shell=bash
# Programs that give up rights, or have few: they go on as without us, and what
# cannot be recorded is counted, or said.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets confined locked deny
PROGRAM=$TARGETS/confined

run_both() { # ARG...: native.out, out, and d/ with the profiles
	end_of "$PROGRAM" "$@" >native.end
	mv out native.out
	mv err native.err
	rm -rf d
	mkdir d
	chmod 1777 d
	end_of "$RUN" -o d/ "$PROGRAM" "$@" >ours.end
	mv err ours.err
	assert_same native.end ours.end
	assert_same native.out out
	for profile in d/*; do
		assert_converts "$profile"
	done
	"$DUMP" -q -f text d >table 2>/dev/null
	first=$(echo d/*)
}

# go_on(): 2^9 contexts in two threads, a child with 21 calls of its own
assert_went_on() { # PROCESSES
	assert_eq 512 "$(row table calls level_8)" 'calls of level_8'
	if [ "$1" -gt 1 ]; then
		assert_eq $((4 + 11 + 6 + 21)) "$(row table calls nest)" \
			'calls of nest'
		assert_same native.err ours.err
	else
		assert_eq $((4 + 11 + 6)) "$(row table calls nest)" \
			'calls of nest'
	fi
	assert_eq "$1" "$(ls d | wc -l)" profiles
}

# The child cannot make a file of its own: one line says so.
assert_child_refused() {
	assert_went_on 1
	assert_eq 'swizzle: child process not profiled: cannot create its profile' \
		"$(cat ours.err)" stderr
}

it 'nothing given up'
run_both plain
assert_went_on 2
it 'asks what it could give up'
run_both probe
assert_eq 5 "$(grep -c ^refused: native.out)" 'requests refused'
assert_went_on 2
for profile in d/*; do
	assert_eq 0 "$(info_value "$profile" 'lost calls')" 'lost calls'
done
it 'may not be dumped'
run_both undumpable
assert_went_on 2
it 'no file longer than 64 KiB'
run_both fsize
assert_went_on 2
it 'no descriptor more'
run_both nofile
assert_child_refused
for profile in d/*; do assert_complete "$profile"; done
it 'nor is stderr what it was: nothing is said'
run_both nofile-served
assert_went_on 1
assert_same native.err ours.err

it 'no address space more: what has no memory is counted'
run_both as
assert_same native.err ours.err
lost=$(info_value "$first" 'lost calls')
calls=$(awk '$(NF - 1) ~ /^(level_.|nest|work|main)$/ { n += $1 } END { print n }' table)
assert_eq $((511 + 31 + 1 + 4 + 1 + 1)) $((calls + lost)) 'calls, lost ones too'

it 'as much address space as without us, where the program limits it'
much=2000
[ "${TEST_MODE:-}" != trace ] || much=20000 # a trace is larger, and so is our part
for what in as data; do
	run_both $what-room $much
	assert_went_on 3
	assert_matches native.out '^room 1 0$'
	assert_contains native.out 'refused: Bad address'
	assert_contains native.out 'refused: Invalid argument'
	assert_matches native.out '^child .*, room 1$'
done
program limits.c >limits.c
for bits in 32 64; do # setrlimit64 is another name
	have "offsets of files of $bits bits" gcc || continue
	gcc -D_FILE_OFFSET_BITS=$bits -o limits limits.c
	assert_same_as_native ./limits
	assert_matches native.out '^room'
	rm -f profile
done
program changes.c >changes.c
if have prlimit gcc; then
	gcc -o changes changes.c
	assert_same_as_native ./changes sh -c 'ulimit -S -v; ulimit -H -v'
	assert_matches native.out '^0 0, before c800000 40000000, room$'
	assert_matches native.out '^153600$'
	rm -f profile*
fi
if have 'a program that limits what it executes' prlimit; then
	end_of "$RUN" -o limited prlimit --as=300000256 "$PROGRAM" plain >limited.end
	assert_empty err
	assert_eq 3 "$(find . -name 'limited*' ! -name '*.end' | wc -l)" profiles
	rm -f limited*
fi
it 'a limit that has to be tried twice, below one that may not be raised: errno stays'
program below.c >below.c
user=()
[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid 65534 --clear-groups)
if have 'without the privilege to raise it' gcc setpriv; then
	gcc -o below below.c
	mkdir -m 777 anyone
	chmod 711 "$TMP"
	if nobody_executes "$TMP" "$TMP/below" "$RUN" "$LIBSWIZZLE"; then
		assert_eq '0 0' "$(ulimit -v 30000000; "${user[@]}" "$RUN" -q \
			-o anyone/profile ./below)" 'result and errno'
		assert_exists anyone/profile
	fi
fi

it 'a hard limit that the program has set is not raised again'
program raises.c >raises.c
if have 'without the privilege to raise it' gcc setpriv; then
	gcc -w -o raises raises.c
	if nobody_executes "$TMP" "$TMP/raises" "$RUN" "$LIBSWIZZLE"; then
		"${user[@]}" ./raises >native.out
		"${user[@]}" "$RUN" -q -o anyone/raised ./raises >out
		assert_same native.out out
		assert_contains native.out '-1 1, -1 1: 1073741824 2147483648'
		assert_exists anyone/raised
	fi
fi

# Not the profile at its full length, nor other reserves of ours.
assert_locked_as_natively() { # COMMAND...: that runs the target
	end_of "$@" "$TARGETS/locked" "${arguments[@]}" >native.end
	mv out native.out
	mv err native.err
	end_of "$@" "$RUN" -q -o anyone/profile -- "$TARGETS/locked" \
		"${arguments[@]}" >ours.end
	assert_same native.end ours.end
	assert_same native.out out
	assert_eq "$(wc -l <native.err)" "$(wc -l <err)" 'lines of stderr'
	assert_ge "$(wc -l <err)" 1 'sizes of what is locked'
	paste native.err err | awk '$2 < $1 || $2 > $1 + 512' >too_much
	assert_empty too_much
	assert_eq 100 "$(($("$DUMP" -q -f text anyone/profile |
		awk '$NF == "locked" && $(NF - 1) == "work" { print $1 }') -
		${#arguments[@]} + 1))" 'calls of work in the thread'
	assert_eq 0 "$(info_value anyone/profile 'lost calls')" 'lost calls'
	rm -f anyone/profile
}
it 'memory locked as much as without us'
mkdir -p -m 777 anyone
arguments=(-1 1 2 3 1 5 7 0 4 8 6 3)
assert_locked_as_natively
arguments=(1 3)
assert_locked_as_natively
if have 'a limit' prlimit setpriv && chmod 711 "$TMP" &&
	nobody_executes "$TMP" "$TARGETS/locked" "$RUN" "$LIBSWIZZLE"; then
	for mib in 0 8; do
		hard=$(ulimit -H -l)
		[ "$hard" = unlimited ] || [ "$hard" -ge $((mib << 10)) ] ||
			continue
		arguments=("$mib" 1 3 2 1)
		assert_locked_as_natively prlimit --memlock=$((mib << 20)) \
			"${user[@]}"
		if [ $mib -eq 0 ]; then
			assert_contains native.out 'Operation not permitted'
		else
			assert_contains native.out 'flags 3: 0, Success'
		fi
	done
fi

it 'memory locked where the process has no mlock2'
end_of "$TARGETS/deny" mlock2 "$TARGETS/locked" -1 1 3 5 >native.end
if [ "$(cat native.end)" = 77 ]; then
	echo 'no filter here'
else
	mv out native.out
	end_of "$TARGETS/deny" mlock2 "$RUN" -q -o anyone/profile \
		"$TARGETS/locked" -1 1 3 5 >ours.end
	assert_same native.end ours.end
	assert_contains native.out 'flags 1: 0, Success
locked: 1, present 256'
	assert_same native.out out
	rm -f anyone/profile
fi

it 'and what it executes reads the same'
# shellcheck disable=SC2016
for shell in bash dash; do
	have "ulimit in $shell" "$shell" || continue
	assert_same_as_native "$shell" -c '
		ulimit -v 300000
		ulimit -v
		'"$shell"' -c "ulimit -v; ulimit -S -v 200000; ulimit -v; cat /proc/version"
		ulimit -H -v'
	rm -f profile*
done

if [ "$(id -u)" -eq 0 ]; then
	mkdir jail
	it 'another root directory'
	run_both chroot jail
	assert_child_refused
	chmod 755 d
	it 'another user'
	chmod 711 "$TMP"
	run_both setuid
	assert_eq 512 "$(row table calls level_8)" 'calls of level_8'
	assert_eq 'ended' "$(for p in d/*; do info_value "$p" flags; done |
		grep -o ended | sort -u)" 'one ended in order'
	it 'both'
	run_both chroot-setuid jail
	assert_child_refused
	it 'no process more'
	run_both nproc
	assert_same native.err ours.err
fi

if unshare --user --pid --fork true 2>/dev/null; then
	it 'another user and process id name space'
	run_both namespace
	assert_went_on 3
fi

# All calls are there: 1000 nest(i % 50), 2^8 leaves, and the 4 before.
assert_all_recorded() {
	assert_same native.err ours.err
	assert_eq 256 "$(row table calls level_8)" 'calls of level_8'
	assert_eq $((20 * 51 * 25 + 4)) "$(row table calls nest)" 'calls of nest'
	assert_eq 0 "$(info_value "$first" 'lost calls')" 'lost calls'
}

it 'a filter of system calls that answers with an error'
run_both filter-errno
assert_all_recorded
for how in 0 1; do # by prctl, by syscall
	it "a filter of system calls that kills ($how)"
	run_both filter-kill $how
	assert_all_recorded
done

it 'more contexts than were taken in advance are folded: no call is lost'
run_both filter-many
for level in 21 27 33; do
	assert_eq $((1 << (level - 20))) "$(row table calls "level_$level")" \
		"calls of level_$level"
done
assert_eq 0 "$(info_value "$first" 'lost calls')" 'lost calls'
assert_ge "$(info_value "$first" 'folded calls')" 1000 'folded calls'

it 'filters that let memory be had: new threads, and all contexts, are recorded'
run_both filter-memory
assert_same native.err ours.err
assert_eq $((9 * 60 * 256)) "$(row table calls level_8)" 'calls of level_8'
assert_eq $((9 * 60 * 8 + 4)) "$(row table calls nest)" 'calls of nest'
assert_eq 8192 "$(row table calls level_33)" 'calls of level_33'
for what in lost folded; do
	assert_eq 0 "$(info_value "$first" "$what calls")" "$what calls"
done

it 'a filter that a library which was loaded later enters'
cat >host.c <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	void *plugin = dlopen("./libplugin.so", RTLD_NOW);
	int (*run)(int, char **) = 0;

	if (plugin)
		*(void **)&run = dlsym(plugin, "plugin_main");
	return run ? run(argc, argv) : 90;
}
END
cc -shared -fPIC -Dmain=plugin_main -O1 -pthread -fno-inline \
	-fno-optimize-sibling-calls -fno-ipa-pure-const -fno-ipa-cp \
	-fno-ipa-icf -o libplugin.so "$TOP/tests/targets/confined.c" &&
	cc -O1 -o host host.c -ldl || abort 'not built'
PROGRAM=./host
run_both filter-kill
assert_all_recorded
PROGRAM=$TARGETS/confined

it 'system calls are dispatched to a handler: it gets none of ours'
run_both dispatch
if grep -q refused native.out; then # before Linux 5.11
	echo 'no dispatch of system calls here'
else
	assert_matches native.out ', system call -1$'
	assert_all_recorded
	assert_complete "$first" # the clock was not read at the end, either
fi

it 'of a small bound what is taken in advance leaves the half that is kept'
end_of "$RUN" -q --max-memory 1M -o small "$PROGRAM" filter-kill >/dev/null
used=$(info_value small used)
assert_le "${used%% *}" $((1 << 19)) 'bytes used'
"$DUMP" -q -f text small >table
assert_eq 256 "$(row table calls level_8)" 'calls of level_8'

it 'the time stamp counter is given up: what comes is only counted, too'
run_both tsc
assert_eq 1 "$(ls d | wc -l)" profiles
assert_eq 4 "$(row table calls nest)" 'calls of nest'
assert_ge "$(info_value "$first" 'lost calls')" $((511 + 11 + 511 + 6)) \
	'lost calls'
"$DUMP" -f text "$first" 2>dump.err >table
assert_contains dump.err 'the program gave up system calls'

for above in 0 1 2; do # something in the upper half; by syscall
	it "strict mode: no clock either, so what comes is only counted ($above)"
	run_both strict $above
	assert_same native.err ours.err
	assert_eq 4 "$(row table calls nest)" 'calls of nest'
	# ... check(), without_system_calls() and calls_alone() themselves
	assert_eq $((20 * 51 * 25 + 1000 + 511 + 3)) \
		"$(info_value "$first" 'lost calls')" 'lost calls'
done

finish
