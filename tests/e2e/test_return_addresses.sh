# shellcheck shell=bash
# Functions that look at their callers' return addresses see the real ones.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets return_addresses returned
need gcc
program=$TARGETS/return_addresses

it '__builtin_return_address of the levels 0 to 3'
assert_same_as_native "$program"
assert_complete profile

it 'only those are refused that are looked at'
assert_calls profile harmless 1 one_above 2 two_above 1 jumps 1 \
	own 3 calls_one_above 0 calls_two_above 1 calls_calls_two_above 0 \
	seldom_above 1 calls_in_part 0 \
	all_four 1 four_1 0 four_2 0 four_3 0 calls_jumps 0
"$RUN" --list -v "$program" >list
assert_matches list '  reads its return address +spread$'
assert_matches list '  patched +harmless_vectors$'
reason="calls a function that reads its caller's return address"
for name in calls_one_above calls_calls_two_above four_1 four_2 four_3 \
	calls_jumps; do
	assert_matches list "  $reason +$name\$"
done

it 'a function that is not hooked itself looks at its callers all the same'
RUN_OPTIONS=(-H one_above -H two_above)
assert_same_as_native "$program"
assert_calls profile one_above 0 two_above 0 calls_one_above 0 harmless 1

# GCC pushes the return address once more, where a debugger looks for it.
it 'a return address is read in a frame that is aligned and grows'
RUN_OPTIONS=()
cat >aligned.c <<'END'
#include <stdio.h>
int main(void);
__attribute__((noinline)) void note(const char *what, char *address)
{
	printf("%s %td\n", what, address - (char *)main);
}
__attribute__((noinline)) long aligned(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 3;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its own", __builtin_return_address(0));
	return room[n];
}
__attribute__((noinline)) long above(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 4;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its caller's", __builtin_return_address(1));
	return room[n];
}
__attribute__((noinline, optimize("no-omit-frame-pointer"))) long calls(long n)
{
	return above(n) + 1;
}
int main(void)
{
	return aligned(3) + calls(5) == 8 ? 0 : 1;
}
END
for flags in -O0 -O1 -O2 -Os; do
	gcc $flags -o aligned aligned.c || abort 'aligned is not built'
	assert_same_as_native ./aligned
	assert_complete profile
	assert_calls profile main 1 note 2 aligned 0 calls 0
done

it 'code that is returned to has no return address of its own'
assert_same_as_native "$TARGETS/returned"
assert_complete profile
assert_calls profile caller 1000 work 1000 returned 0 put_back 1000
for timing in exact sampled; do
	[ "$timing${TEST_MODE:-}" != sampledtrace ] || break # it has exact times
	RUN_OPTIONS=(--timing "$timing" -H work)
	assert_same_as_native "$TARGETS/returned"
done
RUN_OPTIONS=()

it 'a function that jumps to one that jumps to one that reads its return address'
cat >chain.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.macro	FUNC name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	ENDS name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	FUNC	reader
	pushq	(%rsp)
	.cfi_adjust_cfa_offset 8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addq	$0, %rdi
	ret
	ENDS	reader
	.macro	JUMPER name, to
	FUNC	\name
	incq	%rdi
	testq	%rdi, %rdi
	jmp	\to
	ENDS	\name
	.endm
	JUMPER	one, reader
	JUMPER	two, one
	JUMPER	three, two
	JUMPER	two_cold, one		/* a part of `warm' */
	FUNC	warm
	incq	%rdi
	testq	%rdi, %rdi
	jns	two_cold
	xorl	%eax, %eax
	ret
	ENDS	warm
	JUMPER	to_warm, warm
	JUMPER	other, calls_reader
	FUNC	calls_reader
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	two
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	ENDS	calls_reader
END
cat >chain.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

char *reader(long), *one(long), *two(long), *three(long), *warm(long),
	*to_warm(long), *other(long);
extern char __executable_start, etext;
static int asked;

__attribute__((noinline)) void *next(const char *name)
{
	asked++;
	return dlsym(RTLD_NEXT, name);
}
__attribute__((noinline)) void *next_but_one(const char *name)
{
	asked += 2;
	return next(name);
}
static void say(const char *name, const char *from)
{
	printf("%s: %s\n", name, from >= &__executable_start && from < &etext
		? "in the program" : "elsewhere");
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		say("reader", reader(i));
		say("one", one(i));
		say("two", two(i));
		say("three", three(i));
		say("warm", warm(i));
		say("to_warm", to_warm(i));
		say("other", other(i));
		printf("next: %d\n", next("puts") != 0);
		printf("next but one: %d\n", next_but_one("puts") != 0);
	}
	return 0;
}
END
gcc -O2 -o chain chain.c chain.S || abort 'chain is not built'
for stripped in '' yes; do
	[ -z "$stripped" ] || strip chain
	assert_same_as_native ./chain
	assert_complete profile
done
gcc -O2 -o chain chain.c chain.S
assert_same_as_native ./chain
assert_calls profile main 1 other 3 calls_reader 3
"$RUN" --list -v ./chain >list
for name in reader one two three warm to_warm next next_but_one; do
	assert_matches list " tail-calls a function.* $name\$| reads its return.* $name\$"
done

it 'functions that jump through pointers to what reads its return address'
mkdir lib
echo 'int pointed(void) { return 1; }' >pointed.c
gcc -shared -fPIC -o lib/libpointed.so pointed.c || abort 'no libpointed.so'
pointed() { # NAME COMPILER...
	# shellcheck disable=SC2016
	"${@:2}" -O2 -g -w -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib' -o "$1" \
		"$TOP/tests/targets/pointed_readers.cc" 2>build.log
}
pointed pointed g++ || abort 'pointed is not built'
pointed pointed-fixed g++ -no-pie -fno-pie || abort 'pointed-fixed is not built'
pointed pointed-bound g++ -fno-plt || abort 'pointed-bound is not built'
! command -v clang++-14 >/dev/null || pointed pointed-clang clang++-14
for program in ./pointed ./pointed-*; do
	for options in '' '-m trace' '--timing exact' --imports '-M *'; do
		set -f
		# shellcheck disable=SC2086
		set -- $options
		set +f
		use_options "$@" || continue
		assert_same_as_native "$program"
		assert_complete profile
		assert_calls profile to_open 30 to_open_in 30 to_find 30 \
			to_find_version 30 to_set_jump 31 to_get_context 1 \
			to_swap_context 60 to_walk 1 catches 1200 \
			_Unwind_RaiseException 800
	done
done

finish
