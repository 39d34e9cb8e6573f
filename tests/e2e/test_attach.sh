# shellcheck shell=bash
# swizzle-run -p PID: what runs is hooked for a time, and notices nothing; counts
# are those of the calls that were made meanwhile; afterwards its code is what it
# was.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/attach.sh"
need python3
need_targets attached restless
LIBPART=$TARGETS/libpart.so

# ------------------------------------------------------------------- it works

it 'a program that waits in read: counts, and the code as it was'
start_program "$TARGETS/attached"
tell 'run 500' 'ran 500'
attach
tell 'run 1000' 'ran 1000'
tell 'run 2345' 'ran 2345'
tell 'nest 99' 'nested 100'
detach
tell 'run 700' 'ran 700'
assert_eq 3345 "$(calls step)" 'calls of step'
assert_eq 100 "$(calls nested)" 'calls of nested'
"$DUMP" -f info profile >info
assert_matches info '^flags: .*ended'

it 'exceptions, threads, before and after'
tell 'throw 1000' 'wrong 0'
tell 'threads 1000' 'ran 4000'
end_program

it 'exceptions and threads while it is attached'
start_program "$TARGETS/attached"
attach -F 'step'
tell 'throw 1000' 'wrong 0'
tell 'threads 1000' 'ran 4000'
detach
assert_eq 4000 "$(calls step)" 'calls of step in threads'
end_program

it 'a trace'
start_program "$TARGETS/attached"
attach -m trace
tell 'run 10' 'ran 10'
detach
assert_eq 10 "$(calls step)" 'calls of step'
"$DUMP" -f info profile >info
assert_matches info '^flags: .*traced'
end_program

it 'eight threads that throw while it comes and goes'
start_program "$TARGETS/attached"
echo throwing >&8
# an unwinder may be anywhere: with a return address in its hands, or about to
# read its own
for round in 1 2 3 4; do
	attach
	sleep 0.2
	detach
	kill -0 $program || abort 'it did not survive'
done
tell stop 'wrong 0'
end_program

for how in sleep poll select epoll; do
	it "what waits ($how) sees no EINTR"
	start_program "$TARGETS/attached"
	echo "waits 0 $how" >&8
	sleep 0.2
	attach
	sleep 0.5
	detach
	tell stop 'wrong 0'
	end_program
done

it 'each attach has a last line of its own calls, in its own file'
start_program "$TARGETS/attached"
for run in 1 2; do
	attach -H '*' -H '!step' --summary -o 'lined.%p'
	tell "run $run"000 "ran $run"000
	detach
	assert_matches attach.err \
		"^swizzle: $run,000 calls in .* -> lined\.$program(\.1)?\. Next: "
done
assert_exists "lined.$program.1"
end_program

it 'a process in a namespace of process ids of its own: the last line, too'
if unshare -pf true 2>/dev/null; then
	start_program unshare -pf "$TARGETS/attached"
	parent=$program
	read -r program <"/proc/$parent/task/$parent/children"
	attach -H '*' -H '!step' --summary -o 'inner.%p'
	tell 'run 3000' 'ran 3000'
	detach
	program=$parent
	assert_contains attach.err 'swizzle: 3,000 calls in '
	assert_contains attach.err ' -> inner.1. Next: '
	end_program
else
	echo 'not tested: process id namespaces, which are refused here'
fi

it 'children that are forked meanwhile'
start_program "$TARGETS/attached"
attach -o 'profile.%p'
tell 'fork 1000' 'child 7'
detach
tell 'fork 10' 'child 7'
children=0
for profile in profile.*; do
	[ "$profile" = "profile.$program" ] || {
		children=$((children + 1))
		assert_eq 1000 "$(calls step "$profile")" 'calls of step in the child'
	}
done
assert_eq 1 $children 'profiles of children'
end_program

it 'children that end by exit before their first call leave their parent its profile'
start_program "$TARGETS/attached"
attach -H '*' -H '!step' -H '!nested' -o 'ending.%p'
tell 'run 10000' 'ran 10000'
tell 'end 3' 'ended 3'
tell 'run 10000' 'ran 10000'
# more contexts than the file had room for
tell 'nest 20000' 'nested 20001'
detach
assert_eq "ending.$program" "$(echo ending.*)" 'profiles: of the parent alone'
assert_eq 20000 "$(calls step "ending.$program")" 'calls of step'
assert_eq 20001 "$(calls nested "ending.$program")" 'calls of nested'
assert_eq 0 "$(info_value "ending.$program" 'lost calls')" 'lost calls'
end_program

it 'children that live on: each has its profile, and is native when it is over'
start_program "$TARGETS/attached"
attach -o 'profile.%p'
echo 'workers 3' >&8
read -r -t $((60 * PATIENCE)) word workers <&9
assert_eq workers "$word" 'the answer'
tell 'work 100' 'worked 3'
# shellcheck disable=SC2086 # words are wanted
set -- $workers
assert_eq 3 $# workers
capture "$RUN" -p "$1" --for 100ms -o profile.refused
assert_status 126
assert_contains err 'it was forked by a process that swizzle-run -p'
assert_missing profile.refused
detach
assert_contains attach.err 'swizzle: detached from 3 forked children, too'
for worker; do
	assert_code_restored "$worker"
done
tell 'work 50' 'worked 3'
for worker; do
	assert_eq 100 "$(calls step "profile.$worker")" 'calls of step in a child'
done
# as any other process, by now
parent=$program
program=$2
attach -o profile.again
program=$parent
tell 'work 30' 'worked 3'
kill -INT $controller
wait $controller
assert_eq 0 $? "swizzle-run's exit status: $(cat attach.err)"
assert_eq 30 "$(calls step profile.again)" 'calls of step in the second profile'
assert_code_restored "$2"
end_program
kill -KILL "$@"

it 'children that live on, when their parent ends or is killed'
for how in leave kill; do
	start_program "$TARGETS/attached"
	attach -o "$how.%p"
	echo 'workers 2' >&8
	read -r -t $((60 * PATIENCE)) word workers <&9
	# shellcheck disable=SC2086 # words are wanted
	set -- $workers
	tell 'work 10' 'worked 2'
	if [ $how = leave ]; then
		end_program
	else
		kill -KILL $program
		wait $program 2>/dev/null
		exec 8>&- 9<&-
	fi
	wait $controller
	for worker; do
		assert_code_restored "$worker"
		assert_eq 10 "$(calls step "$how.$worker")" 'calls of step in a child'
		kill -KILL "$worker"
	done
done

it 'a library that needs nearly all of the static thread-local storage is loaded'
make_hungry() { # BYTES: libhungry.so
	cc -shared -fPIC -DBYTES="$1" -o libhungry.so -x c - <<'END' || abort 'not built'
static __thread char much[BYTES]
	__attribute__((tls_model("initial-exec"), aligned(8)));
long part_work(long n)
{
	much[n] = 1;
	return much[n];
}
END
}
most=8 too_many=8192
while [ $((too_many - most)) -gt 8 ]; do
	bytes=$(((most + too_many) / 16 * 8))
	make_hungry $bytes
	if printf 'load 1 ./libhungry.so\n' | "$TARGETS/attached" | grep -q 'loaded 1$'; then
		most=$bytes
	else
		too_many=$bytes
	fi
done
assert_ge $most 1024 'what can be had natively'
start_program "$TARGETS/attached"
attach
make_hungry $((most - 40)) # what swizzle takes
tell 'load 1 ./libhungry.so' 'loaded 1'
detach
tell 'load 1 ./libhungry.so' 'loaded 1'
end_program

it 'a library that is loaded meanwhile, and unloaded'
start_program "$TARGETS/attached"
attach
tell "load 100 $LIBPART" 'loaded 5150'
tell "load 50 $LIBPART" 'loaded 1325'
detach
assert_eq 150 "$(calls part_work)" 'calls into the library'
tell "load 10 $LIBPART" 'loaded 65'
end_program

it 'an exec meanwhile'
start_program "$TARGETS/attached"
attach
tell 'run 100' 'ran 100'
echo exec >&8
expect ready
wait $controller
assert_eq 0 $? "swizzle-run's exit status"
assert_contains attach.err 'swizzle: the process executes another program now'
assert_eq 100 "$(calls step)" 'calls of step before'
end_program

it 'the program ends meanwhile'
start_program "$TARGETS/attached"
attach
tell 'run 100' 'ran 100'
end_program
wait $controller
assert_eq 0 $? "swizzle-run's exit status"
assert_eq 100 "$(calls step)" 'calls of step'

it 'the program is killed meanwhile'
start_program "$TARGETS/attached"
attach
tell 'run 100' 'ran 100'
kill -KILL $program
wait $program 2>/dev/null
wait $controller
assert_eq 0 $? "swizzle-run's exit status"
assert_eq 100 "$(calls step)" 'calls of step'
exec 8>&- 9<&-

it '--for'
start_program "$TARGETS/attached"
SWIZZLE_SUMMARY=1 capture "$RUN" -p $program --for 300ms -o profile
assert_status 0
assert_matches err '^swizzle: .* calls in [0-9.]+ m?s'
end_program

it 'attached to again and again, in different modes: memory stays the same'
start_program "$TARGETS/attached"
resident=
for round in 1 2 3 4 5 6; do
	mode=profile
	[ $((round % 3)) -ne 0 ] || mode=trace
	attach -m $mode -o "profile.$round"
	tell 'run 1234' 'ran 1234'
	tell 'throw 100' 'wrong 0'
	detach
	[ $round -ne 4 ] || resident=$(awk '/^VmRSS/ { print $2 }' /proc/$program/status)
done
assert_le "$(awk '/^VmRSS/ { print $2 }' /proc/$program/status)" $((resident + 1000)) \
	'resident KB after two more rounds'
for round in 1 2 3 4 5 6; do
	assert_eq 1234 "$(calls step "profile.$round")" "calls in round $round"
done
end_program

it 'the controller is killed at any moment: the next one finds all as it should be'
start_program "$TARGETS/attached"
echo throwing >&8
for round in $(seq 12); do
	"$RUN" -q -o "killed.$round" -p $program 2>>killed.err &
	controller=$!
	sleep "0.$(printf %03d $((round * 137 % 400)))"
	kill -KILL $controller
	wait $controller 2>/dev/null
done
kill -0 $program || fail 'the program has ended'
attach
detach
tell stop 'wrong 0'
tell 'run 10' 'ran 10'
end_program

it 'a restless program: threads, children, signals, libraries that come and go'
begin_restless "$TARGETS/restless" "$LIBPART"
for round in $(seq 12); do
	capture "$RUN" -p $program --no-follow --for 100ms -o "restless.$round"
	assert_status 0
done
assert_code_restored
end_restless
assert_eq 0 $? "the program's exit status: $(cat printed)"
assert_empty program.err

# ------------------------------------------------- another root, another namespace

# A directory that has all that the program needs, by the names that swizzle-dump
# finds outside.
make_jail() {
	local file
	mkdir -p "jail/$TARGETS" jail/tmp
	cp "$TARGETS/attached" "$LIBPART" "jail/$TARGETS"
	for file in $(ldd "$TARGETS/attached" "$LIBPART" |
		awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' | sort -u); do
		[ ! -f "$file" ] || cp --parents -L "$file" jail
	done
}

use_jail() { # MODE
	attach --summary -m "$1" -o "/$1"
	assert_contains attach.err "the profile is /proc/$program/root/$1"
	tell 'run 123' 'ran 123'
	tell 'throw 100' 'wrong 0'
	tell "load 50 $LIBPART" 'loaded 1325'
	detach
	assert_contains attach.err "-> /proc/$program/root/$1. Next: "
	assert_eq 123 "$(calls step "jail/$1")" 'calls of step'
	assert_eq 50 "$(calls part_work "jail/$1")" 'calls into the library'
	tell 'run 10' 'ran 10'
}

if [ "$(id -u)" = 0 ] && chroot / true; then
	make_jail
	it 'a process with another root, without /proc'
	start_program chroot jail "$TARGETS/attached"
	use_jail profile
	use_jail trace # the library is there by now
	end_program
	assert_eq '' "$(find jail -name 'libswizzle*')" 'files that were left'
	rm -f jail/profile jail/trace
fi

# In a chroot the files of a process with mounts of its own have no paths. (Here it
# is the other way round: that shell looks at this one.)
sees_files() {
	# shellcheck disable=SC2016 # that shell expands it
	unshare -m sh -c 'test -e "$(sed -n "1s/.* //p" /proc/$PPID/maps)"'
}

if [ "$(id -u)" = 0 ] && unshare -m -p -f true 2>/dev/null && ! sees_files; then
	echo 'not tested: a process in other namespaces, from within a chroot'
elif [ "$(id -u)" = 0 ] && unshare -m -p -f true 2>/dev/null; then
	it 'a process in other namespaces, as in a container'
	mkdir -p jail/proc
	# shellcheck disable=SC2016 # that shell expands it
	start_program unshare -m -p -f sh -c \
		'mount -t proc proc jail/proc && mount -t tmpfs none "$0" &&
		chroot jail "$1"; exit $?' "${LIBSWIZZLE%/*}" "$TARGETS/attached"
	starter=$program
	program=$(pgrep -x attached -P "$(pgrep -P $starter)")
	use_jail profile
	use_jail trace
	program=$starter
	end_program

	it 'a process that says where the library may be written, and lies'
	libc=$(find jail -name libc.so.6)
	cp "$libc" libc.kept
	# its syscall() returns 77 always
	python3 - "$libc" "$(objdump -T "$libc" | awk '$NF == "syscall" { print $1 }')" <<-'END'
		import sys
		with open(sys.argv[1], 'r+b') as file:
		    # (the code's offset is its address in glibc)
		    file.seek(int(sys.argv[2], 16))
		    file.write(bytes([0xb8, 77, 0, 0, 0, 0xc3]))
	END
	for kind in precious empty; do
		[ $kind = empty ] || echo precious >precious
		: >empty
		# shellcheck disable=SC2016 # that shell expands it
		start_program bash -c 'exec 77<"$2"; exec unshare -m sh -c "
			mount -t proc proc jail/proc && mount -t tmpfs none \"$0\" &&
			exec chroot jail \"$1\""' "${LIBSWIZZLE%/*}" "$TARGETS/attached" $kind
		capture "$RUN" -p $program --for 100ms -o /profile
		assert_status 126
		assert_contains err 'no file in memory for the library'
		end_program
	done
	assert_eq 9 "$(stat -c %s precious)" 'bytes of a file that the process has open'
	assert_eq 0 "$(stat -c %s empty)" 'bytes of an empty one'
	mv libc.kept "$libc"
fi

it 'two at once: one of them is refused'
start_program "$TARGETS/attached"
attach
capture "$RUN" -p $program -o profile.second
assert_status 126
assert_contains err 'by another swizzle-run -p'
detach
end_program

# ------------------------------------------------------------------- refusals

refused() { # PID TEXT
	capture "$RUN" -p "$1" --for 100ms -o profile.refused
	assert_status 126
	assert_contains err "$2"
	assert_missing profile.refused
}

it 'what cannot be attached to'
refused 4194304 'there is no such process'
sleep 0 &
refused $! 'process'
start_program "$TARGETS/attached"
attach
refused $program 'it is being profiled by swizzle already'
detach
end_program

it 'a profile that cannot be written: nothing of it stays'
start_program "$TARGETS/attached"
"$RUN" -q -p $program --for 100ms -o "$TMP/$(printf 'x%.0s' $(seq 300))" 2>err
assert_eq 126 $? 'exit status'
assert_contains err 'cannot create the profile'
assert_code_restored
tell 'run 10' 'ran 10'
end_program

it 'a process that swizzle-run has started'
"$RUN" -q -o profile.own sleep 20 &
own=$!
wait_until test -s profile.own
refused $own 'it is being profiled by swizzle already'
kill $own
wait $own 2>/dev/null

it 'a stopped process'
sleep 20 &
own=$!
kill -STOP $own
wait_until grep -q '^State:.T' /proc/$own/status
refused $own 'is stopped. Continue it'
kill -KILL $own
wait $own 2>/dev/null

if have 'a process with a debugger' strace; then
	sleep 20 &
	own=$!
	strace -q -p $own -o trace.log 2>/dev/null &
	tracer=$!
	if wait_until grep -q '^TracerPid:.[1-9]' /proc/$own/status; then
		refused $own 'traces it already'
	fi
	kill $own
	wait $own $tracer 2>/dev/null
fi

it 'options that are not for it'
for options in '--list' '--imports'; do
	# shellcheck disable=SC2086 # words are wanted
	capture "$RUN" $options -p $$
	assert_status 2
done
capture "$RUN" -p $$ true
assert_status 2
assert_contains err 'either a process or a program'

finish
