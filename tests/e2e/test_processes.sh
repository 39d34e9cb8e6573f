# shellcheck shell=bash
# fork, exec, spawn: each process has a file of its own, with its own counts.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets processes fork_waiting fork_returns fork_places fork_throws
PROGRAM=$TARGETS/processes

# Native and profiled into the directory d; the profiles: ${files[@]}, the
# first one that of the first process.
run_both() { # ARG...
	"$PROGRAM" "$@" >native.out 2>native.err </dev/null
	local native=$?
	rm -rf d
	"$RUN" -o d/ ${RUN_OPTIONS[@]+"${RUN_OPTIONS[@]}"} -- "$PROGRAM" "$@" \
		>out 2>err </dev/null
	assert_eq $native $? 'exit status'
	assert_same native.out out
	assert_same native.err err
	list_files
}

list_files() {
	local file
	mapfile -t files < <(ls -tr d/swizzle.out.* 2>/dev/null)
	for file in "${files[@]}"; do
		assert_readable "$file"
		assert_eq 600 "$(stat -c %a "$file")" "mode of $file"
	done
	# the first process is nobody's child here
	first=
	: >pids
	for file in "${files[@]}"; do
		"$DUMP" -q -f info "$file" 2>/dev/null | awk -v file="$file" '
			/^pid:/ { pid = $2 }
			/^parent:/ { print pid, $2, file }' >>pids
	done
	first=$(awk '{ parent[$3] = $2; is_pid[$1] = 1; order[NR] = $3 }
		END {
			for (i = 1; i <= NR; i++)
				if (!(parent[order[i]] in is_pid)) {
					print order[i]
					exit
				}
		}' pids)
}

others() { # the files but $first
	printf '%s\n' "${files[@]}" | grep -v -x -F -e "$first"
}

it 'fork: the child has its own file and counts, and its open frames'
run_both fork
assert_eq 2 ${#files[@]} files
child=$(others)
assert_complete "$first"
assert_complete "$child"
assert_calls "$first" work 300 child_work 0 fork_below 11 main 1
assert_calls "$child" work 7 child_work 500
assert_contains info 'forked'
# what was open at the fork is there, called by the parent
"$DUMP" -f text "$child" >table
assert_eq 0 "$(row table calls fork_below)" "the child's calls of fork_below"
assert_eq 0 "$(row table calls main)" "the child's calls of main"
assert_ge "$(row table incl main)" "$(row table incl many)" 'time in main'
# and calls are made from there: the whole path stands above them
with_fork='with_fork(\.isra\.0)?' # gcc 14 drops its result
"$DUMP" -q -f folded -s calls "$child" >folded
assert_matches folded "^main;$with_fork(;fork_below)+;many;child_work 500\$"
assert_matches folded "^main;$with_fork;many;work 7\$"

it "fork in recursion: the child ends with its parent's frames open"
run_both deep 30
assert_eq 2 ${#files[@]} files
child=$(others)
assert_calls "$first" die_below 31 child_work 0 main 1
assert_calls "$child" die_below 0 child_work 100000 main 0
assert_ge "$(row table incl die_below)" "$(row table incl child_work)" \
	'time in open frames'
"$DUMP" -f text d >table 2>dump.err
assert_empty dump.err
assert_eq 31 "$(row table calls die_below)" 'calls in both'

it 'fork of a program with many contexts: the file of a child with few is small'
if [ -x /usr/bin/python3 ]; then
	rm -rf many
	"$RUN" -q -o many/ /usr/bin/python3 -c 'import os
if os.fork() == 0:
    os._exit(0)
os.wait()'
	stat -c '%b %B' many/* | awk '{ print $1 * $2 }' | sort -n >bytes
	assert_eq 2 "$(wc -l <bytes)" 'files'
	assert_ge "$(tail -n 1 bytes)" $((2 << 20)) "the parent's bytes on the disk"
	assert_le "$(head -n 1 bytes)" $((1 << 20)) "the child's bytes on the disk"
else
	echo 'not tested: fork of a program with many contexts, without python3'
fi

for place in far_place signal_place fiber_place waiting_place thread_place; do
	it "fork where the latest frame is not the next on the stack ($place)"
	for options in --timing=exact --timing=sampled --mode=trace; do
		PROGRAM=$TARGETS/fork_places
		RUN_OPTIONS=("$options")
		run_both $place
		assert_eq 2 ${#files[@]} files
		frame=$place
		[ $place != thread_place ] || frame=far_place
		assert_calls "$(others)" child_work 10 $frame 0
		assert_eq child_work "$(callees_of "$(others)" $frame)" \
			"who is called by $frame ($options)"
	done
done
it 'fork in a function that goes on by a jump'
for options in --timing=exact --timing=sampled --mode=trace; do
	RUN_OPTIONS=("$options")
	run_both jump_place
	assert_eq 2 ${#files[@]} files
	assert_calls "$(others)" child_work 10 jumped_to 1 jump_place 0
	assert_eq jumped_to "$(callees_of "$(others)" jump_place)" \
		"who is called by jump_place ($options)"
	assert_eq child_work "$(callees_of "$(others)" jumped_to)" \
		"who is called by jumped_to ($options)"
done

it 'a child that throws through frames from before the fork, first of all'
PROGRAM=$TARGETS/fork_throws
for options in --timing=exact --timing=sampled --mode=trace; do
	RUN_OPTIONS=("$options" -M fork_throws)
	run_both
	assert_eq 2 ${#files[@]} files
	assert_calls "$(others)" throw_below 0
	assert_eq 6 "$(unwound table throw_below)" "unwound ($options)"
done

it 'a child that locks its memory, first of all'
PROGRAM=$TARGETS/fork_places
RUN_OPTIONS=(--max-memory 16M -M fork_places)
if "$PROGRAM" locked_place | grep -q 8; then
	echo 'not tested: locking memory, which is not allowed'
else
	run_both locked_place
	assert_eq 2 ${#files[@]} files
	assert_calls "$(others)" child_work 10 locked_place 0 main 0
	assert_ge "$(row table incl main)" "$(row table incl locked_place)" \
		"the child's time in main"
	assert_ge "$(row table incl locked_place)" "$(row table self locked_place)" \
		"the child's time in locked_place"
fi
PROGRAM=$TARGETS/processes
RUN_OPTIONS=()

it 'fork in threads'
run_both threads
assert_eq 5 ${#files[@]} files
assert_calls "$first" work 200 child_work 0 fork_below 16
for child in $(others); do
	assert_calls "$child" work 11 child_work 500
	assert_eq 1 "$("$DUMP" -f text --by thread,parts "$child" |
		grep -c '^# thread')" 'threads of the child'
done

it 'a child that forks before its first call, but behind that of its thread'
for options in --timing=exact --timing=sampled --mode=trace; do
	RUN_OPTIONS=("$options")
	run_both again
	assert_eq 3 ${#files[@]} files
	assert_calls "$first" work 100 again_below 11
	others | xargs "$DUMP" -f text >table
	assert_eq 5 "$(row table calls work)" "the children's calls of work"
	assert_eq 500 "$(row table calls child_work)" 'calls of child_work'
	assert_eq '' "$(row table calls again_below)" \
		"the children's calls of again_below"
done
RUN_OPTIONS=()

for mode in first late; do
	it "fork while other threads are in calls ($mode)"
	timeout 240 "$TARGETS/fork_waiting" 2000 $mode >native.out 2>&1 </dev/null
	assert_eq 0 $? "the program's own status"
	rm -rf d
	capture timeout 240 "$RUN" -o d/ -- "$TARGETS/fork_waiting" 2000 $mode \
		</dev/null
	assert_status 0
	assert_empty err
	assert_same native.out out
	list_files
	assert_eq 2 ${#files[@]} files
	# one way of 25 calls by the forked thread, or 2000, and 2000 by each of
	# its 4
	ways=1
	[ $mode = first ] || ways=2000
	dump_table "$(others)"
	assert_eq $((25 * (ways + 4 * 2000))) "$(row table calls f0 f1 f2 f3 f4 f5 f6 f7 | awk '{ n += $1 } END { print n }')" "the child's calls"
	for file in "${files[@]}"; do
		assert_eq 0 "$(info_value "$file" 'lost calls')" 'lost calls'
	done
done

# The longer the command, the less room is left where the first thread's record
# and the frames that are open would be.
it 'a child whose file has no room for the open frames goes on as without us'
padding=
for i in 1 2 3 4; do
	for hooks in '' '--timing sampled' '-m trace'; do
		rm -rf d
		# shellcheck disable=SC2086
		capture timeout 240 "$RUN" -q $hooks -M '*' -o d/ "$PROGRAM" \
			cramped "$padding"
		assert_status 0
		assert_eq $((49 * 9)) "$(cat out)" "exit statuses of $i, $hooks"
	done
	padding=$padding$(printf '%01024d' 0)
done
"$DUMP" -q -f text d >table 2>&1 || fail "swizzle-dump: status $?"

it "a child of one whose file is full has room in its own"
rm -rf d
(
	ulimit -f 96
	"$RUN" -q -o d/ "$PROGRAM" crowded >out
)
assert_eq 8 "$(cat out)" 'exit status of the child'
for file in d/*; do
	if "$DUMP" -q -f info "$file" | grep -q '^flags: forked'; then
		assert_calls "$file" child_work 500
	else
		assert_ge "$(info_value "$file" 'lost calls')" 1 'lost calls'
	fi
done
assert_eq 2 "$(ls d | wc -l)" files

for mode in vfork spawn; do
	it "$mode and exec"
	run_both $mode
	assert_eq 2 ${#files[@]} files
	assert_calls "$first" work 150 child_work 0 main 1
	assert_calls "$(others)" child_work 300 work 0 main 1
	assert_complete "$first"
done

it 'system()'
run_both system
assert_calls "$first" work 20 main 1
total=0
for child in $(others); do
	total=$((total + $(calls_of "$child" child_work)))
done
assert_eq 300 $total 'calls in the child'

it 'a chain of execs: one file each'
run_both chain 10
assert_eq 11 ${#files[@]} files
assert_eq 1 "$(for f in "${files[@]}"; do info_value "$f" pid; done | sort -u |
	wc -l)" processes
assert_eq '0 1 2 3 4 5 6 7 8 9 10' "$(for f in "${files[@]}"; do
	calls_of "$f" work
done | sort -n | xargs)" 'calls in each'
pid=$(info_value "${files[0]}" pid)
for n in '' .1 .2 .9 .10; do
	assert_exists "d/swizzle.out.$pid$n"
done

it 'a chain of execs with a plain -o FILE: none overwrites the other'
rm -f chain.p*
capture "$RUN" -o chain.p "$PROGRAM" chain 3
assert_status 6
assert_empty err
assert_eq 4 "$(ls chain.p* | wc -l)" files
assert_calls chain.p work 3

it 'exec that fails: the profile goes on'
run_both failing
assert_eq 1 ${#files[@]} files
assert_calls "$first" work 123 main 1
assert_complete "$first"

it 'a daemon that closes every descriptor'
rm -rf d
timeout 240 "$PROGRAM" daemon "$TMP/native-done" >native.out
capture timeout 240 "$RUN" -o d/ "$PROGRAM" daemon "$TMP/done"
assert_status 0
assert_same native.out out
all_are_counted() { # the daemon may still be ending
	list_files
	total=0
	for file in "${files[@]}"; do
		total=$((total + $(calls_of "$file" child_work)))
	done
	[ $total -eq 12345 ]
}
wait_until all_are_counted
assert_eq 12345 $total 'calls in the daemon'
assert_eq 3 ${#files[@]} files

if have "memcheck does not mind how a child finds its parent's frames" valgrind; then
	capture timeout 240 "$RUN" -q -o memcheck/ \
		valgrind -q --error-exitcode=99 "$TARGETS/fork_places" far_place
	assert_status 3
	assert_empty err
fi

# Which memory can be read is asked of the kernel, where a program executes.
if have 'memcheck has nothing to say about how a program executes another' \
	valgrind; then
	capture timeout 240 "$RUN" -q -o memcheck/ \
		valgrind -q --error-exitcode=99 "$TARGETS/processes" system
	assert_status 0
	assert_empty err
fi

if unshare -pf unshare -p true 2>/dev/null; then
	it 'a child that has the same process id as its parent, in another namespace'
	for calls in 0 500; do
		rm -rf d
		capture unshare -pf "$RUN" --summary -H '*' -H '!work' -H '!child_work' \
			-o d/ "$PROGRAM" twin $calls
		assert_status 0
		assert_eq 9 "$(cat out)" "the child's exit status"
		assert_eq 1 "$(grep -c '^swizzle: ' err)" 'closing lines'
		assert_calls d/swizzle.out.1 work 600 child_work 0
		assert_complete d/swizzle.out.1
		if [ $calls = 0 ]; then
			assert_contains err 'swizzle: 600 calls in '
		else
			assert_contains err 'swizzle: 1,100 calls in '
			assert_calls d/swizzle.out.1.1 work 0 child_work 500
		fi
		assert_eq $((calls / 500 + 1)) "$(ls d | wc -l)" files
	done
else
	echo 'not tested: process id namespaces, which are refused here'
fi

it '--no-follow: only the first process has a file'
RUN_OPTIONS=(--no-follow)
for mode in fork threads vfork spawn system; do
	run_both $mode
	assert_eq 1 ${#files[@]} "files of $mode"
done
run_both fork
assert_calls "$first" work 300 child_work 0
run_both chain 3
assert_eq 1 ${#files[@]} files

# The kernel moves one mapping at a time (before Linux 6.17 at least), and the
# profile is several to it.
if have 'a child puts its file in place mapping by mapping' strace; then
	rm -rf moved && mkdir moved
	capture timeout 240 strace -f -q -o log -e trace=mremap \
		"$RUN" -q -o moved/ "$TARGETS/processes" fork
	assert_status 0
	assert_matches log ' mremap\('
	assert_not_contains log EFAULT

	it 'a child that cannot put its file in place leaves none'
	capture "$TARGETS/processes" fork
	mv out native.out
	for when in 1 2 3; do
		rm -rf moved && mkdir moved
		capture timeout 240 strace -f -q -o log \
			-e "inject=mremap:error=ENOMEM:when=$when+" \
			"$RUN" -o moved/ "$TARGETS/processes" fork
		assert_status 0
		assert_same native.out out
		assert_contains err 'child process not profiled: no memory'
		assert_eq 1 "$(find moved -type f | wc -l)" files
	done
fi

it 'fork in a handler that has interrupted a hook: the child returns into that'
for options in '' --timing=sampled --mode=trace --no-follow; do
	for place in '' nested far calls; do
		mkdir -p returns
		# shellcheck disable=SC2086
		capture timeout 100 "$RUN" -q -o returns/ $options \
			"$TARGETS/fork_returns" 120 $place
		assert_status 0
		assert_eq '0 wrong' "$(cat out)" "${options:-exact} $place"
		rm -rf returns
	done
done

finish

# Nix, Bazel, conda and AppImage start programs so.
it 'the dynamic linker is executed, with the program as its argument'
linker=/lib64/ld-linux-x86-64.so.2
program led.c >led.c
gcc -O1 -o led led.c || abort 'cannot compile'
$linker ./led >native 2>&1
if [ $? -ne 3 ]; then
	echo "not tested: $linker does not execute programs here"
else
	for words in '' '--argv0 other' '--inhibit-cache --library-path /none:/lib'; do
		# shellcheck disable=SC2086
		$linker $words ./led >native
		# shellcheck disable=SC2086
		assert_same_as_native $linker $words ./led
		assert_complete profile
		assert_calls profile step 1000 main 1
	done
	"$RUN" --list $linker ./led >list
	assert_matches list '/led  *2  *2  *0$'

	it 'a profiled process does so'
	rm -rf d
	capture "$RUN" -o d/ sh -c "$linker ./led; exit 4"
	assert_status 4
	assert_eq 1000 "$("$DUMP" -q -f csv d | awk -F , '$7 == "step" { n += $1 } END { print n }')" \
		'calls of step'

	it 'it is attached to'
	rm -f ready stop attached
	$linker ./led ready >/dev/null &
	program=$!
	wait_until test -e ready
	capture "$RUN" -q -o attached -p $program --for 300ms
	assert_status 0
	: >stop
	wait $program
	assert_eq 3 $? "the program's exit status"
	assert_ge "$("$DUMP" -q -f csv attached | awk -F , '$7 == "step" { print $1 }')" 1000 \
		'calls of step'
fi
