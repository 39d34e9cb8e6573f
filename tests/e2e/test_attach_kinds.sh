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
		"$RUN" -p $program --for 100ms -o /tmp/profile.refused.$$
	assert_status 126
	assert_contains err 'the process belongs to another user. Run swizzle-run as that user, or as root'
	kill $program
	wait $program 2>/dev/null
fi

# Waits until the library has begun to plan, and then for longer than that waits for
# who has loaded it, where nothing can be called: in the dynamic linker.
cat >busy.c <<'END'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unistd.h>
static int callback(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info; (void)size; (void)data;
	for (int left = 7; left;)
		left = (int)sleep((unsigned)left);
	return 1;
}
__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("");
}
int main(void)
{
	fclose(fopen("ready", "w"));
	while (access("profile", F_OK))
		usleep(1000);
	dl_iterate_phdr(callback, NULL);
	while (access("stop", F_OK)) {
		leaf();
		usleep(1000);
	}
	return 3;
}
END
cc -O0 -o busy busy.c || abort 'cannot compile'

begin_busy() { # PROGRAM: until it has begun
	rm -f profile ready
	begin "$1"
	wait_until test -e ready
}

# Is in the dynamic linker at first, and then for good below a function of a library
# that it has loaded after that.
sed 's/^int main/int old_main/; s/left = 7/left = 2/' busy.c >late.c
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
sed -i 's/int old_main/static int __attribute__((unused)) old_main/' late.c
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
begin_busy ./late
"$RUN" -q -o profile -p $program --for 300ms 2>err
assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
assert_ge "$(calls leaf)" 10 'calls of leaf'
assert_code_restored
end

it 'a process that nothing can be called in for some seconds'
begin_busy ./busy
"$RUN" -q --no-cache -o profile -p $program 2>err &
controller=$!
counts() {
	[ "$(calls leaf 2>/dev/null)" -ge 10 ] || ! kill -0 $controller 2>/dev/null
}
wait_until counts
kill -INT $controller
wait $controller
assert_eq 0 $? "swizzle-run's exit status: $(cat err)"
assert_ge "$(calls leaf)" 10 'calls of leaf'
assert_code_restored
end

it 'who attaches is stopped for longer than the library waits: it says that it is too late'
for ((try = 1; try <= 8; try++)); do
	begin_busy ./busy
	"$RUN" -v --no-cache -o profile -p $program --for 100ms 2>err &
	controller=$!
	wait_until test -e profile
	kill -STOP $controller
	# what was planned is thrown away; unless all was done by then
	for ((i = 0; i < 300; i++)); do
		[ -e profile ] && ! grep -q 'swizzle: attached' err || break
		sleep 0.1
	done
	late=no
	[ -e profile ] || late=yes
	kill -CONT $controller
	wait $controller
	code=$?
	assert_code_restored
	kill -KILL $program
	wait $program 2>/dev/null
	[ $late = no ] || break
done
assert_eq yes $late 'too late'
assert_eq 126 $code "swizzle-run's exit status: $(cat err)"
assert_contains err 'the library has given up, as nobody was there for so long'

cat >forged.c <<'END'
#include <string.h>
#include "base/control.h"
struct swz_control swizzle_control = {
	.magic = SWZ_CONTROL_MAGIC,
	.version = SWZ_CONTROL_VERSION,
	.bytes = sizeof(swizzle_control),
	.handle = 1,
};
/* fails, with a text that a terminal would take for commands */
long swizzle_attach(const struct swz_attach_request *request);
long swizzle_attach(const struct swz_attach_request *request)
{
	(void)request;
	for (unsigned i = 0; i + 3 < sizeof(swizzle_control.message); i += 3)
		memcpy(swizzle_control.message + i, "\033\302\233", 3);
	swizzle_control.message_bytes = BYTES;
	swizzle_control.state = SWZ_CONTROL_FAILED;
	return 0;
}
END
cat >forging.c <<'END'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	return dlopen(argv[1], RTLD_NOW) ? (int)sleep(60) : 1;
}
END
it 'a library that only calls itself so: its texts are no commands for the terminal'
cc -o forging forging.c -ldl || abort 'cannot compile'
for bytes in 300 0xffffffffu; do
	cc -shared -fPIC -I"$TOP/src" -I"$TOP/include" -DBYTES=$bytes -o libswizzle.so.forged \
		forged.c || abort 'cannot compile'
	begin ./forging ./libswizzle.so.forged
	wait_until grep -q forged /proc/$program/maps
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
