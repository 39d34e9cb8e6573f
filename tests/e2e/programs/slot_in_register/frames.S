	.section .note.GNU-stack, "", @progbits
	.bss
kept:	.quad 0

	.text
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
	.macro	FRAME_BY reg		/* from the beginning to the end */
	lea	(%rsp), \reg
	.cfi_def_cfa_register \reg
	push	%rbp
	.cfi_offset %rbp, -16
	sub	$0x88, %rsp
	and	$-64, %rsp
	.endm
	.macro	LEAVE_BY reg
	mov	-8(\reg), %rbp
	.cfi_restore %rbp
	lea	(\reg), %rsp
	.cfi_def_cfa_register %rsp
	ret
	.endm

	FUNC	aligned
	FRAME_BY %r11
	movdqa	%xmm11, (%rsp)
	mov	%rdi, 0x10(%rsp)
	lea	(%rdi, %rdi), %rax
	add	8(%r11), %rax		/* an argument on the stack */
	LEAVE_BY %r11
	ENDS	aligned

	FUNC	at_the_end		/* only from the last calls on */
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	sub	$0x20, %rsp
	.cfi_adjust_cfa_offset 0x20
	mov	%rdi, %rbx
	call	ask
	add	%rbx, %rax
	lea	0x28(%rsp), %rsi
	.cfi_def_cfa %rsi, 8
	mov	-8(%rsi), %rbx
	.cfi_restore %rbx
	lea	(%rsi), %rsp
	.cfi_def_cfa_register %rsp
	ret
	ENDS	at_the_end

	FUNC	handed_on		/* %rax, then %rbp, then %rax */
	lea	(%rsp), %rax
	.cfi_def_cfa_register %rax
	push	%rbp
	.cfi_offset %rbp, -16
	push	%rbx
	.cfi_offset %rbx, -24
	mov	%rax, %rbp
	.cfi_def_cfa_register %rbp
	sub	$0x100, %rsp
	and	$-128, %rsp
	mov	%rdi, %rbx
	call	ask
	add	%rax, %rbx
	mov	%rbx, %rdx
	mov	%rbp, %rax
	.cfi_def_cfa_register %rax
	mov	-16(%rax), %rbx
	.cfi_restore %rbx
	mov	-8(%rax), %rbp
	.cfi_restore %rbp
	lea	(%rax), %rsp
	.cfi_def_cfa_register %rsp
	mov	%rdx, %rax
	ret
	ENDS	handed_on

	/* those that look */
	FUNC	loads
	FRAME_BY %r11
	mov	(%r11), %rax
	LEAVE_BY %r11
	ENDS	loads

	FUNC	loads_a_vector
	FRAME_BY %r9
	movq	(%r9), %xmm0
	movq	%xmm0, %rax
	LEAVE_BY %r9
	ENDS	loads_a_vector

	FUNC	loads_by_an_index
	FRAME_BY %r10
	xor	%ecx, %ecx
	mov	(%r10, %rcx), %rax
	LEAVE_BY %r10
	ENDS	loads_by_an_index

	FUNC	keeps
	FRAME_BY %rdx
	mov	%rdx, kept(%rip)
	mov	kept(%rip), %rcx
	mov	(%rcx), %rax
	LEAVE_BY %rdx
	ENDS	keeps

	FUNC	copies
	FRAME_BY %rdx
	mov	%rdx, %rcx
	mov	(%rcx), %rax
	LEAVE_BY %rdx
	ENDS	copies

	FUNC	pushes
	FRAME_BY %r8
	push	%r8
	pop	%rcx
	mov	(%rcx), %rax
	LEAVE_BY %r8
	ENDS	pushes

	FUNC	exchanges
	FRAME_BY %r9
	xor	%eax, %eax
	xor	%r9, %rax
	mov	(%rax), %rax
	LEAVE_BY %r9
	ENDS	exchanges

	FUNC	asks
	FRAME_BY %rdi
	call	what_is_there
	LEAVE_BY %rdi
	ENDS	asks
	.globl	what_is_there
	.hidden	what_is_there
	FUNC	what_is_there
	mov	(%rdi), %rax
	ret
	ENDS	what_is_there

	FUNC	strings
	FRAME_BY %rsi
	lodsq
	sub	$8, %rsi
	LEAVE_BY %rsi
	ENDS	strings

	FUNC	vector_to_general
	FRAME_BY %r9
	movq	%r9, %xmm0
	movq	%xmm0, %rax
	mov	(%rax), %rax
	LEAVE_BY %r9
	ENDS	vector_to_general

	FUNC	not_said		/* by the table */
	lea	(%rsp), %rcx
	mov	(%rcx), %rax
	ret
	ENDS	not_said
