	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	beside
	.type	beside, @function
beside:	.cfi_startproc
	leal	1(%rdi), %eax
	cmpl	$1, %edi
	ja	4f
1:	leaq	first_labels(%rip), %rdx	/* behind 8 bytes, as a table has */
	movslq	(%rdx, %rdi, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	addl	$10, %eax
	leaq	second_labels(%rip), %rdx
	movslq	(%rdx, %rsi, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
3:	addl	$20, %eax
4:	ret
5:	addl	$30, %eax
	ret
	.cfi_endproc
	.size	beside, . - beside
	.section .rodata
	.balign	4
first_labels:
	.long	2b - first_labels, 3b - first_labels
second_labels:
	.long	1b + 1 - second_labels, 5b - second_labels

	.text
	.balign	16
	.globl	amid
	.type	amid, @function
amid:	.cfi_startproc
	xorl	%eax, %eax
1:	addl	$1, %eax
	leaq	last_label(%rip), %rcx
	movslq	(%rcx), %rcx
	addl	%ecx, %eax
	subl	%ecx, %eax
	leaq	own_labels(%rip), %rdx
	xorl	%ecx, %ecx
	subl	$1, %edi
	setns	%cl
	movslq	(%rdx, %rcx, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	ret
	.cfi_endproc
	.size	amid, . - amid
	.section .rodata
	.balign	4
own_labels:
	.long	2b - own_labels
last_label:
	.long	1b - own_labels
