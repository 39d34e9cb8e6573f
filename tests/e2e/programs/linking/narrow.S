	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	narrow
	.type	narrow, @function
narrow:	.cfi_startproc
	xorl	%eax, %eax
1:	leal	3(%rdi), %eax
2:	ret
	.cfi_endproc
	.size	narrow, . - narrow
	.balign	16
	.globl	enter
	.type	enter, @function
enter:	.cfi_startproc
	movl	table(, %rsi, 4), %eax
	jmp	*%rax
	.cfi_endproc
	.size	enter, . - enter
	.section .rodata
	.balign	8
	.long	0
table:	.long	1b, 2b, 1b
