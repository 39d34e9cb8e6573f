# shellcheck shell=bash
# Functions without unwind tables that look at return addresses: it is seen from
# their code.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc

it 'functions without unwind tables that look at return addresses'
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
cat >selection.c <<'END'
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
gcc -O1 -mno-red-zone -o caller selection.c caller.S || abort 'caller is not built'
assert_same_as_native ./caller
assert_complete profile
assert_calls profile main 1 counted 3 pops 0 keeps 0

# As above, in other shapes: what reads its return address behind a way for the
# stack pointer, and what looks alike.
it 'functions without a table, by what they do with the stack'
cat >shapes.S <<'SHAPES'
	.macro FUNC name
	.text
	.balign 16
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro END name
	.size \name, . - \name
	.section .rodata
9000:	.asciz "\name"
	.section .data.rel.ro, "aw"
	.quad \name, 9000b
	.text
	.endm

	.section .data.rel.ro, "aw"
	.balign 8
	.globl shapes
shapes:
	FUNC no_sub
	push %rbx
	push %rbp
	push %r12
	sub $24, %rsp
	mov 48(%rsp), %rax
	jmp 1f
1:	add $24, %rsp
	pop %r12
	pop %rbp
	pop %rbx
	ret
	END no_sub
	FUNC no_pop_to_memory
	push %rbx
	push %rdi
	pop word(%rip)
	mov 8(%rsp), %rax
	pop %rbx
	ret
	END no_pop_to_memory
	FUNC no_leave
	push %rbp
	mov %rsp, %rbp
	push %rbx
	pop %rbx
	leave
	mov (%rsp), %rax
	ret
	END no_leave
	FUNC no_push_number
	push %rbx
	push $5
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_number
	FUNC no_push_wide_number
	push %rbx
	push $500
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_wide_number
	FUNC no_push_memory
	push %rbx
	push word(%rip)
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_memory
	FUNC no_push_flags
	push %rbx
	pushf
	mov 16(%rsp), %rax
	jmp 1f
1:	popf
	pop %rbx
	ret
	END no_push_flags
	FUNC no_frame_given_up_in_part
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub $40, %rsp
	lea -8(%rbp), %rsp
	mov 16(%rsp), %rax
	pop %rbx
	pop %rbp
	ret
	END no_frame_given_up_in_part
	FUNC no_behind_jump
	push %rbx
	sub $16, %rsp
	test $1, %dil
	jz 1f
	xor %eax, %eax
	add $16, %rsp
	pop %rbx
	jmp 2f
1:	mov 24(%rsp), %rax
	jmp 3f
2:	ret
3:	add $16, %rsp
	pop %rbx
	ret
	END no_behind_jump
	FUNC no_behind_indirect_jump
	push %rbx
	sub $16, %rsp
	lea 2f(%rip), %rdx
	test $1, %dil
	jz 1f
	xor %eax, %eax
	add $16, %rsp
	pop %rbx
	jmp *%rdx
1:	mov 24(%rsp), %rax
	jmp 3f
2:	ret
3:	add $16, %rsp
	pop %rbx
	ret
	END no_behind_indirect_jump
	FUNC no_frame
	push %rbp
	mov %rsp, %rbp
	mov 8(%rbp), %rax
	pop %rbp
	ret
	END no_frame
	FUNC no_wide_distance
	push %rbx
	sub $1000, %rsp
	mov 1008(%rsp), %rax
	add $1000, %rsp
	pop %rbx
	ret
	END no_wide_distance
	FUNC other_frame
	push %rbx
	push %rbp
	mov %rsp, %rbp
	mov 8(%rbp), %rcx
	mov %edi, %eax
	pop %rbp
	pop %rbx
	ret
	END other_frame
	FUNC other_register
	push %r12
	lea -8(%rsp), %r12
	mov 8(%r12), %rcx
	mov %edi, %eax
	pop %r12
	ret
	END other_register
	FUNC with_index
	push %rbx
	lea 2(%rdi), %rcx
	mov 8(%rsp,%rcx,8), %rbx
	mov %edi, %eax
	pop %rbx
	ret
	END with_index
	.section .data.rel.ro, "aw"
	.quad 0, 0
	.local word
	.comm word, 8, 8
	.section .note.GNU-stack, "", @progbits
SHAPES
cat >shapes.c <<'END'
#include <stdio.h>
extern const struct {
	long (*function)(long);
	const char *name;
} shapes[];
int main(void)
{
	for (int i = 0; shapes[i].function; i++)
		for (long n = 0; n < 4; n++) {
			long got = shapes[i].function(n);

			if (got > 4)
				got -= (long)main;
			printf("%s %ld\n", shapes[i].name, got);
		}
	return 0;
}
END
gcc -O1 -o shapes shapes.c shapes.S || abort 'shapes is not built'
assert_same_as_native ./shapes
assert_complete profile
assert_calls profile other_frame 4 other_register 4 with_index 4
"$RUN" --list -v ./shapes >list
assert_eq 0 "$(grep -c ' patched .* no_' list)" 'hooked ones that read theirs'

finish
