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
