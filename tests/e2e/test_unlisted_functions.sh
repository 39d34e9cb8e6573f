# shellcheck shell=bash
# Functions with neither an unwind entry nor a symbol, as the assembly of codecs is
# once it is stripped.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc strip

# Planned, planned and kept, and as it was kept. A line of `expected`: NAME SUB CALLS.
assert_calls_are_expected() { # PROGRAM
	local options name sub calls expectations=()

	while read -r name sub calls; do
		expectations+=("$sub" "$calls")
	done <expected
	for options in --no-cache '' ''; do
		# shellcheck disable=SC2206 # one, or none
		RUN_OPTIONS=($options)
		assert_same_as_native "$1"
		assert_complete profile
		assert_calls profile "${expectations[@]}"
	done
	RUN_OPTIONS=()
}

program bare.S >bare.S
program bare.c >bare.c

# Not hidden in C, they are found by way of the GOT.
for pie in -DVISIBILITY=hidden '-DVISIBILITY=hidden -Wl,-z,pack-relative-relocs' \
	-DVISIBILITY=default; do
	it "found by what leads to them ($pie)"
	# shellcheck disable=SC2086 # an option or two
	gcc -O2 -fPIE -pie $pie -o bare bare.c bare.S 2>gcc.err ||
		if grep -q pack-relative gcc.err; then
			continue # an older linker
		else
			abort 'bare is not built'
		fi
	strip bare
	./bare >/dev/null 2>expected
	assert_ge "$(wc -l <expected)" 40 'functions'
	assert_calls_are_expected ./bare
done

it 'called by instructions, at a fixed address'
gcc -O2 -no-pie -fno-pie -DVISIBILITY=hidden -o bare bare.c bare.S || abort 'bare is not built'
strip bare
assert_same_as_native ./bare
assert_complete profile

# What was compiled without unwind tables may have a runtime in it that looks for
# code of its making at return addresses (Chromium, Qt WebEngine have V8).
program tableless.c >tableless.c
{
	cat <<'END'
#include <stdio.h>
#include <stdlib.h>
#define HIDDEN __attribute__((visibility("hidden")))
char **call_made;
char *made_begin, *made_end;
extern const char __ehdr_start HIDDEN;
static __thread int of_thread __attribute__((tls_model("initial-exec")));
static int shared;
HIDDEN int looks_at_made(int x)
{
	(void)x;
	return call_made[-1] > made_begin && call_made[-1] < made_end;
}
HIDDEN int has_thread_local(int x) { return of_thread += x; }
HIDDEN int has_atomic(int x) { return __atomic_fetch_add(&shared, x, __ATOMIC_SEQ_CST); }
HIDDEN int has_crash(int x)
{
	if (x > 1000000) {
		__asm__ volatile("int3; ud2");
		__builtin_unreachable();
	}
	return x + 1;
}
/* The call at the end does not return; behind it is padding of two kinds. (gcc puts
 * such a part elsewhere.) */
HIDDEN int ends_in_call(int x);
HIDDEN int ends_in_call_2(int x);
#define ENDS_IN_CALL(name, padding) \
	__asm__(".balign 16, 0xcc\n" #name ": leal 2(%rdi), %eax\n" \
		"	cmpl $1000000, %edi\n jg 1f\n ret\n" \
		"1:	pushq %rax\n call abort@plt\n" padding)
/* nor does what nothing leads to */
__asm__(".balign 16, 0xcc\n pushq %rax\n call abort@plt\n");
ENDS_IN_CALL(ends_in_call, ".balign 16, 0xcc");
HIDDEN int (*volatile next)(int) = has_crash;
HIDDEN int ends_in_jump(int x)
{
	printf("%s", x > 1000000 ? "large" : "");
	return next(x);
}
/* a convention of its own: %rbx is what it is given, %r12 what it changes */
HIDDEN int own_convention(int x);
HIDDEN int calls_own(int x);
__asm__(".balign 16, 0xcc\n"
	"own_convention: leal 5(%rbx), %r12d\n movl %r12d, %eax\n ret\n"
	".balign 16, 0xcc\n"
	"calls_own: pushq %rbx\n pushq %r12\n pushq %rax\n movl %edi, %ebx\n"
	"	call own_convention\n"
	"	popq %rdx\n popq %r12\n popq %rbx\n ret\n"
	".balign 16, 0xcc\n");
/* (what is behind it must be known to be a function) */
ENDS_IN_CALL(ends_in_call_2, ".balign 16");
HIDDEN int (*const volatile special[])(int) = {looks_at_made, has_thread_local,
	has_atomic, has_crash, ends_in_call, ends_in_jump, calls_own,
	ends_in_call_2};
HIDDEN int called_by_made(int x) { return special[0](x) + 1; }
HIDDEN int (*const volatile by_made)(int) = called_by_made;
END
	for ((i = 0; i < 5000; i++)); do
		echo "HIDDEN int f_$i(int x) { return x * 3 + $i; }"
	done
	echo 'HIDDEN int (*const functions[])(int) = {'
	for ((i = 0; i < 5000; i++)); do
		echo "f_$i,"
	done
	cat <<'END'
};
int call_one(unsigned n)
{
	if (n % 100 == 1)
		return special[1 + n / 100 % 7]((int)n);
	if (n % 100)
		return functions[n % 5000](1);
	return ((int (*)(char ***, int (*)(int)))made_begin)(&call_made, by_made);
}
/* (what counts from an address takes it for data) */
__attribute__((noipa)) static void say(const char *name, int (*f)(int), int calls)
{
	fprintf(stderr, "%s sub_%lx %d\n", name, (long)((char *)f - &__ehdr_start),
		calls);
}
void say_all(void)
{
	say("f_0", functions[0], 0);
	say("f_1", functions[1], 0);
	say("f_2", functions[2], 4);
	say("f_4999", functions[4999], 4);
	say("looks_at_made", special[0], 200);
	say("called_by_made", by_made, 0);
	say("has_thread_local", special[1], 29);
	say("has_atomic", special[2], 29);
	say("has_crash", special[3], 29 + 28);
	say("ends_in_call", special[4], 29);
	say("ends_in_jump", special[5], 28);
	say("calls_own", special[6], 28);
	say("ends_in_call_2", special[7], 28);
	say("own_convention", own_convention, 0);
}
END
} >tableless_lib.c
it 'found where hardly any function has an unwind entry'
gcc -O2 -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables -shared \
	-o libtableless.so tableless_lib.c || abort 'libtableless is not built'
# shellcheck disable=SC2016 # the linker's
gcc -O2 -o tableless tableless.c -L. -ltableless -Wl,-rpath,'$ORIGIN' ||
	abort 'tableless is not built'
strip libtableless.so
./tableless 2>expected >/dev/null
assert_eq 14 "$(wc -l <expected)" 'what the library says'
assert_calls_are_expected ./tableless

# A label of a computed goto, in a function without a frame, has the stack of a call;
# what it goes on to is in the midst of its function.
program printable.c >printable.c
for options in -O1 -O2 -O3 '-O2 -DSWITCH' '-O3 -DSWITCH'; do
	it "labels that look like functions ($options)"
	# shellcheck disable=SC2086 # one or two
	gcc $options -w -fPIE -pie -fno-asynchronous-unwind-tables -o labels printable.c ||
		abort 'labels is not built'
	strip labels
	assert_same_as_native ./labels
	assert_complete profile
done

# Each jumps on to the next: what is found out about the last goes back to the first
# in no more time than it takes to look at each.
it 'a hundred thousand functions that jump on'
{
	printf '\t.section .note.GNU-stack, "", @progbits\n\t.text\n'
	for ((i = 0; i < 100000; i++)); do
		printf '\t.balign 16, 0xcc\nf_%d:\tleal 1(%%rdi), %%edi\n' "$i"
		printf '\ttestl %%edi, %%edi\n\tjmp f_%d\n' $((i + 1))
	done
	printf '\t.balign 16, 0xcc\nf_%d:\tmovl %%edi, %%eax\n\tret\n' "$i"
	printf '\t.balign 16, 0xcc\n\t.section .data.rel.ro, "aw"\n'
	printf '\t.globl functions\n\t.hidden functions\nfunctions:\n'
	for ((i = 0; i <= 100000; i++)); do
		printf '\t.quad f_%d\n' "$i"
	done
} >chain.S
cat >chain.c <<'END'
#include <stdio.h>
extern int (*const functions[])(int) __attribute__((visibility("hidden")));
int main(void)
{
	printf("%d\n", functions[100000](1) + functions[0](1));
	return 0;
}
END
gcc -O2 -fPIE -pie -o chain chain.c chain.S || abort 'chain is not built'
strip chain
timeout 60 "$RUN" -q --no-cache -o profile ./chain >out 2>err ||
	fail "planning takes too long: status $?"
assert_eq 100002 "$(cat out)" 'result'
assert_complete profile

finish
