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
