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

for what in fibers vfork; do
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

refuses() { # TEXT: to attach to $program
	capture "$RUN" -p $program --for 100ms -o profile.refused
	assert_status 126
	assert_contains err "$1"
	assert_missing profile.refused
}

it 'a filter of system calls'
begin "$TARGETS/suspended" filter stop
if wait_until grep -q '^Seccomp:.2' /proc/$program/status; then
	refuses 'the process filters its system calls (seccomp): those of a profiler could kill it. Use -m sample'
fi
end

if [ "$(id -u)" -eq 0 ] && chmod 711 "$TMP" && nobody_executes "$RUN"; then
	it 'the process of another user'
	begin sleep 20
	capture setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$RUN" -p $program --for 100ms -o /tmp/profile.refused
	assert_status 126
	assert_contains err 'the process belongs to another user. Run swizzle-run as that user, or as root'
	kill $program
	wait $program 2>/dev/null
fi

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
if cc -m32 -nostdlib -static -Wl,-e,main -o of32bits -x c - 2>/dev/null <<'END'; then
void main(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(162), "b"((long[]){20, 0}), "c"(0)); }
END
	it 'a program of 32 bits'
	begin ./of32bits
	if wait_until grep -q of32bits /proc/$program/comm; then
		refuses 'is not one of x86-64 (64 bits): it cannot be profiled'
	fi
	kill $program 2>/dev/null
	wait $program 2>/dev/null
fi

finish
