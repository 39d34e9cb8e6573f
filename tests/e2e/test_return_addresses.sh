# shellcheck shell=bash
# Functions that look at their callers' return addresses see the real ones.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets return_addresses returned
program=$TARGETS/return_addresses

it '__builtin_return_address of the levels 0 to 3'
assert_same_as_native "$program"
assert_complete profile

it 'only those are refused that are looked at'
assert_calls profile harmless 1 one_above 2 two_above 1 jumps 1 \
	own 0 calls_one_above 0 calls_two_above 1 calls_calls_two_above 0 \
	all_four 0 four_1 0 four_2 0 four_3 0 calls_jumps 0
"$RUN" --list -v "$program" >list
assert_matches list '  reads its return address +spread$'
assert_matches list '  patched +harmless_vectors$'
reason="calls a function that reads its caller's return address"
for name in calls_one_above calls_calls_two_above four_1 four_2 four_3 \
	calls_jumps; do
	assert_matches list "  $reason +$name\$"
done

it 'a function that is not hooked itself looks at its callers all the same'
RUN_OPTIONS=(-H 'one_above|two_above')
assert_same_as_native "$program"

it 'functions without unwind tables that look at return addresses'
need gcc
RUN_OPTIONS=()
for how in -O0 '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	gcc $how -fno-asynchronous-unwind-tables -fno-unwind-tables -o tableless \
		"$TOP/tests/targets/return_addresses.c" ||
		abort 'return_addresses is not built without tables'
	assert_same_as_native ./tableless
	assert_complete profile
	assert_calls profile harmless 1 own 0 calls_one_above 0 all_four 0
done

it 'a function without a table that goes to where it was called from'
cat >caller.S <<'END'
	.text
	.globl pops, keeps, counted
	.type pops, @function
pops:	pop %rax		# the return address
	lea -1(%rax), %rdx
	mov %rax, %rcx
	jmp *%rcx
	.size pops, . - pops
	.type keeps, @function
keeps:	push %rbx
	sub $16, %rsp
	test %edi, %edi
	jz 1f
	add $16, %rsp
	pop %rbx
	xor %eax, %eax
	ret
1:	mov 24(%rsp), %rax	# behind a return, too
	add $16, %rsp
	pop %rbx
	ret
	.size keeps, . - keeps
	.type counted, @function
counted: push %rbx
	mov 16(%rsp), %rax	# an argument on the stack
	mov (%rsp), %rbx	# what was pushed
	pop %rbx
	ret
	.size counted, . - counted
	.section .note.GNU-stack, "", @progbits
END
cat >caller.c <<'END'
#include <stdio.h>
char *keeps(int), *pops(void);
int main(void)
{
	long counted;
	for (int i = 0; i < 3; i++) {
		char *popped = pops(), *kept = keeps(0);
		__asm__ volatile("push %1\n call counted\n pop %%rdx"
				 : "=a"(counted)
				 : "r"(7l + i)
				 : "rdx", "rcx", "memory", "cc");
		printf("%td %td %d %ld\n", popped - (char *)main,
		       kept - (char *)main, keeps(1) == 0, counted);
	}
	return 0;
}
END
gcc -O1 -mno-red-zone -o caller caller.c caller.S || abort 'caller is not built'
assert_same_as_native ./caller
assert_complete profile
assert_calls profile main 1 counted 3 pops 0 keeps 0

it 'code that is returned to has no return address of its own'
assert_same_as_native "$TARGETS/returned"
assert_complete profile
assert_calls profile caller 1000 work 1000 returned 0 put_back 1000
for timing in exact sampled; do
	RUN_OPTIONS=(--timing "$timing" -H work)
	assert_same_as_native "$TARGETS/returned"
done
RUN_OPTIONS=()

finish
