	.section .note.GNU-stack, "", @progbits
	.text
	.balign	16
	.globl	behind
	.type	behind, @function
behind:	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	movl	%edi, %ebx
	subq	$16, %rsp
	.cfi_adjust_cfa_offset 16
	cmpl	$1, %ebx
	ja	3f
	leaq	two_labels(%rip), %rdx
	movslq	(%rdx, %rbx, 4), %rax
	addq	%rdx, %rax
	jmp	*%rax
1:	movl	$10, %eax
	jmp	4f
2:	movl	$20, %eax
	jmp	4f
3:	movl	$30, %eax
4:	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	behind, . - behind
	.section .rodata
	.balign	4
two_labels:
	.long	1b - two_labels, 2b - two_labels
	.long	behind + 1 - two_labels, behind + 3 - two_labels

	.text
	.balign	16
	.globl	again
	.type	again, @function
again:	.cfi_startproc
	xorl	%eax, %eax
1:	addl	$1, %eax
	leaq	three_labels(%rip), %rdx
	xorl	%ecx, %ecx
	subl	$1, %edi
	sets	%cl
	movslq	4(%rdx, %rcx, 4), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
2:	ret
	pushq	%rax
	.cfi_adjust_cfa_offset 8
3:	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	again, . - again
	.section .rodata
	.balign	4
three_labels:				/* nobody goes by the first */
	.long	3b - three_labels, 1b - three_labels, 2b - three_labels
