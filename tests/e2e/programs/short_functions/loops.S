	.section .note.GNU-stack, "", @progbits
	.macro	begin name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm
	.macro	long_body
	.rept	40
	leaq	1(%rsi), %rsi
	.endr
	.endm
	.text
	begin	before_all
	long_body
	movl	%esi, %eax
	ret
	end	before_all
	begin	by_jcc
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jnz	1b
	ret
	end	by_jcc
	begin	by_jmp
	xorl	%eax, %eax
1:	addl	counter(%rip), %eax
	long_body
	decl	%edi
	jz	2f
	jmp	1b
2:	ret
	end	by_jmp
	begin	by_two
	xorl	%eax, %eax
1:	addl	%edi, %eax
	nop
2:	addl	$3, %eax
	long_body
	decl	%edi
	jz	3f
	testl	$1, %edi
	jz	1b
	jmp	2b
3:	ret
	end	by_two
	begin	by_three
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jz	3f
	testl	$1, %edi
	jz	1b
	testl	$2, %edi
	jz	1b
	jmp	1b
3:	ret
	end	by_three
	begin	to_call
	movl	%edi, %edi
1:	call	leaf
	long_body
	decl	%edi
	jnz	1b
	ret
	end	to_call
	begin	leaf
	leal	7(%rdi), %eax
	long_body
	ret
	end	leaf
	begin	to_start
	pushq	%rdi
	.cfi_escape 0x16, 7, 2, 0x76, 0	/* found by %rbp */
	addl	$1, %edx
	long_body
	decl	%edi
	jnz	to_start
	xorl	%eax, %eax
2:	popq	%rcx
	imull	$3, %eax
	addl	%ecx, %eax
	decl	%edx
	jnz	2b
	ret
	end	to_start
	begin	entered
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jnz	1b
	ret
	end	entered
	begin	enters
	movl	$5, %eax
	long_body
	jmp	entered + 2
	end	enters
	.data
counter: .long	11
