/* Branches and calls among the bytes that a jump displaces. */

	.macro	BRANCH name, first, branch
	FUNC	\name
	\first
	\branch	1f
	leal	1(%rdi), %eax
	ret
	nopl	0x11223344(%rax,%rax)
1:	leal	2(%rdi), %eax
	ret
	END	\name
	.endm

	BRANCH	jcc8, "testl $1, %edi", jz
	BRANCH	jmp8, "movl %edi, %ecx", jmp
	BRANCH	jrcxz_, "movl %edi, %ecx", jrcxz
	BRANCH	jecxz_, "movl %edi, %ecx", jecxz
	BRANCH	loop_, "leal 1(%rdi), %ecx", loop
	BRANCH	loope_, "leal 1(%rdi), %ecx", loope

	FUNC	jcc32
	testb	%dil, %dil
	.byte	0x0f, 0x84		/* je rel32 */
	.long	1f - . - 4
	leal	1(%rdi), %eax
	ret
1:	leal	2(%rdi), %eax
	ret
	END	jcc32

	FUNC	jumps_within
	testl	%edi, %edi
	jz	1f
	nop
1:	leal	2(%rdi), %eax
	ret
	END	jumps_within

	/* its return address, from the start of this library's text */
	FUNC	whence
	movq	(%rsp), %rax
	leaq	loop_to_0(%rip), %rcx
	subq	%rcx, %rax
	ret
	END	whence

	FUNC	call_first
	call	whence
	ret
	END	call_first

	FUNC	call_second
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	call	whence
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	END	call_second

	/* itself: each is recorded */
	FUNC	call_itself
	decl	%edi
	js	1f
	call	call_itself
1:	movl	%edi, %eax
	ret
	END	call_itself

	FUNC	call_register
	call	*%rcx
	addl	$1, %eax
	ret
	END	call_register

	FUNC	call_register_last
	movq	%rsi, %rdx
	call	*(%rdx)
	ret
	END	call_register_last

	FUNC	call_member
	call	*8(%rsi)
	addl	$1, %eax
	ret
	END	call_member

	FUNC	call_next
	call	1f
1:	popq	%rax
	leaq	loop_to_0(%rip), %rcx
	subq	%rcx, %rax
	ret
	END	call_next

	FUNC	call_rex_w
	rex.W call *pointer(%rip)
	ret
	END	call_rex_w
	.section .data.rel.ro, "aw"
	.balign	8
pointer: .quad	whence
	.text
