# shellcheck shell=bash
# Processes that are in the midst of a vfork, or on stacks of their own, when they are
# attached to, started and stopped; and those that are refused, each with what to do.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/attach.sh"
CTL=$BUILD/bin/swizzle-ctl
need_built "$CTL"
need python3
need_targets suspended

begin() { # COMMAND...: in the background, until end
	rm -f stop
	"$@" &
	program=$!
}

end() {
	: >stop
	wait $program
	assert_eq 3 $? "the program's exit status"
}

is_known() { # to swizzle-ctl: it has begun
	"$CTL" status $program >/dev/null 2>&1
}

for what in fibers fiber vfork; do
	it "$what: attached to"
	begin "$TARGETS/suspended" $what stop
	attached=0
	for _ in $(seq 8); do
		[ $attached -lt 2 ] || break
		rm -f profile
		"$RUN" -q -o profile -p $program --for 300ms 2>err
		code=$?
		assert_code_restored
		# (while it waits for its child no thread can be borrowed; nor in the
		# midst of a change of stacks)
		if [ $code -eq 126 ]; then
			assert_contains err 'cannot attach'
			continue
		fi
		assert_eq 0 $code "swizzle-run's exit status"
		assert_empty err
		assert_ge "$(calls leaf)" 100 'calls of leaf'
		attached=$((attached + 1))
	done
	assert_ge $attached 1 'times that it was attached to'
	end

	it "$what: started and stopped"
	rm -f profile
	begin "$RUN" -q --off -o profile "$TARGETS/suspended" $what stop
	wait_until is_known
	for _ in $(seq 5); do
		capture "$CTL" start $program
		assert_status 0
		sleep 0.1
		capture "$CTL" stop $program
		assert_status 0
	done
	capture "$CTL" start $program
	capture "$CTL" detach $program
	assert_status 0
	assert_code_restored
	end
	assert_ge "$(calls leaf)" 100 'calls of leaf'
done

# Nearly always in the midst of a call of libc's that does not wait: it is borrowed there.
it 'calls: attached to'
begin "$TARGETS/suspended" calls stop
wait_until has_executed
capture "$RUN" -q -o profile -p $program --for 300ms
assert_status 0
assert_empty err
assert_ge "$(calls leaf)" 1 'calls of leaf'
assert_code_restored
end

# makecontext() has put the return address there, the first byte of a function.
it 'fiber: sampled'
begin "$TARGETS/suspended" fiber stop
capture "$RUN" -q -m sample -p $program --for 300ms -o sampled
assert_status 0
end
"$DUMP" -q -f folded sampled >folded
assert_matches folded '^[^;]*;stay;leaf '
assert_not_contains folded '[unknown caller]'

refuses() { # TEXT: to attach to $program
	capture "$RUN" -p $program --for 100ms -o profile.refused
	assert_status 126
	assert_contains err "$1"
	assert_missing profile.refused
}

it 'a filter of system calls'
begin "$TARGETS/suspended" filter stop
if wait_while_it_runs $program grep -q -s '^Seccomp:.2' /proc/$program/status; then
	refuses 'the process filters its system calls (seccomp): those of a profiler could kill it. Use -m sample'
	end
else
	echo 'not tested: a filter of system calls, which this kernel does not permit'
fi

if [ "$(id -u)" -eq 0 ] && chmod 711 "$TMP" && nobody_executes "$RUN"; then
	it 'the process of another user'
	begin sleep 20
	capture setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$RUN" -p $program --for 100ms -o /tmp/profile.refused.$$
	assert_status 126
	assert_contains err 'the process belongs to another user. Run swizzle-run as that user, or as root'
	kill $program
	wait $program 2>/dev/null
fi

# The program goes into the dynamic linker, where nothing can be called, when the file `enter`
# is there, and stays until there is `go`.
program busy.c >busy.c
cc -O0 -o busy busy.c || abort 'cannot compile'

# stepped PID SIGNAL COMMAND...: executes COMMAND, which attaches to PID, until the library
# there has planned and COMMAND knows it. While COMMAND can do nothing PID goes into the
# linker. When COMMAND waits for it to come back it gets SIGNAL. Ends as COMMAND does.
# stepped PID: waits until COMMAND has shown for longer than the library waits that it lives.
program stepped.c >stepped.c
control=$(nm -D "$LIBSWIZZLE" | awk '$3 == "swizzle_control" { print $1 }')
cc -I"$TOP/src" -DCONTROL="0x$control" -o stepped stepped.c || abort 'cannot compile'

attach_to_busy() { # SIGNAL OPTION...
	rm -f profile ready enter inside go out attaching
	begin ./busy
	wait_until test -e ready
	./stepped $program "$1" "$RUN" --no-cache -o profile "${@:2}" -p $program 2>err &
	stepped=$!
	wait_until test -e attaching
	controller=$(cat attaching)
}

counts() {
	[ "$(calls leaf 2>/dev/null)" -ge 10 ] || ! kill -0 $controller 2>/dev/null
}

# Is in the dynamic linker for 2 s at first, and then for good below a function of a library
# that it has loaded after that.
sed '/^int main/,$d; /inside/d; s/while (access("go", F_OK))/for (int i = 0; i < 2000; i++)/' busy.c >late.c
cat >>late.c <<'END'
#include <dlfcn.h>
int main(void)
{
	fclose(fopen("ready", "w"));
	dl_iterate_phdr(callback, NULL);
	void *library = dlopen("./libwaits.so", RTLD_NOW);
	void (*in_library)(void (*)(void)) =
		(void (*)(void (*)(void)))dlsym(library, "in_library");
	in_library(leaf);
	return 3;
}
END
cat >waits.c <<'END'
#include <unistd.h>
void in_library(void (*leaf)(void));
void in_library(void (*leaf)(void))
{
	while (access("stop", F_OK)) {
		leaf();
		usleep(1000);
	}
}
END
cc -O0 -o late late.c -ldl && cc -O0 -shared -fPIC -o libwaits.so waits.c ||
	abort 'cannot compile'

it 'a library that is loaded while a thread is waited for'
rm -f profile ready
begin ./late
wait_until test -e ready
"$RUN" -q -o profile -p $program --for 300ms 2>err
assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
assert_ge "$(calls leaf)" 10 'calls of leaf'
assert_code_restored
end

it 'a process that nothing can be called in for longer than the library waits'
attach_to_busy 0 -q
timeout 600 ./stepped $program
: >go
wait_until counts
kill -INT "$controller"
wait $stepped
assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
assert_ge "$(calls leaf)" 10 'calls of leaf'
assert_code_restored
end

it 'who attaches is stopped for longer than the library waits: it says that it is too late'
attach_to_busy 19 -v --for 100ms # (SIGSTOP)
wait_until test -e profile
# what was planned is thrown away
wait_until test ! -e profile
: >go
wait_until test -e out
kill -CONT "$controller"
wait $stepped
assert_eq 126 $? "swizzle-run's exit status: $(cat err)"
assert_contains err 'the library has given up, as nobody was there for so long'
assert_code_restored
end

it 'a program with large thread-local variables: ours lie far below the thread pointer'
cat >large.c <<'END'
#include <unistd.h>
static __thread char large[68000];
__attribute__((noinline)) void leaf(void) { __asm__ volatile("" : : "r"(large)); }
int main(void)
{
	while (access("stop", F_OK)) {
		leaf();
		usleep(1000);
	}
	return 3;
}
END
cc -O0 -o large large.c || abort 'cannot compile'
rm -f profile
begin ./large
wait_until grep -q large /proc/$program/comm
"$RUN" -q -m profile -o profile -p $program --for 100ms 2>err
assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
assert_ge "$(calls leaf)" 1 'calls of leaf'
assert_code_restored
end

program forged.c >forged.c
cat >forging.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	return dlopen(argv[1], RTLD_NOW) && close(creat("loaded", 0600)) == 0 ? (int)sleep(60) : 1;
}
END
it 'a library that only calls itself so: its texts are no commands for the terminal'
cc -o forging forging.c -ldl || abort 'cannot compile'
for bytes in 300 0xffffffffu; do
	cc -shared -fPIC -I"$TOP/src" -I"$TOP/include" -DBYTES=$bytes -o libswizzle.so.forged \
		forged.c || abort 'cannot compile'
	rm -f loaded
	begin ./forging ./libswizzle.so.forged
	wait_until [ -e loaded ]
	cut -d ' ' -f 2- /proc/$program/maps >maps.before
	refuses 'cannot attach to process'
	# no memory of ours is left there
	cut -d ' ' -f 2- /proc/$program/maps >maps.after
	assert_same maps.before maps.after
	LC_ALL=C grep -q "$(printf '\033\|\302\233')" err && fail 'there are such'
	assert_le "$(wc -c <err)" 500 'bytes'
	kill $program
	wait $program 2>/dev/null
done

cat >sleeps.c <<'END'
#include <unistd.h>
int main(void) { return (int)sleep(20); }
END
it 'a static program'
if cc -static -o static sleeps.c 2>/dev/null; then
	begin ./static
	wait_until grep -q static /proc/$program/comm
	refuses 'the program is statically linked: no library can be loaded into it. Use -m sample'
	kill $program
	wait $program 2>/dev/null
fi
it 'a program of Go: its linker makes such a section'
cc -o plain sleeps.c && objcopy --add-section .note.go.buildid=sleeps.c plain other ||
	abort 'no program'
begin ./other
wait_until grep -q other /proc/$program/comm
refuses 'the program is written in Go, whose stacks have no room for hooks. Use -m sample'
kill $program
wait $program 2>/dev/null

it 'a program that executes another one all the time'
cat >again.c <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	usleep(3000);
	execv(argv[0], argv);
	return 1;
}
END
cc -o again again.c || abort 'no program'
begin ./again
wait_until grep -q again /proc/$program/comm
# (the profile may have been made by then)
capture "$RUN" -p $program --for 100ms -o profile.again
# shellcheck disable=SC2154 # set by capture()
assert_ge "$status" 1 'exit status'
assert_contains err 'it has executed another program meanwhile. Try again'
kill $program
wait $program 2>/dev/null

# It dies if a thread that waits is sent to where code of ours was before the exec.
it 'a program with threads that wait executes another one in the midst of attaching'
program waits_again.c >waits_again.c
cc -O1 -pthread -o waits_again waits_again.c || abort 'no program'
begin ./waits_again
wait_until grep -q waits_again /proc/$program/comm
for round in {1..40}; do
	"$RUN" -q -p $program --for 10ms -o "profile.waits.$round" 2>>waits.err ||
		kill -0 $program || break
done
kill $program
wait $program 2>/dev/null
assert_eq 143 $? "the program's exit status"
assert_contains waits.err 'it has executed another program meanwhile. Try again'
assert_not_contains waits.err 'cannot detach'

if [ "$(id -u)" = 0 ] && [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	it 'a thread of the kernel'
	program=2
	refuses 'that is a thread of the kernel, which runs no program'
fi

freeze() { # GROUP: makes it, with $program in a group of its own below it, frozen
	# (a folder that is no group has no such file)
	mkdir "$1" && [ -e "$1/cgroup.procs" ] && mkdir "$1/inner" &&
		echo $program >"$1/inner/cgroup.procs" || return
	if [ -e "$1/freezer.state" ]; then
		echo FROZEN >"$1/freezer.state"
	else
		echo 1 >"$1/cgroup.freeze"
	fi
} 2>/dev/null

thaw() { # GROUP: with nobody in it any more
	[ ! -e "$1/freezer.state" ] || echo THAWED >"$1/freezer.state"
	[ ! -e "$1/cgroup.freeze" ] || echo 0 >"$1/cgroup.freeze"
	kill $program
	wait $program 2>/dev/null
	wait_until rmdir "$1/inner" && wait_until rmdir "$1"
}

# A process that hardly gets a processor takes its time to stand still.
begin_slow() {
	local processor
	processor=$(taskset -cp $$ | sed 's/.*[^0-9]//')
	begin taskset -c "$processor" sleep 100
	wait_until grep -q sleep /proc/$program/comm
	taskset -c "$processor" bash -c 'while :; do :; done' &
	busy=$!
	chrt --idle --pid 0 $program
}

end_slowness() {
	kill $busy
	wait $busy 2>/dev/null
	chrt --other --pid 0 $program
}

frozen=
for group in freezer unified .; do
	group=/sys/fs/cgroup/$group/swizzle-test.$$
	it "a process in a frozen group: $group"
	begin_slow
	if freeze "$group"; then
		frozen=yes
		refuses 'the process is frozen'
		end_slowness
		thaw "$group"
	else
		end_slowness
		kill $program
		wait $program 2>/dev/null
		rmdir "$group/inner" "$group" 2>/dev/null
	fi
done
[ -n "$frozen" ] || echo 'not tested: a frozen group, which cannot be made here'

if cc -m32 -nostdlib -static -Wl,-e,main -o of32bits -x c - 2>/dev/null <<'END'; then
void main(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(162), "b"((long[]){20, 0}), "c"(0)); }
END
	it 'a program of 32 bits'
	begin ./of32bits
	if wait_while_it_runs $program grep -q -s of32bits /proc/$program/comm; then
		refuses 'is not one of x86-64 (64 bits): it cannot be profiled'
	else
		echo 'not tested: a program of 32 bits, which this kernel does not execute'
	fi
	kill $program 2>/dev/null
	wait $program 2>/dev/null
else
	echo 'not tested: a program of 32 bits, which this compiler does not make'
fi

finish
